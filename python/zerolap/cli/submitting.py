"""Submits comparisons and runs to a conductor, follows them, and writes their reports."""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from zerolap.cli.exit_code import exit_code, run_exit_code
from zerolap.cli.options import FailOn
from zerolap.cli.output import Reports, write_comparison, write_run
from zerolap.errors import UsageError, ZerolapError
from zerolap.lab import Question, Wish, read_comparison, read_run, submit
from zerolap.records import Priority, Submission
from zerolap.store import Store

POLL_SECONDS: Final = 0.5
ALL: Final = "all"


def wish_of(platforms: str, priority: str, topic: str, store: Store) -> Wish:
    """Return where a question is to be answered; raises `UsageError` for a platform that no conductor serves."""
    served = [platform.name for platform in store.fleet.platforms()]
    if not served:
        raise UsageError(
            f"no conductor has served the store {store.place} yet",
            hint="start one: zerolap serve, with the same --store",
        )
    named = list(dict.fromkeys(name.strip() for name in platforms.split(",") if name.strip()))
    unknown = [name for name in named if name not in (*served, ALL)]
    if unknown or not named:
        raise UsageError(
            f"there is no platform `{unknown[0] if unknown else platforms}`",
            hint=f"platforms: {', '.join(served)}; or all",
        )
    priorities: dict[str, Priority] = {"release": "release", "pull": "pull", "backfill": "backfill"}
    if priority not in priorities:
        raise UsageError(f"`--priority {priority}` is not valid", hint=f"write one of {', '.join(priorities)}")
    return Wish(served if ALL in named else named, priorities[priority], topic)


def answered(
    question: Question, wish: Wish, store: Store, reports: Reports, fail_on: FailOn = FailOn.NEVER, *, wait: bool
) -> int:
    """Submit a question, wait until all platforms have answered, unless `wait` is false, and return the exit code.

    `fail_on` is when a comparison counts as failed. Raises `ZerolapError` where a submission failed, after the reports
    of the others are written.
    """
    submissions = submit(question, wish, store)
    if not wait:
        for submission in submissions:
            typer.echo(f"{submission.id} {submission.platform}")
        return 0
    codes, faults = [0], []
    for submission in _ended(submissions, store, quiet=reports.quiet):
        work = store.fleet.submitted(submission.id)
        if work.state == "done":
            is_alone = len(submissions) == 1
            if not is_alone and reports.has_table:
                typer.echo(f"\nplatform {submission.platform}\n")
            own = reports if is_alone else _of_platform(reports, submission.platform)
            codes.append(_written(submission, store, own, fail_on))
        else:
            faults.append(f"{submission.id} on {submission.platform} {_word(work.state)}: {work.reason}".rstrip(": "))
    if faults:
        raise ZerolapError("; ".join(faults), hint="zerolap fleet status shows it; zerolap fleet retry ID repeats it")
    return max(codes)


def _ended(submissions: Sequence[Submission], store: Store, *, quiet: bool) -> Sequence[Submission]:
    """Wait until all submissions have ended, showing what happens to them; returns them."""
    shown: dict[str, str] = {}
    while True:
        works = [store.fleet.submitted(submission.id) for submission in submissions]
        for work in works:
            attempts = [attempt for attempt in store.fleet.attempts(work.submission.id) if attempt.state == "done"]
            jobs = "1 job" if len(attempts) == 1 else f"{len(attempts)} jobs"
            line = f"{work.submission.platform}: {work.state}, {jobs} done"
            if not quiet and shown.get(work.submission.id) != line:
                shown[work.submission.id] = line
                print(line, file=sys.stderr)
        if all(work.ended is not None for work in works):
            return submissions
        time.sleep(POLL_SECONDS)


def _written(submission: Submission, store: Store, reports: Reports, fail_on: FailOn) -> int:
    """Write the reports of a submission that is done and return its exit code."""
    if submission.kind == "run":
        report = read_run(store, submission.id)
        write_run(report, store, reports)
        return run_exit_code(report)
    comparison = read_comparison(store, submission.id)
    write_comparison(comparison, store, reports)
    return exit_code(comparison, fail_on)


def _of_platform(reports: Reports, platform: str) -> Reports:
    """Return the reports of one of several platforms, whose files bear its name."""
    return replace(
        reports,
        json=_named(reports.json, platform),
        markdown=_named(reports.markdown, platform),
        html=_named(reports.html, platform),
        benchfmt=_named(reports.benchfmt, platform),
    )


def _named(target: str | None, platform: str) -> str | None:
    """Return the file `report-PLATFORM.json` for `report.json`."""
    if target is None or target == "-":
        return target
    path = Path(target)
    return str(path.with_name(f"{path.stem}-{platform}{path.suffix}"))


def _word(state: str) -> str:
    return state if state == "failed" else f"was {state}"
