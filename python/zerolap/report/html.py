"""A comparison or a run as one file for a browser."""

from pathlib import Path

from zerolap.records import Comparison, EnvironmentMissing, Pictures, RunReport

TEMPLATE = Path(__file__).parent / "assets" / "report.html"
PLACEHOLDERS = ("__ZEROLAP_DOCUMENT__", "__ZEROLAP_PICTURES__")

# Within a JSON string these mean the same, and they can neither end the script element nor a line of it.
ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def comparison_html(comparison: Comparison, pictures: Pictures | None = None) -> str:
    """Return the comparison as a page that loads nothing; raises `EnvironmentMissing` where its template is missing."""
    return _page(comparison, pictures)


def run_html(report: RunReport, pictures: Pictures | None = None) -> str:
    """Return the run as a page, as `comparison_html` does."""
    return _page(report, pictures)


def _page(document: Comparison | RunReport, pictures: Pictures | None) -> str:
    """Return the page with its data; it tells the documents apart by their schema."""
    before, between, after = _template()
    return before + _data(document) + between + _data(pictures or Pictures()) + after


def _data(document: Comparison | RunReport | Pictures) -> str:
    return document.model_dump_json(by_alias=True).translate(ESCAPES)


def _template() -> tuple[str, str, str]:
    """Return what comes before, between and after the data."""
    try:
        template = TEMPLATE.read_text(encoding="utf-8")
    except FileNotFoundError as fault:
        raise EnvironmentMissing("the page for HTML reports is not built", hint="make web") from fault
    before, _, rest = template.partition(PLACEHOLDERS[0])
    between, found, after = rest.partition(PLACEHOLDERS[1])
    if not found:
        raise EnvironmentMissing(f"{TEMPLATE} has no place for the data", hint="make web")
    return before, between, after
