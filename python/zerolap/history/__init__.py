"""Histories: how the metrics of cases went over the commits of a range, measured where that is missing."""

from zerolap.history.asked import TIME, WORK, Asked
from zerolap.history.build_shares import BuildSplit
from zerolap.history.command_usage import CaseWeights, case_weights, usage_weights
from zerolap.history.fill_range import Filling, FillOptions, FillOutcome
from zerolap.history.history_gate import history_gate_sentence
from zerolap.history.judged_history import Shown, history_of, keep_history, open_changes
from zerolap.history.measurers import measurer_for
from zerolap.history.nodes import of_built_commits
from zerolap.history.range_search import RangeSearch, SearchOptions
from zerolap.history.version_changes import BuildShares, TableQuestion, table_positions, version_table

__all__ = [
    "TIME",
    "WORK",
    "Asked",
    "BuildShares",
    "BuildSplit",
    "CaseWeights",
    "FillOptions",
    "FillOutcome",
    "Filling",
    "RangeSearch",
    "SearchOptions",
    "Shown",
    "TableQuestion",
    "case_weights",
    "history_gate_sentence",
    "history_of",
    "keep_history",
    "measurer_for",
    "of_built_commits",
    "open_changes",
    "table_positions",
    "usage_weights",
    "version_table",
]
