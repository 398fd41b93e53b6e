"""What must hold once all requests have ended: nothing lost, nothing twice, nothing left behind."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benches.chaos_faults import Fault
from benches.chaos_ledger import Ledger, TrialKey, digest_of_metrics
from benches.chaos_processes import BUILDERS
from zerolap.documents.unmeasured import BUDGET_USED_UP
from zerolap.records import JobFinished, Request, TrialDone, TrialsJob, UsageError
from zerolap.store import Store

LEFT_BEHIND = ("zerolap-trial-*", "zerolap-packing-*", "zerolap-comparing-*", "w-*", "placing-*")


@dataclass
class Verified:
    """What was found; each list has a line for each fault of the product."""

    complete: int = 0
    incomplete: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    trials: int = 0
    invalid_by_kills: int = 0
    invalid_by_checks: int = 0
    ended_by_budget: int = 0


def verify(store: Store, requests: Sequence[Request], ledger: Ledger, faults: Sequence[Fault]) -> Verified:
    """Compare the store with the ledgers."""
    verified = Verified()
    stored: dict[TrialKey, str] = {}
    killed = {fault.job for fault in faults if fault.kind == "kill of a server or load generator"}
    for request in requests:
        faults_of_it = _faults_of_document(store, request, killed, verified)
        if faults_of_it:
            verified.incomplete += faults_of_it
        else:
            verified.complete += 1
        _verify_trials(store, request, stored, verified)
        _verify_attempts(store, request, verified)
    executed = ledger.executed
    verified.trials = len(stored)
    verified.lost += [f"told to be recorded, but is not: {key}" for key in sorted(ledger.told - stored.keys())]
    verified.twice += [
        f"nobody has measured this: {key}" for key, digest in stored.items() if digest not in executed.get(key, [])
    ]
    artifacts = store.fleet.artifacts(ledger.told_builds, BUILDERS)
    verified.lost += [f"no artifact of the build {build}" for build in sorted(ledger.told_builds - artifacts.keys())]
    return verified


def _faults_of_document(store: Store, request: Request, killed: set[str | None], verified: Verified) -> list[str]:
    """Return why a request does not count as complete."""
    identity = request.id
    work = store.request(identity)
    if work.state != "done":
        return [f"{identity} is {work.state}: {work.reason}"]
    document = store.comparison(identity)
    wanted = {case.name for case in request.cases}
    there = {case.case for case in document.cases} | {skipped.case for skipped in document.skipped}
    if wanted != there:
        verified.lost += [f"{identity}: no case {name}" for name in sorted(wanted - there)]
        return [f"{identity} lacks cases"]
    failures = {failed.trial.case: failed for failed in store.failures(identity)}
    faults = []
    for case in document.cases:
        if case.failure is not None:
            failed = failures.get(case.case)
            if failed is not None and failed.trial.job in killed:
                # A server that was killed looks like one that crashed.
                verified.invalid_by_kills += 1
            elif failed is None and case.failure == BUDGET_USED_UP:
                # Faults take time, and the requests for timed trials have a budget.
                verified.ended_by_budget += 1
            else:
                faults.append(f"{identity} {case.case}: {case.failure}")
        elif case.verdict == "invalid":
            verified.invalid_by_checks += 1
    return faults


def _verify_trials(store: Store, request: Request, stored: dict[TrialKey, str], verified: Verified) -> None:
    """Check that each trial is there once, and all of those that belong to a job that has ended well."""
    times: Counter[tuple[str, str, int | None, str, int]] = Counter()
    try:
        jobs = store.jobs(request.id)
    except UsageError:
        # It has ended before its servers were built.
        return
    for recorded in jobs:
        job = recorded.job
        if not isinstance(job, TrialsJob):
            continue
        there = set()
        for event in recorded.events:
            if not isinstance(event, TrialDone):
                continue
            for side, measurement in event.measurements.items():
                stored[job.id, event.block, side] = digest_of_metrics(measurement.metrics)
                there.add((event.block, side))
                times[job.case.name, job.engine, job.amounts.per_second, side, event.block] += 1
        ends = [event for event in recorded.events if isinstance(event, JobFinished)]
        if ends and not ends[0].cut_short:
            wanted = {(block.number, side) for block in job.blocks for side in job.servers}
            verified.lost += [f"{job.id} has ended without {missing}" for missing in sorted(wanted - there)]
    verified.twice += [f"{request.id}: {trial} is stored {count} times" for trial, count in times.items() if count > 1]


def _verify_attempts(store: Store, request: Request, verified: Verified) -> None:
    ended = Counter(one.job.id for one in store.fleet.attempts(request.id) if one.state in ("done", "failed"))
    verified.twice += [f"{job} has ended {count} times" for job, count in ended.items() if count > 1]


def left_behind(directory: Path) -> list[str]:
    """Return the scratch directories of agents that are not in use any more."""
    places = [place for agent in directory.glob("*-[0-9]") for place in (agent / "tmp", agent / "agent" / "builds")]
    return [str(path) for place in places for pattern in LEFT_BEHIND for path in place.glob(pattern)]


def here() -> Path:
    """Return a directory for everything, with a short name: the path of a socket has no more than 107 bytes."""
    return Path(tempfile.mkdtemp(prefix="zc-", dir="/tmp"))
