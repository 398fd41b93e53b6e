"""Finds why a case changed, and what one version could do without; reads no clock, file or process."""

from zerolap.explain.attribution import SourceFunction, SourceFunctions
from zerolap.explain.candidates import (
    BuildFacts,
    Structure,
    Structures,
    explain_build,
    explain_layout,
    explain_placement,
)
from zerolap.explain.causes import explain_cause
from zerolap.explain.counted_work import ExecutedKinds, case_work
from zerolap.explain.detectors import BUILT_IN as BUILT_IN_DETECTORS
from zerolap.explain.detectors import CaseEvidence, CodePlace, Detector, Saving
from zerolap.explain.findings import explain_change
from zerolap.explain.opportunities import (
    WeightedWork,
    command_weights,
    costly_categories,
    costly_functions,
    gain,
    ranked_opportunities,
)
from zerolap.explain.sides import Evidence
from zerolap.explain.times import SampledFunction, SampledPass, SampledSide, explain_times, with_times

__all__ = [
    "BUILT_IN_DETECTORS",
    "BuildFacts",
    "CaseEvidence",
    "CodePlace",
    "Detector",
    "Evidence",
    "ExecutedKinds",
    "SampledFunction",
    "SampledPass",
    "SampledSide",
    "Saving",
    "SourceFunction",
    "SourceFunctions",
    "Structure",
    "Structures",
    "WeightedWork",
    "case_work",
    "command_weights",
    "costly_categories",
    "costly_functions",
    "explain_build",
    "explain_cause",
    "explain_change",
    "explain_layout",
    "explain_placement",
    "explain_times",
    "gain",
    "ranked_opportunities",
    "with_times",
]
