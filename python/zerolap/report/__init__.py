"""The results of a comparison or a run, for a terminal, a pull request, a browser and another program."""

from zerolap.report.benchfmt import comparison_benchfmt as comparison_benchfmt, run_benchfmt as run_benchfmt
from zerolap.report.case_sentences import case_sentences as case_sentences
from zerolap.report.commit_shares import shares_markdown as shares_markdown, show_shares as show_shares
from zerolap.report.comparison_markdown import comparison_markdown as comparison_markdown
from zerolap.report.comparison_terminal import show_comparison as show_comparison, show_run as show_run
from zerolap.report.csv_tables import csv_cell as csv_cell, sheet_csv as sheet_csv
from zerolap.report.document import (
    check_json as check_json,
    comparison_json as comparison_json,
    document_json as document_json,
    profile_json as profile_json,
    run_json as run_json,
)
from zerolap.report.gate import gate_sentence as gate_sentence
from zerolap.report.history_benchfmt import history_benchfmt as history_benchfmt
from zerolap.report.history_document import (
    history_csv as history_csv,
    history_json as history_json,
    history_markdown as history_markdown,
)
from zerolap.report.history_reading import NO_CHANGES as NO_CHANGES
from zerolap.report.history_terminal import show_history as show_history
from zerolap.report.html import (
    comparison_html as comparison_html,
    content_security_policy as content_security_policy,
    run_html as run_html,
    sheet_html as sheet_html,
)
from zerolap.report.junit import comparison_junit as comparison_junit, run_junit as run_junit
from zerolap.report.opportunity_document import (
    opportunities_json as opportunities_json,
    opportunities_markdown as opportunities_markdown,
)
from zerolap.report.opportunity_terminal import show_opportunities as show_opportunities
from zerolap.report.profile_terminal import show_profile as show_profile
from zerolap.report.run_markdown import run_markdown as run_markdown
from zerolap.report.sheet_markdown import sheet_markdown as sheet_markdown
from zerolap.report.terminal import show_sheet as show_sheet
from zerolap.report.terminal_check import show_check as show_check
from zerolap.report.version_table_document import (
    version_table_json as version_table_json,
    version_table_markdown as version_table_markdown,
)
from zerolap.report.version_table_terminal import show_version_table as show_version_table
from zerolap.report.written_reading import (
    case_statements as case_statements,
    cases_in_order as cases_in_order,
    reading_of as reading_of,
)
from zerolap.sheets import plain as plain
