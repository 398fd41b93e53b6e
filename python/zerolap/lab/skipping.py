"""Which cases cannot be measured here, found before any is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import psutil

from zerolap.cases import Case, quick_factor
from zerolap.engines import known_commands
from zerolap.lab.trial_directory import trial_directory
from zerolap.lab.trials import SideUnderTest
from zerolap.records import Settings, Side, Skipped, SkipReason

MEBIBYTE = 1024 * 1024
SPARED_SHARE = 0.9
"""Of the machine's memory: what a case may ask for."""


@dataclass(frozen=True)
class Selection:
    """The cases that are to be measured, and those that cannot be."""

    cases: list[Case]
    skipped: list[Skipped]


def select_possible(cases: Sequence[Case], sides: Mapping[Side, SideUnderTest], settings: Settings) -> Selection:
    """Part the cases; which commands they send only those of the public format say.

    Raises `TrialFailed` if a server does not start.
    """
    foreign = any(case.client is not None or case.cannot_run for case in cases)
    commands = _commands_of_all(sides.values()) if foreign else set()
    return _parted(cases, lambda case: _lacks_command(case, commands) or lacking(case, settings.quick))


def select_runnable(cases: Sequence[Case]) -> Selection:
    """Part the cases by what they ask of the machine; what a server does not know, its error replies will tell."""
    return _parted(cases, lambda case: lacking(case, quick=True))


def _parted(cases: Sequence[Case], lacks: Callable[[Case], tuple[SkipReason, str] | None]) -> Selection:
    possible, skipped = [], []
    for case in cases:
        reason = lacks(case)
        if reason is None:
            possible.append(case)
        else:
            skipped.append(Skipped(case=case.name, reason=reason[0], text=reason[1]))
    return Selection(possible, skipped)


def _commands_of_all(sides: Iterable[SideUnderTest]) -> set[str]:
    """Return the commands that every side knows."""
    known: list[set[str]] = []
    for side in sides:
        with trial_directory() as directory:
            known.append(known_commands(side.server.program, side.settings, directory))
    return set.intersection(*known)


def _lacks_command(case: Case, commands: set[str]) -> tuple[SkipReason, str] | None:
    unknown = [verb for verb in _verbs(case) if verb not in commands]
    return ("unknown command", f"the server does not know {', '.join(unknown)}") if unknown else None


def lacking(case: Case, quick: bool) -> tuple[SkipReason, str] | None:
    """Return what a case needs and this machine, or the lab, does not have."""
    if case.cannot_run is not None:
        return case.cannot_run
    factor = quick_factor(case) if quick else 1.0
    needed, there = (case.memory_bytes or 0) * factor, psutil.virtual_memory().total * SPARED_SHARE
    if needed > there:
        text = f"it asks for {needed / MEBIBYTE:,.0f} MiB, and {there / MEBIBYTE:,.0f} MiB may be used here"
        return "memory", text
    return None


def _verbs(case: Case) -> list[str]:
    clients = [client for client in (case.client, *case.companions) if client is not None]
    if case.dataset is not None:
        clients += case.dataset.clients
    return list(dict.fromkeys(command.name for client in clients for command in client.sent))
