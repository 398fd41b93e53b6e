"""The store keeps what it was given, once, through crashes, in both databases, and reports what is wrong with them."""

import errno
import hashlib
import io
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from made_records import (
    CULPRIT,
    NOTHING,
    PLATFORM,
    SERVER,
    SETTINGS,
    VALID,
    a_case,
    a_comparison,
    a_function,
    a_run,
    a_run_case,
    a_verdict,
    changed,
)
from postgresql_server import PostgresqlServer
from pydantic import ValidationError
from quick_stores import SQLITE_SET_UP
from sqlalchemy import Connection, MetaData, Table, text

from zerolap import __version__
from zerolap.cli.repeated_command import without_password
from zerolap.records import (
    STANDALONE,
    Abilities,
    Amounts,
    ArchiveSource,
    BinarySource,
    Block,
    Build,
    BuildJob,
    BuildSpec,
    Case,
    CaseResult,
    Check,
    Comparison,
    DocumentState,
    EnvironmentMissing,
    JobFailed,
    JobFinished,
    JobStarted,
    Measurement,
    Note,
    Placement,
    Platform,
    Progress,
    Request,
    RequestedServer,
    Resolved,
    ResolvedServer,
    Revision,
    RevisionSource,
    RunReport,
    ServerSpec,
    Spread,
    StartRatio,
    TrialDone,
    TrialsJob,
    UsageError,
    Validity,
    Windows,
)
from zerolap.store import (
    AcceptedChange,
    Artifact,
    BlobDamaged,
    Blobs,
    ExplainedStep,
    RequestBusy,
    Store,
    recorded_requests as requests,
    sqlite,
)
from zerolap.store.blobs import FileContainer, Objects, open_blobs
from zerolap.store.sqlite import SqliteDatabase
from zerolap.store.tables import REVISION

LARGEST_SEED = changed(SETTINGS, seed=2**64 - 1)
SERVERS = {"base": changed(SERVER, commit="abc"), "head": changed(SERVER, name="HEAD", commit=None)}


def a_regression(name: str = "xadd", **changes: Any) -> CaseResult:
    """Return a case with one verdict, of values that are hard to store, and one culprit."""
    hard = a_verdict("regression", head=13087.2, change=0.1 + 0.2, low=float("-inf"), high=0.171, q=1e-300)
    return a_case(name, hard, findings=[CULPRIT], **changes)


def compared(identity: str = "c-1", **changes: Any) -> Comparison:
    """Return a comparison in the state running, without cases."""
    return a_comparison(**{"id": identity, "state": "running", "settings": LARGEST_SEED, **SERVERS, **changes})


def a_stored_run(identity: str = "r-1", **changes: Any) -> RunReport:
    """Return a run with one case."""
    case = a_run_case("get", {"instructions_per_op": 100.5}, functions=[a_function("f", 0.1, calls_per_op=1.0)])
    return a_run(**{"cases": [case], "id": identity, "settings": LARGEST_SEED, "notes": ["a note"], **changes})


SPEC = BuildSpec(content="content", variant="default", recipe=1, tools=("gcc 12",))


def a_revision(commit: str = "c-0", *parents: str) -> RevisionSource:
    """Return a commit of a repository."""
    revision = Revision(repository="origin", commit=commit, parents=parents, time="2026-01-01T00:00:00Z", subject="…")
    return RevisionSource(name="HEAD", repository=Path("/source"), revision=revision)


AN_ARCHIVE = ArchiveSource(name="HEAD", form="tree", content="content", archive="ab" * 32)


def a_build_record(**changes: Any) -> Build:
    """Return what came out of the specification."""
    fields = {"build": SPEC.digest, "version": "7.0.15", "build_id": "ff", "flags": "-O2", "libc": "glibc 2.36"}
    return Build.model_validate({**fields, "arguments": ("--io-threads", "4"), "path": "/usr/bin/server", **changes})


def a_request(identity: str = "c-1", **changes: Any) -> Request:
    """Return a request for a comparison of one case."""
    server = RequestedServer(source=a_revision(), variant="", config={"maxmemory": "1gb"})
    fields = {
        "id": identity,
        "kind": "compare",
        "created": "2026-11-20T21:00:00Z",
        "command_line": "zerolap compare a b",
        "servers": {"base": server, "head": server},
        "cases": (a_case_definition(),),
        "settings": LARGEST_SEED,
    }
    return Request.model_validate({**fields, **changes})


def a_resolved(identity: str = "c-1", platform: Platform | None = None, **changes: Any) -> Resolved:
    """Return what a request means on a platform."""
    request = a_request(identity, **changes)
    servers = {
        side: ResolvedServer(source=server.source, variant=server.variant, spec=SPEC, config=server.config)
        for side, server in request.servers.items()
    }
    platform = platform or changed(PLATFORM, facts={"governor": "performance"})
    return Resolved(request=request, platform=platform, servers=servers, cases=request.cases)


def keep(store: Store, document: Comparison | RunReport, state: DocumentState = "running") -> None:
    """Record a document, its request and the state of that."""
    if isinstance(document, Comparison):
        store.begin(a_resolved(document.id))
        store.record_comparison(document)
        store.end(document.id, document.state)
    else:
        store.begin(a_resolved(document.id, kind="run"))
        store.record_run(document)
        store.end(document.id, state)


def a_case_definition(name: str = "xadd") -> Case:
    """Return a case as it is measured."""
    return Case.model_validate({"name": name, "commands": ["XADD stream:__key__ * field __data__"], "group": "stream"})


def a_job(identity: str = "c-1", engine: str = "counted", **changes: Any) -> TrialsJob:
    """Return a job of both sides with ten blocks."""
    spec = ServerSpec(build=SPEC.digest, topology=STANDALONE, config={"maxmemory": "1gb"})
    fields = {
        "request": identity,
        "case": a_case_definition(),
        "servers": {"head": spec, "base": spec},
        "engine": engine,
        "blocks": [Block(number=number, seed=2**64 - 1 - number) for number in range(10)],
    }
    return TrialsJob.model_validate({**fields, **changes})


