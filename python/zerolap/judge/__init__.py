"""Derives verdicts from measurements, or that more are needed; reads no clock, file or process."""

from zerolap.judge.batching import Batching, unequal_batching
from zerolap.judge.bisected_commits import BisectedCommit, BisectionNoise
from zerolap.judge.bisection import Bisection, BisectionCosts, BisectionState, LocatedChange, Visit
from zerolap.judge.block_verdicts import (
    after_change,
    is_rare_change,
    judge_blocks,
    judge_identical,
    log_change,
    unequal_count,
    wants_more,
)
from zerolap.judge.case_answers import (
    CHANGED,
    COST_AT_FULL_SPEED,
    CaseAnswers,
    case_answers,
    case_validity,
    time_answer,
)
from zerolap.judge.change_points import (
    IDENTICAL,
    KNOWN,
    SEARCH_LEVEL,
    DisturbedStretch,
    LevelChange,
    SeriesChanges,
    SeriesLevels,
    SeriesSearch,
    series_changes,
)
from zerolap.judge.commit_events import ChangeOfSeries, CommitEvent, HistoryChanges, commit_events, history_changes
from zerolap.judge.counted_bisection import CountedBisection
from zerolap.judge.deciding_time import CPU_TIME, DECIDING_TIMES, deciding_time
from zerolap.judge.faults import faults_of
from zerolap.judge.ledger import EVENT, LOG_REPORTED, REPORTED, Drift, Ledger, WorkStep, drifts_of
from zerolap.judge.levels import Contrast, Level, Levels, bounds_95, levels_of
from zerolap.judge.looks import ALL_LOOKS, COUNTED_LOOKS, LOOKS, MAX_BLOCKS, MIN_BLOCKS, share_of_look, timed_looks
from zerolap.judge.regressions import CaseRegression, PushChange, changes_in, regressed_in, repaired_by
from zerolap.judge.snapshot_estimates import line_fit, median_estimate
from zerolap.judge.snapshot_verdicts import SNAPSHOT_MIN_EFFECT, SnapshotPairs, judge_snapshots
from zerolap.judge.string_places import StringCosts, difference_by_string_places, is_by_string_places
from zerolap.judge.time_drift import TimeDrift, budget_answer, time_drift
from zerolap.judge.timed_verdicts import (
    TimedPair,
    hints_at_change,
    is_certain_change,
    judge_timed,
    spread_of_starts,
    wants_more_starts,
)
from zerolap.judge.verdict_rule import (
    DEFAULT_MIN_EFFECT,
    EQUIVALENCE_LEVEL,
    PLUGIN_MIN_EFFECT,
    Q,
    UnadjustedVerdict,
    adjusted,
    with_rules,
)
from zerolap.judge.weighed_work import WORTH, WeighedWork, weighed_work

__all__ = [
    "ALL_LOOKS",
    "CHANGED",
    "COST_AT_FULL_SPEED",
    "COUNTED_LOOKS",
    "CPU_TIME",
    "DECIDING_TIMES",
    "DEFAULT_MIN_EFFECT",
    "EQUIVALENCE_LEVEL",
    "EVENT",
    "IDENTICAL",
    "KNOWN",
    "LOG_REPORTED",
    "LOOKS",
    "MAX_BLOCKS",
    "MIN_BLOCKS",
    "PLUGIN_MIN_EFFECT",
    "REPORTED",
    "SEARCH_LEVEL",
    "SNAPSHOT_MIN_EFFECT",
    "WORTH",
    "Batching",
    "BisectedCommit",
    "Bisection",
    "BisectionCosts",
    "BisectionNoise",
    "BisectionState",
    "CaseAnswers",
    "CaseRegression",
    "ChangeOfSeries",
    "CommitEvent",
    "Contrast",
    "CountedBisection",
    "DisturbedStretch",
    "Drift",
    "HistoryChanges",
    "Ledger",
    "Level",
    "LevelChange",
    "Levels",
    "LocatedChange",
    "PushChange",
    "Q",
    "SeriesChanges",
    "SeriesLevels",
    "SeriesSearch",
    "SnapshotPairs",
    "StringCosts",
    "TimeDrift",
    "TimedPair",
    "UnadjustedVerdict",
    "Visit",
    "WeighedWork",
    "WorkStep",
    "adjusted",
    "after_change",
    "bounds_95",
    "budget_answer",
    "case_answers",
    "case_validity",
    "changes_in",
    "commit_events",
    "deciding_time",
    "difference_by_string_places",
    "drifts_of",
    "faults_of",
    "hints_at_change",
    "history_changes",
    "is_by_string_places",
    "is_certain_change",
    "is_rare_change",
    "judge_blocks",
    "judge_identical",
    "judge_snapshots",
    "judge_timed",
    "levels_of",
    "line_fit",
    "log_change",
    "median_estimate",
    "regressed_in",
    "repaired_by",
    "series_changes",
    "share_of_look",
    "spread_of_starts",
    "time_answer",
    "time_drift",
    "timed_looks",
    "unequal_batching",
    "unequal_count",
    "wants_more",
    "wants_more_starts",
    "weighed_work",
    "with_rules",
]
