"""What the pages of `zerolap serve` show, answered from the store: one query a page, in parts that a page can draw."""

from zerolap.queries.case_pictures import CASE_PICTURES, DrawnCase
from zerolap.queries.case_profile import CaseStacks, read_case_stacks, stored_case
from zerolap.queries.commit_changes import COMMIT, CommitChanges
from zerolap.queries.comparison_in_short import COMPARED_CASE, COMPARISON, ComparedCase, ComparisonInShort
from zerolap.queries.export_formats import FORMATS, ExportFormat, export_format
from zerolap.queries.fleet_state import FLEET, JOB_FAILURE, FleetState, JobFailure
from zerolap.queries.opportunity_list import OPPORTUNITIES, OpportunityList
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
from zerolap.queries.request_status import REQUEST_STATUS, RequestStatus, asked_in_short, status_of
from zerolap.queries.run_in_short import MEASURED_CASE, RUN, MeasuredCase, RunInShort
from zerolap.queries.sampled_cases import SampledCases, selected_cases
from zerolap.queries.series_chart import CHANGE_POINTS, SERIES, SeriesChart
from zerolap.queries.series_list import SERIES_LIST, SeriesList
from zerolap.queries.stack_functions import STACK_FUNCTIONS, StackFunctions
from zerolap.queries.stack_lines import STACK_LINES, StackLines
from zerolap.queries.stack_profile import STACK_PROFILE, ProfileParameters, StackProfile, merged_profile
from zerolap.queries.stack_results import STACK_RESULTS, StackResults
from zerolap.queries.sweep_list import SWEEP, SWEEPS, DrawnSweep, SweepList
from zerolap.queries.trial_details import TRIAL, TrialDetails
from zerolap.queries.trial_list import TRIALS, TrialList
from zerolap.queries.trial_values import TRIAL_VALUES, TrialValues
from zerolap.queries.trigger_list import TRIGGERS, TriggerList
from zerolap.queries.version_map import VERSIONS, VersionMap

__all__ = [
    "CASE_PICTURES",
    "CHANGE_POINTS",
    "COMMIT",
    "COMPARED_CASE",
    "COMPARISON",
    "FLEET",
    "FORMATS",
    "JOB_FAILURE",
    "MEASURED_CASE",
    "OPPORTUNITIES",
    "OVERVIEW",
    "PLATFORM",
    "PLATFORMS",
    "PLATFORM_PAIR",
    "QUERIES",
    "REPORTS",
    "REQUEST_STATUS",
    "RUN",
    "SERIES",
    "SERIES_LIST",
    "STACK_FUNCTIONS",
    "STACK_LINES",
    "STACK_PROFILE",
    "STACK_RESULTS",
    "SWEEP",
    "SWEEPS",
    "TRIAL",
    "TRIALS",
    "TRIAL_VALUES",
    "TRIGGERS",
    "VERSIONS",
    "CaseStacks",
    "CommitChanges",
    "ComparedCase",
    "ComparisonInShort",
    "DrawnCase",
    "DrawnSweep",
    "ExportFormat",
    "FleetState",
    "JobFailure",
    "ListedReport",
    "MeasuredCase",
    "OpportunityList",
    "OutcomeCount",
    "Overview",
    "PageQuery",
    "Parameters",
    "PlatformDetails",
    "PlatformListing",
    "PlatformPair",
    "ProfileParameters",
    "QuerySources",
    "ReportList",
    "RequestStatus",
    "RunInShort",
    "SampledCases",
    "SeriesChart",
    "SeriesList",
    "StackFunctions",
    "StackLines",
    "StackProfile",
    "StackResults",
    "SweepList",
    "TableRow",
    "TableValue",
    "TrialDetails",
    "TrialList",
    "TrialValues",
    "TriggerList",
    "VersionMap",
    "asked_in_short",
    "export_format",
    "merged_profile",
    "read_case_stacks",
    "selected_cases",
    "status_of",
    "stored_case",
]

QUERIES: tuple[PageQuery, ...] = (
    OVERVIEW,
    REPORTS,
    REQUEST_STATUS,
    COMPARISON,
    COMPARED_CASE,
    CASE_PICTURES,
    RUN,
    MEASURED_CASE,
    TRIALS,
    TRIAL,
    FLEET,
    JOB_FAILURE,
    PLATFORMS,
    PLATFORM,
    PLATFORM_PAIR,
    TRIGGERS,
    SERIES,
    CHANGE_POINTS,
    SERIES_LIST,
    VERSIONS,
    COMMIT,
    TRIAL_VALUES,
    STACK_PROFILE,
    STACK_FUNCTIONS,
    STACK_LINES,
    STACK_RESULTS,
    OPPORTUNITIES,
    SWEEPS,
    SWEEP,
)
"""All queries. A new page adds its own here; `api/page_queries.py` serves it, `web/src/app/routes.ts` its route."""
