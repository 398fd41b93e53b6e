"""Submits comparisons, runs, sweeps and checks to a fleet, follows them, and writes their reports."""

import time
from collections.abc import Sequence
from typing import Final

from zerolap import writer
from zerolap.cli.exit_code import check_exit_code, exit_code, run_exit_code, snapshot_exit_code
from zerolap.cli.options import PlatformOptions, Reports
from zerolap.cli.output import write_check, write_comparison, write_run, write_sweep
from zerolap.documents import read_check, read_comparison, read_run
from zerolap.errors import UsageError, ZerolapError
from zerolap.fail_on import FailOn
from zerolap.lab import SubmissionOptions, on_platforms
from zerolap.records import PRIORITIES, Request
from zerolap.store import Store

POLL_SECONDS: Final = 0.5
ALL: Final = "all"


def _for_platforms(request: Request, submission: PlatformOptions, store: Store) -> list[Request]:
    """Return a request for each of the platforms; raises `UsageError` for one that is not served."""
    served = [platform.name for platform in store.fleet.platforms()]
    if not served:
        raise UsageError(
            f"no conductor has served the store {store.address} yet",
            hint="start one: zerolap serve, with the same --store",
        )
    named = list(dict.fromkeys(name.strip() for name in (submission.platform or "").split(",") if name.strip()))
    unknown = [name for name in named if name not in (*served, ALL)]
    if unknown or not named:
        raise UsageError(
            f"there is no platform `{unknown[0] if unknown else submission.platform}`",
            hint=f"platforms: {', '.join(served)}; or all",
        )
    priority = next(name for name in PRIORITIES if name == submission.priority)
    chosen = served if ALL in named else named
    return on_platforms(request, chosen, store.blobs, SubmissionOptions(priority, submission.topic))


def answered(
    request: Request,
    store: Store,
    submission: PlatformOptions,
    reports: Reports,
    fail_on: FailOn = "never",
) -> int:
    """Submit a request to its platforms, wait until they have answered, unless told not to, and return the exit code.

    `fail_on` is when a comparison or sweep counts as failed; any but `never` fails a check with faults. Raises
    `ZerolapError` where a request failed, after the reports of the others are written.
    """
    requests = _for_platforms(request, submission, store)
    store.submit(requests)
    if submission.no_wait:
        for each in requests:
            writer.show(f"{each.id} {each.platform}")
        return 0
    codes, faults = [0], []
    _wait_for(requests, store, quiet=reports.quiet)
    for each in requests:
        ended = store.request(each.id)
        if ended.state == "done":
            is_alone = len(requests) == 1
            if not is_alone and reports.has_table:
                writer.show(f"\nplatform {each.platform}\n")
            own = reports if is_alone else reports.of_platform(each.platform)
            codes.append(_written(each, store, own, fail_on))
        else:
            word = ended.state if ended.state == "failed" else f"was {ended.state}"
            faults.append(f"{each.id} on {each.platform} {word}: {ended.reason}".rstrip(": "))
    if faults:
        raise ZerolapError("; ".join(faults), hint="zerolap fleet status shows it; zerolap fleet retry ID repeats it")
    return max(codes)


def _wait_for(requests: Sequence[Request], store: Store, *, quiet: bool) -> None:
    shown: dict[str, str] = {}
    open_requests = [request.id for request in requests]
    while open_requests:
        for request in [request for request in requests if request.id in open_requests]:
            short = store.fleet.in_short(request.id)
            if short is None or short.ended is not None:
                open_requests.remove(request.id)
            if short is None:
                continue
            done = sum(state == "done" for state in store.fleet.job_states(request.id).values())
            line = f"{short.platform}: {short.state}, {done} {'job' if done == 1 else 'jobs'} done"
            if not quiet and shown.get(request.id) != line:
                shown[request.id] = line
                writer.note(line)
        if open_requests:
            time.sleep(POLL_SECONDS)


def _written(request: Request, store: Store, reports: Reports, fail_on: FailOn) -> int:
    if request.kind == "snapshot":
        sweep = store.sweeps.report(request.id)
        write_sweep(sweep, reports)
        return snapshot_exit_code(sweep, fail_on)
    if request.kind == "check":
        check = read_check(store, request.id)
        write_check(check, reports)
        return check_exit_code(check, fail_on_fault=fail_on != "never")
    if request.kind == "run":
        report = read_run(store, request.id)
        write_run(report, store, reports)
        return run_exit_code(report)
    comparison = read_comparison(store, request.id)
    write_comparison(comparison, store, reports, fail_on)
    return exit_code(comparison, fail_on)
