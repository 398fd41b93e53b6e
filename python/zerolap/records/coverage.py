"""Which commands of a server cases measure, which are excused, and which are missing."""

from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer

COVERAGE_SCHEMA: Final = "zerolap.coverage/1"

Coverage: TypeAlias = Literal["covered", "excused", "unproven", "missing"]
"""`unproven`: cases name the command, and their check does not show that they measure it."""


class KnownCommand(Record):
    """A command of a server, or a subcommand as `XINFO STREAM`; `group` is empty where the server does not tell it."""

    name: str
    group: str = ""


class Excuse(Record):
    """Why no case measures a command: one of a few reasons, and its text."""

    reason: str
    text: str


class CommandCoverage(Record):
    """A command and the cases that measure it; `text` says why it is excused or not proven.

    `cases` are those that prove it, of an unproven command those that name it. `calls` are those of the case that calls
    it most often, by the server's own count, `encodings` those of the keys that were found, `datasets` what these cases
    work on, which names its sizes.
    """

    command: str
    group: str
    coverage: Coverage
    cases: list[str] = Field(default_factory=list)
    calls: int | None = None
    encodings: list[str] = Field(default_factory=list)
    datasets: list[str] = Field(default_factory=list)
    reason: str = ""
    text: str = ""

    @property
    def is_subcommand(self) -> bool:
        """Whether it is a subcommand, such as `XINFO STREAM`."""
        return " " in self.command


class CoverageCounts(Record):
    """How many commands there are, and how many of them are covered, excused, and neither."""

    known: int
    covered: int
    excused: int
    unproven: int
    missing: int

    @classmethod
    def of(cls, commands: list[CommandCoverage]) -> "CoverageCounts":
        """Return the counts of these commands."""
        words = [command.coverage for command in commands]
        return cls(
            known=len(words),
            **{word: words.count(word) for word in ("covered", "excused", "unproven", "missing")},
        )


class CoverageReport(Record):
    """The document of `zerolap suites coverage`.

    `checks` are the ids of the checks that prove what cases do; none where only their files were read. `faulty` are
    cases in which they found faults, `skipped` those that this server cannot run.
    """

    schema_: Literal["zerolap.coverage/1"] = Field(default=COVERAGE_SCHEMA, alias="schema")
    created: str
    command_line: str
    server: MeasuredServer
    checks: list[str] = Field(default_factory=list)
    cases: int
    checked: int = 0
    faulty: list[str] = Field(default_factory=list)
    skipped: list[str] = Field(default_factory=list)
    commands_counts: CoverageCounts
    subcommands_counts: CoverageCounts
    commands: list[CommandCoverage]

    @property
    def uncovered(self) -> list[CommandCoverage]:
        """The commands that are neither covered nor excused."""
        return [command for command in self.commands if command.coverage in ("missing", "unproven")]
