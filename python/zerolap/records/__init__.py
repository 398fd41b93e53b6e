"""The terms of the lab as types; `docs/glossary.md` defines them."""

from zerolap.errors import (
    BuildFailed as BuildFailed,
    CaseFileError as CaseFileError,
    CaseRefused as CaseRefused,
    EnvironmentMissing as EnvironmentMissing,
    Interrupted as Interrupted,
    TrialFailed as TrialFailed,
    UnreadableRecord as UnreadableRecord,
    UsageError as UsageError,
    ZerolapError as ZerolapError,
)
from zerolap.records.allocation_sites import (
    MOST_CALLERS as MOST_CALLERS,
    MOST_SITES as MOST_SITES,
    AllocatingFrame as AllocatingFrame,
    AllocationSite as AllocationSite,
    AllocationSites as AllocationSites,
)
from zerolap.records.base import FirstFault as FirstFault, Record as Record, read_stored as read_stored
from zerolap.records.bisect_report import (
    BisectCulprit as BisectCulprit,
    BisectMeasurement as BisectMeasurement,
    BisectOutcome as BisectOutcome,
    BisectReport as BisectReport,
)
from zerolap.records.build import (
    DEFAULT_VARIANT as DEFAULT_VARIANT,
    Build as Build,
    BuildSpec as BuildSpec,
    MeasuredServer as MeasuredServer,
    digest_of as digest_of,
    server_name as server_name,
    without_language as without_language,
)
from zerolap.records.call_counts import CallCounts as CallCounts, CalledFunction as CalledFunction
from zerolap.records.call_graph import CallGraph as CallGraph, GraphEdge as GraphEdge, GraphFunction as GraphFunction
from zerolap.records.case import (
    QUICK_SCALE as QUICK_SCALE,
    Case as Case,
    Dataset as Dataset,
    Expect as Expect,
    Generator as Generator,
)
from zerolap.records.case_check import (
    LARGEST_NOTHING_SHARE as LARGEST_NOTHING_SHARE,
    PROVING_CALLS as PROVING_CALLS,
    SCRIPTS as SCRIPTS,
    CaseFacts as CaseFacts,
    CheckedCase as CheckedCase,
    CheckReport as CheckReport,
    CommandFacts as CommandFacts,
    ExecutedCalls as ExecutedCalls,
    Fault as Fault,
    Held as Held,
    HeldOverTime as HeldOverTime,
)
from zerolap.records.changed_function import (
    ChangedFunction as ChangedFunction,
    ChangedFunctions as ChangedFunctions,
)
from zerolap.records.changes import (
    NO_CODE as NO_CODE,
    Changes as Changes,
    FileChange as FileChange,
    FunctionCode as FunctionCode,
    FunctionsOfBuild as FunctionsOfBuild,
    Hunk as Hunk,
    SourceFunction as SourceFunction,
    SourceFunctions as SourceFunctions,
    UnknownChanges as UnknownChanges,
    is_compiled as is_compiled,
    may_be_built as may_be_built,
)
from zerolap.records.client import (
    DEFAULT_DATA_SIZE as DEFAULT_DATA_SIZE,
    LETTER_OF_PATTERN as LETTER_OF_PATTERN,
    NOT_OF_A_SLICE as NOT_OF_A_SLICE,
    Client as Client,
    ClientCommand as ClientCommand,
    KeyRange as KeyRange,
    Keys as Keys,
    LoadRange as LoadRange,
    WrittenClient as WrittenClient,
)
from zerolap.records.command import (
    CONTAINERS as CONTAINERS,
    DATA as DATA,
    KEY as KEY,
    command_line as command_line,
    container_of as container_of,
    fault_of_command as fault_of_command,
    parse_command as parse_command,
    verb_of as verb_of,
)
from zerolap.records.comparison import (
    COMPARISON_SCHEMA as COMPARISON_SCHEMA,
    REGRESSION_RULE as REGRESSION_RULE,
    CaseResult as CaseResult,
    CaseVerdict as CaseVerdict,
    ChangedFiles as ChangedFiles,
    Comparison as Comparison,
    DocumentState as DocumentState,
    FalseAlarms as FalseAlarms,
    Reading as Reading,
    Settings as Settings,
    Summary as Summary,
    TimeWord as TimeWord,
)
from zerolap.records.coverage import (
    CommandCoverage as CommandCoverage,
    CoverageCounts as CoverageCounts,
    CoverageReport as CoverageReport,
    Excuse as Excuse,
    KnownCommand as KnownCommand,
)
from zerolap.records.emulated_snapshot import (
    EmulatedPart as EmulatedPart,
    EmulatedPoint as EmulatedPoint,
    EmulatedSettings as EmulatedSettings,
    EmulatedSide as EmulatedSide,
    EmulatedSnapshotReport as EmulatedSnapshotReport,
    EmulatedSweep as EmulatedSweep,
    ForkKind as ForkKind,
    Kernel as Kernel,
    KernelFiles as KernelFiles,
    KernelPatch as KernelPatch,
)
from zerolap.records.event import (
    Activity as Activity,
    BuildDone as BuildDone,
    Event as Event,
    JobFailed as JobFailed,
    JobFinished as JobFinished,
    JobStarted as JobStarted,
    Note as Note,
    Progress as Progress,
    TrialDone as TrialDone,
    event_json as event_json,
    read_event as read_event,
)
from zerolap.records.fields import (
    PLACEHOLDER as PLACEHOLDER,
    Filled as Filled,
    Positive as Positive,
    number_of as number_of,
)
from zerolap.records.finding import (
    Caller as Caller,
    Carrier as Carrier,
    Finding as Finding,
    NamedLines as NamedLines,
    Part as Part,
    PerSide as PerSide,
)
from zerolap.records.history import (
    FLAT as FLAT,
    SHORT_COMMIT as SHORT_COMMIT,
    BoundedChange as BoundedChange,
    History as History,
    HistoryChange as HistoryChange,
    HistoryCommit as HistoryCommit,
    HistoryLedger as HistoryLedger,
    HistoryPoint as HistoryPoint,
    HistorySeries as HistorySeries,
    ImportedPoint as ImportedPoint,
    ImportedSeries as ImportedSeries,
    ListedCommit as ListedCommit,
    PlatformEvent as PlatformEvent,
    RangeCommit as RangeCommit,
    ReportedChange as ReportedChange,
    SeriesSubject as SeriesSubject,
    VersionPoint as VersionPoint,
)
from zerolap.records.job import (
    AttemptState as AttemptState,
    Block as Block,
    BuildJob as BuildJob,
    FleetJob as FleetJob,
    GivenJob as GivenJob,
    Job as Job,
    JobFailure as JobFailure,
    JobKind as JobKind,
    LoadJob as LoadJob,
    TrialsJob as TrialsJob,
    job_json as job_json,
    read_job as read_job,
    read_stored_given_job as read_stored_given_job,
    read_stored_job as read_stored_job,
)
from zerolap.records.known_platform import (
    FalseAlarm as FalseAlarm,
    FalseAlarmCounts as FalseAlarmCounts,
    ListedPlatform as ListedPlatform,
    PlatformResult as PlatformResult,
    StartSpread as StartSpread,
)
from zerolap.records.measured_regime import MeasuredRegime as MeasuredRegime
from zerolap.records.measurement import (
    CHECKS_OF_MACHINE as CHECKS_OF_MACHINE,
    CHECKS_OF_SERVER as CHECKS_OF_SERVER,
    CHECKS_OF_TIMING as CHECKS_OF_TIMING,
    DISTURBANCES as DISTURBANCES,
    LOAD_HOST as LOAD_HOST,
    Check as Check,
    Measurement as Measurement,
    Placement as Placement,
    Validity as Validity,
)
from zerolap.records.metric import (
    CONTROL as CONTROL,
    COUNTER_METRICS as COUNTER_METRICS,
    MEMORY_METRICS as MEMORY_METRICS,
    METRICS as METRICS,
    RUN_TABLE as RUN_TABLE,
    TRACED as TRACED,
    TRACED_METRICS as TRACED_METRICS,
    Answer as Answer,
    Decides as Decides,
    Metric as Metric,
    MetricRule as MetricRule,
    with_rules_of_plugins as with_rules_of_plugins,
)
from zerolap.records.moments import moment_text as moment_text, now as now
from zerolap.records.open_loads import (
    FAR_TAIL as FAR_TAIL,
    LONGEST_PAUSE as LONGEST_PAUSE,
    OPEN_LOOP_LOADS as OPEN_LOOP_LOADS,
    TAIL as TAIL,
    TAIL_AT_HALF as TAIL_AT_HALF,
    TAIL_METRICS as TAIL_METRICS,
    OpenLoad as OpenLoad,
    OpenLoadRecord as OpenLoadRecord,
)
from zerolap.records.opportunity import (
    NO_SAVING as NO_SAVING,
    ArgumentCheck as ArgumentCheck,
    BuildVariant as BuildVariant,
    Calibration as Calibration,
    CaseOpportunity as CaseOpportunity,
    Category as Category,
    CommandGain as CommandGain,
    Confidence as Confidence,
    CountedWork as CountedWork,
    Estimate as Estimate,
    FunctionWork as FunctionWork,
    GroupWork as GroupWork,
    KnownEdit as KnownEdit,
    KnownEdits as KnownEdits,
    Opportunities as Opportunities,
    Opportunity as Opportunity,
    OpportunityCase as OpportunityCase,
    RemovedCost as RemovedCost,
    VariantCase as VariantCase,
    WeighedCase as WeighedCase,
    WeighedCategory as WeighedCategory,
    WeighedFunction as WeighedFunction,
)
from zerolap.records.pictures import (
    CasePictures as CasePictures,
    DrawnSide as DrawnSide,
    LinedSide as LinedSide,
    Pictures as Pictures,
    SampledLines as SampledLines,
    SourceText as SourceText,
    StackFrame as StackFrame,
    StackNodes as StackNodes,
    StackTree as StackTree,
)
from zerolap.records.platform import Platform as Platform
from zerolap.records.pooled_change import PooledChange as PooledChange, PooledScope as PooledScope
from zerolap.records.profile import (
    PROFILE_SCHEMA as PROFILE_SCHEMA,
    CaseProfile as CaseProfile,
    FunctionSource as FunctionSource,
    FunctionTime as FunctionTime,
    ProfiledThread as ProfiledThread,
    SourceLine as SourceLine,
)
from zerolap.records.published_history import (
    ChangedGroup as ChangedGroup,
    PublishedChange as PublishedChange,
    PublishedCommit as PublishedCommit,
    PublishedHistory as PublishedHistory,
    PublishedSeries as PublishedSeries,
)
from zerolap.records.regime import (
    AppliesTo as AppliesTo,
    CaseRegimes as CaseRegimes,
    InRegime as InRegime,
    Regime as Regime,
    RegimeChoice as RegimeChoice,
    RegimeEntry as RegimeEntry,
    State as State,
    name_in_regime as name_in_regime,
)
from zerolap.records.request import (
    PRIORITIES as PRIORITIES,
    REPORT_PATHS as REPORT_PATHS,
    Priority as Priority,
    ReportPath as ReportPath,
    Request as Request,
    RequestedServer as RequestedServer,
    RequestKind as RequestKind,
    RequestState as RequestState,
    document_state as document_state,
)
from zerolap.records.resolved import Resolved as Resolved, ResolvedServer as ResolvedServer
from zerolap.records.revision import (
    ArchiveSource as ArchiveSource,
    BinarySource as BinarySource,
    EndpointSource as EndpointSource,
    Revision as Revision,
    RevisionSource as RevisionSource,
    Source as Source,
    TreeSource as TreeSource,
    revision_of as revision_of,
)
from zerolap.records.run import FunctionCost as FunctionCost, RunCase as RunCase, RunReport as RunReport
from zerolap.records.sampled_side import (
    NamedFunction as NamedFunction,
    SampledFunction as SampledFunction,
    SampledPass as SampledPass,
    SampledSide as SampledSide,
)
from zerolap.records.series import SeriesKey as SeriesKey, Spread as Spread, StartRatio as StartRatio
from zerolap.records.server import (
    LAB_PASSWORD as LAB_PASSWORD,
    OF_A_PASSWORD as OF_A_PASSWORD,
    Abilities as Abilities,
    ServerSpec as ServerSpec,
    with_lab_passwords as with_lab_passwords,
)
from zerolap.records.skipped import Skipped as Skipped, SkipReason as SkipReason
from zerolap.records.snapshot import (
    SNAPSHOT_RULES as SNAPSHOT_RULES,
    FailedSize as FailedSize,
    HugePages as HugePages,
    LineFit as LineFit,
    MedianEstimate as MedianEstimate,
    SeriesSlot as SeriesSlot,
    SnapshotEvent as SnapshotEvent,
    SnapshotLoad as SnapshotLoad,
    SnapshotPart as SnapshotPart,
    SnapshotPoint as SnapshotPoint,
    SnapshotRepetition as SnapshotRepetition,
    SnapshotReport as SnapshotReport,
    SnapshotSettings as SnapshotSettings,
    SnapshotSide as SnapshotSide,
    SnapshotStart as SnapshotStart,
    SnapshotSweep as SnapshotSweep,
    SnapshotVerdicts as SnapshotVerdicts,
    SweepReading as SweepReading,
    SweepRepetition as SweepRepetition,
)
from zerolap.records.snapshot_trace import (
    MOST_CALL_STACKS as MOST_CALL_STACKS,
    MOST_CHILD_CALLS as MOST_CHILD_CALLS,
    MOST_CHILD_STEPS as MOST_CHILD_STEPS,
    MOST_FORK_FUNCTIONS as MOST_FORK_FUNCTIONS,
    MOST_PARENT_CALLS as MOST_PARENT_CALLS,
    ChildCall as ChildCall,
    ChildStep as ChildStep,
    ForkFinding as ForkFinding,
    ForkFindingKind as ForkFindingKind,
    ForkPart as ForkPart,
    ForkPartName as ForkPartName,
    KernelFunction as KernelFunction,
    PageFaultCounts as PageFaultCounts,
    PageFaultKind as PageFaultKind,
    ParentCall as ParentCall,
    SnapshotTrace as SnapshotTrace,
    TimeOff as TimeOff,
    TimeOffReason as TimeOffReason,
)
from zerolap.records.sweep_report import (
    Sweep as Sweep,
    SweepPart as SweepPart,
    SweepReport as SweepReport,
    read_stored_sweep as read_stored_sweep,
)
from zerolap.records.timeline import (
    SliceRecord as SliceRecord,
    Timeline as Timeline,
    latencies_us as latencies_us,
    sum_of_histograms as sum_of_histograms,
)
from zerolap.records.topology import STANDALONE as STANDALONE, Topology as Topology
from zerolap.records.traced_case import (
    LONGEST_TRACED_NAME as LONGEST_TRACED_NAME,
    MOST_TRACED_CALLS as MOST_TRACED_CALLS,
    MOST_TRACED_FRAMES as MOST_TRACED_FRAMES,
    MOST_TRACED_STACKS as MOST_TRACED_STACKS,
    MOST_TRACED_THREADS as MOST_TRACED_THREADS,
    TracedCall as TracedCall,
    TracedCase as TracedCase,
    TracedEvent as TracedEvent,
    TracedSide as TracedSide,
    TracedSides as TracedSides,
    TracedStack as TracedStack,
    TracedStacks as TracedStacks,
    TracedThread as TracedThread,
)
from zerolap.records.trial import (
    ANCHOR as ANCHOR,
    BASE as BASE,
    HEAD as HEAD,
    Amounts as Amounts,
    Side as Side,
    Trial as Trial,
    Windows as Windows,
)
from zerolap.records.verdict import (
    CHANGED as CHANGED,
    OF_INSTRUCTIONS as OF_INSTRUCTIONS,
    UNCHANGED as UNCHANGED,
    Bound as Bound,
    LopsidedReason as LopsidedReason,
    Verdict as Verdict,
    VerdictWord as VerdictWord,
    WildStarts as WildStarts,
)
from zerolap.records.version_table import (
    BuildDifference as BuildDifference,
    TableCause as TableCause,
    TableCell as TableCell,
    TableChange as TableChange,
    TableCommand as TableCommand,
    TableRow as TableRow,
    TableTotal as TableTotal,
    TableVersion as TableVersion,
    VersionTable as VersionTable,
)
from zerolap.records.weights import (
    CaseWeights as CaseWeights,
    StatedWeights as StatedWeights,
    Weighting as Weighting,
    named_weights as named_weights,
    priority_weights as priority_weights,
)
