"""How the frame holds: jobs executed elsewhere, comparisons killed at any moment, planning and memory at 500 cases."""

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from postgresql_server import PostgresqlServer, programs, server_user
from toy_server import CASES as TOY_CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource

from benches.figures import Figure, show_figures, write_figures
from benches.idle import idle_conductor_share
from benches.restart import restart
from zerolap.build import resolve
from zerolap.documents.results import Results
from zerolap.engines.simulated import Simulated
from zerolap.lab import Execution, Lab, LocalPlatform, Options, Worker, compare, comparison_request
from zerolap.lab.planner import Planner
from zerolap.lab.platforms import keep_programs
from zerolap.records import (
    Build,
    BuildDone,
    BuildJob,
    Case,
    Check,
    Measurement,
    RequestedServer,
    Resolved,
    TrialDone,
    TrialsJob,
    Validity,
    WrittenClient,
    job_json,
    read_event,
)
from zerolap.store import Store

CASES = ("get-100B", "hset", "sismember")
KILLS = 50
MANY = 500
STARTS = 10
NOT_COMPARED = ("id", "created", "command_line")


def _zerolap(*arguments: str | Path) -> list[str]:
    return [str(Path(sys.executable).with_name("zerolap")), *map(str, arguments)]


def jobs_elsewhere(work: Path) -> Figure:
    """Execute every job of a comparison of two commits in a process that has only sources and the jobs' JSON."""
    store_directory, toy = work / "here", ToySource(work / "toy")
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    options = ("--repo", toy.path, "--cases", TOY_CASES, "--engine", "counted", "--quick")
    subprocess.run(_zerolap("compare", toy.first, head, *options, "--store", store_directory, "--quiet"), check=True)
    with Store.open(str(store_directory)) as store:
        recorded = store.jobs(store.latest().id)
        here = _results(event for one in recorded for event in one.events)
        here |= {one.job.id: store.build(one.job.spec.digest) for one in recorded if isinstance(one.job, BuildJob)}
        blobs = store_directory / "blobs"
    elsewhere = work / "elsewhere"
    shutil.copytree(blobs, elsewhere / "blobs")
    done = subprocess.run(
        [sys.executable, "-m", "zerolap.lab.job_process", str(elsewhere / "builds"), str(elsewhere / "blobs")],
        input="".join(job_json(one.job) + "\n" for one in recorded),
        stdout=subprocess.PIPE,
        text=True,
        cwd=elsewhere,
        env={"PATH": os.environ["PATH"], "HOME": str(elsewhere)},
        check=True,
    )
    there = _results(map(read_event, done.stdout.splitlines()))
    equal = [there.get(result) == value for result, value in here.items()]
    builds = sum(isinstance(one.job, BuildJob) for one in recorded)
    notes = [f"{builds} builds and {len(equal) - builds} trials"]
    return Figure(
        sum(equal) / len(equal), "share of results equal", [int(one) for one in equal], len(equal), notes=notes
    )


def _results(events: Iterable[object]) -> dict[object, object]:
    """Return the build of each build job and the metrics of each trial."""
    results: dict[object, object] = {}
    for event in events:
        if isinstance(event, BuildDone):
            results[event.job] = event.build
        elif isinstance(event, TrialDone):
            for side, measurement in event.measurements.items():
                results[event.job, event.block, side] = measurement.metrics
    return results


def resume_faults(work: Path) -> dict[str, Figure]:
    """Kill counted comparisons at random moments, continue each to its end, and compare it with an undisturbed one."""
    chance = random.Random(1)
    undisturbed, seconds = _finished(work / "undisturbed")
    kills, wrong, twice, moments = 0, list[int](), list[int](), list[float]()
    while kills < KILLS:
        store = work / f"killed-{kills}"
        repeated, recorded = 0, set[str]()
        document: dict[str, Any] | None = None
        while document is None:
            moment = chance.uniform(0.3, seconds) if kills < KILLS else None
            document = _attempt(store, moment)
            repeated += len(_begun_again(store, recorded))
            recorded |= _recorded(store)
            if document is None:
                kills += 1
                moments.append(round(moment or 0.0, 2))
        wrong.append(int(_compared(document) != _compared(undisturbed)))
        twice.append(repeated)
        shutil.rmtree(store)
    return {
        "resume_wrong": Figure(sum(wrong), "documents", wrong, kills, notes=[f"killed after {moments} s"]),
        "measured_twice": Figure(sum(twice), "trials", twice, kills),
    }


def _finished(store: Path) -> tuple[dict[str, Any], float]:
    began = time.monotonic()
    document = _attempt(store, None)
    if document is None:
        raise RuntimeError("the undisturbed comparison did not end")
    return document, time.monotonic() - began


