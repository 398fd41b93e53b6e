"""Histories: how the metrics of cases went over the commits of a range, measured where that is missing."""

from zerolap.history.asked import TIME, WORK, Asked
from zerolap.history.fill_range import Filling, FillOptions, FillOutcome
from zerolap.history.judged_history import Shown, history_of, open_changes
from zerolap.history.nodes import of_built_commits

__all__ = [
    "TIME",
    "WORK",
    "Asked",
    "FillOptions",
    "FillOutcome",
    "Filling",
    "Shown",
    "history_of",
    "of_built_commits",
    "open_changes",
]
