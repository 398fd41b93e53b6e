"""Detectors: each looks for one kind of waste in the call graph of a case, or in those of several cases."""

from zerolap.explain.detectors.built_in import (
    BUILT_IN_DETECTORS as BUILT_IN_DETECTORS,
    BUILT_IN_GROUP_DETECTORS as BUILT_IN_GROUP_DETECTORS,
)
from zerolap.explain.detectors.detector import (
    CaseEvidence as CaseEvidence,
    CodeLocation as CodeLocation,
    Detector as Detector,
    Saving as Saving,
)
from zerolap.explain.detectors.group_detector import (
    CaseGroup as CaseGroup,
    GroupDetector as GroupDetector,
    SizedCase as SizedCase,
)