def _attempt(store: Path, kill_after: float | None) -> dict[str, Any] | None:
    """Compare, and return the document; none where the process was killed before."""
    report, ledger = store.with_suffix(".json"), store.with_suffix(".ledger")
    command = [sys.executable, "-m", "benches.frame", "compare", str(store), str(report), str(ledger)]
    child = subprocess.Popen(command, start_new_session=True)
    try:
        code = child.wait(kill_after)
    except subprocess.TimeoutExpired:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        return _stored_when_done(store)
    if code != 0:
        raise subprocess.CalledProcessError(code, command)
    document: dict[str, Any] = json.loads(report.read_text())
    return document


def _stored_when_done(store: Path) -> dict[str, Any] | None:
    """Return the document of a comparison that was done when its process was killed; the same command begins anew."""
    if not (store / "zerolap.db").exists():
        return None
    with Store.open(str(store)) as results:
        comparisons = results.comparisons()
        if not comparisons or comparisons[0].state != "done":
            return None
        return results.comparison(comparisons[0].id).model_dump(mode="json", by_alias=True)


def _ledgered_comparison(store: Path, report: Path, ledger: Path) -> None:
    """Compare, and write each trial to the ledger before it is begun."""
    from zerolap.engines import counted

    count = counted.count

    def noted(trial: counted.CountedTrial) -> tuple[Measurement, counted.Recorded]:
        with ledger.open("a") as file:
            file.write(f"{trial.case.name} {trial.server.build} {trial.server.config} {trial.seed}\n")
            file.flush()
            os.fsync(file.fileno())
        return count(trial)

    counted.count = noted
    from zerolap.cases import core_suite, select

    server = resolve("redis-server", None)
    base = RequestedServer(source=server)
    head = RequestedServer(source=server, config={"hash-max-listpack-entries": "0"})
    options = Options(engines=["counted"], quick=True)
    request = comparison_request(base, head, select(core_suite(), CASES), options)
    with Store.open(str(store)) as results:
        comparison = compare(request, Lab(results))
    report.write_text(comparison.model_dump_json(by_alias=True))


def _begun_again(store: Path, recorded: set[str]) -> list[str]:
    """Return the trials that were begun in the last attempt though they had been recorded before it."""
    ledger = store.with_suffix(".ledger")
    begun = ledger.read_text().splitlines() if ledger.exists() else []
    ledger.unlink(missing_ok=True)
    return [trial for trial in begun if trial in recorded]


def _recorded(store: Path) -> set[str]:
    """Return the trials that a store holds, as the ledger writes them."""
    if not (store / "zerolap.db").exists():
        return set()
    trials = set()
    with sqlite3.connect(store / "zerolap.db") as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if not {"job", "trial"} <= tables:
            return set()
        for document, side, block in database.execute(
            "SELECT job.document, trial.side, trial.block FROM trial JOIN job ON job.id = trial.job_id"
        ):
            job = TrialsJob.model_validate_json(document)
            server = job.servers[side]
            seed = next(one.seed for one in job.blocks if one.number == block)
            trials.add(f"{job.case.name} {server.build} {server.config} {seed}")
    return trials


