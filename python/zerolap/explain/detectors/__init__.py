"""Detectors: each looks for one kind of waste in the call graph of a case, or in those of several cases."""

from zerolap.explain.detectors.built_in import BUILT_IN, BUILT_IN_OF_GROUPS
from zerolap.explain.detectors.detector import CaseEvidence, CodePlace, Detector, Saving
from zerolap.explain.detectors.group_detector import CaseGroup, GroupDetector, SizedCase

__all__ = [
    "BUILT_IN",
    "BUILT_IN_OF_GROUPS",
    "CaseEvidence",
    "CaseGroup",
    "CodePlace",
    "Detector",
    "GroupDetector",
    "Saving",
    "SizedCase",
]
