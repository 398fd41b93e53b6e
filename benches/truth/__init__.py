"""How true verdicts are: harmless edits, copies of one program, changes in time alone, and what a verdict costs."""
