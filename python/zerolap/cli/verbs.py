"""The verbs, in the order in which one meets them; each has a module of its name."""

VERBS = ("run", "compare", "explain", "resume", "suites", "doctor")
