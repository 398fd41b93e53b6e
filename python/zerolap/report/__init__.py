"""The results of a comparison or a run, for a terminal, a pull request, a browser and another program."""

from zerolap.report.benchfmt import comparison_benchfmt as comparison_benchfmt, run_benchfmt as run_benchfmt
from zerolap.report.csv_tables import csv_cell as csv_cell, history_csv as history_csv, sheet_csv as sheet_csv
from zerolap.report.document import (
    comparison_json as comparison_json,
    comparison_markdown as comparison_markdown,
    document_json as document_json,
    run_markdown as run_markdown,
)
from zerolap.report.history_benchfmt import history_benchfmt as history_benchfmt
from zerolap.report.html import (
    comparison_html as comparison_html,
    content_security_policy as content_security_policy,
    run_html as run_html,
    sheet_html as sheet_html,
)
from zerolap.report.junit import comparison_junit as comparison_junit, run_junit as run_junit
from zerolap.report.sheet_markdown import sheet_markdown as sheet_markdown
from zerolap.report.terminal import show_sheet as show_sheet
