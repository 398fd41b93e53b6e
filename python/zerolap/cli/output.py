"""Writes reports to files and to standard output: of each kind of document, how each of its reports is made."""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from zerolap import report, writer
from zerolap.cli.options import Reports
from zerolap.fail_on import FailOn
from zerolap.records import (
    CaseProfile,
    CheckReport,
    Comparison,
    CoverageReport,
    EnvironmentMissing,
    History,
    Opportunities,
    Record,
    RunReport,
    SweepReport,
    UsageError,
)
from zerolap.sheets import (
    NO_CHANGES,
    Sheet,
    check_sheet,
    comparison_sheet,
    coverage_sheet,
    history_sheet,
    opportunities_sheet,
    profile_sheet,
    run_sheet,
    sweep_sheet,
    with_sweep_reading,
)
from zerolap.store import Store

Written = Mapping[str, Callable[[], str]]
"""How each report of a document is made, by the name of its option; nothing is made that is not wanted."""


def write_comparison(
    comparison: Comparison,
    store: Store,
    reports: Reports,
    fail_on: FailOn = "never",
    *,
    shows_all: bool = False,
) -> None:
    """Write the reports and the table of a comparison, whose pictures and trials the store holds.

    `fail_on` is when a case counts as failed for JUnit and SARIF; `shows_all` has all cases, figures and reasons on the
    terminal.
    """

    def html() -> str:
        from zerolap.documents import read_pictures

        return report.comparison_html(comparison, read_pictures(comparison, store))

    def sarif() -> str:
        from zerolap.cli.stored_comparisons import lines_changed
        from zerolap.report.pull_request import comparison_sarif

        return comparison_sarif(comparison, lines_changed(comparison, store), fail_on)

    sheet = comparison_sheet(comparison)
    written: Written = {
        "json": partial(report.comparison_json, comparison),
        "markdown": partial(report.comparison_markdown, comparison),
        "html": html,
        "benchfmt": lambda: report.comparison_benchfmt(comparison, store.measurements(comparison.id)),
        "junit": partial(report.comparison_junit, comparison, fail_on),
        "sarif": sarif,
        "csv": partial(report.sheet_csv, sheet),
    }
    _write("a comparison", reports, written, partial(report.show_sheet, sheet, all_sections=shows_all), comparison.id)


def write_run(run: RunReport, store: Store, reports: Reports, *, shows_all: bool = False) -> None:
    """Write the reports and the table of a run, as `write_comparison` does."""

    def html() -> str:
        from zerolap.documents import read_pictures

        return report.run_html(run, read_pictures(run, store))

    sheet = run_sheet(run)
    written: Written = {
        "json": partial(report.document_json, run),
        "markdown": partial(report.run_markdown, run),
        "html": html,
        "benchfmt": lambda: report.run_benchfmt(run, store.measurements(run.id)),
        "junit": partial(report.run_junit, run),
        "csv": partial(report.sheet_csv, sheet),
    }
    _write("a run", reports, written, partial(report.show_sheet, sheet, all_sections=shows_all), run.id)


def write_sweep(sweep: SweepReport, reports: Reports) -> None:
    """Write the reports and the table of a sweep of snapshots."""
    document, sheet = with_sweep_reading(sweep), sweep_sheet(sweep)
    html = {"html": partial(report.sheet_html, document, sheet)}
    write_sheet("a sweep of snapshots", document, sheet, reports, html, sweep.id)


def write_history(history: History, reports: Reports, nothing: str = NO_CHANGES) -> None:
    """Write the reports and the table of a history; `nothing` is its headline if it has no changes to show."""
    of_history: Written = {
        "csv": partial(report.history_csv, history),
        "benchfmt": partial(report.history_benchfmt, history),
    }
    write_sheet("a history", history, history_sheet(history, nothing), reports, of_history)


def write_check(check: CheckReport, reports: Reports) -> None:
    """Write the document and the table of a check of cases."""
    write_sheet("a check", check, check_sheet(check), reports, identity=check.id)


def write_coverage(coverage: CoverageReport, reports: Reports) -> None:
    """Write the reports and the tables of the coverage of a server's commands."""
    sheet = coverage_sheet(coverage)
    html = {"html": partial(report.sheet_html, coverage, sheet)}
    write_sheet("a coverage", coverage, sheet, reports, html)


def write_profile(profile: CaseProfile, exports: Mapping[str, bytes], reports: Reports) -> None:
    """Write stacks in the formats of other programs by target, and the document and the table of a profile."""
    with _kept(profile.id, "profile --stored"):
        for target, content in exports.items():
            write_bytes(target, content)
        if reports.json is not None:
            write(reports.json, report.document_json(profile))
    if reports.has_table and "-" not in exports:
        report.show_sheet(profile_sheet(profile), writer.console())


def write_opportunities(document: Opportunities, limit: int, reports: Reports) -> None:
    """Write the reports and the lines of what could be optimised."""
    write_sheet("opportunities", document, opportunities_sheet(document, limit), reports)


def write_sheet(
    kind: str,
    document: Record,
    sheet: Sheet,
    reports: Reports,
    others: Written | None = None,
    identity: str | None = None,
) -> None:
    """Write the reports that every document with a sheet has, those that this kind has besides, and the sheet."""
    written: Written = {
        "json": partial(report.document_json, document),
        "markdown": partial(report.sheet_markdown, sheet),
        "csv": partial(report.sheet_csv, sheet),
        **(others or {}),
    }
    _write(kind, reports, written, partial(report.show_sheet, sheet), identity)


def _write(
    kind: str, reports: Reports, written: Written, show: Callable[..., None], identity: str | None = None
) -> None:
    """Write the reports that are wanted, and what is shown on a terminal last: its reader may close it before its end.

    Raises `UsageError` for a report that this kind of document does not have.
    """
    for name in reports.targets:
        if name not in written:
            raise UsageError(f"{kind} is not written as {name}", hint=f"write --{next(iter(written))} FILE")
    with _kept(identity) if identity is not None else contextlib.nullcontext():
        for name, target in reports.targets.items():
            write(target, written[name]())
    if reports.has_table:
        show(console=writer.console())


@contextlib.contextmanager
def _kept(identity: str, verb: str = "explain") -> Iterator[None]:
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


def write_document(target: str | None, document: Mapping[str, Any]) -> None:
    """Write a document as JSON where it is wanted."""
    import json

    if target is not None:
        write(target, json.dumps(document, indent=2))


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
