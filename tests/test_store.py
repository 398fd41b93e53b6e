"""The store keeps what it was given, once, through crashes, and says what is wrong with its disk."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from zerolap.records import (
    Caller,
    CaseResult,
    Check,
    Comparison,
    EnvironmentMissing,
    Finding,
    Measurement,
    PerSide,
    RunReport,
    Spread,
    Trial,
    UsageError,
    Validity,
    Verdict,
)
from zerolap.store import AlreadyRecorded, BlobDamaged, Store, comparisons
from zerolap.store.database import open_to_read
from zerolap.store.tables import REVISION, metadata

BUILD = {"name": "HEAD~1", "commit": "abc", "version": "7.0.15", "build": "b-1", "build_id": "ff", "flags": "-O2"}
PLATFORM = {"name": "laptop", "fingerprint": "p-1", "cpu": "a cpu", "cores": 2, "kernel": "6.1"}
SETTINGS = {
    "engines": ["counted"],
    "min_effect": {"counted": 0.005},
    "q": 0.01,
    "budget_seconds": None,
    "seed": 2**64 - 1,
}
NOTHING = {"regression": 0, "improvement": 0, "same": 0, "unsure": 0, "invalid": 0, "machine_seconds": 0.0}
VALID = Validity.of([Check(check="hit_rate", ok=True, value=1.0, limit=">= 0.99")])


def a_case(name: str = "xadd", verdict: str = "regression") -> CaseResult:
    """Return a case with one verdict and one culprit."""
    return CaseResult(
        case=name,
        commands=["XADD"],
        group="stream",
        topology="standalone",
        verdict=verdict,  # type: ignore[arg-type]
        confirmed=False,
        validity=VALID,
        verdicts=[
            Verdict(
                metric="instructions_per_op",
                engine="counted",
                verdict="regression",
                base=11201.4,
                head=13087.2,
                change=0.1 + 0.2,
                low=float("-inf"),
                high=0.171,
                q=1e-300,
                samples=3,
                pairs=3,
                min_effect=0.005,
                detectable=0.002,
            )
        ],
        findings=[
            Finding(
                kind="culprit",
                rank=1,
                function="createStreamIDString",
                calls_per_op=PerSide(base=None, head=2.0),
                callers=[
                    Caller(function="f", file=None, calls_per_op=PerSide(base=1.0, head=2.0), in_diff=True),
                ],
                text="it is called twice",
            )
        ],
    )


def a_comparison(identity: str = "c-1", **changes: Any) -> Comparison:
    """Return a comparison in the state running, without cases."""
    document = {
        "schema": "zerolap.comparison/1",
        "id": identity,
        "created": "2026-11-20T21:00:00Z",
        "command_line": "zerolap compare a b",
        "state": "running",
        "base": BUILD,
        "head": {**BUILD, "name": "HEAD", "commit": None},
        "platform": PLATFORM,
        "settings": SETTINGS,
        "summary": NOTHING,
        "notes": [],
        "cases": [],
    }
    return Comparison.model_validate({**document, **changes})


def a_run(identity: str = "r-1", **changes: Any) -> RunReport:
    """Return a run with one case."""
    case = {
        "case": "get",
        "commands": ["GET"],
        "group": "string",
        "topology": "standalone",
        "validity": VALID,
        "metrics": {"instructions_per_op": 100.5},
        "functions": [
            {"function": "f", "file": None, "self_instructions_per_op": 1.5, "calls_per_op": 1.0, "share": 0.1}
        ],
        "samples": 3,
    }
    document = {
        "schema": "zerolap.run/1",
        "id": identity,
        "created": "2026-11-20T21:00:00Z",
        "command_line": "zerolap run",
        "server": BUILD,
        "platform": PLATFORM,
        "settings": SETTINGS,
        "machine_seconds": 1.5,
        "notes": ["a note"],
        "cases": [case],
    }
    return RunReport.model_validate({**document, **changes})


def a_trial(block: int = 0, case: str = "xadd") -> Trial:
    """Return a counted trial of the head side."""
    return Trial(case=case, side="head", engine="counted", block=block, seed=2**64 - 1)


def a_measurement(seconds: float = 2.5) -> Measurement:
    """Return a valid measurement of two metrics."""
    return Measurement(
        metrics={"instructions_per_op": 11201.4, "syscalls_per_op": 0.125}, validity=VALID, seconds=seconds
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a new, empty store."""
    with Store.open(str(tmp_path / "store")) as opened:
        yield opened


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


