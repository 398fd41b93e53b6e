"""Engines by name: those of the lab, and those of plugins."""

from zerolap.engines.counted import Counted
from zerolap.engines.engine import Engine
from zerolap.engines.loaded import Loaded
from zerolap.engines.sampled import Sampled
from zerolap.engines.timed import Timed
from zerolap.plugins import ENGINES, load_plugin, plugin_names
from zerolap.records import UsageError

COMPARING = ("counted", "timed", "sampled")
"""Engines that measure both sides of a comparison."""
LOADED = "loaded"
OWN: dict[str, Engine] = {"counted": Counted(), "timed": Timed(), "sampled": Sampled(), LOADED: Loaded()}


def engine_named(name: str) -> Engine:
    """Return an engine; raises `UsageError` where there is none, `PluginFault` where it cannot be imported."""
    if name in OWN:
        return OWN[name]
    try:
        return load_plugin(ENGINES, name, Engine)  # type: ignore[type-abstract]
    except KeyError:
        known = ", ".join([*OWN, *plugin_names(ENGINES)])
        raise UsageError(f"there is no engine `{name}` in this version", hint=f"engines: {known}") from None
