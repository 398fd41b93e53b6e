"""Writes reports to files and to standard output."""

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
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
    RunReport,
    SweepReport,
    VersionTable,
)
from zerolap.report import NO_CHANGES, comparison_json, run_json, show_comparison, show_run
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
    from zerolap.report import history_benchfmt, history_csv, history_json, history_markdown, show_history

    for target, written in (
        (reports.json, history_json),
        (reports.markdown, partial(history_markdown, nothing=reports.nothing)),
        (reports.csv, history_csv),
        (reports.benchfmt, history_benchfmt),
    ):
        if target is not None:
            write(target, written(history))
    if not reports.quiet and "-" not in (reports.json, reports.markdown, reports.csv, reports.benchfmt):
        show_history(history, writer.console(), reports.nothing)


def write_shares(history: History, reports: HistoryReports) -> None:
    """Write the share of each commit in the changes of a range: the document, and the table."""
    from zerolap.report import history_json, shares_markdown, show_shares

    if reports.json is not None:
        write(reports.json, history_json(history))
    if reports.markdown is not None:
        write(reports.markdown, shares_markdown(history))
    if not reports.quiet and "-" not in (reports.json, reports.markdown):
        show_shares(history, writer.console())


def write_version_table(table: VersionTable, *, json: str | None, markdown: str | None, quiet: bool) -> None:
    """Write the requested reports on the versions of a history, and the table."""
    from zerolap.report import show_version_table, version_table_json, version_table_markdown

    if json is not None:
        write(json, version_table_json(table))
    if markdown is not None:
        write(markdown, version_table_markdown(table))
    if not quiet and "-" not in (json, markdown):
        show_version_table(table, writer.console())


def write_bisect(report: BisectReport, *, json: str | None, markdown: str | None, quiet: bool) -> None:
    """Write the outcome of a bisection: the documents that are requested, and the lines for a terminal."""
    from zerolap.report import document_json, sheet_markdown, show_sheet
    from zerolap.sheets import bisect_sheet

    sheet = bisect_sheet(report)

    if json is not None:
        write(json, document_json(report))
    if markdown is not None:
        write(markdown, sheet_markdown(sheet))
    if not quiet and "-" not in (json, markdown):
        show_sheet(sheet, writer.console())


def write_check(report: CheckReport, *, json: str | None, quiet: bool) -> None:
    """Write the document of a check if requested, and the table unless the document is written to standard output."""
    from zerolap.report import check_json, show_check

    if json is not None:
        write(json, check_json(report))
    if not quiet and json != "-":
        show_check(report, writer.console())


def write_profile(profile: CaseProfile, exports: Mapping[str, bytes], *, json: str | None, quiet: bool) -> None:
    """Write stacks in the formats of other programs by target, the document of a profile if requested, and the table.

    The table is left out if `quiet`, or where another is written to standard output.
    """
    from zerolap.report import profile_json, show_profile

    with _writing(profile.id, "profile --stored"):
        for target, content in exports.items():
            write_bytes(target, content)
        if json is not None:
            write(json, profile_json(profile))
    if not quiet and "-" not in (json, *exports):
        show_profile(profile, writer.console())


def write_opportunities(
    document: Opportunities, limit: int, *, json: str | None, markdown: str | None, quiet: bool
) -> None:
    """Write what could be optimised: the documents that are requested, and the lines for a terminal."""
    from zerolap.report import opportunities_json, opportunities_markdown, show_opportunities

    if json is not None:
        write(json, opportunities_json(document))
    if markdown is not None:
        write(markdown, opportunities_markdown(document, limit))
    if not quiet and "-" not in (json, markdown):
        show_opportunities(document, writer.console(), limit)


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
