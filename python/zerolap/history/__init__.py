"""Histories: how the metrics of cases went over the commits of a range, measured where that is missing."""

from zerolap.history.absolute_values import with_absolute_values as with_absolute_values
from zerolap.history.build_shares import BuildSplit as BuildSplit
from zerolap.history.fill_range import Filling as Filling, FillOptions as FillOptions, FillOutcome as FillOutcome
from zerolap.history.history_gate import history_gate_sentence as history_gate_sentence
from zerolap.history.history_range import TIME as TIME, WORK as WORK, HistoryRange as HistoryRange
from zerolap.history.judged_history import (
    HistoryHeader as HistoryHeader,
    history_of as history_of,
    keep_history as keep_history,
    open_changes as open_changes,
)
from zerolap.history.measurers import measurer_for as measurer_for
from zerolap.history.nodes import of_built_commits as of_built_commits
from zerolap.history.range_search import RangeSearch as RangeSearch, SearchOptions as SearchOptions
from zerolap.history.version_changes import (
    BuildShares as BuildShares,
    TableQuestion as TableQuestion,
    table_positions as table_positions,
    version_table as version_table,
)
