"""Writes reports to files and to standard output."""

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zerolap import writer
from zerolap.records import (
    BisectReport,
    CaseProfile,
    CheckReport,
    Comparison,
    EnvironmentMissing,
    History,
    Opportunities,
    Record,
    RunReport,
    SweepReport,
    VersionTable,
)
from zerolap.report import comparison_json, run_json, show_comparison, show_run
from zerolap.sheets import NO_CHANGES, Sheet
from zerolap.store import Store

SHOWN_REASONS = 3


@dataclass(frozen=True)
class Reports:
    """The files that reports are written to, - for standard output, none for a report that is not wanted."""

    json: str | None
    markdown: str | None
    html: str | None
    benchfmt: str | None
    quiet: bool

    @property
    def is_none_wanted(self) -> bool:
        """Whether no report is to be written, but the table."""
        return not any((self.json, self.markdown, self.html, self.benchfmt))

    @property
    def has_table(self) -> bool:
        """Whether the table is written to standard output: unless `quiet`, or where a report is."""
        return not self.quiet and "-" not in (self.json, self.markdown, self.benchfmt)


def write_comparison(
    comparison: Comparison, store: Store, reports: Reports, reasons: int | None = SHOWN_REASONS
) -> None:
    """Write all requested reports, and the table.

    The store holds the pictures and the trials; `reasons` limits the culprits in the table, None shows all.
    """
    with _writing(comparison.id):
        if reports.json is not None:
            write(reports.json, comparison_json(comparison))
        if reports.markdown is not None:
            from zerolap.report import comparison_markdown

            write(reports.markdown, comparison_markdown(comparison))
        if reports.html is not None:
            from zerolap.documents import read_pictures
            from zerolap.report import comparison_html

            write(reports.html, comparison_html(comparison, read_pictures(comparison, store)))
        if reports.benchfmt is not None:
            from zerolap.report import comparison_benchfmt

            write(reports.benchfmt, comparison_benchfmt(comparison, store.measurements(comparison.id)))
    # Last, as the reader of the table may close it before its end.
    if reports.has_table:
        show_comparison(comparison, writer.console(), reasons)


def write_run(report: RunReport, store: Store, reports: Reports) -> None:
    """Write all requested reports on a run, as `write_comparison` does."""
    with _writing(report.id):
        if reports.json is not None:
            write(reports.json, run_json(report))
        if reports.markdown is not None:
            from zerolap.report import run_markdown

            write(reports.markdown, run_markdown(report))
        if reports.html is not None:
            from zerolap.documents import read_run_pictures
            from zerolap.report import run_html

            write(reports.html, run_html(report, read_run_pictures(report, store)))
        if reports.benchfmt is not None:
            from zerolap.report import run_benchfmt

            write(reports.benchfmt, run_benchfmt(report, store.measurements(report.id)))
    if reports.has_table:
        show_run(report, writer.console())


@dataclass(frozen=True)
class HistoryReports:
    """The files that a history is written to, - for standard output, none for a report that is not wanted.

    `nothing` is the headline of a history that has no changes to show.
    """

    json: str | None
    markdown: str | None
    csv: str | None
    quiet: bool
    benchfmt: str | None = None
    nothing: str = NO_CHANGES


def write_history(history: History, reports: HistoryReports) -> None:
    """Write all requested reports on a history, and the table."""
    from zerolap.report import history_benchfmt, history_csv
    from zerolap.sheets import history_sheet

    for target, written in ((reports.csv, history_csv), (reports.benchfmt, history_benchfmt)):
        if target is not None:
            write(target, written(history))
    is_quiet = reports.quiet or "-" in (reports.csv, reports.benchfmt)
    sheet = history_sheet(history, reports.nothing)
    write_sheet(history, sheet, json=reports.json, markdown=reports.markdown, quiet=is_quiet)


def write_shares(history: History, reports: HistoryReports) -> None:
    """Write the share of each commit in the changes of a range: the document, and the table."""
    from zerolap.sheets import commit_shares_sheet

    sheet = commit_shares_sheet(history)
    write_sheet(history, sheet, json=reports.json, markdown=reports.markdown, quiet=reports.quiet)