def rows_in(store: Store, table: str) -> int:
    """Count a table's rows behind the store's back."""
    with closing(sqlite3.connect(store.path)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_a_comparison_is_read_as_it_was_written(store: Store) -> None:
    begun = a_comparison()
    store.begin(begun)
    assert store.comparison("c-1") == begun
    done = a_comparison(
        state="done",
        notes=["a note"],
        summary={**NOTHING, "regression": 1, "same": 1, "machine_seconds": 12.5},
        cases=[a_case("zadd", "same"), a_case("xadd")],
    )
    store.record_case("c-1", a_case("xadd", "unsure"))
    store.record_case("c-1", a_case("zadd", "same"))
    store.finish(done)
    assert store.comparison("c-1") == done
    with Store.open(str(store.path.parent)) as again:
        assert again.comparison("c-1") == done


def test_sides_of_one_build_keep_their_names(store: Store) -> None:
    store.begin(a_comparison())
    assert rows_in(store, "build") == 1
    assert (store.comparison("c-1").base.name, store.comparison("c-1").head.name) == ("HEAD~1", "HEAD")


def test_a_run_is_read_as_it_was_written(store: Store) -> None:
    store.begin_run(a_run(cases=[], notes=[]))
    store.record_run_case("r-1", a_run().cases[0])
    assert "did not finish" in store.run("r-1").notes[0]
    assert store.run("r-1").cases == a_run().cases
    store.record_trial("r-1", a_trial(), a_measurement())
    store.finish_run(a_run(), "interrupted")
    assert "was interrupted" in store.run("r-1").notes[-1]
    store.finish_run(a_run())
    assert store.run("latest") == a_run()
    assert len(store.measurements("r-1")) == 1


def test_measurements_are_read_as_they_were_written(store: Store) -> None:
    store.begin(a_comparison())
    invalid = Measurement(
        metrics={},
        validity=Validity.of([Check(check="errors", ok=False, value="WRONGTYPE", limit="0")]),
        profile="ab" * 32,
    )
    store.record_trial("c-1", a_trial(0), a_measurement())
    store.record_trial("c-1", a_trial(1), invalid)
    assert store.measurements("c-1") == [(a_trial(0), a_measurement()), (a_trial(1), invalid)]


def test_a_trial_counts_once(store: Store) -> None:
    store.begin(a_comparison())
    store.record_trial("c-1", a_trial(), a_measurement())
    with pytest.raises(AlreadyRecorded, match="xadd head counted 0"):
        store.record_trial("c-1", a_trial(), a_measurement(seconds=99.0))
    with pytest.raises(AlreadyRecorded):
        store.record_failure("c-1", a_trial(), "it crashed")
    assert store.measurements("c-1") == [(a_trial(), a_measurement())]
    assert rows_in(store, "metric") == 2
    store.begin(a_comparison("c-2"))
    store.record_trial("c-2", a_trial(), a_measurement())


def test_a_comparison_begins_once(store: Store) -> None:
    store.begin(a_comparison())
    with pytest.raises(AlreadyRecorded):
        store.begin(a_comparison(command_line="another"))
    assert store.comparison("c-1").command_line == "zerolap compare a b"


def test_a_metric_that_is_no_number_leaves_no_trial(store: Store) -> None:
    store.begin(a_comparison())
    with pytest.raises(ValueError, match="nan"):
        store.record_trial("c-1", a_trial(), Measurement(metrics={"x": float("nan")}, validity=VALID))
    assert rows_in(store, "trial") == 0


def test_a_trial_of_an_unknown_comparison_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="c-9"):
        store.record_trial("c-9", a_trial(), a_measurement())


def test_a_failure_keeps_its_log(store: Store) -> None:
    store.begin(a_comparison())
    store.record_failure("c-1", a_trial(), "the server exited with 139", "line 1\nline ü\udcff\n")
    (failed,) = store.failures("c-1")
    assert (failed.trial, failed.message) == (a_trial(), "the server exited with 139")
    assert failed.log is not None
    assert store.blobs.get(failed.log) == b"line 1\nline \xc3\xbc\xff\n"
    assert store.measurements("c-1") == []


