"""Derives verdicts from measurements, or that more are needed; reads no clock, file or process."""

from zerolap.judge.batching import Batching, unequal_batching
from zerolap.judge.bisection import (
    BisectedCommit,
    Bisection,
    BisectionCosts,
    BisectionNoise,
    BisectionState,
    LocatedChange,
    Visit,
)
from zerolap.judge.block_verdicts import (
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
    work_answer,
)
from zerolap.judge.counted_bisection import CountedBisection
from zerolap.judge.deciding_time import CPU_TIME, DECIDING_TIMES, deciding_time
from zerolap.judge.faults import faults_of
from zerolap.judge.ledger import EVENT, REPORTED, Drift, Ledger, WorkStep, drift_of
from zerolap.judge.levels import Contrast, Level, Levels, levels_of
from zerolap.judge.looks import ALL_LOOKS, COUNTED_LOOKS, LOOKS, MAX_BLOCKS, MIN_BLOCKS, share_of_look, timed_looks
from zerolap.judge.regressions import CaseRegression, PushChange, changes_in, regressed_in, repaired_by
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
    "LOOKS",
    "MAX_BLOCKS",
    "MIN_BLOCKS",
    "PLUGIN_MIN_EFFECT",
    "REPORTED",
    "Batching",
    "BisectedCommit",
    "Bisection",
    "BisectionCosts",
    "BisectionNoise",
    "BisectionState",
    "CaseAnswers",
    "CaseRegression",
    "Contrast",
    "CountedBisection",
    "Drift",
    "Ledger",
    "Level",
    "Levels",
    "LocatedChange",
    "PushChange",
    "Q",
    "TimedPair",
    "UnadjustedVerdict",
    "Visit",
    "WorkStep",
    "adjusted",
    "case_answers",
    "case_validity",
    "changes_in",
    "deciding_time",
    "drift_of",
    "faults_of",
    "hints_at_change",
    "is_certain_change",
    "is_rare_change",
    "judge_blocks",
    "judge_identical",
    "judge_timed",
    "levels_of",
    "log_change",
    "regressed_in",
    "repaired_by",
    "share_of_look",
    "spread_of_starts",
    "time_answer",
    "timed_looks",
    "unequal_batching",
    "unequal_count",
    "wants_more",
    "wants_more_starts",
    "with_rules",
    "work_answer",
]