def write_version_table(table: VersionTable, *, json: str | None, markdown: str | None, quiet: bool) -> None:
    """Write the requested reports on the versions of a history, and the table."""
    from zerolap.sheets import version_table_sheet

    write_sheet(table, version_table_sheet(table), json=json, markdown=markdown, quiet=quiet)


def write_bisect(report: BisectReport, *, json: str | None, markdown: str | None, quiet: bool) -> None:
    """Write the outcome of a bisection: the documents that are requested, and the lines for a terminal."""
    from zerolap.sheets import bisect_sheet

    write_sheet(report, bisect_sheet(report), json=json, markdown=markdown, quiet=quiet)


def write_sheet(document: Record, sheet: Sheet, *, json: str | None, markdown: str | None, quiet: bool) -> None:
    """Write a document as JSON and its sheet as Markdown if requested; on standard output unless another is there."""
    from zerolap.report import document_json, sheet_markdown, show_sheet

    if json is not None:
        write(json, document_json(document))
    if markdown is not None:
        write(markdown, sheet_markdown(sheet))
    if not quiet and "-" not in (json, markdown):
        show_sheet(sheet, writer.console())


def write_check(report: CheckReport, *, json: str | None, quiet: bool) -> None:
    """Write the document of a check if requested, and the table unless the document is written to standard output."""
    from zerolap.sheets import check_sheet

    write_sheet(report, check_sheet(report), json=json, markdown=None, quiet=quiet)


def write_profile(profile: CaseProfile, exports: Mapping[str, bytes], *, json: str | None, quiet: bool) -> None:
    """Write stacks in the formats of other programs by target, the document of a profile if requested, and the table.

    The table is left out if `quiet`, or where another is written to standard output.
    """
    from zerolap.report import document_json
    from zerolap.sheets import profile_sheet

    with _writing(profile.id, "profile --stored"):
        for target, content in exports.items():
            write_bytes(target, content)
        if json is not None:
            write(json, document_json(profile))
    is_quiet = quiet or "-" in (json, *exports)
    write_sheet(profile, profile_sheet(profile), json=None, markdown=None, quiet=is_quiet)


def write_opportunities(
    document: Opportunities, limit: int, *, json: str | None, markdown: str | None, quiet: bool
) -> None:
    """Write what could be optimised: the documents that are requested, and the lines for a terminal."""
    from zerolap.sheets import opportunities_sheet

    write_sheet(document, opportunities_sheet(document, limit), json=json, markdown=markdown, quiet=quiet)


def write_sweep(report: SweepReport, reports: Reports) -> None:
    """Write the requested documents of a sweep, as `write_comparison` does; none of them is benchfmt."""
    from zerolap.report import document_json, sheet_html, sheet_markdown, show_sheet
    from zerolap.sheets import sweep_sheet, with_sweep_reading

    document, sheet = with_sweep_reading(report), sweep_sheet(report)

    with _writing(report.id):
        if reports.json is not None:
            write(reports.json, document_json(document))
        if reports.html is not None:
            write(reports.html, sheet_html(document, sheet))
        if reports.markdown is not None:
            write(reports.markdown, sheet_markdown(sheet))
    if reports.has_table:
        show_sheet(sheet, writer.console())


@contextlib.contextmanager
def _writing(identity: str, verb: str = "explain") -> Iterator[None]:
    """Turn a failure to write a report into an error that names the stored result."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise EnvironmentMissing(
            f"a report could not be written: {fault.strerror}",
            hint=f"the result is stored: zerolap {verb} {identity} writes it again",
        ) from fault


def write(target: str, text: str) -> None:
    """Write a text completely or not at all; `-` is standard output."""
    content = text if text.endswith("\n") else text + "\n"
    if target == "-":
        writer.write(content)
    else:
        write_bytes(target, content.encode())


def write_bytes(target: str, content: bytes) -> None:
    """Write content completely or not at all; `-` is standard output."""
    if target == "-":
        writer.write_bytes(content)
        return
    path = Path(target).resolve()
    if path.exists() and not path.is_file():
        # A device or a pipe is written to, not replaced.
        path.write_bytes(content)
        return
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
