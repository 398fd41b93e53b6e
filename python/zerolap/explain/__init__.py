"""Finds why a case changed, and what one version could do without; reads no clock, file or process."""

from zerolap.explain.allocated_bytes import explain_bytes as explain_bytes
from zerolap.explain.argument_checks import (
    Supposition as Supposition,
    command_of as command_of,
    opportunity_location as opportunity_location,
    supposition as supposition,
    suppositions as suppositions,
    with_argument_checks as with_argument_checks,
)
from zerolap.explain.build_variants import (
    BUILD_VARIANTS as BUILD_VARIANTS,
    VariantComparison as VariantComparison,
    build_variants as build_variants,
    differ_as_builds as differ_as_builds,
)
from zerolap.explain.candidates import (
    BuildFacts as BuildFacts,
    Structure as Structure,
    Structures as Structures,
    explain_build as explain_build,
    explain_layout as explain_layout,
    explain_placement as explain_placement,
)
from zerolap.explain.case_groups import (
    SizeGroup as SizeGroup,
    size_groups as size_groups,
    with_opportunities_of_group as with_opportunities_of_group,
)
from zerolap.explain.causes import (
    explain_cause as explain_cause,
    explain_opposed_work as explain_opposed_work,
    explain_slow_starts as explain_slow_starts,
)
from zerolap.explain.counted_work import (
    ExecutedKinds as ExecutedKinds,
    case_evidence as case_evidence,
    case_work as case_work,
)
from zerolap.explain.detectors import (
    BUILT_IN_DETECTORS as BUILT_IN_DETECTORS,
    BUILT_IN_GROUP_DETECTORS as BUILT_IN_GROUP_DETECTORS,
    CaseEvidence as CaseEvidence,
    CaseGroup as CaseGroup,
    CodeLocation as CodeLocation,
    Detector as Detector,
    GroupDetector as GroupDetector,
    Saving as Saving,
    SizedCase as SizedCase,
)
from zerolap.explain.findings import (
    explain_change as explain_change,
    with_calls_of_inlined as with_calls_of_inlined,
)
from zerolap.explain.fork_findings import fork_findings as fork_findings
from zerolap.explain.opportunities import (
    WeightedWork as WeightedWork,
    calibration_of as calibration_of,
    costly_categories as costly_categories,
    costly_functions as costly_functions,
    gain as gain,
    ranked_opportunities as ranked_opportunities,
)
from zerolap.explain.sides import Evidence as Evidence
from zerolap.explain.stated_figures import StatedFigure as StatedFigure
from zerolap.explain.times import (
    explain_times as explain_times,
    with_times as with_times,
)