def _compared(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without ids and times."""
    kept = {name: value for name, value in document.items() if name not in NOT_COMPARED}
    kept["summary"] = {name: value for name, value in kept["summary"].items() if name != "machine_seconds"}
    return kept


def _many_cases() -> list[Case]:
    return [
        Case(
            name=f"case-{number:03}",
            group="made up",
            client=WrittenClient(commands=[f"GET {number}:__key__"]).client,
        )
        for number in range(MANY)
    ]


def plan_ms_500_cases(work: Path) -> Figure:
    """Plan 500 cases at every stage: before the first trial, while they are counted, and while they are timed."""
    samples: list[float] = []
    with Store.open(str(work / "planned")) as store:
        resolved = _simulated(store)
        results, planner = Results(resolved, store.blobs), Planner(resolved)
        results.builds |= _builds_of(resolved, store)
        by_name = {"counted": Simulated(scatter=0.002), "timed": Simulated(scatter=0.01)}
        worker, lab = Worker(by_name), Lab(store)
        while True:
            began = time.perf_counter()
            jobs = planner.next_jobs(results)
            samples.append((time.perf_counter() - began) * 1e3)
            if not jobs:
                break
            # A loop plans again after each job; every twentieth is timed here.
            for job in jobs[:20]:
                for event in worker.carry_out(job, lab.place):
                    results.add(job, event)
    samples = [round(one, 3) for one in samples]
    return Figure(
        max(samples), "ms, the longest", samples, len(samples), notes=[f"median {statistics.median(samples)}"]
    )


def _simulated(store: Store, engines: Sequence[str] = ("counted", "timed")) -> Resolved:
    """Return the resolved request of a comparison of 500 cases whose build is in the store, before the first trial."""
    server = RequestedServer(source=resolve("redis-server", None))
    request = comparison_request(server, server, _many_cases(), Options(engines=engines))
    lab = Lab(store)
    keep_programs(request, lab)
    store.submit([request])
    resolved = Execution(request, lab, LocalPlatform(lab)).resolve()
    store.begin(resolved)
    return resolved


def _builds_of(resolved: Resolved, store: Store) -> dict[str, Build]:
    builds = [store.build(server.spec.digest) for server in resolved.servers.values()]
    return {build.build: build for build in builds if build is not None}


def _simulated_comparison(store: Path) -> None:
    """Compare 500 simulated cases and print the largest memory that this process had, in MiB."""
    server = RequestedServer(source=resolve("redis-server", None))
    request = comparison_request(server, server, _many_cases(), Options(engines=["counted", "timed"]))
    worker = Worker({"counted": Simulated(), "timed": Simulated(slices=40)})
    with Store.open(str(store)) as results:
        comparison = compare(request, Lab(results, worker=worker))
    if len(comparison.cases) != MANY:
        raise RuntimeError(f"{len(comparison.cases)} cases were compared")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def rss_mib_500_cases(work: Path) -> Figure:
    """Return the memory that a comparison of 500 simulated cases takes."""
    command = [sys.executable, "-m", "benches.frame", "simulate", str(work / "memory")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    mebibytes = float(done.stdout.split()[-1])
    return Figure(mebibytes, "MiB", [mebibytes], 1)


def import_ms() -> Figure:
    """Time `import zerolap` in fresh processes."""
    code = "import time; began = time.perf_counter(); import zerolap; print((time.perf_counter() - began) * 1e3)"
    samples = [
        float(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout)
        for _ in range(STARTS)
    ]
    return Figure(statistics.median(samples), "ms", [round(one, 3) for one in samples], STARTS)


def help_ms() -> Figure:
    """Time `zerolap --help` as a whole process."""
    samples = []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run(_zerolap("--help"), stdout=subprocess.DEVNULL, check=True)
        samples.append((time.perf_counter() - began) * 1e3)
    return Figure(statistics.median(samples), "ms", [round(one, 1) for one in samples], STARTS)


def store_inserts_per_second(work: Path) -> dict[str, Figure]:
    """Record events of two sides, on SQLite and where its server is installed on PostgreSQL."""
    figures = {"store_inserts_per_second": _inserts(str(work / "inserts"))}
    binaries, user = programs(), server_user()
    if binaries is None or user is None:
        print("note: no PostgreSQL server is installed: its inserts are not measured", file=sys.stderr)
        return figures
    with PostgresqlServer.started(binaries, user) as server:
        figures["store_inserts_per_second_postgresql"] = _inserts(server.url(server.new_database()))
    return figures


def _inserts(location: str) -> Figure:
    samples = []
    with Store.open(location) as store:
        resolved = _simulated(store, engines=["counted"])
        results = Results(resolved, store.blobs)
        results.builds |= _builds_of(resolved, store)
        jobs = Planner(resolved).next_jobs(results)
        measurement = Measurement(
            metrics={"instructions_per_op": 1000.0, "syscalls_per_op": 0.1, "allocations_per_op": 1.0},
            validity=Validity.of([Check(check="errors", ok=True, value=0.0, limit="<= 0")]),
        )
        for first in range(0, 100, 10):
            began = time.perf_counter()
            for job in jobs[first : first + 10]:
                store.record_job(job)
                for block in job.blocks:
                    measurements = dict.fromkeys(job.servers, measurement)
                    store.record(job, TrialDone(job=job.id, block=block.number, measurements=measurements))
            samples.append(10 * 3 * 2 / (time.perf_counter() - began))
    return Figure(statistics.median(samples), "trials a second", [round(one, 1) for one in samples], 600)


def main(chosen: Sequence[str]) -> None:
    """Measure all figures, or those that are named, and write them."""
    figures: dict[str, Figure] = {}
    with tempfile.TemporaryDirectory(prefix="zerolap-bench-") as directory:
        work = Path(directory)

        def wanted(*names: str) -> bool:
            return not chosen or any(name in chosen for name in names)

        if wanted("import_ms"):
            figures["import_ms"] = import_ms()
        if wanted("help_ms"):
            figures["help_ms"] = help_ms()
        if wanted("plan_ms_500_cases"):
            figures["plan_ms_500_cases"] = plan_ms_500_cases(work)
        if wanted("rss_mib_500_cases"):
            figures["rss_mib_500_cases"] = rss_mib_500_cases(work)
        if wanted("store_inserts_per_second"):
            figures |= store_inserts_per_second(work)
        if wanted("restart_seconds_20000", "restart_mib_20000"):
            figures |= restart(work)
        if wanted("idle_conductor_share"):
            figures["idle_conductor_share"] = idle_conductor_share(work)
        if wanted("jobs_elsewhere"):
            figures["jobs_elsewhere"] = jobs_elsewhere(work)
        if wanted("resume_wrong", "measured_twice"):
            figures |= resume_faults(work)
    show_figures(figures)
    print(write_figures("frame", figures))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["compare", store, report, ledger]:
            _ledgered_comparison(Path(store), Path(report), Path(ledger))
        case ["simulate", store]:
            _simulated_comparison(Path(store))
        case chosen:
            main(chosen)
