"""What could be optimised in a version as it is shown: what each opportunity brings, where it lies, what costs most."""

from typing import Final
from urllib.parse import urlencode

from zerolap.records import (
    Calibration,
    Opportunities,
    Opportunity,
    OpportunityCase,
    WeighedCase,
    WeighedFunction,
)
from zerolap.sheets.build_variants_section import build_variants_section
from zerolap.sheets.format import COMMIT_DIGITS, change, count, counted, listing, rough_percent, share, weighting
from zerolap.sheets.sheet import Cell, Column, Section, Sentence, Sheet, Table, as_name, name

SHOWN_LINES: Final = 4
"""Lines of source code that a sentence names."""
SMALL: Final = 0.005
"""The part from which on one decimal of a percentage is enough."""
MUCH: Final = 0.9
"""What has to be left of a saving for it to count as all of it."""


def opportunities_sheet(document: Opportunities, limit: int) -> Sheet:
    """Return the opportunities that bring most, then where the instructions go; `limit` of each."""
    overview = opportunities_overview(document, limit, limit)
    details = [_opportunity(opportunity, document) for opportunity in document.opportunities[:limit]]
    return overview.model_copy(update={"sections": [*details, *overview.sections]})


def opportunities_overview(document: Opportunities, limit: int, most_functions: int) -> Sheet:
    """Return the same without the sentences on each opportunity."""
    categories = Table(
        columns=[Column(key="work", heading="work"), Column(key="share", heading="of all", is_number=True)],
        rows=[[Cell(text=of.category), Cell(text=share(of.share))] for of in document.categories],
    )
    return Sheet(
        kind="opportunities",
        title=_headline(document),
        remark=_server(document),
        tables=[_table(document, limit)] if document.opportunities else [],
        sections=[
            *([build_variants_section(document.variants)] if document.variants else []),
            Section(key="categories", title="where the instructions go", tables=[categories]),
            *([_functions(document, most_functions)] if document.functions else []),
            Section(
                key="cases",
                title="what each case counts, and what all opportunities together would bring for it",
                is_folded=True,
                tables=[Table(columns=list(CASES), rows=[_case(case) for case in document.cases])],
            ),
        ],
        notes=list(document.limits),
    )


def saving_of_case(case: OpportunityCase) -> str:
    """Write what a case would save, and by how much it would get faster as far as instructions decide that."""
    saved, uncounted = case.saved_instructions_per_op.expected, case.uncounted_instructions_per_op.expected
    # What counted trials would show of the change is the counted part alone.
    fewer = rough_percent((saved - uncounted) / case.instructions_per_op)
    less = f"{rough_percent(case.saved_share.expected)} less work, {fewer} fewer counted instructions"
    words = f"{fewer} fewer instructions" if uncounted <= 0 else less
    return f"{words}, up to +{rough_percent(case.gain.expected)} throughput"


def bounds_of_case(case: OpportunityCase) -> str:
    """Write the instructions that a case would save, and the bounds of that and of its throughput."""
    saved, uncounted = case.saved_instructions_per_op, case.uncounted_instructions_per_op.expected
    of_counted = f", {count(saved.expected - uncounted)} of them counted" if uncounted > 0 else ""
    bounded = f"{count(saved.expected)} ({count(saved.low)} to {count(saved.high)})"
    of_all = f"{bounded} instructions of {count(case.instructions_per_op)}{of_counted}"
    return f"{of_all}; throughput {change(case.gain.low)} to {change(case.gain.high)}"


def calibration_text(calibration: Calibration) -> str:
    """Write how the savings of known edits compare with what "it", a detector, predicted."""
    if calibration.edits:
        return f"{_edits(calibration.edits)} saved {_ratios(calibration)} times what it predicted"
    if calibration.uncounted_edits:
        return f"{_edits(calibration.uncounted_edits)}: what is saved is mostly not counted, and tests no prediction"
    return "no known edit tests what it predicts"


def _headline(document: Opportunities) -> str:
    refuted = sum(opportunity.is_refuted for opportunity in document.opportunities)
    number, cases = len(document.opportunities) - refuted, counted(len(document.cases), "case", "cases")
    besides = f"; {counted(refuted, 'more is', 'more are')} refuted by arguments" if refuted else ""
    if number == 0:
        return f"nothing detected to optimise in {cases}{besides}"
    places = counted(number, "opportunity", "opportunities")
    together = f"{share(document.saved_share)} of the work of a request ({weighting(document.weights)})"
    return f"{places} in {cases}: together {together}{besides}"


def _server(document: Opportunities) -> str:
    server = document.server
    commit = f" at {server.commit[:COMMIT_DIGITS]}" if server.commit else ""
    version = f" {server.version}" if server.version else ""
    results = document.results[0] if len(document.results) == 1 else counted(len(document.results), "result", "results")
    return f"{server.name}{commit}{version}, counted in {results} on {document.platform.name}"


OPPORTUNITIES: Final = (
    Column(key="rank", heading="rank", is_number=True, rank=2),
    Column(key="function", heading="function"),
    Column(key="file", heading="file", rank=4),
    Column(key="saves", heading="saves", is_number=True),
    Column(key="left", heading="after those before", is_number=True, rank=3),
    Column(key="known", heading="tested by", rank=7),
    Column(key="kind", heading="kind", rank=5),
    Column(key="confidence", heading="confidence", rank=6),
    Column(key="cases", heading="cases", is_number=True, rank=1),
)


