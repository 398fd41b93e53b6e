"""The outcome of a bisection: the commits of a range that changed a case."""

from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.finding import Finding
from zerolap.records.history import RangeCommit
from zerolap.records.platform import Platform

BISECT_SCHEMA: Final = "zerolap.bisect/1"

BisectOutcome: TypeAlias = Literal["found", "no difference", "identical", "undecided"]
"""`identical`: both ends execute the same in this case. `undecided`: the budget was used up, or no trial could tell the
candidates apart."""


class BisectCulprit(Record):
    """A change of the range, and who did it: one of `positions` with the probability `probability`.

    There are several where those between cannot be built, or in a search that was not finished, which is not certain.
    `child` was compared with `parent` at last, with fresh seeds: `confirmed` is whether this comparison shows the
    change too, null where it was not made. `change` is relative, with bounds of 95 %. `findings` are the reasons.
    """

    positions: tuple[int, ...]
    probability: float
    change: float
    low: float
    high: float
    is_certain: bool
    parent: int | None = None
    child: int | None = None
    comparison: str | None = None
    confirmed: bool | None = None
    findings: tuple[Finding, ...] = ()


class BisectMeasurement(Record):
    """What was measured of a commit: `starts` against the good one, and its change of time or of work against it."""

    position: int
    starts: int
    change: float
    low: float
    high: float


class BisectReport(Record):
    """The document of `zerolap bisect --json`.

    `commits` are the good one, its descendants along first parents, and the bad one at the end; positions are indices
    in it. `engine` is by what the search went: `counted` where work changed, else `timed`. `change` is that from the
    good commit to the bad one.
    """

    schema_: Literal["zerolap.bisect/1"] = Field(default=BISECT_SCHEMA, alias="schema", serialization_alias="schema")
    created: str
    command_line: str
    repository: str
    case: str
    topology: str
    variant: str
    config: dict[str, str]
    platform: Platform
    outcome: BisectOutcome
    engine: Literal["counted", "timed"]
    metric: str
    change: float
    low: float
    high: float
    commits: tuple[RangeCommit, ...]
    culprits: tuple[BisectCulprit, ...] = ()
    measured: tuple[BisectMeasurement, ...] = ()
    machine_seconds: float = 0.0
    notes: tuple[str, ...] = ()
