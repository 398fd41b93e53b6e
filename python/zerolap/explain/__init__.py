"""Why a case changed: call graphs of both sides in, findings out; no clock, no file, no process."""

from zerolap.explain.attribution import SourceFunction
from zerolap.explain.causes import explain_cause
from zerolap.explain.findings import explain_change
from zerolap.explain.sides import Evidence
from zerolap.explain.times import SampledFunction, SampledPass, SampledSide, explain_times, with_times

__all__ = [
    "Evidence",
    "SampledFunction",
    "SampledPass",
    "SampledSide",
    "SourceFunction",
    "explain_cause",
    "explain_change",
    "explain_times",
    "with_times",
]
