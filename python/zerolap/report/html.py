"""A comparison as one file for a browser."""

from pathlib import Path

from zerolap.records import Comparison, EnvironmentMissing

TEMPLATE = Path(__file__).parent / "assets" / "report.html"
PLACEHOLDER = "__ZEROLAP_DOCUMENT__"

# Within a JSON string these mean the same, and they can neither end the script element nor a line of it.
ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def comparison_html(comparison: Comparison) -> str:
    """Return the comparison as a page that loads nothing; raises `EnvironmentMissing` where its template is missing."""
    data = comparison.model_dump_json(by_alias=True).translate(ESCAPES)
    before, after = _template()
    return before + data + after


def _template() -> tuple[str, str]:
    """Return what comes before and after the data."""
    try:
        template = TEMPLATE.read_text(encoding="utf-8")
    except FileNotFoundError as fault:
        raise EnvironmentMissing("the page for HTML reports is not built", hint="make web") from fault
    before, found, after = template.partition(PLACEHOLDER)
    if not found:
        raise EnvironmentMissing(f"{TEMPLATE} has no place for the data", hint="make web")
    return before, after
