"""Requests, results and blobs: what was asked, measured and concluded, kept so that a crash leaves it readable."""

from zerolap.store.blobs import Blobs, open_blobs
from zerolap.store.directory import DEFAULT_DIRECTORY
from zerolap.store.documents import StoredRow
from zerolap.store.faults import BlobDamaged, NotConductor, RequestBusy
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
from zerolap.store.requests import NamedSource, RecordedRequest, RequestInShort
from zerolap.store.retention import Removed, Retention
from zerolap.store.store import Store
from zerolap.store.trials import FailedTrial, RecordedJob
from zerolap.store.triggers import (
    Acknowledgement,
    ApiToken,
    Post,
    StoredDelivery,
    StoredTrigger,
    TriggerBacklog,
    TriggerRecords,
    TriggerState,
)

__all__ = [
    "DEFAULT_DIRECTORY",
    "Acknowledgement",
    "AdmittedAgent",
    "ApiToken",
    "Artifact",
    "Attempt",
    "AttemptState",
    "BlobDamaged",
    "Blobs",
    "FailedTrial",
    "FleetPlatform",
    "FleetRecords",
    "JobKind",
    "KnownAgent",
    "NamedSource",
    "NotConductor",
    "Outcome",
    "Post",
    "RecordedJob",
    "RecordedRequest",
    "Removed",
    "RequestBusy",
    "RequestInShort",
    "Retention",
    "Store",
    "StoredDelivery",
    "StoredRow",
    "StoredTrigger",
    "TriggerBacklog",
    "TriggerRecords",
    "TriggerState",
    "open_blobs",
]
