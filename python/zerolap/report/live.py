"""Pages of a lab that are no reports: the newest comparisons and runs, and a request of which nothing was measured yet.

They are drawn by the bundle of the HTML reports, from documents of their own.
"""

from typing import Literal

from pydantic import Field

from zerolap.records import Record, RequestState
from zerolap.report.reading import Word

REPORT_LIST_SCHEMA = "zerolap.report-list/1"
REQUEST_STATUS_SCHEMA = "zerolap.request-status/1"


class OutcomeCount(Record):
    """How many cases have an outcome."""

    outcome: Word
    count: int


class ListedReport(Record):
    """A comparison or run in the list; `state` is the reason where its document cannot be read.

    `outcomes` is empty for a run and for a comparison that is not done. `base` is null for a run.
    """

    id: str
    path: Literal["comparisons", "runs"]
    created: str
    base: str | None
    head: str
    state: str
    outcomes: list[OutcomeCount]


class ReportList(Record):
    """The document of the list, the newest first."""

    schema_: str = Field(default=REPORT_LIST_SCHEMA, alias="schema", serialization_alias="schema")
    reports: list[ListedReport]


class RequestStatus(Record):
    """The document of a request of which nothing was measured yet; `reasons` state why it waits or ended."""

    schema_: str = Field(default=REQUEST_STATUS_SCHEMA, alias="schema", serialization_alias="schema")
    id: str
    platform: str
    sides: list[str]
    state: RequestState
    has_ended: bool
    reasons: list[str]
