"""Probes of plugins: callables without arguments that return a diagnosis, like the doctor's own."""

from collections.abc import Callable
from functools import partial
from typing import Protocol, runtime_checkable

from zerolap.host.diagnosis import Diagnosis, missing
from zerolap.plugins import PROBES, PluginFault, load_plugin, plugin_names


@runtime_checkable
class Probe(Protocol):
    """Examines one subject of this machine; it must neither hang nor take long."""

    def __call__(self) -> Diagnosis:
        """Return the diagnosis."""


def plugged_probes() -> list[Callable[[], Diagnosis]]:
    """Return the probes of all plugins; the failure of a probe is reported as its diagnosis."""
    return [partial(_diagnosis, name) for name in plugin_names(PROBES)]


def _diagnosis(name: str) -> Diagnosis:
    try:
        diagnosis: object = load_plugin(PROBES, name, Probe)()  # type: ignore[type-abstract]
    except PluginFault as fault:
        return _failed(name, fault.message, fault.hint)
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - foreign code, which may raise anything
        return _failed(name, f"{type(fault).__name__}: {fault}")
    if isinstance(diagnosis, Diagnosis):
        return diagnosis
    return _failed(name, f"it returned {diagnosis!r}, which is not a Diagnosis")


def _failed(name: str, reason: str, remedy: str = "") -> Diagnosis:
    cost = "its subject is not examined"
    return missing(name, reason, cost, remedy or f"fix or uninstall the plugin `{name}`")
