"""Requests, results and blobs: what was asked, measured and concluded, kept so that a crash leaves it readable."""

from zerolap.store.attempt_records import AttemptInShort, PlatformQueue, StoredFailure
from zerolap.store.blobs import COMPRESSION_LEVEL, Blobs, open_blobs
from zerolap.store.default_directory import DEFAULT_DIRECTORY
from zerolap.store.documents import StoredRow
from zerolap.store.fleet import (
    AdmittedAgent,
    Artifact,
    Attempt,
    AttemptState,
    FleetPlatform,
    FleetRecords,
    JobKind,
    KnownAgent,
    Outcome,
)
from zerolap.store.history_records import CONFIRMING as CONFIRMING_TOPIC
from zerolap.store.history_records import TOPIC as HISTORY_TOPIC
from zerolap.store.history_records import (
    AbsoluteTime,
    AcceptedChange,
    CommitBuild,
    CountedPoint,
    ExplainedStep,
    HistoryRecords,
    RecordedContrast,
    UncountedCase,
)
from zerolap.store.imported_records import ImportedRecords, ImportSource
from zerolap.store.kept_histories import KeptHistories
from zerolap.store.kept_series import (
    GroupChange,
    KeptChange,
    KeptCommit,
    KeptHistory,
    KeptPoints,
    KeptSeries,
    KeptVersion,
    NamedSeries,
    SeriesFilter,
    VersionedSeries,
)
from zerolap.store.kept_sweep import KeptSweep
from zerolap.store.measured_values import MeasuredValue, MeasuredValues, TrialGroup, TrialSeries
from zerolap.store.platform_records import (
    DecidedCase,
    FalseAlarm,
    FalseAlarmCounts,
    PlatformState,
    PooledSpread,
    StoredPlatform,
)
from zerolap.store.recorded_requests import INTERRUPTED_STATES, NamedSource, RecordedRequest, RequestInShort
from zerolap.store.report_records import (
    ListedRequest,
    ReportRecords,
    RequestFilter,
    RequestPage,
    RequestProgress,
    TrialRecord,
)
from zerolap.store.retention import Removal, Retention
from zerolap.store.session_records import StoredSession
from zerolap.store.stack_records import (
    FunctionLines,
    SampledResult,
    SampledTrial,
    StackEngine,
    StackRecords,
    TimedCost,
)
from zerolap.store.store import Store
from zerolap.store.store_errors import BlobDamaged, NotConductor, RequestBusy
from zerolap.store.sweep_records import StoredSweep, SweepRecords
from zerolap.store.trials import FailedTrial, NumberedTrial, RecordedJob
from zerolap.store.triggers import (
    ApiToken,
    Post,
    PostKind,
    StoredAcknowledgement,
    StoredDelivery,
    StoredTrigger,
    TriggerBacklog,
    TriggerRecords,
    TriggerState,
)
from zerolap.store.work_records import CountedGraph, WorkRecords

__all__ = [
    "COMPRESSION_LEVEL",
    "CONFIRMING_TOPIC",
    "DEFAULT_DIRECTORY",
    "HISTORY_TOPIC",
    "INTERRUPTED_STATES",
    "AbsoluteTime",
    "AcceptedChange",
    "AdmittedAgent",
    "ApiToken",
    "Artifact",
    "Attempt",
    "AttemptInShort",
    "AttemptState",
    "BlobDamaged",
    "Blobs",
    "CommitBuild",
    "CountedGraph",
    "CountedPoint",
    "DecidedCase",
    "ExplainedStep",
    "FailedTrial",
    "FalseAlarm",
    "FalseAlarmCounts",
    "FleetPlatform",
    "FleetRecords",
    "FunctionLines",
    "GroupChange",
    "HistoryRecords",
    "ImportSource",
    "ImportedRecords",
    "JobKind",
    "KeptChange",
    "KeptCommit",
    "KeptHistories",
    "KeptHistory",
    "KeptPoints",
    "KeptSeries",
    "KeptSweep",
    "KeptVersion",
    "KnownAgent",
    "ListedRequest",
    "MeasuredValue",
    "MeasuredValues",
    "NamedSeries",
    "NamedSource",
    "NotConductor",
    "NumberedTrial",
    "Outcome",
    "PlatformQueue",
    "PlatformState",
    "PooledSpread",
    "Post",
    "PostKind",
    "RecordedContrast",
    "RecordedJob",
    "RecordedRequest",
    "Removal",
    "ReportRecords",
    "RequestBusy",
    "RequestFilter",
    "RequestInShort",
    "RequestPage",
    "RequestProgress",
    "Retention",
    "SampledResult",
    "SampledTrial",
    "SeriesFilter",
    "StackEngine",
    "StackRecords",
    "Store",
    "StoredAcknowledgement",
    "StoredDelivery",
    "StoredFailure",
    "StoredPlatform",
    "StoredRow",
    "StoredSession",
    "StoredSweep",
    "StoredTrigger",
    "SweepRecords",
    "TimedCost",
    "TrialGroup",
    "TrialRecord",
    "TrialSeries",
    "TriggerBacklog",
    "TriggerRecords",
    "TriggerState",
    "UncountedCase",
    "VersionedSeries",
    "WorkRecords",
    "open_blobs",
]
