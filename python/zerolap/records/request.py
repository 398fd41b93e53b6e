"""Requests: comparisons, runs, sweeps and checks as they are asked for, before anything is built."""

from typing import Final, Literal, TypeAlias, get_args

from pydantic import Field, field_validator

from zerolap.records.base import Record
from zerolap.records.case import Case
from zerolap.records.comparison import DocumentState, Settings
from zerolap.records.regime import RegimeChoice
from zerolap.records.revision import Source
from zerolap.records.server import with_lab_passwords
from zerolap.records.sweep_report import Sweep
from zerolap.records.trial import Side, Windows

REQUEST_SCHEMA: Final = "zerolap.request/1"

RequestKind: TypeAlias = Literal["compare", "run", "snapshot", "check"]
"""What a request leads to, by the verb that makes it: a comparison, a run, a sweep of snapshots, a check of cases."""

RequestState: TypeAlias = Literal["waiting", "running", "done", "interrupted", "failed", "cancelled", "superseded"]

Priority: TypeAlias = Literal["release", "pull", "backfill"]
"""Releases are served before pull requests, and these before backfills."""
PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)

ReportPath: TypeAlias = Literal["comparisons", "runs", "snapshots", "checks"]
REPORT_PATHS: Final[dict[str, ReportPath]] = {
    "compare": "comparisons",
    "run": "runs",
    "snapshot": "snapshots",
    "check": "checks",
}
"""Where the page of a request is, by its kind."""


def document_state(state: RequestState) -> DocumentState:
    """Return the state of a request's document."""
    match state:
        case "waiting" | "running":
            return "running"
        case "cancelled" | "superseded":
            return "interrupted"
    return state


class RequestedServer(Record):
    """A server as it is asked for: a source, the name of the variant in which it is built, and the user's settings."""

    source: Source
    variant: str = "default"
    config: dict[str, str] = {}

    @field_validator("config")
    @classmethod
    def _of_the_lab(cls, config: dict[str, str]) -> dict[str, str]:
        return with_lab_passwords(config)


class Request(Record):
    """A comparison, a run, a sweep or a check as it is asked for, by a verb, the HTTP API, a trigger or Python.

    `id` is also that of the document. `servers` are by side; a run and a check have only a head, a comparison of a
    history can have an anchor too, and those of a sweep have the names of its sides, or are a head. `sweep` is what a
    sweep measures.
    `cases` are not selected yet: what can be measured is known once the servers are built. `platform` is
    the name of a fleet's platform, empty for this machine. A newer request of the same `topic`, if that is not empty,
    supersedes an older one on the same platform.
    `trigger` is what caused it. With `all_stacks` every valid case is sampled, not only those that changed. `notes`
    belong to the result. `is_seed_drawn`: nobody chose the seed in the settings, so that another attempt at the same
    comparison has another one. `windows` are those of counted trials by case, where an earlier request has chosen them
    and the counts of both are to be compared; `counted_blocks` is how often each case is counted, where that is chosen.
    `most_starts` bounds the timed starts of a case, where a contrast is wanted and no verdict: the programs as they
    were built are not timed then. With `count_build` each server is built a second time, without inlining, for the
    numbers of calls. `regimes` are those that cases are counted in besides their own circumstances.
    `objects_of` is a build whose objects that of a run may use again.
    """

    schema_: Literal["zerolap.request/1"] = Field(default=REQUEST_SCHEMA, alias="schema")
    id: str
    kind: RequestKind
    created: str
    command_line: str
    servers: dict[Side, RequestedServer]
    cases: tuple[Case, ...]
    settings: Settings
    platform: str = ""
    priority: Priority = "pull"
    topic: str = ""
    trigger: str = "command line"
    all_stacks: bool = False
    notes: tuple[str, ...] = ()
    is_seed_drawn: bool = False
    windows: dict[str, Windows] = {}
    counted_blocks: int | None = None
    most_starts: int | None = None
    count_build: bool = False
    regimes: RegimeChoice = "none"
    objects_of: str | None = None
    sweep: Sweep | None = None

    @property
    def exact_command_line(self) -> str:
        """The command line that repeats the request with its seed, also where that was drawn."""
        verb = f"zerolap {self.kind}"
        if not self.is_seed_drawn or not self.command_line.startswith(verb):
            return self.command_line
        # After the verb: what follows a `--` is no option.
        return f"{verb} --seed {self.settings.seed}{self.command_line.removeprefix(verb)}"
