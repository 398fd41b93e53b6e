"""The words of the lab as types; `docs/glossary.md` says what each means."""

from zerolap.errors import (
    BuildFailed,
    CaseFileError,
    CaseRefused,
    EnvironmentMissing,
    Interrupted,
    TrialFailed,
    UsageError,
    ZerolapError,
)
from zerolap.records.base import Record
from zerolap.records.build import Build, SourceName
from zerolap.records.call_graph import CallGraph, GraphEdge, GraphFunction, GraphTotals
from zerolap.records.case_check import (
    CHECK_SCHEMA,
    SCRIPTS,
    CaseFacts,
    CheckedCase,
    CheckReport,
    CommandFacts,
    Fault,
    FaultKind,
    Held,
    HeldOverTime,
)
from zerolap.records.changes import Changes, FileChange, Hunk
from zerolap.records.comparison import (
    COMPARISON_SCHEMA,
    CaseResult,
    CaseVerdict,
    Comparison,
    Settings,
    Summary,
)
from zerolap.records.finding import Caller, Finding, PerSide
from zerolap.records.measurement import Check, Measurement, Validity
from zerolap.records.metric import METRICS, RUN_TABLE, Metric, metric_named
from zerolap.records.pictures import (
    PICTURES_SCHEMA,
    CasePictures,
    Pictures,
    StackFrame,
    StackNodes,
    StackTree,
)
from zerolap.records.platform import Platform
from zerolap.records.run import RUN_SCHEMA, FunctionCost, RunCase, RunReport
from zerolap.records.skipped import Skipped, SkipReason
from zerolap.records.spread import Spread
from zerolap.records.timeline import SliceRecord, Timeline
from zerolap.records.trial import Side, Trial
from zerolap.records.verdict import Verdict, VerdictWord

__all__ = [
    "CHECK_SCHEMA",
    "COMPARISON_SCHEMA",
    "METRICS",
    "PICTURES_SCHEMA",
    "RUN_SCHEMA",
    "RUN_TABLE",
    "SCRIPTS",
    "Build",
    "BuildFailed",
    "CallGraph",
    "Caller",
    "CaseFacts",
    "CaseFileError",
    "CasePictures",
    "CaseRefused",
    "CaseResult",
    "CaseVerdict",
    "Changes",
    "Check",
    "CheckReport",
    "CheckedCase",
    "CommandFacts",
    "Comparison",
    "EnvironmentMissing",
    "Fault",
    "FaultKind",
    "FileChange",
    "Finding",
    "FunctionCost",
    "GraphEdge",
    "GraphFunction",
    "GraphTotals",
    "Held",
    "HeldOverTime",
    "Hunk",
    "Interrupted",
    "Measurement",
    "Metric",
    "PerSide",
    "Pictures",
    "Platform",
    "Record",
    "RunCase",
    "RunReport",
    "Settings",
    "Side",
    "SkipReason",
    "Skipped",
    "SliceRecord",
    "SourceName",
    "Spread",
    "StackFrame",
    "StackNodes",
    "StackTree",
    "Summary",
    "Timeline",
    "Trial",
    "TrialFailed",
    "UsageError",
    "Validity",
    "Verdict",
    "VerdictWord",
    "ZerolapError",
    "metric_named",
]
