"""Finds why a case changed, from the call graphs of both sides; reads no clock, file or process."""

from zerolap.explain.attribution import SourceFunction
from zerolap.explain.candidates import (
    BuildFacts,
    Structure,
    Structures,
    explain_build,
    explain_layout,
    explain_placement,
)
from zerolap.explain.causes import explain_cause
from zerolap.explain.findings import explain_change
from zerolap.explain.sides import Evidence
from zerolap.explain.times import SampledFunction, SampledPass, SampledSide, explain_times, with_times

__all__ = [
    "BuildFacts",
    "Evidence",
    "SampledFunction",
    "SampledPass",
    "SampledSide",
    "SourceFunction",
    "Structure",
    "Structures",
    "explain_build",
    "explain_cause",
    "explain_change",
    "explain_layout",
    "explain_placement",
    "explain_times",
    "with_times",
]
