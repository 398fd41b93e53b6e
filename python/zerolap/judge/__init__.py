"""Derives verdicts from measurements, or that more are needed; reads no clock, file or process."""

from zerolap.judge.batching import Batching as Batching, unequal_batching as unequal_batching
from zerolap.judge.bisected_commits import BisectedCommit as BisectedCommit, BisectionNoise as BisectionNoise
from zerolap.judge.bisection import (
    Bisection as Bisection,
    BisectionCosts as BisectionCosts,
    BisectionState as BisectionState,
    LocatedChange as LocatedChange,
    Visit as Visit,
)
from zerolap.judge.block_verdicts import (
    after_change as after_change,
    is_rare_change as is_rare_change,
    judge_blocks as judge_blocks,
    log_change as log_change,
    unequal_count as unequal_count,
    wants_more as wants_more,
)
from zerolap.judge.case_answers import (
    COST_AT_FULL_SPEED as COST_AT_FULL_SPEED,
    CPU_TIME as CPU_TIME,
    CaseAnswers as CaseAnswers,
    case_answers as case_answers,
    case_validity as case_validity,
    deciding_time as deciding_time,
    time_answer as time_answer,
)
from zerolap.judge.cases import (
    AS_BUILT as AS_BUILT,
    AS_BUILT_COST as AS_BUILT_COST,
    COSTS as COSTS,
    ELAPSED as ELAPSED,
    JUDGED_BY_STARTS as JUDGED_BY_STARTS,
    JUDGED_TIMES as JUDGED_TIMES,
    Bank as Bank,
    JudgedCase as JudgedCase,
    Starts as Starts,
    StartsLookedAt as StartsLookedAt,
    blocks_are_undecided as blocks_are_undecided,
    changed_in_time as changed_in_time,
    judge_cases as judge_cases,
    undecided_in_time as undecided_in_time,
)
from zerolap.judge.change_points import (
    IDENTICAL as IDENTICAL,
    LevelChange as LevelChange,
    SeriesChanges as SeriesChanges,
    SeriesLevels as SeriesLevels,
    SeriesSearch as SeriesSearch,
    series_changes as series_changes,
)
from zerolap.judge.commit_events import commit_events as commit_events, history_changes as history_changes
from zerolap.judge.counted_bisection import CountedBisection as CountedBisection
from zerolap.judge.faults import faults_of as faults_of
from zerolap.judge.ledger import (
    LOG_REPORTED as LOG_REPORTED,
    REPORTED as REPORTED,
    SMALLEST_CHANGE as SMALLEST_CHANGE,
    Drift as Drift,
    Ledger as Ledger,
    WorkStep as WorkStep,
    drifts_of as drifts_of,
)
from zerolap.judge.level_changes import (
    COUNTED as COUNTED,
    LogChange as LogChange,
    change_between as change_between,
    mean_change as mean_change,
    version_positions as version_positions,
)
from zerolap.judge.levels import (
    Contrast as Contrast,
    Level as Level,
    Levels as Levels,
    bounds_95 as bounds_95,
    levels_of as levels_of,
)
from zerolap.judge.look_levels import look_at_time as look_at_time
from zerolap.judge.looks import (
    ALL_LOOKS as ALL_LOOKS,
    COUNTED_LOOKS as COUNTED_LOOKS,
    LOOKS as LOOKS,
    MAX_BLOCKS as MAX_BLOCKS,
    MIN_BLOCKS as MIN_BLOCKS,
    REGIME_BLOCKS as REGIME_BLOCKS,
    share_of_look as share_of_look,
    timed_looks as timed_looks,
)
from zerolap.judge.memory_answer import memory_answer as memory_answer
from zerolap.judge.memory_verdicts import MEMORY as MEMORY, bytes_differ as bytes_differ
from zerolap.judge.pooled_changes import (
    FEWEST_CASES as FEWEST_CASES,
    CasesTogether as CasesTogether,
    pooled_changes as pooled_changes,
)
from zerolap.judge.regime_screening import (
    is_change_of_case as is_change_of_case,
    shows_other_change as shows_other_change,
)
from zerolap.judge.regressions import (
    CaseRegression as CaseRegression,
    PushChange as PushChange,
    changes_in as changes_in,
    regressed_in as regressed_in,
    repaired_by as repaired_by,
)
from zerolap.judge.snapshot_estimates import line_fit as line_fit, median_estimate as median_estimate
from zerolap.judge.snapshot_verdicts import (
    SNAPSHOT_MIN_EFFECT as SNAPSHOT_MIN_EFFECT,
    SnapshotPairs as SnapshotPairs,
    judge_snapshots as judge_snapshots,
)
from zerolap.judge.string_places import (
    StringCosts as StringCosts,
    difference_by_string_places as difference_by_string_places,
    is_by_string_places as is_by_string_places,
)
from zerolap.judge.time_drift import budget_answer as budget_answer, time_drift as time_drift
from zerolap.judge.timed_verdicts import (
    TimedPair as TimedPair,
    hints_at_change as hints_at_change,
    is_certain_change as is_certain_change,
    judge_timed as judge_timed,
    spread_of_starts as spread_of_starts,
    wants_more_starts as wants_more_starts,
)
from zerolap.judge.verdict_rule import (
    DEFAULT_MIN_EFFECT as DEFAULT_MIN_EFFECT,
    EQUIVALENCE_LEVEL as EQUIVALENCE_LEVEL,
    PLUGIN_MIN_EFFECT as PLUGIN_MIN_EFFECT,
    TAILS as TAILS,
    Q as Q,
    UnadjustedVerdict as UnadjustedVerdict,
    adjusted as adjusted,
    side_error as side_error,
    with_rules as with_rules,
)
from zerolap.judge.weighed_work import WORTH as WORTH, weighed_work as weighed_work
