"""Probes of plugins: each a call without arguments that returns a diagnosis, as those of the doctor do."""

from collections.abc import Callable
from functools import partial
from typing import Protocol, runtime_checkable

from zerolap.host.diagnosis import Diagnosis, missing
from zerolap.plugins import PROBES, PluginFault, load_plugin, plugin_names


@runtime_checkable
class Probe(Protocol):
    """Finds out about one subject of this machine; it must neither hang nor take long."""

    def __call__(self) -> Diagnosis:
        """Return what was found."""


def plugged_probes() -> list[Callable[[], Diagnosis]]:
    """Return the probes of all plugins; one that fails is what the doctor tells of it."""
    return [partial(_diagnosis, name) for name in plugin_names(PROBES)]


def _diagnosis(name: str) -> Diagnosis:
    try:
        found: object = load_plugin(PROBES, name, Probe)()  # type: ignore[type-abstract]
    except PluginFault as fault:
        return _failed(name, fault.message, fault.hint)
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - foreign code, which may raise anything
        return _failed(name, f"{type(fault).__name__}: {fault}")
    return found if isinstance(found, Diagnosis) else _failed(name, f"it returned {found!r}, which is no Diagnosis")


def _failed(name: str, reason: str, remedy: str = "") -> Diagnosis:
    cost = "what it would have found out is not known"
    return missing(name, reason, cost, remedy or f"mend the plugin `{name}`, or uninstall it")
