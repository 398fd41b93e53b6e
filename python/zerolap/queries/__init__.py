"""What the pages of `zerolap serve` show, answered from the store: one query a page, in parts that a page can draw."""

from zerolap.queries.overview import OVERVIEW, Overview
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow, TableValue
from zerolap.queries.report_list import REPORTS, ListedReport, OutcomeCount, ReportList
from zerolap.queries.request_status import REQUEST_STATUS, RequestStatus

__all__ = [
    "OVERVIEW",
    "QUERIES",
    "REPORTS",
    "REQUEST_STATUS",
    "ListedReport",
    "OutcomeCount",
    "Overview",
    "PageQuery",
    "Parameters",
    "QuerySources",
    "ReportList",
    "RequestStatus",
    "TableRow",
    "TableValue",
]

QUERIES: tuple[PageQuery, ...] = (OVERVIEW, REPORTS, REQUEST_STATUS)
"""All queries. A new page adds its own here; `api/page_queries.py` serves it, `web/src/app/routes.ts` its route."""
