"""Requests, results and blobs: what was asked, measured and concluded, kept so that a crash leaves it readable."""

from zerolap.store.blobs import COMPRESSION_LEVEL as COMPRESSION_LEVEL, Blobs as Blobs, open_blobs as open_blobs
from zerolap.store.default_directory import DEFAULT_DIRECTORY as DEFAULT_DIRECTORY
from zerolap.store.documents import StoredRow as StoredRow
from zerolap.store.fleet import (
    AdmittedAgent as AdmittedAgent,
    Artifact as Artifact,
    Attempt as Attempt,
    FleetPlatform as FleetPlatform,
    KnownAgent as KnownAgent,
    Outcome as Outcome,
)
from zerolap.store.history_measurements import (
    CONFIRMING_TOPIC as CONFIRMING_TOPIC,
    HISTORY_TOPIC as HISTORY_TOPIC,
    AbsoluteTime as AbsoluteTime,
    AcceptedChange as AcceptedChange,
    CommitBuild as CommitBuild,
    CountedPoint as CountedPoint,
    ExplainedStep as ExplainedStep,
    RecordedContrast as RecordedContrast,
    UncountedCase as UncountedCase,
)
from zerolap.store.measured_values import TrialSeries as TrialSeries
from zerolap.store.platform_records import (
    PlatformState as PlatformState,
)
from zerolap.store.recorded_requests import (
    INTERRUPTED_STATES as INTERRUPTED_STATES,
    NamedSource as NamedSource,
    RecordedRequest as RecordedRequest,
    RequestInShort as RequestInShort,
)
from zerolap.store.request_listing import (
    ListedRequest as ListedRequest,
    RequestFilter as RequestFilter,
    RequestProgress as RequestProgress,
    TrialRecord as TrialRecord,
)
from zerolap.store.retention import Removal as Removal, Retention as Retention
from zerolap.store.series_rows import (
    NamedSeries as NamedSeries,
    PointColumns as PointColumns,
    SeriesFilter as SeriesFilter,
    VersionedSeries as VersionedSeries,
)
from zerolap.store.session_records import StoredSession as StoredSession
from zerolap.store.stack_records import SampledTrial as SampledTrial, StackEngine as StackEngine, TimedCost as TimedCost
from zerolap.store.store import Store as Store
from zerolap.store.store_errors import (
    BlobDamaged as BlobDamaged,
    NotConductor as NotConductor,
    RequestBusy as RequestBusy,
)
from zerolap.store.sweep_records import StoredSweep as StoredSweep
from zerolap.store.trials import NumberedTrial as NumberedTrial
from zerolap.store.triggers import (
    ApiToken as ApiToken,
    Post as Post,
    PostKind as PostKind,
    StoredAcknowledgement as StoredAcknowledgement,
    StoredDelivery as StoredDelivery,
    StoredTrigger as StoredTrigger,
    TriggerRecords as TriggerRecords,
    TriggerState as TriggerState,
)
from zerolap.store.work_records import CountedGraph as CountedGraph
