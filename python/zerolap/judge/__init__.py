"""Measurements in, verdict or "measure this next" out; no clock, no file, no process."""

from zerolap.judge.batching import Batching, unequal_batching
from zerolap.judge.case import case_validity, case_verdict, deciding_verdict, is_confirmed
from zerolap.judge.counted import MAX_BLOCKS, MIN_BLOCKS, judge_counted, wants_more
from zerolap.judge.deciding_time import DECIDING_TIMES, deciding_time
from zerolap.judge.faults import faults_of
from zerolap.judge.judged import DEFAULT_MIN_EFFECT, Judged, Q, adjusted
from zerolap.judge.timed import LOOKS, TimedPair, judge_timed, next_look, spread_of_starts, wants_more_starts

__all__ = [
    "DECIDING_TIMES",
    "DEFAULT_MIN_EFFECT",
    "LOOKS",
    "MAX_BLOCKS",
    "MIN_BLOCKS",
    "Batching",
    "Judged",
    "Q",
    "TimedPair",
    "adjusted",
    "case_validity",
    "case_verdict",
    "deciding_time",
    "deciding_verdict",
    "faults_of",
    "is_confirmed",
    "judge_counted",
    "judge_timed",
    "next_look",
    "spread_of_starts",
    "unequal_batching",
    "wants_more",
    "wants_more_starts",
]
