"""Finds why a case changed, and what one version could do without; reads no clock, file or process."""

from zerolap.explain.argument_checks import (
    Supposition,
    command_of,
    opportunity_place,
    supposition,
    suppositions,
    with_argument_checks,
)
from zerolap.explain.attribution import SourceFunctions
from zerolap.explain.build_variants import DETECTOR as BUILD_VARIANTS
from zerolap.explain.build_variants import VariantComparison, build_variants, differ_as_builds
from zerolap.explain.calibration import calibration_of
from zerolap.explain.calls_of_inlined import with_calls_of_inlined
from zerolap.explain.candidates import (
    BuildFacts,
    Structure,
    Structures,
    explain_build,
    explain_layout,
    explain_placement,
)
from zerolap.explain.case_groups import SizeGroup, size_groups, with_opportunities_of_group
from zerolap.explain.causes import explain_cause
from zerolap.explain.counted_work import ExecutedKinds, case_evidence, case_work
from zerolap.explain.detectors import BUILT_IN as BUILT_IN_DETECTORS
from zerolap.explain.detectors import BUILT_IN_OF_GROUPS as BUILT_IN_GROUP_DETECTORS
from zerolap.explain.detectors import CaseEvidence, CaseGroup, CodePlace, Detector, GroupDetector, Saving, SizedCase
from zerolap.explain.findings import explain_change
from zerolap.explain.fork_findings import fork_findings
from zerolap.explain.opportunities import (
    WeightedWork,
    command_weights,
    costly_categories,
    costly_functions,
    gain,
    ranked_opportunities,
)
from zerolap.explain.opposed_work import explain_opposed_work
from zerolap.explain.sides import Evidence
from zerolap.explain.slow_starts import explain_slow_starts
from zerolap.explain.stated_figures import StatedFigure
from zerolap.explain.times import SampledFunction, SampledPass, SampledSide, explain_times, with_times

__all__ = [
    "BUILD_VARIANTS",
    "BUILT_IN_DETECTORS",
    "BUILT_IN_GROUP_DETECTORS",
    "BuildFacts",
    "CaseEvidence",
    "CaseGroup",
    "CodePlace",
    "Detector",
    "Evidence",
    "ExecutedKinds",
    "GroupDetector",
    "SampledFunction",
    "SampledPass",
    "SampledSide",
    "Saving",
    "SizeGroup",
    "SizedCase",
    "SourceFunctions",
    "StatedFigure",
    "Structure",
    "Structures",
    "Supposition",
    "VariantComparison",
    "WeightedWork",
    "build_variants",
    "calibration_of",
    "case_evidence",
    "case_work",
    "command_of",
    "command_weights",
    "costly_categories",
    "costly_functions",
    "differ_as_builds",
    "explain_build",
    "explain_cause",
    "explain_change",
    "explain_layout",
    "explain_opposed_work",
    "explain_placement",
    "explain_slow_starts",
    "explain_times",
    "fork_findings",
    "gain",
    "opportunity_place",
    "ranked_opportunities",
    "size_groups",
    "supposition",
    "suppositions",
    "with_argument_checks",
    "with_calls_of_inlined",
    "with_opportunities_of_group",
    "with_times",
]
