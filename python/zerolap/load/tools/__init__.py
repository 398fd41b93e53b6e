"""Load tools: the lab's own load generator, known benchmark programs, and those of plugins."""

from zerolap.load.tools.benchmark import Benchmark
from zerolap.load.tools.interface import (
    LoadOutcome as LoadOutcome,
    LoadTool as LoadTool,
    LoadWork as LoadWork,
)
from zerolap.load.tools.memtier import Memtier, OwnLoad
from zerolap.plugins import LOAD_TOOLS, load_plugin, plugin_names
from zerolap.records import UsageError

OWN_TOOL = "zerolap-load"
KNOWN: dict[str, LoadTool] = {
    OWN_TOOL: OwnLoad(),
    "memtier_benchmark": Memtier(),
    "redis-benchmark": Benchmark("redis-benchmark"),
    "valkey-benchmark": Benchmark("valkey-benchmark"),
}


def load_tool_named(name: str) -> LoadTool:
    """Return a load tool; raises `UsageError` if there is none of that name, `PluginFault` if it cannot be imported."""
    if name in KNOWN:
        return KNOWN[name]
    try:
        return load_plugin(LOAD_TOOLS, name, LoadTool)  # type: ignore[type-abstract]
    except KeyError:
        known = ", ".join([*KNOWN, *plugin_names(LOAD_TOOLS)])
        raise UsageError(f"there is no load tool `{name}`", hint=f"load tools: {known}") from None
