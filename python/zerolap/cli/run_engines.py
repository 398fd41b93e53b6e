"""The engines of `zerolap run`: those of the lab, a load tool, and those of plugins."""

from zerolap.cli import options
from zerolap.engines import BUILT_IN, LOADED, Engine, engine_named
from zerolap.errors import UsageError


def run_engines(text: str | None, load_tool: str | None, *, quick: bool) -> tuple[list[str], dict[str, Engine]]:
    """Return the names of all engines, and those of them that are not the lab's own.

    A load tool asks for the engine that uses it. Raises `UsageError` for an unknown one, or nothing to do,
    `PluginFault` for a plugin that cannot be imported.
    """
    if load_tool is not None and quick:
        raise UsageError("`--quick` only counts: no load tool is used", hint="leave --quick or --load-tool out")
    default = ["counted", "timed"] if load_tool is None else [LOADED]
    names = options.engines(text, default, quick=quick, require=lambda _: None)
    if load_tool is not None and LOADED not in names:
        names = [*names, LOADED]
    return names, {name: engine_named(name, load_tool) for name in names if name not in BUILT_IN}
