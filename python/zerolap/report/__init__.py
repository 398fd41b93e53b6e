"""The results of a comparison or a run, for a terminal, a pull request, a browser and another program."""

from zerolap.report.benchfmt import comparison_benchfmt, run_benchfmt
from zerolap.report.bisect_document import bisect_json, bisect_markdown
from zerolap.report.bisect_terminal import show_bisect
from zerolap.report.case_sentences import case_sentences
from zerolap.report.commit_shares import shares_markdown, show_shares
from zerolap.report.comparison_markdown import comparison_markdown
from zerolap.report.document import check_json, comparison_json, profile_json, run_json
from zerolap.report.emulated_snapshot_picture import count_pictures
from zerolap.report.format import plain
from zerolap.report.gate import gate_sentence
from zerolap.report.history_benchfmt import history_benchfmt
from zerolap.report.history_document import history_csv, history_json, history_markdown
from zerolap.report.history_reading import NO_CHANGES
from zerolap.report.history_terminal import show_history
from zerolap.report.html import comparison_html, content_security_policy, page_html, run_html
from zerolap.report.opportunity_document import opportunities_json, opportunities_markdown
from zerolap.report.opportunity_terminal import show_opportunities
from zerolap.report.profile_terminal import show_profile
from zerolap.report.reading import Word, failed_check
from zerolap.report.run_markdown import run_markdown
from zerolap.report.snapshot_verdict_rows import snapshot_gate_sentence
from zerolap.report.sweep_document import (
    show_sweep,
    sweep_headline,
    sweep_html,
    sweep_json,
    sweep_kernel,
    sweep_markdown,
    sweep_servers,
    with_sweep_reading,
)
from zerolap.report.terminal import show_comparison, show_run
from zerolap.report.terminal_check import show_check
from zerolap.report.version_table_document import version_table_json, version_table_markdown
from zerolap.report.version_table_terminal import show_version_table
from zerolap.report.written_reading import case_statements, cases_in_order, reading_of

__all__ = [
    "NO_CHANGES",
    "Word",
    "bisect_json",
    "bisect_markdown",
    "case_sentences",
    "case_statements",
    "cases_in_order",
    "check_json",
    "comparison_benchfmt",
    "comparison_html",
    "comparison_json",
    "comparison_markdown",
    "content_security_policy",
    "count_pictures",
    "failed_check",
    "gate_sentence",
    "history_benchfmt",
    "history_csv",
    "history_json",
    "history_markdown",
    "opportunities_json",
    "opportunities_markdown",
    "page_html",
    "plain",
    "profile_json",
    "reading_of",
    "run_benchfmt",
    "run_html",
    "run_json",
    "run_markdown",
    "shares_markdown",
    "show_bisect",
    "show_check",
    "show_comparison",
    "show_history",
    "show_opportunities",
    "show_profile",
    "show_run",
    "show_shares",
    "show_sweep",
    "show_version_table",
    "snapshot_gate_sentence",
    "sweep_headline",
    "sweep_html",
    "sweep_json",
    "sweep_kernel",
    "sweep_markdown",
    "sweep_servers",
    "version_table_json",
    "version_table_markdown",
    "with_sweep_reading",
]
