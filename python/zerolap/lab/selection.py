"""Which cases cannot be measured here, decided before any is."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import psutil

from zerolap.build import Program
from zerolap.engines import TRIAL_PREFIX
from zerolap.records import Abilities, Case, Skipped, SkipReason, verb_of
from zerolap.sandbox import scratch_directory
from zerolap.server import server_abilities

MEBIBYTE = 1024 * 1024
SPARED_SHARE = 0.9
"""The share of the machine's memory that a case may ask for."""

KnownAbilities: TypeAlias = Abilities | Callable[[], Abilities]
"""What the servers support together; a function is only called if a case depends on it."""


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

    def abilities(self) -> Abilities:
        """Return the commands and settings that the server knows; raises `TrialFailed` if it does not start."""
        with scratch_directory(TRIAL_PREFIX) as directory:
            return server_abilities(self.program, self.config, directory)


def select_possible(
    cases: Sequence[Case],
    abilities: KnownAbilities,
    *,
    quick: bool,
    memory_bytes: int | None = None,
    sends_all: bool = False,
) -> Selection:
    """Part the cases; commands that the server does not know are a reason only where a case's file says so.

    `memory_bytes` is the memory of the platform, by default that of this machine. With `sends_all`, suites of the
    public format send commands that the server does not know too. Raises `TrialFailed` if `abilities` has to start a
    server that does not start.
    """
    if not any(case.is_public or case.cannot_run or case.skips_unknown for case in cases):
        return _parted(cases, lambda case: lacking(case, quick=quick, memory_bytes=memory_bytes))
    known = abilities if isinstance(abilities, Abilities) else abilities()

    def lacks(case: Case) -> tuple[SkipReason, str] | None:
        unknown = None if sends_all and not case.skips_unknown else _lacks_known(case, known)
        return unknown or lacking(case, quick=quick, memory_bytes=memory_bytes)

    selection = _parted(cases, lacks)
    return Selection([_with_known_settings(case, known) for case in selection.cases], selection.skipped)


def _with_known_settings(case: Case, abilities: Abilities) -> Case:
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


def abilities_of_all(servers: Sequence[StartableServer]) -> Abilities:
    """Start each server briefly and return what they support together; raises `TrialFailed`."""
    return functools.reduce(Abilities.together_with, [server.abilities() for server in servers])


def _lacks_known(case: Case, abilities: Abilities) -> tuple[SkipReason, str] | None:
    """Return the commands that a case needs and the server lacks, and the settings of one that would not start."""
    verbs = _sent_verbs(case) if case.skips_unknown else _verbs(case)
    unknown = [verb for verb in verbs if not _knows(verb, abilities)]
    if unknown:
        return "unknown command", f"the server does not know {', '.join(unknown)}"
    settings = [name for name in case.config if name.lower() not in abilities.settings] if case.skips_unknown else []
    return ("unknown setting", f"the server does not know the setting {', '.join(settings)}") if settings else None


def _knows(verb: str, abilities: Abilities) -> bool:
    if verb in abilities.commands:
        return True
    container, _, subcommand = verb.partition(" ")
    # Of some containers no server tells the subcommands.
    tells = any(name.startswith(f"{container} ") for name in abilities.commands)
    return bool(subcommand) and container in abilities.commands and not tells


def _sent_verbs(case: Case) -> list[str]:
    """Return the commands of a case of the lab's own format, those included that fill the server, and what it needs."""
    dataset = case.dataset
    lines = [*case.setup, *([] if dataset is None else [*dataset.setup, *dataset.load])]
    sent = [command.verb for client in [case.client, *case.companions] for command in client.sent]
    return list(dict.fromkeys([*map(verb_of, lines), *sent, *map(str.upper, case.needs)]))


def lacking(case: Case, *, quick: bool, memory_bytes: int | None = None) -> tuple[SkipReason, str] | None:
    """Return what a case needs and the lab, or a machine with so much memory, by default this one, does not have."""
    if case.cannot_run is not None:
        return case.cannot_run
    if case.topology.primaries > 1 and any(companion.needs_one_server for companion in case.companions):
        text = f"a client beside the measured one needs all keys on one server, and `{case.topology.name}` has "
        return "topology", f"{text}{case.topology.primaries} primaries"
    factor = 1.0 if not quick else case.quick_factor if case.dataset is not None and case.dataset.is_scaled else 0.0
    total = psutil.virtual_memory().total if memory_bytes is None else memory_bytes
    needed, there = (case.memory_bytes or 0) * factor, total * SPARED_SHARE
    if needed > there:
        text = f"it asks for {needed / MEBIBYTE:,.0f} MiB, and {there / MEBIBYTE:,.0f} MiB may be used here"
        return "memory", text
    return None


def _verbs(case: Case) -> list[str]:
    clients = [*([case.client] if case.is_public else []), *case.companions]
    if case.dataset is not None:
        clients += case.dataset.clients
    return list(dict.fromkeys(command.name for client in clients for command in client.sent))
