"""What measures: each engine turns a job, at a place, into events with measurements."""

from zerolap.engines.argument_probes import METHOD as ARGUMENT_METHOD
from zerolap.engines.argument_probes import MOST_PROBED, ProbedCalls, ProbedEntry, count_repeated, sees_all
from zerolap.engines.counted_deployment import counted_part, counted_topology
from zerolap.engines.emulated_fork import EmulatedTrial, GuestPrograms, emulated_fork, require_visible_in_guest
from zerolap.engines.emulator import MACHINE as EMULATED_MACHINE
from zerolap.engines.emulator import PROCESSOR as EMULATED_PROCESSOR
from zerolap.engines.emulator import require_emulator
from zerolap.engines.engine import (
    QUICK_TRIAL_SECONDS,
    TRIAL_PREFIX,
    TRIAL_SECONDS,
    ComparingEngine,
    Engine,
    EngineTrial,
    FilledServer,
    Place,
    disk_full,
    filled_server,
    trials_of,
)
from zerolap.engines.huge_pages import VARIABLES as HUGE_PAGE_VARIABLES
from zerolap.engines.huge_pages import (
    huge_page_settings,
    require_huge_pages,
    require_huge_pages_possible,
    visible_setting,
)
from zerolap.engines.perf import missing_for_sampling
from zerolap.engines.program_symbols import FunctionSymbol, ambiguous, function_symbols
from zerolap.engines.registry import COMPARING, LOADED, TRACED, engine_named, rules_of_plugins
from zerolap.engines.sampled import PASSES
from zerolap.engines.server_trial import PinnedTrial, deployed
from zerolap.engines.snapshot_figures import EventMoments, event_metrics, seconds_until_normal
from zerolap.engines.snapshot_trial import (
    VALUE_BYTES,
    WRITTEN_FILES,
    SnapshotLoadSettings,
    SnapshotServer,
    filled_snapshot_server,
    snapshot_case,
    snapshot_topology,
)
from zerolap.engines.timed import OF_TIMING, PAIRS_PER_START
from zerolap.engines.traced import TRACED_PASSES
from zerolap.engines.traced_fork import TracedServer, require_snapshot_tracing, trace_snapshot

__all__ = [
    "ARGUMENT_METHOD",
    "COMPARING",
    "EMULATED_MACHINE",
    "EMULATED_PROCESSOR",
    "HUGE_PAGE_VARIABLES",
    "LOADED",
    "MOST_PROBED",
    "OF_TIMING",
    "PAIRS_PER_START",
    "PASSES",
    "QUICK_TRIAL_SECONDS",
    "TRACED",
    "TRACED_PASSES",
    "TRIAL_PREFIX",
    "TRIAL_SECONDS",
    "VALUE_BYTES",
    "WRITTEN_FILES",
    "ComparingEngine",
    "EmulatedTrial",
    "Engine",
    "EngineTrial",
    "EventMoments",
    "FilledServer",
    "FunctionSymbol",
    "GuestPrograms",
    "PinnedTrial",
    "Place",
    "ProbedCalls",
    "ProbedEntry",
    "SnapshotLoadSettings",
    "SnapshotServer",
    "TracedServer",
    "ambiguous",
    "count_repeated",
    "counted_part",
    "counted_topology",
    "deployed",
    "disk_full",
    "emulated_fork",
    "engine_named",
    "event_metrics",
    "filled_server",
    "filled_snapshot_server",
    "function_symbols",
    "huge_page_settings",
    "missing_for_sampling",
    "require_emulator",
    "require_huge_pages",
    "require_huge_pages_possible",
    "require_snapshot_tracing",
    "require_visible_in_guest",
    "rules_of_plugins",
    "seconds_until_normal",
    "sees_all",
    "snapshot_case",
    "snapshot_topology",
    "trace_snapshot",
    "trials_of",
    "visible_setting",
]
