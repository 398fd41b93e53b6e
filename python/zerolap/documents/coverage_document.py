"""Coverage as a document: the commands of a server, held against cases, checks of them, and what is excused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.records import (
    PROVING_CALLS,
    Case,
    CheckedCase,
    CheckReport,
    CommandCoverage,
    CoverageCounts,
    CoverageReport,
    Excuse,
    KnownCommand,
    MeasuredServer,
    container_of,
)


@dataclass(frozen=True)
class CoverageInput:
    """What coverage is made of: the commands of a server, the cases, what is excused, and checks of the cases.

    Without checks a case covers what it names; of several checks of a case the last one counts.
    """

    known: Sequence[KnownCommand]
    cases: Sequence[Case]
    excuses: Mapping[str, Excuse]
    checks: Sequence[CheckReport] = ()
    naming: Mapping[str, Sequence[str]] = field(init=False)
    checked: Mapping[str, CheckedCase] = field(init=False)

    def __post_init__(self) -> None:
        """Find the cases that name each command."""
        naming: dict[str, list[str]] = {}
        for case in self.cases:
            for name in dict.fromkeys(name for verb in case.verbs for name in (verb, container_of(verb))):
                naming.setdefault(name, []).append(case.name)
        object.__setattr__(self, "naming", naming)
        object.__setattr__(self, "checked", {case.case: case for check in self.checks for case in check.cases})

    def coverage_of(self, command: KnownCommand) -> CommandCoverage:
        """Return what covers a command; an excuse of a container holds for its subcommands."""
        bare = CommandCoverage(command=command.name, group=command.group, coverage="missing")
        naming = list(self.naming.get(command.name, ()))
        proving = [name for name in naming if self._calls(name, command.name) is not None]
        if proving or (naming and not self.checks):
            calls = [self._calls(name, command.name) or 0 for name in proving]
            return bare.model_copy(
                update={
                    "coverage": "covered",
                    "cases": proving or naming,
                    "calls": max(calls, default=None),
                    "encodings": self._encodings(proving, command.name),
                    "datasets": self._datasets(proving or naming),
                }
            )
        excuse = self.excuses.get(command.name) or self.excuses.get(container_of(command.name))
        if excuse is not None:
            return bare.model_copy(update={"coverage": "excused", "reason": excuse.reason, "text": excuse.text})
        if not naming:
            return bare
        why = self._why_unproven(naming[0], command.name)
        return bare.model_copy(update={"coverage": "unproven", "cases": naming, "text": why})

    def _calls(self, case: str, command: str) -> int | None:
        """Return how often a case called a command or its subcommands; none where that proves nothing."""
        checked = self.checked.get(case)
        if checked is None or checked.facts is None or checked.faults:
            return None
        counts = [
            executed
            for verb, executed in checked.facts.calls.items()
            if command in (verb, container_of(verb)) and executed.proves
        ]
        return max((executed.calls for executed in counts), default=None)

    def _encodings(self, cases: Sequence[str], command: str) -> list[str]:
        """Return the encodings that the keys of a command had in these cases."""
        encodings = set[str]()
        for name in cases:
            facts = self.checked[name].facts
            for of_command in [] if facts is None else facts.commands:
                if of_command.command == container_of(command):
                    encodings.update(of_command.encodings)
        return sorted(encodings)

    def _datasets(self, cases: Sequence[str]) -> list[str]:
        named = set(cases)
        of_cases = [case.dataset.name for case in self.cases if case.name in named and case.dataset is not None]
        return list(dict.fromkeys(of_cases))

    def _why_unproven(self, case: str, command: str) -> str:
        checked = self.checked.get(case)
        skipped = [skip for check in self.checks for skip in check.skipped]
        if checked is None:
            reasons = [skip.text for skip in skipped if skip.case == case]
            return f"{case}: {reasons[0] if reasons else 'it was not checked'}"
        if checked.faults:
            return f"{case}: {checked.faults[0].text}"
        executed = {} if checked.facts is None else checked.facts.calls
        counts = next((executed[verb] for verb in executed if command in (verb, container_of(verb))), None)
        if counts is None:
            return f"{case}: the server does not count its calls"
        return (
            f"{case}: {counts.calls:,} calls of at least {PROVING_CALLS:,}, {counts.failed:,} failed, "
            f"{counts.rejected:,} rejected"
        )


def coverage_of(held: CoverageInput, server: MeasuredServer, created: str, command_line: str) -> CoverageReport:
    """Return the document: each command of the server with the cases that cover it, in the order of groups."""
    commands = [held.coverage_of(command) for command in held.known]
    commands.sort(key=lambda command: (command.group, command.command))
    skipped = dict.fromkeys(skip.case for check in held.checks for skip in check.skipped)
    return CoverageReport(
        schema="zerolap.coverage/1",
        created=created,
        command_line=command_line,
        server=server,
        checks=[check.id for check in held.checks],
        cases=len(held.cases),
        checked=len(held.checked),
        faulty=[case.case for case in held.checked.values() if case.faults],
        skipped=[name for name in skipped if name not in held.checked],
        commands_counts=CoverageCounts.of([command for command in commands if not command.is_subcommand]),
        subcommands_counts=CoverageCounts.of([command for command in commands if command.is_subcommand]),
        commands=commands,
    )
