"""What trials come to, and what is stored of it: comparisons and runs with their verdicts, notes and pictures."""

from zerolap.documents.case_trials import CaseResults as CaseResults, TimedTrials as TimedTrials, Trials as Trials
from zerolap.documents.changed_functions import changed_functions as changed_functions
from zerolap.documents.check_document import check_of as check_of, read_check as read_check
from zerolap.documents.comparison_document import (
    add_to_bank as add_to_bank,
    comparison_of as comparison_of,
    read_bank as read_bank,
    record_start_ratios as record_start_ratios,
)
from zerolap.documents.conclusions import (
    CaseExplainer as CaseExplainer,
    Proposals as Proposals,
    worth_profiling as worth_profiling,
    worth_sampling as worth_sampling,
)
from zerolap.documents.coverage_document import CoverageInput as CoverageInput, coverage_of as coverage_of
from zerolap.documents.executed_code import ComparedCode as ComparedCode, ExecutedCases as ExecutedCases
from zerolap.documents.false_alarms import FalseAlarmRecord as FalseAlarmRecord
from zerolap.documents.identity import has_io_threads as has_io_threads, why_unknown as why_unknown
from zerolap.documents.picture_data import (
    latency_points as latency_points,
    off_cpu_ns_per_op as off_cpu_ns_per_op,
    read_case_pictures as read_case_pictures,
    read_pictures as read_pictures,
)
from zerolap.documents.regime_results import (
    changed_in_regimes as changed_in_regimes,
    is_to_be_decided as is_to_be_decided,
)
from zerolap.documents.results import Results as Results
from zerolap.documents.run_document import run_of as run_of
from zerolap.documents.side_profiles import (
    TIMER_COST as TIMER_COST,
    allocation_sites as allocation_sites,
    call_counts as call_counts,
    graph_kind as graph_kind,
    merged_graph as merged_graph,
    repeated_steps as repeated_steps,
    sampled_side as sampled_side,
)
from zerolap.documents.stored_documents import (
    read_comparison as read_comparison,
    read_run as read_run,
    recorded_results as recorded_results,
    results_with_builds as results_with_builds,
)
from zerolap.documents.string_place_verdicts import string_place_findings as string_place_findings
from zerolap.documents.unmeasured import not_measured as not_measured
