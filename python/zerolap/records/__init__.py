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
from zerolap.records.amounts import Amounts, Windows
from zerolap.records.base import Record
from zerolap.records.build import Build, BuildSpec, MeasuredServer, digest_of
from zerolap.records.call_graph import CallGraph, GraphEdge, GraphFunction, GraphTotals
from zerolap.records.case import Case, Dataset, Expect, Generator, State
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
from zerolap.records.client import DEFAULT_DATA_SIZE, Client, ClientCommand, WrittenClient
from zerolap.records.command import DATA, KEY, command_line, container_of, fault_of_command, parse_command, verb_of
from zerolap.records.comparison import (
    COMPARISON_SCHEMA,
    CaseResult,
    CaseVerdict,
    Comparison,
    Settings,
    Summary,
)
from zerolap.records.event import (
    Activity,
    BuildDone,
    Event,
    JobFailed,
    JobFinished,
    JobStarted,
    Note,
    Progress,
    TrialDone,
    event_json,
    read_event,
)
from zerolap.records.finding import Caller, Finding, PerSide
from zerolap.records.job import Block, BuildJob, Job, TrialsJob, job_json, read_job
from zerolap.records.keys import LETTER_OF_PATTERN, KeyRange, Keys, LoadRange
from zerolap.records.measurement import Check, Measurement, Validity
from zerolap.records.metric import METRICS, RUN_TABLE, Metric, metric_named
from zerolap.records.pictures import (
    PICTURES_SCHEMA,
    CasePictures,
    DrawnSide,
    Pictures,
    StackFrame,
    StackNodes,
    StackTree,
)
from zerolap.records.platform import Platform
from zerolap.records.request import Request, RequestedServer, RequestState
from zerolap.records.revision import BinarySource, EndpointSource, Revision, RevisionSource, Source, TreeSource
from zerolap.records.run import RUN_SCHEMA, FunctionCost, RunCase, RunReport
from zerolap.records.series import SeriesKey
from zerolap.records.server import ServerSpec
from zerolap.records.skipped import Skipped, SkipReason
from zerolap.records.spread import Spread
from zerolap.records.timeline import SliceRecord, Timeline
from zerolap.records.topology import STANDALONE, Topology, Transport
from zerolap.records.trial import BASE, HEAD, Side, Trial
from zerolap.records.verdict import Verdict, VerdictWord

__all__ = [
    "BASE",
    "CHECK_SCHEMA",
    "COMPARISON_SCHEMA",
    "DATA",
    "DEFAULT_DATA_SIZE",
    "HEAD",
    "KEY",
    "LETTER_OF_PATTERN",
    "METRICS",
    "PICTURES_SCHEMA",
    "RUN_SCHEMA",
    "RUN_TABLE",
    "SCRIPTS",
    "STANDALONE",
    "Activity",
    "Amounts",
    "BinarySource",
    "Block",
    "Build",
    "BuildDone",
    "BuildFailed",
    "BuildJob",
    "BuildSpec",
    "CallGraph",
    "Caller",
    "Case",
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
    "Client",
    "ClientCommand",
    "CommandFacts",
    "Comparison",
    "Dataset",
    "DrawnSide",
    "EndpointSource",
    "EnvironmentMissing",
    "Event",
    "Expect",
    "Fault",
    "FaultKind",
    "FileChange",
    "Finding",
    "FunctionCost",
    "Generator",
    "GraphEdge",
    "GraphFunction",
    "GraphTotals",
    "Held",
    "HeldOverTime",
    "Hunk",
    "Interrupted",
    "Job",
    "JobFailed",
    "JobFinished",
    "JobStarted",
    "KeyRange",
    "Keys",
    "LoadRange",
    "MeasuredServer",
    "Measurement",
    "Metric",
    "Note",
    "PerSide",
    "Pictures",
    "Platform",
    "Progress",
    "Record",
    "Request",
    "RequestState",
    "RequestedServer",
    "Revision",
    "RevisionSource",
    "RunCase",
    "RunReport",
    "SeriesKey",
    "ServerSpec",
    "Settings",
    "Side",
    "SkipReason",
    "Skipped",
    "SliceRecord",
    "Source",
    "Spread",
    "StackFrame",
    "StackNodes",
    "StackTree",
    "State",
    "Summary",
    "Timeline",
    "Topology",
    "Transport",
    "TreeSource",
    "Trial",
    "TrialDone",
    "TrialFailed",
    "TrialsJob",
    "UsageError",
    "Validity",
    "Verdict",
    "VerdictWord",
    "Windows",
    "WrittenClient",
    "ZerolapError",
    "command_line",
    "container_of",
    "digest_of",
    "event_json",
    "fault_of_command",
    "job_json",
    "metric_named",
    "parse_command",
    "read_event",
    "read_job",
    "verb_of",
]
