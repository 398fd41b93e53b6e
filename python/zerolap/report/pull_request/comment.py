"""The comment on a pull request, of at most 6 KiB."""

from typing import Final

from zerolap.report.sheet_markdown import fitting_markdown
from zerolap.sheets import COMMENT, PullRequestState, pull_request_sheets

MOST_BYTES: Final = 6 * 1024


def body_markdown(state: PullRequestState, most_bytes: int = MOST_BYTES) -> str:
    """Return the comment, without a marker, with as much detail as fits into so many bytes of UTF-8."""
    return fitting_markdown(pull_request_sheets(state, COMMENT), most_bytes)
