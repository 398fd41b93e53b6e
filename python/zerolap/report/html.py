"""A comparison or a run as one file for a browser."""

import base64
import re
import zlib
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from zerolap.records import (
    Comparison,
    DrawnSide,
    EnvironmentMissing,
    Pictures,
    Record,
    RunReport,
    SampledLines,
    SourceText,
    StackFrame,
    StackTree,
)
from zerolap.sheets import (
    CaseList,
    Section,
    Sheet,
    chosen_compared_case,
    chosen_run_case,
    comparison_list,
    run_list,
    with_reading,
)

TEMPLATE = Path(__file__).parent / "assets" / "report.html"
PLACEHOLDERS = ("__ZEROLAP_DOCUMENT__", "__ZEROLAP_PICTURES__", "<!-- __ZEROLAP_STACKS__ -->")
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"')
STACKS = TypeAdapter(dict[Literal["stacks", "waits"], dict[DrawnSide, StackTree] | None])
FRAMES = TypeAdapter(list[StackFrame])
DETAILS = TypeAdapter(Mapping[str, Section])

# Within a JSON string these mean the same, and they can neither end the script element nor a line of it.
ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


class _Lines(Record):
    sources: list[SourceText]
    cases: dict[str, list[SampledLines]]


def comparison_html(comparison: Comparison, pictures: Pictures | None = None) -> str:
    """Return the comparison as a page that loads nothing; raises `EnvironmentMissing` where its template is missing."""
    details = {case.case: chosen_compared_case(case) for case in comparison.cases}
    return page_html(with_reading(comparison), pictures, comparison_list(comparison), details)


def run_html(report: RunReport, pictures: Pictures | None = None) -> str:
    """Return the run as a page, as `comparison_html` does."""
    return page_html(report, pictures, run_list(report), {case.case: chosen_run_case(case) for case in report.cases})


def sheet_html(document: Record, sheet: Sheet) -> str:
    """Return a document as a page that draws its sheet, as `comparison_html` does."""
    return page_html(document, sheet=sheet)


def content_security_policy(page: str) -> str:
    """Return the policy that a page states in itself: its own script and style by hash, and nothing loaded.

    It comes before all that is of others. Raises `EnvironmentMissing` where there is none.
    """
    stated = POLICY.search(page)
    if stated is None:
        raise EnvironmentMissing(f"{TEMPLATE} states no policy", hint="make web")
    return unescape(stated[1])


def page_html(
    document: Record,
    pictures: Pictures | None = None,
    sheet: Sheet | CaseList | None = None,
    details: Mapping[str, Section] | None = None,
) -> str:
    """Return the page with its data, as `comparison_html` does; its script distinguishes documents by their schema.

    `details` are of the cases of a list, and read when the first case is chosen.
    """
    before, after_document, after_pictures, after = _template()
    drawn = pictures or Pictures()
    cases = {
        name: case.model_copy(update={"stacks": None, "waits": None, "lines": []}) for name, case in drawn.cases.items()
    }
    without_stacks = drawn.model_copy(update={"frames": [], "sources": [], "cases": cases})
    return "".join(
        [
            before,
            document.model_dump_json(by_alias=True).translate(ESCAPES),
            after_document,
            compressed(without_stacks.model_dump_json(by_alias=True).encode()),
            after_pictures,
            _stacks(drawn),
            "" if sheet is None else _element('id="sheet"', sheet.model_dump_json().encode()),
            "" if details is None else _element('id="details"', DETAILS.dump_json(details)),
            after,
        ]
    )


def compressed(data: bytes) -> str:
    """Return data as the page reads them: raw DEFLATE (RFC 1951) in Base64, a quarter of their size.

    The document of a report is not compressed, so that other programs find it in the page.
    """
    deflating = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflating.compress(data) + deflating.flush()).decode()


def _stacks(pictures: Pictures) -> str:
    """Return the stacks in an element for each case, so that the page parses only those that it shows.

    The source lines of all cases are in one, which is smaller: cases have mostly the same.
    """
    lines = {name: case.lines for name, case in pictures.cases.items() if case.lines}
    elements = [
        _element('id="frames"', FRAMES.dump_json(pictures.frames)),
        _element('id="lines"', _Lines(sources=pictures.sources, cases=lines).model_dump_json().encode()),
    ]
    elements += [
        _element(
            f'class="stacks" data-case="{escape(name)}"',
            STACKS.dump_json({"stacks": case.stacks, "waits": case.waits}),
        )
        for name, case in pictures.cases.items()
        if case.stacks or case.waits
    ]
    return "\n".join(elements)


def _element(attributes: str, json: bytes) -> str:
    return f'<script type="text/plain" {attributes}>{compressed(json)}</script>'


def _template() -> tuple[str, str, str, str]:
    try:
        template = TEMPLATE.read_text(encoding="utf-8")
    except FileNotFoundError as fault:
        raise EnvironmentMissing("the page for HTML reports is not built", hint="make web") from fault
    before, _, rest = template.partition(PLACEHOLDERS[0])
    after_document, _, rest = rest.partition(PLACEHOLDERS[1])
    after_pictures, placeholder, after = rest.partition(PLACEHOLDERS[2])
    if not placeholder:
        raise EnvironmentMissing(f"{TEMPLATE} has no place for the data", hint="make web")
    return before, after_document, after_pictures, after
