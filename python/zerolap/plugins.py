"""Plugins: entry points of installed distributions, which are looked up only when needed.

`docs/extending.md` builds a plugin of each kind.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import ClassVar, TypeVar

from zerolap.errors import ZerolapError

LOAD_TOOLS = "zerolap.load_tools"
ENGINES = "zerolap.engines"
PROBES = "zerolap.probes"
DETECTORS = "zerolap.detectors"

Interface = TypeVar("Interface")


class PluginFault(ZerolapError):
    """A plugin cannot be imported, or lacks the interface of its group."""

    exit_code: ClassVar[int] = 3


def plugin_names(group: str) -> list[str]:
    """Return the names of a group's plugins, without importing any."""
    return sorted(entry_points(group=group).names)


def load_plugin(group: str, name: str, interface: type[Interface]) -> Interface:
    """Import a plugin and return it; a class is instantiated without arguments.

    `interface` is a protocol that can be checked at run time. Raises `KeyError` if there is no plugin of that name,
    `PluginFault` if it cannot be imported or lacks part of the interface.
    """
    entries = entry_points(group=group, name=name)
    if not entries:
        raise KeyError(name)
    (entry, *_) = entries
    try:
        loaded = entry.load()
        plugin = loaded() if isinstance(loaded, type) else loaded
    except (Exception, SystemExit) as fault:  # foreign code, which may raise anything; reported as the plugin's fault
        raise _fault(entry, f"{type(fault).__name__}: {fault}") from fault
    if not isinstance(plugin, interface):
        members = sorted(name for name in dir(interface) if not name.startswith("_")) or ["a call"]
        raise _fault(entry, f"`{entry.value}` lacks one of: {', '.join(members)}")
    return plugin


def _fault(entry: EntryPoint, reason: str) -> PluginFault:
    owner = entry.dist.name if entry.dist is not None else entry.module
    return PluginFault(
        f"the plugin `{entry.name}` of `{owner}` ({entry.group}) cannot be used: {reason}",
        hint=f"fix it, or remove it: pip uninstall {owner}",
    )
