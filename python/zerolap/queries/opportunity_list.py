"""What could be optimised in a version, over all cases that were counted of it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from zerolap.plugins import PluginFault
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.sampled_cases import MOST_RESULTS, ProfiledResult, profiled_result
from zerolap.records import (
    DrawnSide,
    Opportunities,
    Opportunity,
    OpportunityCase,
    Record,
    UsageError,
    Weighting,
    named_weights,
)
from zerolap.sheets import Sheet, bounds_of_case, calibration_text, opportunities_overview, saving_of_case
from zerolap.store import Store

if TYPE_CHECKING:
    from zerolap.opportunities import CountedVersion

EXAMINING_SECONDS: Final = 2.0
MOST_LISTED: Final = 500
MOST_CASES: Final = 1_000
RESULTS_LISTED: Final = 30
LONGEST_NAME: Final = 500


class OpportunityParameters(Parameters):
    """Of which version, how its cases are weighted, and how much is listed."""

    id: Annotated[
        str | None,
        Field(pattern=r"^[cr]-[0-9a-f-]{1,64}$", description="A comparison or run. Without: that with most cases."),
    ] = None
    side: Annotated[DrawnSide, Field(description="The side of a comparison; a run has a head only.")] = "head"
    everywhere: Annotated[
        bool, Field(description="Take in the cases of the same build from all results measured alike.")
    ] = False
    weights: Annotated[
        Weighting,
        Field(description="Each command counts the same, or each case, or each case by the priority in its suite."),
    ] = "command"
    detector: Annotated[
        str | None, Field(max_length=LONGEST_NAME, description="Only opportunities of this detector.")
    ] = None
    function: Annotated[
        str | None, Field(max_length=LONGEST_NAME, description="Only opportunities in this function.")
    ] = None
    file: Annotated[str | None, Field(max_length=LONGEST_NAME, description="Only opportunities in this file.")] = None
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many opportunities, from the first on.")] = 100
    cases: Annotated[
        int, Field(ge=1, le=MOST_CASES, description="How many cases of each, those where it saves most first.")
    ] = 5


class ListedOpportunityCase(OpportunityCase):
    """A case of an opportunity; `saving` and `bounds` are what it would save, in words."""

    saving: str
    bounds: str


class ListedOpportunity(Opportunity):
    """An opportunity with the first of its `all_cases` cases; `commands` are those of all of them.

    `tested` is how far the predictions of its detector were right, in words.
    """

    cases: tuple[ListedOpportunityCase, ...]
    all_cases: int
    commands: tuple[str, ...]
    tested: str


class ListedOpportunities(Opportunities):
    """The document of `zerolap opportunities --json` with the first of its `all_opportunities`."""

    opportunities: tuple[ListedOpportunity, ...]
    all_opportunities: int


class OpportunityList(Record):
    """The opportunities of a version that was counted, null where nothing was.

    `result` is what was asked for, `newest` are the newest comparisons and runs that have call graphs. Of
    `counted_cases`, those in `waiting_cases` are not part of the document yet: their call graphs are looked through
    when this is asked again. `sampled` has the comparison or run with sampled stacks of this side, by case;
    `weightings` are those that these cases permit. `sheet` is the document as it is shown: the rows of its first table
    are the opportunities of `document`.
    """

    result: ProfiledResult | None
    side: DrawnSide
    newest: tuple[ProfiledResult, ...]
    counted_cases: int
    waiting_cases: tuple[str, ...]
    sampled: dict[str, str]
    weightings: tuple[Weighting, ...]
    document: ListedOpportunities | None
    sheet: Sheet | None


def read_opportunities(sources: QuerySources, parameters: OpportunityParameters) -> OpportunityList:
    """Return the opportunities of a version; raises `UsageError` for a version that there is not."""
    store = sources.store
    newest = store.work.newest_results(RESULTS_LISTED)
    if parameters.id is None and not newest:
        return OpportunityList(
            result=None,
            side=parameters.side,
            newest=(),
            counted_cases=0,
            waiting_cases=(),
            sampled={},
            weightings=(),
            document=None,
            sheet=None,
        )
    # Of those with as many cases the newest, which is the first.
    wanted = parameters.id or max(newest, key=newest.__getitem__)
    results = _in_short(store, [wanted, *newest])
    if wanted not in results:
        raise UsageError(f"the store holds no results of {wanted}")
    # What searches graphs takes a while to import, and no other page needs it.
    from zerolap.opportunities import counted_version, opportunities_in_time

    version = counted_version(store, wanted, side=parameters.side, everywhere=parameters.everywhere)
    weights = named_weights(parameters.weights, list(version.cases.values()))
    try:
        functions = sources.functions_of_build
        document, waiting = opportunities_in_time(version, weights, store, functions, EXAMINING_SECONDS)
    except PluginFault as fault:
        raise UsageError(fault.message, hint=fault.hint) from fault
    meant = document.model_copy(update={"opportunities": _meant(document, parameters)})
    return OpportunityList(
        result=results[wanted],
        side=parameters.side,
        newest=tuple(results[identity] for identity in newest if identity in results),
        counted_cases=len(version.graphs),
        waiting_cases=waiting,
        sampled=_sampled(store, document.results, parameters.side),
        weightings=_weightings(version),
        document=_listed(meant, parameters),
        sheet=opportunities_overview(meant, parameters.limit, len(meant.functions)),
    )


def _weightings(version: "CountedVersion") -> tuple[Weighting, ...]:
    has_priorities = any(case.priority is not None for case in version.cases.values())
    return ("command", "equal", "priority") if has_priorities else ("command", "equal")


def _in_short(store: Store, identities: list[str]) -> dict[str, ProfiledResult]:
    return {identity: profiled_result(row, "") for identity, row in store.in_short(identities).items()}


def _sampled(store: Store, results: Iterable[str], side: DrawnSide) -> dict[str, str]:
    passes = store.stacks.trials(list(results)[:MOST_RESULTS])
    return {of.case: of.result for of in passes if of.is_valid and of.stacks and of.side == side}


def _meant(document: Opportunities, parameters: OpportunityParameters) -> tuple[Opportunity, ...]:
    """Return the opportunities that were asked for."""
    asked = (("detector", parameters.detector), ("function", parameters.function), ("file", parameters.file))
    return tuple(
        opportunity
        for opportunity in document.opportunities
        if all(value is None or getattr(opportunity, field) == value for field, value in asked)
    )


def _listed(document: Opportunities, parameters: OpportunityParameters) -> ListedOpportunities:
    """Return the document with as many opportunities and cases of each as were asked for."""
    opportunities = tuple(
        ListedOpportunity(
            **dict(opportunity) | {"cases": _listed_cases(opportunity.cases[: parameters.cases])},
            all_cases=len(opportunity.cases),
            commands=tuple(sorted({command for case in opportunity.cases for command in case.commands})),
            tested=calibration_text(opportunity.calibration),
        )
        for opportunity in document.opportunities[: parameters.limit]
    )
    fields = {name: value for name, value in document if name not in ("schema_", "opportunities")}
    return ListedOpportunities(**fields, opportunities=opportunities, all_opportunities=len(document.opportunities))


def _listed_cases(cases: Sequence[OpportunityCase]) -> list[ListedOpportunityCase]:
    return [
        ListedOpportunityCase(**dict(case), saving=saving_of_case(case), bounds=bounds_of_case(case)) for case in cases
    ]


def opportunity_rows(answer: OpportunityList) -> Iterable[TableRow]:
    """Return a row for each opportunity and case."""
    shares = ("saved share", "saved share, low", "saved share, high", "saved share after those before")
    calibrations = ("known edits", "measured of predicted, smallest", "measured of predicted, largest")
    saved = (
        "instructions per request",
        "saved",
        "saved, low",
        "saved, high",
        "saved, not counted",
        "gain of throughput",
    )
    places = ("detector", "category", "confidence", "function", "file")
    yield ("rank", *places, *shares, *calibrations, "cases", "case", "commands", *saved, "lines", "frames", "text")
    for of in () if answer.document is None else answer.document.opportunities:
        part, known = of.saved_share, of.calibration
        confidence = "refuted" if of.is_refuted else of.confidence
        named = (of.rank, of.detector, of.category, confidence, of.function, of.file)
        calibration = (known.edits, known.smallest_ratio, known.largest_ratio)
        over_all = (part.expected, part.low, part.high, of.additional_share, *calibration, of.all_cases)
        for case in of.cases:
            less = case.saved_instructions_per_op
            uncounted = case.uncounted_instructions_per_op.expected
            figures = (case.instructions_per_op, less.expected, less.low, less.high, uncounted, case.gain.expected)
            words = (" ".join(case.lines), " > ".join(case.frames), case.text)
            yield (*named, *over_all, case.case, " ".join(case.commands), *figures, *words)


OPPORTUNITIES: Final = PageQuery(
    name="opportunities",
    summary="What could be optimised in a version, over all cases that were counted of it",
    parameters=OpportunityParameters,
    result=OpportunityList,
    read=read_opportunities,
    table=opportunity_rows,
)