def a_full_measurement(seconds: float = 2.5, **changes: Any) -> Measurement:
    """Return a valid measurement of two metrics."""
    fields = {
        "metrics": {"instructions_per_op": 11201.4, "syscalls_per_op": 0.1 + 0.2},
        "validity": VALID,
        "amounts": Amounts(windows=Windows(small=100, large=300)),
        "graph": "ab" * 32,
        "seconds": seconds,
        "method": 2,
        "zerolap": "9.9",
        "executed_code": "cd" * 32,
        "began": "2026-11-20T21:00:05Z",
        "facts": "ef" * 16,
        "instrument": "valgrind 3.19.0",
    }
    return Measurement.model_validate({**fields, **changes})


def a_trial_done(job: TrialsJob, block: int = 0, **sides: Measurement) -> TrialDone:
    """Return the event of a block of both sides."""
    measurements = sides or {"base": a_full_measurement(), "head": a_full_measurement(3.5)}
    return TrialDone(job=job.id, block=block, measurements=measurements)


@dataclass(frozen=True)
class Database:
    """Where the tests' store is kept."""

    location: str
    kind: str


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """Return the location of a new store in each of the databases."""
    if request.param == "sqlite":
        return Database(str(tmp_path / "store"), "sqlite")
    server: PostgresqlServer = request.getfixturevalue("postgresql")
    return Database(f"{server.url(server.new_store())}&blobs={tmp_path / 'store' / 'blobs'}", "postgresql")


