"""Engines by name: those of the lab, and those of plugins."""

from collections.abc import Sequence

from zerolap.engines.allocated import Allocated
from zerolap.engines.checked import Checked
from zerolap.engines.counted import Counted
from zerolap.engines.emulated_forks import EmulatedForks
from zerolap.engines.engine import ComparingEngine, Engine
from zerolap.engines.loaded import Loaded
from zerolap.engines.sampled import Sampled
from zerolap.engines.snapshots import Snapshots
from zerolap.engines.timed import Timed
from zerolap.engines.traced import Traced
from zerolap.plugins import ENGINES, PluginFault, load_plugin, plugin_names
from zerolap.records import METRICS, TRACED, MetricRule, UsageError

COMPARING = ("counted", "timed", "sampled")
"""Engines of the lab that measure both sides of a comparison, where no others are chosen."""
LOADED = "loaded"
SNAPSHOT = "snapshot"
SNAPSHOT_TRACE = "snapshot-trace"
EMULATED = "emulated"
CHECKED = "checked"
ALLOCATED = "allocated"
OF_OTHER_VERBS: dict[str, Engine] = {
    SNAPSHOT: Snapshots(),
    SNAPSHOT_TRACE: Snapshots(traces=True),
    EMULATED: EmulatedForks(),
    CHECKED: Checked(),
    ALLOCATED: Allocated(),
}
"""Engines of sweeps and checks, and the one that the lab uses where bytes changed: they are not to be chosen."""
NOT_ENGINES = ("memory", "tail")
"""Names that `--min-effect` has for something else than an engine."""
OWN: dict[str, Engine] = {
    "counted": Counted(),
    "timed": Timed(),
    "sampled": Sampled(),
    TRACED: Traced(),
    LOADED: Loaded(),
}


def engine_named(name: str) -> Engine:
    """Return an engine; raises `UsageError` where there is none, `PluginFault` where it cannot be imported."""
    if name in OWN or name in OF_OTHER_VERBS:
        return OWN[name] if name in OWN else OF_OTHER_VERBS[name]
    try:
        return load_plugin(ENGINES, name, Engine)  # type: ignore[type-abstract]
    except KeyError:
        known = ", ".join([*OWN, *plugin_names(ENGINES)])
        raise UsageError(f"there is no engine `{name}` in this version", hint=f"engines: {known}") from None


def rules_of_plugins(engines: Sequence[str]) -> list[MetricRule]:
    """Return the metrics by which those of the engines that are plugins compare two servers.

    Raises `UsageError` for an engine that does not compare, `PluginFault` for a metric that another engine has.
    """
    rules: dict[str, MetricRule] = {}
    for name in engines:
        if name in (*COMPARING, TRACED):
            continue
        engine = engine_named(name)
        if name in NOT_ENGINES:
            raise PluginFault(
                f"an engine that compares cannot be called `{name}`", hint="--min-effect has it for other metrics"
            )
        if not isinstance(engine, ComparingEngine):
            raise UsageError(
                f"the engine `{name}` measures a single server and cannot compare two",
                hint=f"zerolap run --engine {name}",
            )
        declared: Sequence[object] = engine.metrics
        for rule in declared:
            if not isinstance(rule, MetricRule) or rule.engine != name or rule.name in METRICS or rule.name in rules:
                raise PluginFault(
                    f"the engine `{name}` cannot compare by {rule!r}",
                    hint=f'its metrics are of the kind `MetricRule(engine="{name}", ...)`, under names of their own',
                )
            rules[rule.name] = rule
    return list(rules.values())
