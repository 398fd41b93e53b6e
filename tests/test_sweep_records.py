"""Sweeps of snapshots in a store: recorded whole, listed in short, pruned, and shown again by the command line."""

import json
import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import Zerolap
from made_snapshots import MIB, emulated_report, record_sweep, report, report_of_sides
from sqlalchemy import update
from stored_run import stored_run

from zerolap.build import BuiltKernel, KernelBuilder
from zerolap.engines import EMULATED, Place, snapshot_sizes
from zerolap.errors import UsageError
from zerolap.lab import (
    Factor,
    Lab,
    Worker,
    emulated_request,
    sides_of,
    snapshot,
    sweep_requests,
)
from zerolap.queries.sweep_list import SWEEP_ID
from zerolap.records import (
    BinarySource,
    EmulatedPart,
    EmulatedSnapshotReport,
    EmulatedSweep,
    Event,
    KernelFiles,
    Measurement,
    RequestedServer,
    SnapshotReport,
    SnapshotStart,
    SweepReport,
    TrialDone,
    TrialFailed,
    TrialsJob,
    Validity,
    read_stored_sweep,
)
from zerolap.report import document_json, sheet_html, sheet_markdown
from zerolap.sheets import sweep_sheet, with_sweep_reading
from zerolap.store import BlobDamaged, Retention, Store
from zerolap.store.tables import document as stored

DAY = 86_400.0
FIRST, SECOND = "w-0123456789abcdef01234567", "w-0999999999abcdef01234567"
START = SnapshotStart(size_bytes=1 << 30, began="2026-11-25T20:00:00Z", first_fork_us=20_000)
MEASURED = report().model_copy(update={"starts": [START]})


def recorded(store: Store, identity: str, days: float = 0.0, document: SweepReport | None = None) -> SweepReport:
    """Record a sweep that ended some days ago."""
    ended = datetime.now(UTC) - timedelta(days=days)
    created = ended.strftime("%Y-%m-%dT%H:%M:%SZ")
    made = (document or MEASURED).model_copy(update={"id": identity, "created": created})
    record_sweep(made, ended, store)
    return made


def test_a_sweep_is_read_back_whole_and_listed_in_short(either_store: Store) -> None:
    single = recorded(either_store, FIRST)
    sides = recorded(either_store, SECOND, document=report_of_sides())
    assert either_store.sweeps.report(FIRST) == single
    assert either_store.sweeps.report("w-09") == sides
    assert either_store.sweeps.report("latest") == sides
    newest = either_store.sweeps.newest(10)
    assert [one.id for one in newest] == [SECOND, FIRST]
    short = newest[1].report
    assert isinstance(short, SnapshotReport)
    assert isinstance(single, SnapshotReport)
    assert [point.metrics for point in short.points] == [point.metrics for point in single.points]
    assert not any(point.repetitions for point in short.points)
    assert [one.id for one in either_store.sweeps.newest(10, before=newest[0].number)] == [FIRST]
    assert [one.id for one in either_store.sweeps.newest(1)] == [SECOND]


def test_counted_forks_are_read_back_whole_and_listed_with_a_run_of_each_point(either_store: Store) -> None:
    counted = recorded(either_store, FIRST, document=emulated_report(is_repeated=True))
    measured = recorded(either_store, SECOND)
    assert either_store.sweeps.report(FIRST) == counted
    assert either_store.sweeps.report(SECOND) == measured
    short = either_store.sweeps.newest(10)[1].report
    assert isinstance(short, EmulatedSnapshotReport)
    assert isinstance(counted, EmulatedSnapshotReport)
    assert [point.runs for point in short.points] == [point.runs[:1] for point in counted.points]
    assert (short.kernel, short.sides) == (counted.kernel, counted.sides)


def test_a_document_of_an_earlier_version_needs_no_id() -> None:
    document = json.loads(document_json(with_sweep_reading(emulated_report())))
    del document["id"]
    document["reading"]["units"] = "of an earlier version"
    assert read_stored_sweep(json.dumps(document), FIRST) == EmulatedSnapshotReport.model_validate(document)


def test_bounds_that_are_infinite_are_read_back(either_store: Store) -> None:
    document = report_of_sides()
    first, *others = document.verdicts
    endless = first.model_copy(
        update={"verdicts": [verdict.model_copy(update={"detectable": float("inf")}) for verdict in first.verdicts]}
    )
    made = recorded(either_store, FIRST, document=document.model_copy(update={"verdicts": [endless, *others]}))
    assert either_store.sweeps.report(FIRST) == made


def test_a_sweep_that_is_recorded_again_is_there_once(either_store: Store) -> None:
    recorded(either_store, FIRST)
    again = recorded(either_store, FIRST, document=report("replica"))
    assert [one.id for one in either_store.sweeps.newest(10)] == [FIRST]
    assert either_store.sweeps.report(FIRST) == again


