"""Measurements in, verdict or "measure this next" out; no clock, no file, no process."""

from zerolap.judge.case import case_validity, case_verdict, deciding_verdict
from zerolap.judge.counted import COUNTED_Q, MAX_BLOCKS, MIN_BLOCKS, Judged, adjusted, judge_counted, wants_more

__all__ = [
    "COUNTED_Q",
    "MAX_BLOCKS",
    "MIN_BLOCKS",
    "Judged",
    "adjusted",
    "case_validity",
    "case_verdict",
    "deciding_verdict",
    "judge_counted",
    "wants_more",
]
