"""Engines by name: those of the lab, and those of plugins."""

from zerolap.engines.load_tools import OWN_TOOL, load_tool_named
from zerolap.engines.loaded import Loaded
from zerolap.engines.plugged import Engine
from zerolap.plugins import ENGINES, load_plugin, plugin_names
from zerolap.records import UsageError

BUILT_IN = ("counted", "timed", "sampled")
"""What the lab drives itself: for comparisons too."""
LOADED = "loaded"


def engine_named(name: str, load_tool: str | None = None) -> Engine:
    """Return an engine that measures one server by itself: by a load tool, or as a plugin.

    Raises `UsageError` where there is none, `PluginFault` where it cannot be imported.
    """
    if name == LOADED:
        tool = load_tool or OWN_TOOL
        return Loaded(tool, load_tool_named(tool))
    try:
        return load_plugin(ENGINES, name, Engine)  # type: ignore[type-abstract]
    except KeyError:
        known = ", ".join([*BUILT_IN, LOADED, *plugin_names(ENGINES)])
        raise UsageError(f"there is no engine `{name}` in this version", hint=f"engines: {known}") from None
