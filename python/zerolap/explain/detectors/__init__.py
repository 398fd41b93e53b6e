"""Detectors: each looks for one kind of waste in the call graph of a case."""

from zerolap.explain.detectors.built_in import BUILT_IN
from zerolap.explain.detectors.detector import CaseEvidence, CodePlace, Detector, Saving

__all__ = ["BUILT_IN", "CaseEvidence", "CodePlace", "Detector", "Saving"]
