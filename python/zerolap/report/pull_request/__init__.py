"""What is shown of a change: the comment, the check run and the notices of regressions, as text."""
