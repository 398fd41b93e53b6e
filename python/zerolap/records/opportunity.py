"""What could be optimised in one version of a server: of a case, and over all cases."""

from typing import Final, Literal, NamedTuple, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.platform import Platform
from zerolap.records.weights import StatedWeights


class Estimate(Record):
    """A value with the bounds that it is expected in."""

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


class ArgumentCheck(Record):
    """How often the function of an opportunity gets the arguments of an earlier call of the same request.

    `detector`, `function` and `file` are those of the opportunity. `calls_per_op` are the calls within its command per
    request, `repeated_per_op` those with the arguments of an earlier call, over so many `requests`. `obstacle` is why
    they do not show whether arguments are equal; it is empty where they do. `method` is raised when the same server
    would get other figures.
    """

    detector: str
    function: str
    file: str
    method: int
    requests: int = 0
    calls_per_op: float = 0.0
    repeated_per_op: float = 0.0
    obstacle: str = ""


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


class FunctionWork(NamedTuple):
    """A function's own instructions per request, wherever it is inlined, and those with all that it calls.

    A tuple, which is read in a third of the time: an answer over hundreds of cases reads tens of thousands.
    """

    function: str
    file: str
    category: Category
    self_instructions_per_op: float
    instructions_per_op: float


class CountedWork(Record):
    """Where the instructions of a request go, and which of them are wasted: what is kept of a call graph.

    `is_by_source` states that the build's debug information was at hand: without, what is inlined counts as that of the
    function that it is inlined into. `call_counts` is the digest of the calls of a count build that were at hand, empty
    without. `is_searched` states that detectors have looked for opportunities: they do not where a request executes far
    more functions than those of servers do. `reply_parts_per_op` is how often a request adds to its reply, which is in
    proportion to the elements of that. `argument_checks` are what was seen of arguments that opportunities, also those
    of groups of cases, suppose to be equal.
    """

    instructions_per_op: float
    is_by_source: bool
    call_counts: str = ""
    is_searched: bool = True
    reply_parts_per_op: float = 0.0
    functions: tuple[FunctionWork, ...]
    categories: dict[Category, float]
    opportunities: tuple[CaseOpportunity, ...]
    argument_checks: tuple[ArgumentCheck, ...] = ()


class GroupWork(Record):
    """What detectors report of cases that send the same commands with data of different sizes, by case."""

    opportunities: dict[str, tuple[CaseOpportunity, ...]]


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


class KnownEdit(Record):
    """An edit of a server that saves what a detector reports there: the predicted saving, and the measured saving.

    Both are parts of the counted instructions of a request. `is_counted` states that what the edit saves is mostly
    counted: if not, the two cannot test each other.
    """

    detector: str
    name: str
    version: str
    predicted: float
    measured: float
    is_counted: bool


class KnownEdits(Record):
    """The known edits that come with the package, and the command that has measured them."""

    measured_by: str
    edits: tuple[KnownEdit, ...]


class Calibration(Record):
    """How the savings of known edits compare with what their detector predicted.

    `edits` is the number of edits whose savings are counted; of these, `smallest_ratio` and `largest_ratio` are the
    measured saving as a multiple of the predicted saving, null where there are none. `uncounted_edits` are the others.
    """

    edits: int = 0
    smallest_ratio: float | None = None
    largest_ratio: float | None = None
    uncounted_edits: int = 0


class Opportunity(Record):
    """A place to optimise with what a change there would bring over all cases.

    `saved_share` is the part of the work that it would save, the weighted mean over all cases: see `OpportunityCase`.
    `additional_share` is what of that is left once the opportunities before it are made use of. `is_refuted` states
    that the arguments of its calls were looked at, and are other ones each time: it comes last, and is in no sum.
    `calibration` states how far the predictions of its detector were right for known edits.
    """

    rank: int
    detector: str
    function: str
    file: str
    category: Category
    confidence: Confidence
    saved_share: Estimate
    additional_share: float
    is_refuted: bool = False
    calibration: Calibration = Calibration()
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


class WeighedCase(Record):
    """A case that was looked at, its part of all weights, and what all opportunities together would bring for it."""

    case: str
    commands: tuple[str, ...]
    result: str
    weight: float
    instructions_per_op: float
    gain: float


class VariantCase(Record):
    """A case whose time changed in another build, confirmed: `gain` is by how much that is faster, below 0 for a loss.

    It is the ratio of throughputs, or that of costs upside down, less 1. `metric` is what the verdict rests on, and
    `comparison` the id of the comparison that has it.
    """

    case: str
    commands: tuple[str, ...]
    metric: str
    gain: Estimate
    comparison: str


class CommandGain(Record):
    """What another build brings for a command: the mean over its cases, 0 for those that did not change."""

    command: str
    gain: Estimate
    cases: int


class BuildVariant(Record):
    """Another build of the same code that was faster, as measured: no prediction, and no part of any sum.

    `variant` is in the words of `--variant`; `flags`, `compiler` and `allocator` are those that took effect. `gain` is
    the mean over `commands`, each weighted equally. `improvements` and `losses` are the cases with
    confirmed changes of time, the largest first; `unchanged` and `undecided` count the others.
    """

    detector: Literal["build-variants"] = "build-variants"
    category: Literal["build"] = "build"
    variant: str
    flags: str
    compiler: str
    allocator: str
    gain: Estimate
    commands: tuple[CommandGain, ...]
    improvements: tuple[VariantCase, ...]
    losses: tuple[VariantCase, ...]
    unchanged: int
    undecided: int
    comparisons: tuple[str, ...]


class Opportunities(Record):
    """The document of `zerolap opportunities --json`.

    `results` are the comparisons and runs whose counts it is made of, `detectors` those that have looked for
    opportunities. `saved_share` is the part of the work that all opportunities together would save, each instruction
    once, but for those that are refuted. `variants` are other builds of the same code that were measured to be faster;
    they are in no sum.
    """

    schema_: Literal["zerolap.opportunities/1"] = Field(
        default=OPPORTUNITIES_SCHEMA, alias="schema", serialization_alias="schema"
    )
    created: str
    command_line: str
    server: MeasuredServer
    platform: Platform
    results: tuple[str, ...]
    weights: StatedWeights
    cases: tuple[WeighedCase, ...]
    detectors: tuple[str, ...]
    saved_share: float
    opportunities: tuple[Opportunity, ...]
    variants: tuple[BuildVariant, ...] = ()
    functions: tuple[WeighedFunction, ...]
    categories: tuple[WeighedCategory, ...]
    limits: tuple[str, ...] = ()
