"""Why a case changed: call graphs of both sides in, findings out; no clock, no file, no process."""

from zerolap.explain.attribution import SourceFunction
from zerolap.explain.causes import explain_cause
from zerolap.explain.findings import Evidence, explain_change

__all__ = ["Evidence", "SourceFunction", "explain_cause", "explain_change"]