def test_a_case_is_replaced_whole(store: Store) -> None:
    store.begin(a_comparison())
    store.record_case("c-1", a_case("first"))
    store.record_case("c-1", a_case("second"))
    replaced = a_case("first", "same").model_copy(update={"findings": []})
    store.record_case("c-1", replaced)
    assert store.comparison("c-1").cases == [replaced, a_case("second")]
    assert (rows_in(store, "verdict"), rows_in(store, "finding")) == (2, 1)


def test_the_summary_of_an_unfinished_comparison_counts_what_is_recorded(store: Store) -> None:
    store.begin(a_comparison())
    store.record_trial("c-1", a_trial(), a_measurement(seconds=2.5))
    store.record_case("c-1", a_case("a"))
    store.record_case("c-1", a_case("b", "same"))
    store.record_case("c-1", a_case("a", "same"))
    summary = store.comparison("c-1").summary
    assert (summary.regression, summary.same, summary.machine_seconds) == (0, 2, 2.5)


def test_ids_are_found_by_their_beginning(store: Store) -> None:
    for identity in ("c-ab1", "c-ab2", "c-abc", "c-ab"):
        store.begin(a_comparison(identity))
    store.begin_run(a_run("r-x"))
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


def test_an_empty_store_says_so(store: Store) -> None:
    with pytest.raises(UsageError, match="no comparison yet"):
        store.comparison("latest")
    with pytest.raises(UsageError) as fault:
        store.comparison("c-1")
    assert "empty" in fault.value.hint


def test_the_newest_come_first(store: Store) -> None:
    store.begin(a_comparison("c-1"))
    store.begin_run(a_run("r-1"))
    store.begin(a_comparison("c-2"))
    rows = store.comparisons(limit=2)
    assert [(row.id, row.kind, row.base, row.head) for row in rows] == [
        ("c-2", "compare", "HEAD~1", "HEAD"),
        ("r-1", "run", None, "HEAD~1"),
    ]


WRITER = """
import sys, itertools
from test_store import a_case, a_comparison, a_measurement, a_trial
from zerolap.store import Store
store = Store.open(sys.argv[1])
store.begin(a_comparison())
for block in itertools.count():
    store.blobs.put(b"x" * 100000 + str(block).encode())
    store.record_trial("c-1", a_trial(block), a_measurement())
    store.record_case("c-1", a_case(f"case-{block % 7}"))
    print(block, flush=True)
"""


