"""The documents behind `--json` and `--markdown`, and the comment on a pull request."""

from typing import Final

from zerolap.records import Comparison, Record, RunReport
from zerolap.report.sheet_markdown import fitting_markdown
from zerolap.sheets import (
    COMMENT,
    DOCUMENT,
    PullRequestState,
    comparison_documents,
    pull_request_sheets,
    run_sheet,
    with_reading,
)

RUN_CASES: Final = (1_000, 250, 100, 40, 15, 0)
"""How many cases of a run are described, from the most to what always fits."""
MOST_COMMENT_BYTES: Final = 6 * 1024


def document_json(document: Record) -> str:
    """Return a document, its keys in the records' order."""
    return document.model_dump_json(by_alias=True, indent=2) + "\n"


def comparison_json(comparison: Comparison) -> str:
    """Return the document of a comparison with its reading."""
    return document_json(with_reading(comparison))


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comparison as a comment has it, with as much detail as a comment has room for."""
    return fitting_markdown(comparison_documents(comparison, DOCUMENT))


def run_markdown(report: RunReport) -> str:
    """Return a run with as many of its cases as a comment has room for."""
    return fitting_markdown(run_sheet(report, most) for most in RUN_CASES)


def body_markdown(state: PullRequestState, most_bytes: int = MOST_COMMENT_BYTES) -> str:
    """Return the comment, without a marker, with as much detail as fits into so many bytes of UTF-8."""
    return fitting_markdown(pull_request_sheets(state, COMMENT), most_bytes)
