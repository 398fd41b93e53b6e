"""Documents as they are shown, made once: each figure, its unit, its rounding and its sentence."""

from zerolap.sheets.bisect_sheet import bisect_sheet as bisect_sheet
from zerolap.sheets.case_list import CaseList as CaseList
from zerolap.sheets.case_rows import CaseRow as CaseRow, cases_of as cases_of, rows_of as rows_of
from zerolap.sheets.case_sentences import case_sentences as case_sentences
from zerolap.sheets.case_words import (
    answers as answers,
    in_order as in_order,
    ranked as ranked,
    statement as statement,
)
from zerolap.sheets.change_reasons import Reason as Reason, locations_of as locations_of, reasons_of as reasons_of
from zerolap.sheets.change_sheet import (
    changed_cases as changed_cases,
    comparison_documents as comparison_documents,
    pull_request_sheets as pull_request_sheets,
    reason_section as reason_section,
)
from zerolap.sheets.check_sheet import check_sheet as check_sheet
from zerolap.sheets.commit_shares_sheet import commit_shares_sheet as commit_shares_sheet
from zerolap.sheets.comparison_reading import with_reading as with_reading
from zerolap.sheets.comparison_sheet import (
    chosen_compared_case as chosen_compared_case,
    comparison_list as comparison_list,
    comparison_sheet as comparison_sheet,
)
from zerolap.sheets.coverage_sheet import coverage_sheet as coverage_sheet
from zerolap.sheets.detail import COMMENT as COMMENT, DOCUMENT as DOCUMENT, Lengths as Lengths
from zerolap.sheets.format import (
    ARROW as ARROW,
    COMMIT_DIGITS as COMMIT_DIGITS,
    change as change,
    count as count,
    counted as counted,
    listing as listing,
    metric_label as metric_label,
    one_line as one_line,
    percent as percent,
    plain as plain,
    printable as printable,
    probability as probability,
    share as share,
    shortened as shortened,
)
from zerolap.sheets.gate import gate_sentence as gate_sentence
from zerolap.sheets.headline import Headline as Headline, headline_of as headline_of
from zerolap.sheets.history_sheet import (
    NO_CHANGES as NO_CHANGES,
    history_sheet as history_sheet,
    platform_event as platform_event,
)
from zerolap.sheets.measured_change import (
    GITHUB as GITHUB,
    Acknowledgement as Acknowledgement,
    BranchRegression as BranchRegression,
    Building as Building,
    Cancelled as Cancelled,
    ChangedLines as ChangedLines,
    CommitRange as CommitRange,
    Done as Done,
    Failed as Failed,
    PlatformOutcome as PlatformOutcome,
    PlatformState as PlatformState,
    PullRequestState as PullRequestState,
    Running as Running,
    Superseded as Superseded,
    Unaffected as Unaffected,
    Waiting as Waiting,
    changed_lines as changed_lines,
    in_order_of_names as in_order_of_names,
)
from zerolap.sheets.opportunities_sheet import (
    bounds_of_case as bounds_of_case,
    calibration_text as calibration_text,
    opportunities_overview as opportunities_overview,
    opportunities_sheet as opportunities_sheet,
    saving_of_case as saving_of_case,
)
from zerolap.sheets.outcome_words import (
    WORDS as WORDS,
    Word as Word,
    failed_check as failed_check,
)
from zerolap.sheets.profile_sheet import profile_sheet as profile_sheet
from zerolap.sheets.run_sheet import (
    chosen_run_case as chosen_run_case,
    run_list as run_list,
    run_sheet as run_sheet,
    run_word as run_word,
)
from zerolap.sheets.series_legend import series_legend as series_legend
from zerolap.sheets.sheet import (
    Cell as Cell,
    Fact as Fact,
    Mark as Mark,
    Section as Section,
    Sentence as Sentence,
    Sheet as Sheet,
    Stacks as Stacks,
    Table as Table,
    as_name as as_name,
)
from zerolap.sheets.snapshot_sheet import snapshot_gate_sentence as snapshot_gate_sentence
from zerolap.sheets.sweep_sheet import (
    sweep_headline as sweep_headline,
    sweep_kernel as sweep_kernel,
    sweep_servers as sweep_servers,
    sweep_sheet as sweep_sheet,
    with_sweep_reading as with_sweep_reading,
)
from zerolap.sheets.version_table_sheet import version_table_sheet as version_table_sheet