@pytest.fixture(params=["sqlite", "postgresql"])
def location_without_tables(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a location at which other processes make a store, in each of the databases."""
    if request.param == "sqlite":
        return str(tmp_path / "store")
    server: PostgresqlServer = request.getfixturevalue("postgresql")
    return f"{server.url(server.new_database())}&blobs={tmp_path / 'store' / 'blobs'}"


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """Return a new, empty store in each of the databases."""
    with Store.open(database.location) as opened:
        yield opened


@pytest.fixture
def file_store(tmp_path: Path) -> Iterator[Store]:
    """Return a new, empty store in a file."""
    with Store.open(str(tmp_path / "store")) as opened:
        yield opened


@pytest.fixture
def begun(store: Store) -> Store:
    """Return a store in which a request was begun."""
    store.begin(a_resolved())
    return store


@pytest.fixture
def ordinary_user() -> Iterator[None]:
    """Give up root's right to write everywhere, for the time of a test."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def rows_of(store: Store, query: str) -> list[tuple[Any, ...]]:
    """Return what the database holds behind the store's back."""
    with store._database.read_transaction() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def rows_in(store: Store, table: str) -> int:
    """Count a table's rows."""
    return int(rows_of(store, f"SELECT count(*) FROM {table}")[0][0])


def python(program: str, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
    """Start a Python program that may import this module."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    return subprocess.Popen([sys.executable, "-c", program, *arguments], env=environment, text=True, **options)


def test_a_request_is_read_as_it_was_begun(store: Store) -> None:
    asked = a_resolved()
    store.begin(asked)
    store.begin(a_resolved(command_line="another"))
    assert store.request("c-1").request == asked.request
    assert store.request("latest").request == asked.request
    assert store.resolved("c-1") == asked
    assert store.state("c-1") == "running"
    assert rows_of(store, "SELECT commit FROM revision".replace("commit", '"commit"')) == [("c-0",)]
    for read in (store.request, store.state, store.is_cancelled, store.cancel, store.jobs, store.measurements):
        with pytest.raises(UsageError, match="c-9"):
            read("c-9")
    with pytest.raises(UsageError, match="c-9"):
        store.end("c-9", "done")


def test_unfinished_requests_for_the_same_are_found(store: Store) -> None:
    for identity in ("c-1", "c-2", "c-3"):
        store.begin(a_resolved(identity))
    store.begin(a_resolved("c-4", all_stacks=True))
    store.end("c-2", "done")
    store.end("c-3", "interrupted")
    assert store.unfinished(a_resolved().digest) == ["c-3", "c-1"]
    store.end("c-3", "running")
    assert store.state("c-3") == "running"


def test_a_cancellation_reaches_others_and_ends_with_the_work(begun: Store, database: Database) -> None:
    with Store.open(database.location) as other:
        assert not begun.is_cancelled("c-1")
        other.cancel("c-1")
        other.cancel("c-1")
        assert begun.is_cancelled("c-1")
        begun.end("c-1", "interrupted")
        assert not other.is_cancelled("c-1")
        assert other.state("c-1") == "interrupted"


def test_a_claim_is_held_once(begun: Store, database: Database) -> None:
    with Store.open(database.location) as other:
        with begun.claim("c-1"):
            for store in (begun, other):
                with pytest.raises(RequestBusy, match="another process"), store.claim("c-1"):
                    pass
            with other.claim("c-2"):
                pass
        with other.claim("c-1"):
            pass
        with pytest.raises(ValueError, match="in the body"), begun.claim("c-1"):
            raise ValueError("in the body")
        with other.claim("c-1"):
            pass


CLAIMER = """
import sys
from zerolap.store import Store
with Store.open(sys.argv[1]) as store, store.claim("c-1"):
    print("claimed", flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_gives_up_its_claim(begun: Store, database: Database) -> None:
    with python(CLAIMER, database.location, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        with pytest.raises(RequestBusy), begun.claim("c-1"):
            pass
        process.kill()
    while True:  # The server of PostgreSQL notices the end of the connection a moment later.
        try:
            with begun.claim("c-1"):
                return
        except RequestBusy:
            time.sleep(0.01)


def test_a_build_belongs_to_its_content(store: Store) -> None:
    assert store.build(SPEC.digest) is None
    built = a_build_record()
    store.record_build(built, a_revision("c-1", "c-0"))
    store.record_build(built.model_copy(update={"path": "/elsewhere"}), a_revision("c-2", "c-1"))
    store.record_build(built, BinarySource(name="redis-server", path=Path("/usr/bin/redis-server")))
    assert store.build(SPEC.digest) == built
    commits = rows_of(store, 'SELECT "commit", build FROM revision_build ORDER BY "commit"')
    assert commits == [("c-1", SPEC.digest), ("c-2", SPEC.digest)]
    parents = rows_of(store, 'SELECT "commit", parent FROM revision_parent ORDER BY "commit"')
    assert parents == [("c-1", "c-0"), ("c-2", "c-1")]


def test_a_new_kernel_is_a_change_on_a_platform(store: Store) -> None:
    before = a_resolved().platform
    for number, kernel in enumerate(("6.1", "6.1", "6.2")):
        platform = before.model_copy(update={"kernel": kernel})
        store.begin(a_resolved(f"c-{number}", platform=platform))
    assert rows_in(store, "platform") == 1
    kernels = rows_of(store, "SELECT kernel, facts FROM platform_facts ORDER BY kernel")
    assert kernels == [("6.1", '{"governor": "performance"}'), ("6.2", '{"governor": "performance"}')]


def test_a_trial_refers_to_the_state_of_its_platform(begun: Store) -> None:
    now = a_resolved().platform.model_copy(update={"facts": {"governor": "powersave"}})
    for _ in range(2):
        begun.record_platform(now)
    job = a_job()
    begun.record_job(job)
    begun.record(job, a_trial_done(job, 0, head=a_full_measurement(facts=now.facts_digest)))
    query = "SELECT platform_facts.facts FROM trial JOIN platform_facts ON platform_facts.digest = trial.facts"
    assert rows_of(begun, query) == [('{"governor": "powersave"}',)]


def test_equal_work_is_found_by_its_digest_over_comparisons(begun: Store) -> None:
    begun.begin(a_resolved("c-2"))
    for identity, code in (("c-1", "aa" * 32), ("c-2", "aa" * 32), ("c-2", "bb" * 32)):
        job = a_job(identity, load_tool=code)
        begun.record_job(job)
        begun.record(job, a_trial_done(job, 0, head=a_full_measurement(executed_code=code)))
    query = "SELECT request_id, began FROM trial WHERE executed_code = '" + "aa" * 32 + "' ORDER BY request_id"
    assert rows_of(begun, query) == [("c-1", "2026-11-20T21:00:05Z"), ("c-2", "2026-11-20T21:00:05Z")]


def test_jobs_are_read_as_they_were_recorded(begun: Store) -> None:
    build_job = BuildJob(request="c-1", source=AN_ARCHIVE, variant="", spec=SPEC)
    job, timed = a_job(), a_job(engine="timed")
    for recorded in (build_job, timed, job):
        begun.record_job(recorded)
    invalid = Measurement(
        metrics={},
        validity=Validity.of([Check(check="errors", ok=False, value="WRONGTYPE", limit="0")]),
        timeline="cd" * 32,
        stacks="ef" * 32,
        executed="12" * 32,
        placement=Placement(seed=2**64 - 1),
    )
    first, second = a_trial_done(job, 0), a_trial_done(job, 1, head=invalid)
    failed = JobFailed(job=job.id, reason="it crashed", hint="look", details="line 1\nline ü\0\n", side="head", block=2)
    finished = JobFinished(job=job.id, cut_short=True)
    for event in (JobStarted(job=job.id), first, Progress(activity="counting"), second, Note(text="a note"), failed):
        begun.record(job, event)
    begun.record(job, finished)
    begun.record(build_job, JobFinished(job=build_job.id))
    assert [recorded.job for recorded in begun.jobs("c-1")] == [build_job, timed, job]
    assert [recorded.events for recorded in begun.jobs("c-1")] == [
        (JobFinished(job=build_job.id),),
        (),
        (first, second, failed, finished),
    ]
    measured = begun.measurements("c-1")
    assert [(trial.job, trial.case, trial.engine, trial.side, trial.block) for trial, _ in measured] == [
        (job.id, "xadd", "counted", "base", 0),
        (job.id, "xadd", "counted", "head", 0),
        (job.id, "xadd", "counted", "head", 1),
    ]
    assert [measurement for _, measurement in measured] == [a_full_measurement(), a_full_measurement(3.5), invalid]
    assert rows_of(begun, "SELECT DISTINCT recorded_by FROM trial") == [(__version__,)]


def test_what_is_recorded_again_changes_nothing(begun: Store) -> None:
    job = a_job()
    failed = JobFailed(job=job.id, reason="first")
    for again in (False, True):
        begun.record_job(job.model_copy(update={"seconds_left": 1.0}) if again else job)
        begun.record(job, a_trial_done(job, 0, base=a_full_measurement(99.0)) if again else a_trial_done(job))
        begun.record(job, failed.model_copy(update={"reason": "second"}) if again else failed)
    [recorded] = begun.jobs("c-1")
    assert recorded.job == job
    assert recorded.events == (a_trial_done(job), failed)
    assert rows_in(begun, "metric") == 4


def test_the_trials_of_an_event_are_recorded_together_or_not_at_all(begun: Store) -> None:
    job = a_job()
    begun.record_job(job)
    begun.record(job, a_trial_done(job, 0, head=a_full_measurement(1.0)))
    begun.record(job, a_trial_done(job, 0))
    assert begun.jobs("c-1")[0].events == (a_trial_done(job, 0, head=a_full_measurement(1.0)),)
    assert rows_in(begun, "trial") == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_measurement_has_finite_numbers(value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        a_full_measurement(metrics={"instructions_per_op": 1.0, "x": value})


def test_what_belongs_to_nothing_is_refused(begun: Store) -> None:
    unknown = a_job("c-9")
    with pytest.raises(UsageError, match="no such request or job"):
        begun.record_job(unknown)
    for event in (a_trial_done(unknown), JobFailed(job=unknown.id, reason="r"), JobFinished(job=unknown.id)):
        with pytest.raises(UsageError):
            begun.record(unknown, event)
    assert rows_in(begun, "job") == 0


def test_threads_that_record_the_same_do_it_once(begun: Store) -> None:
    jobs = [a_job(), a_job(engine="timed")]
    for job in jobs:
        begun.record_job(job)
    faults: list[BaseException] = []

    def record_all() -> None:
        try:
            for block in range(10):
                for job in jobs:
                    begun.record(job, a_trial_done(job, block))
                begun.blobs.put(str(block).encode())
        except BaseException as fault:
            faults.append(fault)
            raise

    threads = [threading.Thread(target=record_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for recorded in begun.jobs("c-1"):
        blocks = sorted(event.block for event in recorded.events if isinstance(event, TrialDone))
        assert blocks == list(range(10))
    assert rows_in(begun, "trial") == 40
    assert rows_in(begun, "metric") == 80


def test_a_series_goes_on_over_requests(begun: Store) -> None:
    begun.begin(a_resolved("c-2"))
    for job in (a_job("c-1"), a_job("c-2")):
        begun.record_job(job)
        begun.record(job, a_trial_done(job))
    fields = rows_of(begun, "SELECT metric, topology, config, variant, platform, method FROM series ORDER BY metric")
    shared = ("standalone", '[["maxmemory", "1gb"]]', "default", "p-1", 2)
    assert fields == [("instructions_per_op", *shared), ("syscalls_per_op", *shared)]
    assert rows_of(begun, "SELECT count(*) FROM metric GROUP BY series_id") == [(4,), (4,)]
    newer = a_job("c-2", engine="timed")
    begun.record_job(newer)
    begun.record(newer, a_trial_done(newer, 0, head=a_full_measurement(method=3)))
    assert rows_in(begun, "series") == 4


def series_of(store: Store, engine: str, measurement: Measurement, **changes: Any) -> dict[str, Any]:
    """Record a trial of the head by an engine, and return the only series that is new by it."""
    before = {one for (one,) in rows_of(store, "SELECT id FROM series")}
    job = a_job(engine=engine, load_tool=f"{engine} {len(before)} {changes}", **changes)
    store.record_job(job)
    sides = dict.fromkeys(job.servers, measurement)
    store.record(job, TrialDone(job=job.id, block=0, measurements=sides))
    names = "id, placed, resident, load_host, compiler, libc, valgrind, windows"
    rows = [row for row in rows_of(store, f"SELECT {names} FROM series") if row[0] not in before]
    return dict(zip(names.split(", ")[1:], rows[0][1:], strict=True)) if len(rows) == 1 else {"rows": len(rows)}


def test_a_series_has_all_that_its_values_depend_on(begun: Store) -> None:
    begun.record_build(a_build_record(compiler="GNU C11 12.2.0"))
    of_build = {"compiler": "GNU C11 12.2.0", "libc": "glibc 2.36"}
    nowhere = {"placed": False, "resident": 1, "load_host": "", "valgrind": "", "windows": "", **of_build}
    one = {"metrics": {"cpu_ns_per_op": 1.0}}
    counted = a_full_measurement(**one)
    assert series_of(begun, "counted", counted) == nowhere | {"valgrind": "3.19.0", "windows": "100+300"}
    newer = a_full_measurement(**one, instrument="valgrind 3.20.0")
    assert series_of(begun, "counted", newer) == nowhere | {"valgrind": "3.20.0", "windows": "100+300"}
    wider = a_full_measurement(**one, amounts=Amounts(windows=Windows(small=200, large=300)))
    assert series_of(begun, "counted", wider)["windows"] == "200+300"
    assert series_of(begun, "counted", wider) == {"rows": 0}

    built, placed = Placement(failure="no objects"), Placement(seed=7)
    assert series_of(begun, "timed", a_full_measurement(**one, placement=built)) == nowhere | {"resident": 2}
    both = series_of(begun, "timed", a_full_measurement(**one, placement=placed))
    assert both == nowhere | {"resident": 2, "placed": True}
    alone = a_full_measurement(**one, placement=placed, amounts=Amounts(alone=True))
    assert series_of(begun, "timed", alone) == nowhere | {"placed": True}
    loaded = a_full_measurement(**one, placement=placed, load_host="load")
    assert series_of(begun, "timed", loaded) == both | {"load_host": "load"}
    head = {"head": a_job().servers["head"]}
    assert series_of(begun, "timed", a_full_measurement(**one), servers=head) == nowhere
    unknown = {"head": head["head"].model_copy(update={"build": "b-unknown"})}
    of_unknown = series_of(begun, "timed", a_full_measurement(**one), servers=unknown)
    assert of_unknown == nowhere | {"compiler": "", "libc": ""}


def test_the_control_is_one_series_of_its_platform(begun: Store) -> None:
    begun.begin(a_resolved("c-2"))
    paced = {"amounts": Amounts(per_second=100)}
    for job in (
        a_job(engine="timed"),
        a_job(engine="timed", **paced),
        a_job("c-2", engine="timed", case=a_case_definition("other")),
    ):
        begun.record_job(job)
        begun.record(
            job, a_trial_done(job, 0, head=a_full_measurement(metrics={"control_ns": 15.5, "ops_per_sec": 9.0}))
        )
    query = 'SELECT count(*), max(platform), max(series."case") FROM metric JOIN series ON series.id = series_id'
    assert rows_of(begun, f"{query} WHERE name = 'control_ns' GROUP BY series_id") == [(3, "p-1", "")]


def test_values_at_a_chosen_rate_are_of_no_series(begun: Store) -> None:
    job = a_job(engine="timed", amounts=Amounts(per_second=5000))
    begun.record_job(job)
    begun.record(job, a_trial_done(job))
    assert rows_in(begun, "series") == 0
    assert [trial.per_second for trial, _ in begun.measurements("c-1")] == [5000, 5000]


def test_failures_keep_their_logs(begun: Store) -> None:
    job, refused = a_job(), a_job(engine="timed")
    for recorded in (job, refused):
        begun.record_job(recorded)
    begun.record(job, JobFailed(job=job.id, reason="exited with \0 139", details="the log", side="head", block=3))
    begun.record(refused, JobFailed(job=refused.id, reason="no", hint="other arguments", refused=True))
    first, second = begun.failures("c-1")
    assert (first.trial.case, first.trial.side, first.trial.block) == ("xadd", "head", 3)
    assert (first.message, first.refused) == ("exited with \0 139", False)
    assert first.log is not None
    assert begun.blobs.get(first.log) == b"the log"
    assert (second.message, second.hint, second.refused, second.log) == ("no", "other arguments", True, None)
    assert begun.measurements("c-1") == []


def test_a_comparison_is_read_as_it_was_written(store: Store, database: Database) -> None:
    begun = compared()
    keep(store, begun)
    assert store.comparison("c-1") == begun
    some = compared(
        cases=[a_regression("xadd", verdict="unsure"), a_regression("zadd", verdict="same")], notes=["running"]
    )
    keep(store, some)
    assert store.comparison("c-1") == some
    done = compared(
        state="done",
        notes=["a note"],
        summary=changed(NOTHING, regression=1, same=1, machine_seconds=12.5),
        skipped=[{"case": "big", "reason": "memory", "text": "needs 9 GiB"}],
        cases=[
            a_regression("zadd", verdict="same"),
            a_regression(failure="a \0 in a reply"),
        ],
    )
    keep(store, done)
    keep(store, done)
    assert store.comparison("c-1") == done
    assert (rows_in(store, "verdict"), rows_in(store, "finding"), rows_in(store, "document")) == (2, 2, 1)
    assert rows_of(store, "SELECT DISTINCT deciding FROM case_result") == [("instructions_per_op",)]
    with Store.open(database.location) as again:
        assert again.comparison("c-1") == done


def test_names_of_any_length_are_kept(store: Store) -> None:
    case = a_regression()
    long = case.findings[0].model_copy(update={"function": "std::" * 2000, "text": "ü \0 {}"})
    comparison = compared(cases=[case.model_copy(update={"findings": [long]})])
    keep(store, comparison)
    assert store.comparison("c-1") == comparison


def test_sides_of_one_build_keep_their_names(store: Store) -> None:
    keep(store, compared())
    assert (store.comparison("c-1").base.name, store.comparison("c-1").head.name) == ("HEAD~1", "HEAD")


def test_a_run_is_read_as_it_was_written(store: Store) -> None:
    keep(store, a_stored_run(cases=[], notes=[]), "running")
    assert "did not finish" in store.run("r-1").notes[0]
    keep(store, a_stored_run(), "interrupted")
    assert "was interrupted" in store.run("r-1").notes[-1]
    assert store.run("r-1").cases == a_stored_run().cases
    keep(store, a_stored_run(), "done")
    assert store.run("latest") == a_stored_run()
    assert store.measurements("r-1") == []


def test_ids_are_found_by_their_beginning(store: Store) -> None:
    for identity in ("c-ab1", "c-ab2", "c-abc", "c-ab"):
        keep(store, compared(identity))
    keep(store, a_stored_run("r-x"), "done")
    assert store.comparison("c-ab1").id == "c-ab1"
    assert store.comparison("c-ab").id == "c-ab"
    assert store.comparison("latest").id == "c-ab"
    assert store.run("r-").id == "r-x"
    with pytest.raises(UsageError) as ambiguous:
        store.comparison("c-")
    assert "c-ab1" in ambiguous.value.hint
    for unknown in ("c-zz", "", "%", "r-x", "C-AB1"):
        with pytest.raises(UsageError) as fault:
            store.comparison(unknown)
        assert "c-ab, c-abc, c-ab2, c-ab1" in fault.value.hint


def test_an_empty_store_is_reported(store: Store) -> None:
    with pytest.raises(UsageError, match="no comparison yet"):
        store.comparison("latest")
    with pytest.raises(UsageError, match="is empty"):
        store.latest()
    with pytest.raises(UsageError) as fault:
        store.comparison("c-1")
    assert "empty" in fault.value.hint
    assert store.comparisons() == []


def test_the_newest_come_first(store: Store) -> None:
    keep(store, compared("c-1"))
    keep(store, a_stored_run("r-1"), "done")
    keep(store, compared("c-2"))
    keep(store, compared("c-1", state="done"))
    rows = store.comparisons(limit=2)
    assert [(row.id, row.kind, row.state, row.base, row.head) for row in rows] == [
        ("c-2", "compare", "running", "HEAD~1", "HEAD"),
        ("r-1", "run", "done", None, "HEAD~1"),
    ]
    assert store.latest() == rows[0]


def test_the_bank_holds_the_spreads_of_a_platform(store: Store) -> None:
    platform = compared().platform.fingerprint
    older, newer = (Spread(variance=variance, degrees=5.0) for variance in (1e-4, 2e-4))
    for identity, spread, topology in (("c-1", older, ""), ("c-2", newer, "cluster")):
        keep(store, compared(identity))
        store.record_spreads(identity, {("get", "cpu_ns_per_op"): spread}, topology)
        store.record_spreads(identity, {("get", "cpu_ns_per_op"): spread}, topology)
    assert store.spreads(platform, "cpu_ns_per_op") == [newer, older]
    assert store.spreads(platform, "cpu_ns_per_op", "cluster") == [newer]
    assert store.spreads(platform, "usec_per_call") == []
    assert store.spreads("another", "cpu_ns_per_op") == []
    with pytest.raises(UsageError, match="c-9"):
        store.record_spreads("c-9", {})


def test_reasons_of_a_step_are_of_one_revision(either_store: Store) -> None:
    history = either_store.history
    step = ExplainedStep("b-1", "b-2", "g-1", "g-2", "instructions_per_op", "1")
    assert history.reasons(step) is None
    history.keep_reasons(step, ["`f` is called", "ünïcode"])
    assert history.reasons(step) == ("`f` is called", "ünïcode")
    newer = replace(step, explained_by="2")
    assert history.reasons(newer) is None
    history.keep_reasons(newer, ["`g` is called"])
    assert (history.reasons(step), history.reasons(newer)) == (None, ("`g` is called",))
    assert history.reasons(replace(newer, head_graph="g-3")) is None


def test_what_each_start_of_a_comparison_says_is_stored_with_its_document(store: Store) -> None:
    ratios = [
        StartRatio(case=case, metric=metric, engine="timed", block=block, log_ratio=0.1 + 0.2 * block)
        for case in ("get", "set")
        for metric in ("cpu_ns_per_op", "elapsed_ns_per_op")
        for block in (0, 1, 3)
    ]
    for identity in ("c-1", "c-2"):
        keep(store, compared(identity))
        store.record_start_ratios(identity, list(reversed(ratios)))
    changed = ratios[0].model_copy(update={"log_ratio": 9.0})
    store.record_start_ratios("c-1", [changed])
    store.record_start_ratios("c-1", [])
    assert store.start_ratios("c-1") == ratios
    with store._database.write_transaction() as connection:
        connection.execute(text("DELETE FROM request WHERE id = 'c-1'"))
    assert rows_of(store, "SELECT DISTINCT document_id FROM start_ratio") == [("c-2",)]
    for refused in (lambda: store.record_start_ratios("c-9", ratios), lambda: store.start_ratios("c-9")):
        with pytest.raises(UsageError, match="c-9"):
            refused()


WRITER = """
import sys
from test_store import a_job, a_regression, a_resolved, a_trial_done, compared
from zerolap.store import Store
store = Store.open(sys.argv[1])
store.begin(a_resolved())
job = a_job()
store.record_job(job)
for block in range(1000000):
    store.blobs.put(b"x" * 100000 + str(block).encode())
    store.record(job, a_trial_done(job, block))
    store.record_comparison(compared(cases=[a_regression(f"case-{number}") for number in range(block % 7 + 1)]))
    print(block, flush=True)
"""


@pytest.mark.parametrize("delay_ms", [0, 7, 23])
def test_a_killed_process_leaves_a_readable_store(database: Database, delay_ms: int) -> None:
    with python(WRITER, database.location, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 9:
                break
        time.sleep(delay_ms / 1000)
        process.send_signal(signal.SIGKILL)
        acknowledged = max([9, *(int(line) for line in process.stdout if line.strip())])
    job = a_job()
    with Store.open(database.location) as store:
        [recorded] = store.jobs("c-1")
        kept = len(recorded.events)
        assert kept in (acknowledged + 1, acknowledged + 2)
        assert recorded.events == tuple(a_trial_done(job, block) for block in range(kept))
        comparison = store.comparison("c-1")
        assert comparison.state == store.state("c-1") == "running"
        assert comparison.cases == [a_regression(f"case-{number}") for number in range(len(comparison.cases))]
        assert len(comparison.cases) in (acknowledged % 7 + 1, (acknowledged + 1) % 7 + 1)
        assert store.unfinished(a_resolved().digest) == ["c-1"]
        store.record(job, a_trial_done(job, kept))


def test_a_stop_waits_for_the_end_of_a_write(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    insert = requests.keep_platform

    def insert_and_stop(connection: Connection, platform: Platform) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        insert(connection, platform)

    monkeypatch.setattr(requests, "keep_platform", insert_and_stop)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            store.begin(a_resolved())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert store.request("c-1").request.id == "c-1"
    store.record_job(a_job())


OPENER = "import sys; from zerolap.store import Store; Store.open(sys.argv[1]).close()"


@pytest.mark.slow
def test_processes_that_open_a_new_store_together_all_succeed(location_without_tables: str) -> None:
    processes = [python(OPENER, location_without_tables, stderr=subprocess.PIPE) for _ in range(5)]
    faults = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 5, faults


def test_an_up_to_date_store_opens_without_what_it_does_not_need(file_store: Store) -> None:
    loaded = "{name.split('.')[0] for name in sys.modules} & {'psycopg', 'obstore'}"
    with python(f"{OPENER}; assert not {loaded}", str(file_store.builds_directory.parent)) as process:
        assert process.wait() == 0


def insert_into(store: Store, named: str, /, **values: Any) -> None:
    """Insert a row into a table as the database has it; what is not given is empty where it may not be null."""
    with store._database.write_transaction() as connection:
        table = Table(named, MetaData(), autoload_with=connection)
        empty = {"String": "", "Integer": 0, "Float": 0.0, "Boolean": True}
        for one in table.c:
            if not one.nullable and one.name not in values and one.autoincrement is not True:
                values[one.name] = next((empty[kind] for kind in empty if kind in _kinds_of(one.type)), "")
        connection.execute(table.insert().values(**values))


def _kinds_of(kind: Any) -> list[str]:
    return [base.__name__ for base in type(kind.as_generic()).__mro__]


def test_builds_of_other_architectures_are_left_out(store: Store) -> None:
    insert_into(store, "revision", repository="/r", commit="1" * 40, time="2026-11-20T21:00:00Z", subject="first")
    for architecture in ("", "aarch64", "riscv64"):
        insert_into(store, "build", build=f"b-{architecture}", variant="default", architecture=architecture)
        insert_into(store, "revision_build", repository="/r", commit="1" * 40, build=f"b-{architecture}")
    assert [build.build for build in store.history.builds(["1" * 40], ["aarch64"])] == ["b-", "b-aarch64"]
    assert len(store.history.builds(["1" * 40])) == 3


def test_an_accepted_change_is_replaced_and_withdrawn(store: Store) -> None:
    change = AcceptedChange("/r", "1" * 40, "needed", "get", "instructions_per_op")
    of_commit = AcceptedChange("/r", "1" * 40, "all of it")
    for accepted in (change, of_commit, replace(change, reason="needed for safety")):
        store.history.accept(accepted)
    reasons = {(one.case, one.reason) for one in store.history.accepted(["1" * 40, "2" * 40])}
    assert reasons == {("get", "needed for safety"), ("", "all of it")}
    assert store.history.withdraw(change)
    assert not store.history.withdraw(change)
    assert [one.reason for one in store.history.accepted(["1" * 40])] == ["all of it"]


def test_an_artifact_is_of_its_builder(store: Store) -> None:
    built, forged = a_build_record(), a_build_record().model_copy(update={"version": "9.9.9"})
    store.record_build(built, BinarySource(name="redis-server", path=Path("/usr/bin/redis-server")))
    none = Abilities(commands=frozenset(), settings=frozenset())
    first = Artifact(built, "alpha", "0" * 64, none)
    store.fleet.add_artifact(first)
    assert store.fleet.artifacts([built.build], "beta") == {}
    store.fleet.add_artifact(Artifact(forged, "beta", None, none))
    assert store.fleet.artifacts([built.build], "alpha") == {built.build: first}
    again = replace(first, blob="1" * 64)
    store.fleet.add_artifact(again)
    assert store.fleet.artifacts([built.build], "alpha") == {built.build: again}
    assert store.fleet.artifacts([built.build], "beta")[built.build].build == forged


def test_a_store_of_another_revision_is_refused(store: Store, database: Database) -> None:
    for revision, words, hint in ((REVISION + 1, "a newer", "upgrade"), (REVISION - 1, "an older", "make a new store")):
        with store._database.write_transaction() as connection:
            connection.execute(text(f"UPDATE store_revision SET revision = {revision}"))
        with pytest.raises(
            EnvironmentMissing, match=rf"{words} zerolap \(revision {revision}, here {REVISION}"
        ) as fault:
            Store.open(database.location)
        assert hint in fault.value.hint
        assert rows_of(store, "SELECT revision FROM store_revision") == [(revision,)]


@pytest.fixture(params=["files", "objects in memory", "objects in files"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """Return an empty place for blobs of each kind; those of S3 go the way of the other objects."""
    from obstore.store import LocalStore, MemoryStore

    if request.param == "files":
        return Blobs(FileContainer(tmp_path / "blobs"))
    objects = MemoryStore() if "memory" in request.param else LocalStore(tmp_path / "objects", mkdir=True)
    return Blobs(Objects("s3://bucket/prefix", objects))


def test_blobs_are_read_as_they_were_put(blobs: Blobs) -> None:
    content = b"the same again and again " * 1000
    digest = blobs.put(content)
    assert blobs.put(content) == digest
    assert blobs.get(digest) == content
    assert blobs.get(blobs.put(b"")) == b""
    large = os.urandom(12_000_000)
    assert blobs.get(blobs.put(large)) == large


def test_blobs_are_stored_once_and_compressed(tmp_path: Path) -> None:
    content = b"the same again and again " * 1000
    blobs = Blobs(FileContainer(tmp_path))
    digest = blobs.put(content)
    assert blobs.put(content) == digest
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.parent.name + path.name for path in files] == [digest]
    assert files[0].stat().st_size < len(content) / 10


@pytest.mark.parametrize("damage", [b"", b"not compressed", None])
def test_a_damaged_blob_is_noticed_and_healed_by_writing_again(blobs: Blobs, damage: bytes | None) -> None:
    digest, other = blobs.put(b"content"), blobs.put(b"other content")
    name, other_name = (f"{key[:2]}/{key[2:]}" for key in (digest, other))
    swapped = blobs._container.read(other_name) if damage is None else damage
    assert swapped is not None
    blobs._container.write(name, io.BytesIO(swapped))
    with pytest.raises(BlobDamaged, match="damaged"):
        blobs.get(digest)
    blobs.put(b"content")
    assert blobs.get(digest) == b"content"


def test_blobs_that_come_packed_are_verified(blobs: Blobs) -> None:
    content = os.urandom(100_000) + bytes(3_000_000)
    digest, packed = hashlib.sha256(content).hexdigest(), zlib.compress(content)
    wrong = {
        "others": zlib.compress(content + b"x"),
        "not packed": content,
        "cut off": packed[:-1],
        "continued": packed + b"x",
        "empty": b"",
        "two": packed + packed,
    }
    for name, refused in wrong.items():
        assert not blobs.put_packed(digest, io.BytesIO(refused), len(content)), name
    assert not blobs.put_packed(digest, io.BytesIO(packed), len(content) - 1)
    assert not blobs.has(digest)
    assert blobs.put_packed(digest, io.BytesIO(packed), len(content))
    assert blobs.get(digest) == content
    blobs._container.write(f"{digest[:2]}/{digest[2:]}", io.BytesIO(b"damaged"))
    assert blobs.put_packed(digest, io.BytesIO(packed), len(content))
    assert blobs.get(digest) == content
    nothing = hashlib.sha256(b"").hexdigest()
    assert blobs.put_packed(nothing, io.BytesIO(zlib.compress(b"")), 0)
    assert blobs.get(nothing) == b""
    with pytest.raises(ValueError, match="not a digest"):
        blobs.put_packed("../../zerolap.db", io.BytesIO(packed), len(content))


def test_a_missing_blob_and_a_path_as_digest_are_refused(blobs: Blobs) -> None:
    with pytest.raises(BlobDamaged, match="no blob"):
        blobs.get("0" * 64)
    with pytest.raises(ValueError, match="not a digest"):
        blobs.get("../../zerolap.db")


def test_a_full_disk_leaves_no_half_blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(EnvironmentMissing, match="disk is full"):
        Blobs(FileContainer(tmp_path)).put(b"content")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_object_store_out_of_reach_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "user"),
        ("AWS_SECRET_ACCESS_KEY", "password"),
    ):
        monkeypatch.setenv(name, value)
    blobs = open_blobs("s3://bucket/prefix", Path("unused"))
    with pytest.raises(EnvironmentMissing, match="s3://bucket/prefix") as fault:
        blobs.put(b"content")
    assert "AWS_" in fault.value.hint
    for wrong in ("nonsense://bucket", ""):
        with pytest.raises(UsageError, match="blobs"):
            open_blobs(wrong, Path("unused"))


def test_a_full_database_is_reported_and_changes_nothing(begun: Store, database: Database) -> None:
    job = a_job()
    begun.record_job(job)
    if database.kind == "sqlite":
        with begun._database.read_transaction() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
    else:
        # A full disk as PostgreSQL reports it, in the middle of the transaction.
        with begun._database.write_transaction() as connection:
            connection.exec_driver_sql(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                " 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'"
            )
            connection.exec_driver_sql("CREATE TRIGGER full_disk BEFORE UPDATE ON job EXECUTE FUNCTION refuse()")
    with pytest.raises(EnvironmentMissing, match="is full"):
        begun.record(job, JobFailed(job=job.id, reason="x" * 1_000_000))
    with Store.open(database.location) as again:
        assert again.failures("c-1") == []


def test_a_locked_file_is_reported(file_store: Store) -> None:
    path = Path(file_store.address)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with Store.open(str(path.parent), busy_seconds=0.05) as waiting:
            assert waiting.comparisons() == []
            with pytest.raises(EnvironmentMissing, match="locked") as fault:
                waiting.begin(a_resolved())
    assert fault.value.exit_code == 3
    assert fault.value.hint


def test_what_is_not_a_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "zerolap.db"
    file.write_bytes(b"my letters" * 1000)
    with pytest.raises(EnvironmentMissing, match="not a SQLite database"):
        Store.open(str(tmp_path))
    assert file.read_bytes() == b"my letters" * 1000


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "zerolap.db")) as connection:
        connection.execute("CREATE TABLE letters (id)")
    with pytest.raises(EnvironmentMissing, match="another program"):
        Store.open(str(tmp_path))


def test_a_read_only_directory_is_reported(ordinary_user: None) -> None:
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o555)
    try:
        for location in (directory, directory / "new", Path("/proc/zerolap")):
            with pytest.raises(EnvironmentMissing, match="cannot write") as fault:
                Store.open(str(location))
            assert fault.value.exit_code == 3
            assert fault.value.hint
    finally:
        directory.rmdir()


def test_a_file_in_place_of_the_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentMissing, match="cannot write"):
        Store.open(str(tmp_path / "file"))


def test_locations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for location, expected in (
        (None, ".zerolap/zerolap.db"),
        ("a b/ü", "a b/ü/zerolap.db"),
        ("sqlite:///x/y.db", "x/y.db"),
        (f"sqlite:///{tmp_path}/abs?.db", "abs?.db"),
    ):
        with Store.open(location) as store:
            store.begin(a_resolved())
            assert store.builds_directory.resolve() == (tmp_path / expected).parent / "builds"
        assert (tmp_path / expected).is_file()
    for wrong in ("mysql://host/name", "sqlite://", "sqlite:///:memory:", ""):
        with pytest.raises(UsageError, match="no such kind of store"):
            Store.open(wrong)
    with pytest.raises(UsageError, match="not the URL of a database"):
        Store.open("postgresql://host:port/name")


def test_sqlite_is_set_up_for_crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_set_up", SQLITE_SET_UP)
    with Store.open(str(tmp_path)) as store, store._database.read_transaction() as connection:
        pragmas = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        ]
    assert pragmas == ["wal", 1, 2, 10_000]


def test_a_store_of_another_user_is_read(file_store: Store) -> None:
    keep(file_store, compared("c-1"))
    file_store.close()
    path = Path(file_store.address)
    with Store(SqliteDatabase.open_to_read(path), open_blobs(None, path.parent / "blobs")) as read:
        assert read.comparison("c-1").id == "c-1"
        with pytest.raises(EnvironmentMissing, match="cannot write"):
            read.begin(a_resolved("c-2"))


def test_a_user_who_may_only_read_a_database_reads_it(postgresql: PostgresqlServer) -> None:
    name = postgresql.new_database()
    with Store.open(postgresql.url(name)) as store:
        keep(store, compared())
    postgresql.execute(f"CREATE ROLE reader_{name} LOGIN PASSWORD 'p/w'")
    postgresql.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_{name}", name)
    with Store.open_to_read(postgresql.url(name, f"reader_{name}", "p/w")) as read:
        assert read.database_bytes() > 0
        assert "p/w" not in read.address
        assert read.comparison("c-1").id == "c-1"
        with pytest.raises(EnvironmentMissing, match=r"cannot write.*permission denied") as fault:
            read.begin(a_resolved())
    assert "grant" in fault.value.hint


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_passwords_are_not_shown(scheme: str) -> None:
    assert without_password(f"{scheme}://lab:s:e/c@db/name?x=1") == f"{scheme}://lab@db/name?x=1"
    assert without_password(f"--store={scheme}://lab:@db/name") == f"--store={scheme}://lab@db/name"
    for word in (f"{scheme}://lab@db:5432/name", "--port=6379", "user@host:22"):
        assert without_password(word) == word


def test_a_read_only_database_is_reported(postgresql: PostgresqlServer) -> None:
    name = postgresql.new_database()
    postgresql.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(EnvironmentMissing, match=r"cannot write.*read-only"):
        Store.open(postgresql.url(name))


def test_a_database_that_cannot_be_reached_is_reported(postgresql: PostgresqlServer) -> None:
    postgresql.execute("CREATE ROLE somebody LOGIN PASSWORD 'right'")
    attempts: list[tuple[str, str]] = [
        (postgresql.url("postgres", "somebody", "wrong"), "password"),
        (postgresql.url("postgres", "somebody"), "password"),
        (postgresql.url("nothing"), "createdb"),
        ("postgresql://zerolap@127.0.0.1:1/store", "start the server"),
        ("postgresql://zerolap@/store?host=/nowhere", "start the server"),
        ("postgresql://zerolap@nowhere.invalid/store", "start the server"),
    ]
    for location, hint in attempts:
        with pytest.raises(EnvironmentMissing, match="no connection to the store") as fault:
            Store.open(location)
        assert hint in fault.value.hint
        assert "wrong" not in fault.value.message
        assert fault.value.exit_code == 3


def test_a_locked_table_is_reported(postgresql: PostgresqlServer) -> None:
    name = postgresql.new_database()
    with (
        Store.open(postgresql.url(name), busy_seconds=0.05) as store,
        closing(postgresql.session(name)) as session,
        session.transaction(),
    ):
        session.execute("LOCK TABLE request")
        with pytest.raises(EnvironmentMissing, match="locked"):
            store.begin(a_resolved())


def test_a_store_goes_on_after_its_server_ended_the_connections(postgresql: PostgresqlServer) -> None:
    name = postgresql.new_database()
    with Store.open(postgresql.url(name)) as store:
        store.begin(a_resolved())
        postgresql.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        assert store.resolved("c-1") == a_resolved()


def test_a_database_of_another_program_on_a_server_is_refused(postgresql: PostgresqlServer) -> None:
    name = postgresql.new_database()
    postgresql.execute("CREATE TABLE letters (id integer)", name)
    with pytest.raises(EnvironmentMissing, match="another program"):
        Store.open(postgresql.url(name))


def test_blobs_and_builds_of_a_database_lie_beside_the_work(
    postgresql: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(postgresql.url(postgresql.new_database())) as store:
        digest = store.blobs.put(b"content")
        assert (tmp_path / ".zerolap" / "blobs" / digest[:2] / digest[2:]).is_file()
        assert (tmp_path / ".zerolap" / ".gitignore").read_text() == "*\n"
        assert store.builds_directory.resolve() == tmp_path / ".zerolap" / "builds"
