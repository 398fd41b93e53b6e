"""Which cases cannot be measured here, decided before any is."""

import functools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from zerolap.build import Program
from zerolap.cases import quick_factor
from zerolap.records import Case, Skipped, SkipReason
from zerolap.server.abilities import ServerAbilities, server_abilities

MEBIBYTE = 1024 * 1024
SPARED_SHARE = 0.9
"""Of the machine's memory: what a case may ask for."""


@dataclass(frozen=True)
class Selection:
    """The cases that are to be measured, and those that cannot be."""

    cases: list[Case]
    skipped: list[Skipped]


@dataclass(frozen=True)
class StartableServer:
    """A program with the user's settings, which can be asked what it knows."""

    program: Program
    config: Mapping[str, str]

    def abilities(self) -> ServerAbilities:
        """Return the commands and settings that the server knows; raises `TrialFailed` if it does not start."""
        with tempfile.TemporaryDirectory(prefix="zerolap-") as directory:
            return server_abilities(self.program, self.config, Path(directory).resolve())


def select_possible(cases: Sequence[Case], servers: Sequence[StartableServer], *, quick: bool) -> Selection:
    """Part the cases; which commands they send is known only of those of the public format.

    Raises `TrialFailed` if a server does not start.
    """
    if not any(case.is_public or case.cannot_run for case in cases):
        return _parted(cases, lambda case: lacking(case, quick=quick))
    abilities = _abilities_of_all(servers)
    selection = _parted(cases, lambda case: _lacks_command(case, abilities) or lacking(case, quick=quick))
    return Selection([_with_known_settings(case, abilities) for case in selection.cases], selection.skipped)


def select_runnable(cases: Sequence[Case], server: StartableServer) -> Selection:
    """Part the cases by what they ask of the machine; commands that a server does not know end in error replies."""
    selection = _parted(cases, lambda case: lacking(case, quick=True))
    if not any(case.is_public for case in selection.cases):
        # Others name no setting that a server may not know, and the server need not report its settings.
        return selection
    abilities = _abilities_of_all([server])
    return Selection([_with_known_settings(case, abilities) for case in selection.cases], selection.skipped)


def _with_known_settings(case: Case, abilities: ServerAbilities) -> Case:
    """Return a suite of the public format without the settings that the server would not start with."""
    unknown = [name for name in case.config if name.lower() not in abilities.settings]
    if not case.is_public or not unknown:
        return case
    limits = [f"measured without the setting `{name}`, which the server does not know" for name in unknown]
    config = {name: value for name, value in case.config.items() if name not in unknown}
    return case.model_copy(update={"config": config, "limits": [*case.limits, *limits]})


def _parted(cases: Sequence[Case], lacks: Callable[[Case], tuple[SkipReason, str] | None]) -> Selection:
    possible, skipped = [], []
    for case in cases:
        reason = lacks(case)
        if reason is None:
            possible.append(case)
        else:
            skipped.append(Skipped(case=case.name, reason=reason[0], text=reason[1]))
    return Selection(possible, skipped)


def _abilities_of_all(servers: Sequence[StartableServer]) -> ServerAbilities:
    """Return the commands that a server knows, and the settings that every server knows.

    A command that only one side lost is no reason to skip: its error replies are reported.
    """
    return functools.reduce(ServerAbilities.together_with, [server.abilities() for server in servers])


def _lacks_command(case: Case, abilities: ServerAbilities) -> tuple[SkipReason, str] | None:
    unknown = [verb for verb in _verbs(case) if verb not in abilities.commands]
    return ("unknown command", f"the server does not know {', '.join(unknown)}") if unknown else None


def lacking(case: Case, *, quick: bool) -> tuple[SkipReason, str] | None:
    """Return what a case needs and this machine, or the lab, does not have."""
    if case.cannot_run is not None:
        return case.cannot_run
    if case.topology.primaries > 1 and any(companion.needs_one_server for companion in case.companions):
        text = f"a client beside the measured one needs all keys on one server, and `{case.topology.name}` has "
        return "topology", f"{text}{case.topology.primaries} primaries"
    factor = 1.0 if not quick else quick_factor(case) if case.dataset is not None and case.dataset.is_scaled else 0.0
    needed, there = (case.memory_bytes or 0) * factor, psutil.virtual_memory().total * SPARED_SHARE
    if needed > there:
        text = f"it asks for {needed / MEBIBYTE:,.0f} MiB, and {there / MEBIBYTE:,.0f} MiB may be used here"
        return "memory", text
    return None


def _verbs(case: Case) -> list[str]:
    clients = [*([case.client] if case.is_public else []), *case.companions]
    if case.dataset is not None:
        clients += case.dataset.clients
    return list(dict.fromkeys(command.name for client in clients for command in client.sent))
