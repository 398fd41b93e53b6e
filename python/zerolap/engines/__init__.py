"""What measures: each engine turns a job, at a place, into events with measurements."""

from zerolap.engines.argument_probes import (
    ARGUMENT_METHOD as ARGUMENT_METHOD,
    MOST_PROBED as MOST_PROBED,
    ProbedCalls as ProbedCalls,
    ProbedEntry as ProbedEntry,
    count_repeated as count_repeated,
    sees_all as sees_all,
)
from zerolap.engines.counted_deployment import counted_topology as counted_topology
from zerolap.engines.emulated_fork import (
    EmulatedTrial as EmulatedTrial,
    require_visible_in_guest as require_visible_in_guest,
)
from zerolap.engines.emulated_forks import machines_at_once as machines_at_once
from zerolap.engines.emulator import (
    EMULATED_MACHINE as EMULATED_MACHINE,
    EMULATED_PROCESSOR as EMULATED_PROCESSOR,
    require_emulator as require_emulator,
)
from zerolap.engines.engine import (
    QUICK_TRIAL_SECONDS as QUICK_TRIAL_SECONDS,
    TRIAL_PREFIX as TRIAL_PREFIX,
    TRIAL_SECONDS as TRIAL_SECONDS,
    Engine as Engine,
    EngineTrial as EngineTrial,
    Place as Place,
    disk_full as disk_full,
    filled_server as filled_server,
    trials_of as trials_of,
)
from zerolap.engines.huge_pages import require_huge_pages_possible as require_huge_pages_possible
from zerolap.engines.perf import missing_for_sampling as missing_for_sampling
from zerolap.engines.program_symbols import (
    FunctionSymbol as FunctionSymbol,
    ambiguous as ambiguous,
    function_symbols as function_symbols,
)
from zerolap.engines.registry import (
    ALLOCATED as ALLOCATED,
    CHECKED as CHECKED,
    COMPARING as COMPARING,
    EMULATED as EMULATED,
    LOADED as LOADED,
    OF_OTHER_VERBS as OF_OTHER_VERBS,
    SNAPSHOT as SNAPSHOT,
    SNAPSHOT_TRACE as SNAPSHOT_TRACE,
    engine_named as engine_named,
    rules_of_plugins as rules_of_plugins,
)
from zerolap.engines.sampled import PASSES as PASSES
from zerolap.engines.server_trial import PinnedTrial as PinnedTrial, deployed as deployed
from zerolap.engines.shared_start import (
    SharedStart as SharedStart,
    cases_per_start as cases_per_start,
    share_start as share_start,
    shared_servers as shared_servers,
)
from zerolap.engines.simulated import Simulated as Simulated
from zerolap.engines.snapshot_figures import (
    EventMoments as EventMoments,
    event_metrics as event_metrics,
    seconds_until_normal as seconds_until_normal,
)
from zerolap.engines.snapshot_sizes import (
    Room as Room,
    fitting_machines as fitting_machines,
    fitting_sizes as fitting_sizes,
)
from zerolap.engines.snapshot_trial import (
    VALUE_BYTES as VALUE_BYTES,
    snapshot_case as snapshot_case,
)
from zerolap.engines.snapshots import oversubscribed as oversubscribed
from zerolap.engines.timed import PAIRS_PER_START as PAIRS_PER_START
from zerolap.engines.traced import TRACED_PASSES as TRACED_PASSES
from zerolap.engines.traced_fork import require_snapshot_tracing as require_snapshot_tracing
