"""What the pages of `zerolap serve` show, answered from the store: one query a page, in parts that a page can draw."""

from zerolap.queries.fleet_state import FLEET, JOB_FAILURE, FleetState, JobFailure
from zerolap.queries.overview import OVERVIEW, Overview
from zerolap.queries.platform_details import (
    PLATFORM,
    PLATFORM_PAIR,
    PLATFORMS,
    PlatformDetails,
    PlatformListing,
    PlatformPair,
)
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow, TableValue
from zerolap.queries.report_list import REPORTS, ListedReport, OutcomeCount, ReportList
from zerolap.queries.request_status import REQUEST_STATUS, RequestStatus
from zerolap.queries.trigger_list import TRIGGERS, TriggerList

__all__ = [
    "FLEET",
    "JOB_FAILURE",
    "OVERVIEW",
    "PLATFORM",
    "PLATFORMS",
    "PLATFORM_PAIR",
    "QUERIES",
    "REPORTS",
    "REQUEST_STATUS",
    "TRIGGERS",
    "FleetState",
    "JobFailure",
    "ListedReport",
    "OutcomeCount",
    "Overview",
    "PageQuery",
    "Parameters",
    "PlatformDetails",
    "PlatformListing",
    "PlatformPair",
    "QuerySources",
    "ReportList",
    "RequestStatus",
    "TableRow",
    "TableValue",
    "TriggerList",
]

QUERIES: tuple[PageQuery, ...] = (
    OVERVIEW,
    REPORTS,
    REQUEST_STATUS,
    FLEET,
    JOB_FAILURE,
    PLATFORMS,
    PLATFORM,
    PLATFORM_PAIR,
    TRIGGERS,
)
"""All queries. A new page adds its own here; `api/page_queries.py` serves it, `web/src/app/routes.ts` its route."""