def test_what_there_is_not_is_named(either_store: Store) -> None:
    with pytest.raises(UsageError, match="holds no sweep of snapshots yet"):
        either_store.sweeps.report("latest")
    recorded(either_store, FIRST)
    recorded(either_store, SECOND)
    with pytest.raises(UsageError, match="more than one id"):
        either_store.sweeps.report("w-0")
    with pytest.raises(UsageError, match="holds no sweep of snapshots 'w-1'"):
        either_store.sweeps.report("w-1")


@pytest.mark.parametrize(
    "document",
    ['{"schema": 7}', "{}", '{"schema": "zerolap.emulated-snapshot/1", "points": []}', '{"schema": "zerolap.run/1"}'],
)
def test_one_that_cannot_be_read_is_listed_as_such(store: Store, document: str) -> None:
    recorded(store, FIRST)
    with store._database.write_transaction() as connection:
        connection.execute(update(stored).values(document=document))
    [listed] = store.sweeps.newest(10)
    assert listed.report is None
    assert "cannot be read" in listed.unreadable


def test_age_and_number_decide_which_are_kept_with_their_files(either_store: Store) -> None:
    for place, days in enumerate((300, 200, 100, 1)):
        recorded(either_store, f"w-{place}", days, emulated_report() if place % 2 else None)
    container = either_store.blobs._container
    for blob in list(either_store.blobs.stored()):
        os.utime(container.describe(f"{blob.digest[:2]}/{blob.digest[2:]}"), (0, 0))
    assert either_store.prune(Retention()).requests == []
    assert either_store.prune(Retention(seconds=150 * DAY), dry_run=True).requests == ["w-0", "w-1"]
    removed = either_store.prune(Retention(seconds=30 * DAY, per_branch=3))
    assert (removed.requests, removed.blobs) == (["w-0"], 1)
    assert [one.id for one in either_store.sweeps.newest(10)] == ["w-3", "w-2", "w-1"]
    assert all(either_store.sweeps.report(f"w-{place}") for place in (1, 2, 3))


def test_it_is_shown_again_in_all_forms(zerolap: Zerolap, tmp_path: Path) -> None:
    with Store.open(str(zerolap.store)) as store:
        stored_run(store)
        document = recorded(store, FIRST)
    listed = zerolap("explain", "--store", zerolap.store)
    first, second = listed.out.splitlines()[1:3]
    assert first.split()[0] == FIRST
    assert "BGSAVE: fork of 25 ms at 1 GiB to 100 ms at 4 GiB" in first
    assert "\x1b" not in first
    assert second.startswith("r-4f1a")
    for identity in (FIRST, FIRST[:6], "latest"):
        words = ["--json", "again.json", "--html", "again.html", "--markdown", "-"]
        again = zerolap("explain", identity, "--store", zerolap.store, *words)
        assert again.code == 0, again.err
        assert again.out == sheet_markdown(sweep_sheet(document))
        assert (tmp_path / "again.json").read_text() == document_json(with_sweep_reading(document))
    shown = zerolap("explain", FIRST, "--store", zerolap.store)
    assert f"zerolap explain {FIRST}\nseed         1" in shown.out
    zerolap("explain", FIRST, "--store", zerolap.store, "--benchfmt", "-").fails_with(2, "not written as benchfmt")
    zerolap("explain", "w-77", "--store", zerolap.store).fails_with(2, "holds no sweep of snapshots 'w-77'", FIRST)
    pruned = zerolap("store", "prune", "--keep-newest", "1", "--store", zerolap.store, "--json", "-")
    # Sweeps are counted with the other results of this machine.
    assert [identity[:6] for identity in json.loads(pruned.out)["results"]] == ["r-4f1a"]


def test_a_damaged_file_is_reported(store: Store, tmp_path: Path) -> None:
    recorded(store, FIRST)
    for path in (tmp_path / "store" / "blobs").glob("*/*"):
        path.write_bytes(b"x")
    with pytest.raises(BlobDamaged):
        store.sweeps.report(FIRST)


