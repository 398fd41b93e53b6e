"""Texts on a change: the comment, the check run and status, notices of regressions."""
