"""What could be optimised in one version of a server: of a case, and over all cases."""

from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.platform import Platform

OPPORTUNITIES_SCHEMA: Final = "zerolap.opportunities/1"

Category: TypeAlias = Literal[
    "allocation",
    "formatting",
    "parsing",
    "dictionary",
    "strings",
    "reply",
    "event loop",
    "system calls",
    "time",
    "statistics and access checks",
    "command",
    "other",
]
"""What a function works at, which is the same in all servers of the family."""
Confidence: TypeAlias = Literal["high", "medium", "low"]


class Estimate(Record):
    """A predicted value with the bounds that it is expected in."""

    low: float
    expected: float
    high: float

    def times(self, factor: float) -> "Estimate":
        """Return the estimate of so much of it."""
        return Estimate(low=self.low * factor, expected=self.expected * factor, high=self.high * factor)

    def plus(self, other: "Estimate") -> "Estimate":
        """Return the estimate of both together, whose bounds are reached at the same time."""
        return Estimate(low=self.low + other.low, expected=self.expected + other.expected, high=self.high + other.high)


NO_SAVING: Final = Estimate(low=0.0, expected=0.0, high=0.0)


class RemovedCost(Record):
    """What a change would save of a function's own instructions: per request, and as a part of them."""

    function: str
    file: str
    instructions_per_op: float
    share: float


class CaseOpportunity(Record):
    """A place where a case wastes instructions, and what a change there would save per request.

    `frames` are the functions from the command down to `function`; `lines` those of the calls that it is about, as
    FILE:LINE.
    `evidence` are the figures that it rests on, by name. `uncounted_instructions_per_op` is the part of
    `saved_instructions_per_op` that is not counted, such as the work of the kernel, in instructions that take as long.
    `removed` is most of what the rest of `saved_instructions_per_op.expected` consists of.
    """

    detector: str
    function: str
    file: str
    lines: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    category: Category
    saved_instructions_per_op: Estimate
    uncounted_instructions_per_op: Estimate = NO_SAVING
    confidence: Confidence
    evidence: dict[str, float]
    text: str
    removed: tuple[RemovedCost, ...] = ()


class FunctionWork(Record):
    """A function's own instructions per request, wherever it is inlined, and those with all that it calls."""

    function: str
    file: str
    category: Category
    self_instructions_per_op: float
    instructions_per_op: float


class CountedWork(Record):
    """Where the instructions of a request go, and which of them are wasted: what is kept of a call graph.

    `is_by_source` states that the build's debug information was at hand: without, what is inlined counts as that of the
    function that it is inlined into. `is_searched` states that detectors have looked for opportunities: they do not
    where a request executes far more functions than those of servers do.
    """

    instructions_per_op: float
    is_by_source: bool
    is_searched: bool = True
    functions: tuple[FunctionWork, ...]
    categories: dict[Category, float]
    opportunities: tuple[CaseOpportunity, ...]


class OpportunityCase(Record):
    """What a change would bring for one case: `gain` is that of its throughput, where instructions decide it.

    `instructions_per_op` are the counted ones. `saved_instructions_per_op` includes `uncounted_instructions_per_op`,
    work that is not counted, in instructions that take as long. `saved_share` is the saved part of the request's work:
    of its counted instructions, and the uncounted work of all opportunities of the case.
    """

    case: str
    commands: tuple[str, ...]
    instructions_per_op: float
    saved_instructions_per_op: Estimate
    uncounted_instructions_per_op: Estimate
    saved_share: Estimate
    gain: Estimate
    lines: tuple[str, ...]
    frames: tuple[str, ...]
    evidence: dict[str, float]
    text: str


class Opportunity(Record):
    """A place to optimise with what a change there would bring over all cases.

    `saved_share` is the part of the work that it would save, the weighted mean over all cases: see `OpportunityCase`.
    `additional_share` is what of that is left once the opportunities before it are made use of.
    """

    rank: int
    detector: str
    function: str
    file: str
    category: Category
    confidence: Confidence
    saved_share: Estimate
    additional_share: float
    cases: tuple[OpportunityCase, ...]
    text: str


class WeighedFunction(Record):
    """A function's part of the instructions, the weighted mean over all cases, and in how many cases it is over 1 %.

    `self_share` is without the functions that it calls.
    """

    function: str
    file: str
    category: Category
    self_share: float
    share: float
    cases: int


class WeighedCategory(Record):
    """The part of the instructions that is spent in the functions of a category, the weighted mean over all cases."""

    category: Category
    share: float


class OpportunityWeights(Record):
    """What the cases are weighted by.

    `command` gives each command the same weight, however many cases it has. `usage` is the time that a server of the
    user spent in each command; `source` is where that was read from, `covered` the part of it in these commands.
    """

    kind: Literal["command", "equal", "priority", "usage"]
    source: str = ""
    covered: float | None = None


class WeighedCase(Record):
    """A case that was looked at, its part of all weights, and what all opportunities together would bring for it."""

    case: str
    commands: tuple[str, ...]
    result: str
    weight: float
    instructions_per_op: float
    gain: float


class Opportunities(Record):
    """The document of `zerolap opportunities --json`.

    `results` are the comparisons and runs whose counts it is made of, `detectors` those that have looked for
    opportunities. `saved_share` is the part of the work that all opportunities together would save, each instruction
    once.
    """

    schema_: Literal["zerolap.opportunities/1"] = Field(
        default=OPPORTUNITIES_SCHEMA, alias="schema", serialization_alias="schema"
    )
    created: str
    command_line: str
    server: MeasuredServer
    platform: Platform
    results: tuple[str, ...]
    weights: OpportunityWeights
    cases: tuple[WeighedCase, ...]
    detectors: tuple[str, ...]
    saved_share: float
    opportunities: tuple[Opportunity, ...]
    functions: tuple[WeighedFunction, ...]
    categories: tuple[WeighedCategory, ...]
    limits: tuple[str, ...] = ()