@pytest.mark.parametrize("delay_ms", [0, 7, 23])
def test_a_killed_process_leaves_a_readable_store(tmp_path: Path, delay_ms: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 9:
                break
        time.sleep(delay_ms / 1000)
        process.send_signal(signal.SIGKILL)
        acknowledged = max([9, *(int(line) for line in process.stdout if line.strip())])
    with Store.open(str(tmp_path)) as store:
        kept = store.measurements("c-1")
        assert [trial.block for trial, _ in kept] == list(range(len(kept)))
        assert len(kept) in (acknowledged + 1, acknowledged + 2)
        assert all(measurement == a_measurement() for _, measurement in kept)
        comparison = store.comparison("c-1")
        assert comparison.state == "running"
        assert comparison.cases == [a_case(f"case-{number}") for number in range(7)]
        store.record_trial("c-1", a_trial(len(kept)), a_measurement())


def test_a_stop_waits_for_the_end_of_a_write(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = comparisons.begin

    def begin_and_stop(connection: Connection, comparison: Comparison) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        begin(connection, comparison)

    monkeypatch.setattr(comparisons, "begin", begin_and_stop)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            store.begin(a_comparison())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert store.comparison("c-1").id == "c-1"
    store.record_trial("c-1", a_trial(), a_measurement())


OPENER = "import sys; from zerolap.store import Store; Store.open(sys.argv[1]).close()"


def test_processes_that_open_a_new_store_together_all_succeed(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", OPENER, str(tmp_path / "new")]
    processes = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(5)]
    faults = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 5, faults


def test_blobs_are_stored_once_and_compressed(store: Store) -> None:
    content = b"the same again and again " * 1000
    digest = store.blobs.put(content)
    assert store.blobs.put(content) == digest
    files = [path for path in (store.path.parent / "blobs").rglob("*") if path.is_file()]
    assert [path.parent.name + path.name for path in files] == [digest]
    assert files[0].stat().st_size < len(content) / 10
    assert store.blobs.get(digest) == content
    assert store.blobs.get(store.blobs.put(b"")) == b""


@pytest.mark.parametrize("damage", [b"", b"not compressed", None])
def test_a_damaged_blob_is_noticed_and_healed_by_writing_again(store: Store, damage: bytes | None) -> None:
    digest = store.blobs.put(b"content")
    other = store.blobs.put(b"other content")
    path, other_path = (store.path.parent / "blobs" / name[:2] / name[2:] for name in (digest, other))
    path.write_bytes(other_path.read_bytes() if damage is None else damage)
    with pytest.raises(BlobDamaged, match="damaged"):
        store.blobs.get(digest)
    store.blobs.put(b"content")
    assert store.blobs.get(digest) == b"content"


def test_a_missing_blob_and_a_path_as_digest_are_refused(store: Store) -> None:
    with pytest.raises(BlobDamaged, match="no blob"):
        store.blobs.get("0" * 64)
    with pytest.raises(ValueError, match="not a digest"):
        store.blobs.get("../../zerolap.db")


def test_a_full_disk_leaves_no_half_blob(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(EnvironmentMissing, match="disk is full"):
        store.blobs.put(b"content")
    assert [path for path in (store.path.parent / "blobs").rglob("*") if path.is_file()] == []


def test_a_full_database_is_told_and_changes_nothing(store: Store) -> None:
    store.begin(a_comparison())
    with store._reading() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
    with pytest.raises(EnvironmentMissing, match="disk is full"):
        store.record_failure("c-1", a_trial(), "x" * 1_000_000)
    with Store.open(str(store.path.parent)) as again:
        assert again.failures("c-1") == []


def test_a_locked_database_is_told(store: Store) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with Store.open(str(store.path.parent), busy_seconds=0.05) as waiting:
            assert waiting.comparisons() == []
            with pytest.raises(EnvironmentMissing, match="locked") as fault:
                waiting.begin(a_comparison())
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


def test_a_newer_revision_is_refused(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(EnvironmentMissing, match=r"newer zerolap.*9999"):
        Store.open(str(store.path.parent))


def test_a_read_only_directory_is_told(ordinary_user: None) -> None:
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


def test_a_file_in_place_of_the_directory_is_told(tmp_path: Path) -> None:
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
            store.begin(a_comparison())
        assert (tmp_path / expected).is_file()
    for wrong in ("postgresql://host/name", "sqlite://", "sqlite:///:memory:", ""):
        with pytest.raises(UsageError, match="no such kind of store"):
            Store.open(wrong)


def test_sqlite_is_set_up_for_crashes(store: Store) -> None:
    with store._reading() as connection:
        pragmas = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        ]
    assert pragmas == ["wal", 1, 2, 10_000]


def test_an_up_to_date_store_opens_without_alembic(store: Store) -> None:
    program = OPENER + "; assert not any(name.split('.')[0] == 'alembic' for name in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program, str(store.path.parent)], check=True, env=environment)


def test_the_migrations_lead_to_the_tables_and_the_newest_revision(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with store._reading() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == REVISION
        assert compare_metadata(context, metadata) == []


def test_a_store_of_another_user_is_read(store: Store) -> None:
    store.begin(a_comparison("c-1"))
    store.close()
    engine = open_to_read(store.path)
    with Store(store.path, engine) as read:
        assert read.comparison("c-1").id == "c-1"
        with pytest.raises(EnvironmentMissing, match="cannot write"):
            read.begin(a_comparison("c-2"))


def test_the_bank_holds_the_spreads_of_a_platform(store: Store) -> None:
    first = a_comparison("c-1")
    store.begin(first)
    store.record_spreads(first.id, {("get", "cpu_ns_per_op"): Spread(variance=1e-4, degrees=5.0)})
    platform = first.platform.fingerprint
    assert store.spreads(platform, "cpu_ns_per_op") == [Spread(variance=1e-4, degrees=5.0)]
    assert store.spreads(platform, "usec_per_call") == []
    assert store.spreads("another", "cpu_ns_per_op") == []