def _table(document: Opportunities, limit: int) -> Table:
    rows = [_row(opportunity, len(document.cases)) for opportunity in document.opportunities[:limit]]
    left_out = len(document.opportunities) - len(rows)
    return Table(key="opportunities", columns=list(OPPORTUNITIES), rows=rows, left_out=left_out)


def _row(opportunity: Opportunity, cases: int) -> list[Cell]:
    return [
        Cell(text=f"{opportunity.rank}"),
        name(opportunity.function),
        name(opportunity.file),
        Cell(text=_saving(opportunity), mark="strong"),
        Cell(text="all of it" if _is_all_left(opportunity) else _part(opportunity, opportunity.additional_share)),
        Cell(text=_calibration_in_short(opportunity.calibration)),
        name(opportunity.detector),
        Cell(text="refuted" if opportunity.is_refuted else opportunity.confidence),
        Cell(text=f"{len(opportunity.cases):,} of {cases:,}"),
    ]


def _saving(opportunity: Opportunity) -> str:
    saved = opportunity.saved_share
    low = _part(opportunity, saved.low).removesuffix(" %")
    return f"{_part(opportunity, saved.expected)} ({low} to {_part(opportunity, saved.high)})"


def _part(opportunity: Opportunity, part: float) -> str:
    """Write a part of the work, with as many decimals as the saving of the opportunity needs."""
    return f"{part * 100:.{1 if opportunity.saved_share.high >= SMALL else 2}f} %"


def _is_all_left(opportunity: Opportunity) -> bool:
    """Whether nearly all of an opportunity is left once those before it are done."""
    return opportunity.additional_share >= MUCH * opportunity.saved_share.expected


def _calibration_in_short(calibration: Calibration) -> str:
    if calibration.edits:
        return f"{_edits(calibration.edits)}: {_ratios(calibration)} times that"
    return f"{_edits(calibration.uncounted_edits)}, not counted" if calibration.uncounted_edits else "no known edit"


def _edits(number: int) -> str:
    return counted(number, "known edit", "known edits")


def _ratios(calibration: Calibration) -> str:
    ratios = (ratio for ratio in (calibration.smallest_ratio, calibration.largest_ratio) if ratio is not None)
    return " to ".join(dict.fromkeys(f"{ratio:.2f}" for ratio in ratios))


def _opportunity(opportunity: Opportunity, document: Opportunities) -> Section:
    most = opportunity.cases[0]
    number = f"in {len(opportunity.cases):,} of {counted(len(document.cases), 'case', 'cases')}"
    where = "" if len(opportunity.cases) == 1 else "most in "
    sure = "refuted by arguments" if opportunity.is_refuted else f"{opportunity.confidence} confidence"
    left = rough_percent(opportunity.additional_share)
    further = len(most.lines) - SHOWN_LINES
    lines = f"{listing(map(as_name, most.lines[:SHOWN_LINES]))}{f' and {further} more' if further > 0 else ''}"
    texts = (
        ("", f"{as_name(opportunity.function)} {opportunity.text}"),
        ("", f"{number}, {where}{as_name(most.case)}: {saving_of_case(most)}"),
        ("left", "" if _is_all_left(opportunity) else f"{left} once those above are done, which share code with it"),
        ("kind", f"{as_name(opportunity.detector)}, {sure}; {calibration_text(opportunity.calibration)}"),
        ("way", as_name(" > ".join(most.frames))),
        ("lines", lines),
    )
    return Section(
        title=f"{opportunity.rank}. {opportunity.function}",
        remark=f"saves {_saving(opportunity)}, {opportunity.file}",
        mark=None if opportunity.is_refuted else "better",
        sentences=[Sentence(label=label, text=text) for label, text in texts if text],
    )


FUNCTIONS: Final = (
    Column(key="function", heading="function"),
    Column(key="self", heading="itself", is_number=True),
    Column(key="share", heading="with calls", is_number=True),
    Column(key="cases", heading="cases over 1 %", is_number=True, rank=1),
    Column(key="work", heading="work", rank=3),
    Column(key="file", heading="file", rank=2),
)


def _functions(document: Opportunities, limit: int) -> Section:
    rows = [_function(function) for function in document.functions[:limit]]
    table = Table(columns=list(FUNCTIONS), rows=rows, left_out=len(document.functions) - len(rows))
    return Section(key="functions", title="functions that cost most over all cases", tables=[table])


def _function(function: WeighedFunction) -> list[Cell]:
    return [
        name(function.function),
        Cell(text=share(function.self_share)),
        Cell(text=share(function.share)),
        Cell(text=f"{function.cases:,}"),
        Cell(text=function.category),
        name(function.file),
    ]


CASES: Final = (
    Column(key="case", heading="case"),
    Column(key="commands", heading="commands"),
    Column(key="weight", heading="weight", is_number=True),
    Column(key="instructions", heading="instructions per request", is_number=True),
    Column(key="throughput", heading="throughput", is_number=True),
)


def _case(of: WeighedCase) -> list[Cell]:
    page = "runs" if of.result.startswith("r-") else "comparisons"
    return [
        name(of.case, link=f"/{page}/{of.result}?{urlencode({'case': of.case})}"),
        Cell(text=listing(of.commands)),
        Cell(text=share(of.weight)),
        Cell(text=count(of.instructions_per_op)),
        Cell(text=change(of.gain)),
    ]
