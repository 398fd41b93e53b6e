"""What the pages of `zerolap serve` show, answered from the store: one query a page, in parts that a page can draw."""

from zerolap.queries.case_pictures import CASE_PICTURES as CASE_PICTURES
from zerolap.queries.case_profile import read_case_stacks as read_case_stacks, stored_case as stored_case
from zerolap.queries.commit_changes import COMMIT as COMMIT
from zerolap.queries.comparison_page import COMPARED_CASE as COMPARED_CASE, COMPARISON as COMPARISON
from zerolap.queries.export_formats import (
    FORMATS as FORMATS,
    ExportFormat as ExportFormat,
    export_format as export_format,
)
from zerolap.queries.fleet_state import FLEET as FLEET, JOB_FAILURE as JOB_FAILURE
from zerolap.queries.opportunity_list import OPPORTUNITIES as OPPORTUNITIES
from zerolap.queries.overview import OVERVIEW as OVERVIEW
from zerolap.queries.platform_details import (
    PLATFORM as PLATFORM,
    PLATFORM_PAIR as PLATFORM_PAIR,
    PLATFORMS as PLATFORMS,
)
from zerolap.queries.query import (
    PageQuery as PageQuery,
    Parameters as Parameters,
    QuerySources as QuerySources,
    TableRow as TableRow,
    TableValue as TableValue,
)
from zerolap.queries.report_list import REPORTS as REPORTS, ReportList as ReportList
from zerolap.queries.request_status import (
    REQUEST_STATUS as REQUEST_STATUS,
    RequestStatus as RequestStatus,
    asked_in_short as asked_in_short,
    status_of as status_of,
)
from zerolap.queries.run_page import MEASURED_CASE as MEASURED_CASE, RUN as RUN
from zerolap.queries.sampled_cases import SampledCases as SampledCases, selected_cases as selected_cases
from zerolap.queries.search import SEARCH as SEARCH
from zerolap.queries.series_chart import CHANGE_POINTS as CHANGE_POINTS, SERIES as SERIES
from zerolap.queries.series_list import SERIES_LIST as SERIES_LIST
from zerolap.queries.stack_functions import STACK_FUNCTIONS as STACK_FUNCTIONS
from zerolap.queries.stack_lines import STACK_LINES as STACK_LINES
from zerolap.queries.stack_profile import (
    STACK_PROFILE as STACK_PROFILE,
    ProfileParameters as ProfileParameters,
    merged_profile as merged_profile,
)
from zerolap.queries.stack_results import STACK_RESULTS as STACK_RESULTS
from zerolap.queries.sweep_list import SWEEP as SWEEP, SWEEPS as SWEEPS
from zerolap.queries.trial_details import TRIAL as TRIAL
from zerolap.queries.trial_list import TRIALS as TRIALS
from zerolap.queries.trial_values import TRIAL_VALUES as TRIAL_VALUES
from zerolap.queries.trigger_list import TRIGGERS as TRIGGERS
from zerolap.queries.version_map import VERSIONS as VERSIONS

QUERIES: tuple[PageQuery, ...] = (
    OVERVIEW,
    SEARCH,
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