def test_counted_forks_are_shown_again_in_all_forms(zerolap: Zerolap, tmp_path: Path) -> None:
    with Store.open(str(zerolap.store)) as store:
        recorded(store, FIRST, days=1)
        document = recorded(store, SECOND, document=emulated_report(patch="evil\x1b[31m|.patch"))
    counted, measured = zerolap("explain", "--store", zerolap.store).out.splitlines()[1:3]
    assert counted.split()[0] == SECOND
    assert "redis-server 7.0.15 on Linux 6.1.192 with evil" in counted
    assert "fork at 1 GiB: 25 million instructions with fork=copy, 0.5 with fork=async (2.0 %)" in counted
    assert "\x1b" not in counted
    assert "Linux" not in measured
    for identity in (SECOND, SECOND[:6], "latest"):
        words = ["--json", "again.json", "--html", "again.html", "--markdown", "-"]
        again = zerolap("explain", identity, "--store", zerolap.store, *words)
        assert again.code == 0, again.err
        assert again.out == sheet_markdown(sweep_sheet(document))
        assert (tmp_path / "again.json").read_text() == document_json(with_sweep_reading(document))
        assert (tmp_path / "again.html").read_text().rstrip() == sheet_html(
            with_sweep_reading(document), sweep_sheet(document)
        ).rstrip()
    shown = zerolap("explain", SECOND, "--store", zerolap.store)
    assert f"zerolap explain {SECOND}\nseed         1" in shown.out
    zerolap("explain", SECOND, "--store", zerolap.store, "--benchfmt", "-").fails_with(2, "not written as benchfmt")


class PlayedMachines:
    """Emulated machines that count what a function returns."""

    def __init__(self, runs: Callable[[EmulatedPart], dict[str, int]]) -> None:
        self._runs = runs

    def missing(self) -> str | None:
        """Return none: there is no emulator."""
        return None

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Count the fork of a job."""
        assert isinstance(job.part, EmulatedPart)
        [(side, block)] = zip(job.servers, job.blocks, strict=True)
        metrics = {name: float(value) for name, value in self._runs(job.part).items()}
        measurement = Measurement(metrics=metrics, validity=Validity.of([]), instrument="QEMU 7.2")
        yield TrialDone(job=job.id, block=block.number, measurements={side: measurement})


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> KernelFiles:
    """Let the kernel be built, on a machine with an emulator and memory; return its files."""
    built = BuiltKernel(emulated_report().kernel, Path("bzImage"))
    monkeypatch.setattr(KernelBuilder, "build", lambda _, __: built)
    monkeypatch.setattr(sweep_requests, "require_emulator", lambda: "7.2")
    monkeypatch.setattr(snapshot_sizes, "room_for_machines", lambda: 1 << 40)
    tarball = tmp_path / "linux.tar.xz"
    tarball.touch()
    return KernelFiles(path=str(tarball))


def swept(
    store: Store, kernel: KernelFiles, program: Path, runs: Callable[[EmulatedPart], dict[str, int]]
) -> EmulatedSnapshotReport:
    """Sweep over fork and Async-fork at one size."""
    sweep = EmulatedSweep(kernel=kernel, sizes_bytes=(MIB,), repetitions=2)
    server = RequestedServer(source=BinarySource(name="redis-server", path=str(program)))
    sides = sides_of(server, None, [Factor("fork", ["copy", "async"])])
    request = emulated_request(sides, sweep, "zerolap snapshot redis-server --kernel linux.tar.xz")
    report = snapshot(request, Lab(store, worker=Worker({EMULATED: PlayedMachines(runs)})))
    assert isinstance(report, EmulatedSnapshotReport)
    return report


COUNTS = emulated_report().points[0].runs[0] | {"resident_bytes": MIB}


def test_a_sweep_in_emulated_machines_is_recorded_once_it_is_done(
    store: Store, kernel: KernelFiles, redis_server: Path
) -> None:
    first, second = (swept(store, kernel, redis_server, lambda _: COUNTS) for _ in range(2))
    assert re.fullmatch(SWEEP_ID, first.id)
    assert first.id != second.id
    assert [listed.id for listed in store.sweeps.newest(10)] == [second.id, first.id]
    assert store.sweeps.report(first.id) == first
    assert [point.runs for point in first.points] == [[COUNTS, COUNTS]] * 2
    assert [(side.name, side.fork) for side in first.sides] == [("fork=copy", "copy"), ("fork=async", "async")]
    assert (first.settings.emulator, first.kernel) == ("QEMU 7.2", emulated_report().kernel)


def test_what_failed_in_part_is_recorded_and_what_failed_wholly_is_not(
    store: Store, kernel: KernelFiles, redis_server: Path
) -> None:
    def failing(part: EmulatedPart) -> dict[str, int]:
        if part.fork == "async":
            raise TrialFailed("panic")
        return COUNTS

    report = swept(store, kernel, redis_server, failing)
    assert [failed.reason for failed in report.failed] == ["fork=async: panic"]
    assert store.sweeps.report("latest") == report

    def panic(_: EmulatedPart) -> dict[str, int]:
        raise TrialFailed("panic")

    with pytest.raises(TrialFailed, match="panic"):
        swept(store, kernel, redis_server, panic)
    assert len(store.sweeps.newest(10)) == 1
