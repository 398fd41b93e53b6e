"""`zerolap snapshot` as a user meets it, with a real server and little data."""

import signal
import tempfile
from pathlib import Path

import pytest
from command_line import Zerolap, stop
from waiting import wait_until

from zerolap.engines import TRIAL_PREFIX
from zerolap.records import SnapshotReport
from zerolap.sandbox import remove_abandoned, scratch

SMALL = ("--sizes", "32MiB,64MiB", "--rate", "1000", "--connections", "4", "--repetitions", "1", "--seed", "7")
REPORTED = {"fork_us", "cow_bytes"}
ALWAYS = {"longest_pause_us", "event_seconds", "throughput_lost", "during_p99_us", "outside_p99_us", "resident_bytes"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tcp://127.0.0.1:1"], "is a running server"),
        (["redis-server", "--event", "save"], "`--event save` is not valid"),
        (["redis-server", "--load", "open,shut"], "`--load open,shut` is not valid"),
        (["redis-server", "--sizes", "12"], "`--sizes 12` is not a size of data"),
        (["redis-server", "--sizes", "1KiB"], "is not a size of data"),
        (["redis-server", "--sizes", ","], "names no size"),
        (["no-such-server"], "names no server"),
    ],
)
def test_wrong_usage_is_refused_at_once(zerolap: Zerolap, words: list[str], message: str) -> None:
    zerolap("snapshot", *words).fails_with(2, message)
    zerolap.leaves_nothing()


def test_data_that_does_not_fit_is_refused_before_anything_is_started(zerolap: Zerolap) -> None:
    ended = zerolap("snapshot", "redis-server", "--sizes", "64MiB,900TiB")
    ended.fails_with(
        3, "921,600 GiB of data needs 1,843,200 GiB of memory", "hint: give smaller ones, such as --sizes "
    )
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
@pytest.mark.parametrize("event", ["bgsave", "bgrewriteaof"])
def test_a_sweep_reports_fork_and_latencies_of_each_size_and_load(zerolap: Zerolap, event: str) -> None:
    ended = zerolap("snapshot", "redis-server", *SMALL, "--event", event, "--json", "-", "--quiet")
    assert ended.code == 0, ended.err
    report = SnapshotReport.model_validate(ended.document())
    assert report.schema_ == "zerolap.snapshot/1"
    assert report.settings.event == event
    places = [(point.size_bytes >> 20, point.load) for point in report.points]
    assert places == [(32, "open"), (32, "closed"), (64, "open"), (64, "closed")]
    for point in report.points:
        assert set(point.metrics) >= REPORTED | ALWAYS
        assert point.data_bytes is not None
        assert 0.8 < point.data_bytes / point.size_bytes < 1.5
        [repetition] = point.repetitions
        assert sum(slot.replies for slot in repetition.series) > 0
        starts = [slot.at_seconds for slot in repetition.series]
        assert starts == sorted(starts)
        assert starts[0] < 0 < starts[-1]
    fit = report.fits["fork_us"]
    assert fit.repetitions == len(report.points)
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_a_replica_that_is_attached_is_an_event_each_time_in_full(zerolap: Zerolap) -> None:
    words = ["--sizes", "32MiB", "--rate", "1000", "--connections", "4", "--repetitions", "2", "--load", "open"]
    ended = zerolap("snapshot", "redis-server", *words, "--event", "replica", "--json", "-", "--quiet")
    assert ended.code == 0, ended.err
    [point] = SnapshotReport.model_validate(ended.document()).points
    assert set(point.metrics) >= REPORTED | ALWAYS
    # A partial synchronisation does not fork: an event of one fails the sweep.
    assert len(point.repetitions) == 2
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_nothing_happens_without_an_event(zerolap: Zerolap) -> None:
    words = ["--sizes", "32MiB", "--rate", "1000", "--repetitions", "1", "--load", "open", "--event", "none"]
    ended = zerolap("snapshot", "redis-server", *words, "--markdown", "-")
    assert ended.code == 0, ended.err
    assert "no event: longest pause of" in ended.out
    assert "fork ms" not in ended.out


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_a_server_that_cannot_save_fails_with_its_log(zerolap: Zerolap) -> None:
    words = ["--sizes", "16MiB", "--repetitions", "1", "--load", "open", "--config", "dir=/proc"]
    ended = zerolap("snapshot", "redis-server", *words)
    assert ended.code == 4, ended
    assert "Traceback" not in ended.err
    assert "error: `BGSAVE` failed" in ended.err
    assert "see the end of its log" in ended.err
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_mid_sweep_nothing_is_left(zerolap: Zerolap, number: signal.Signals) -> None:
    child = zerolap.start("snapshot", "redis-server", *SMALL)
    wait_until(lambda: any("zerolap-load" in line for line in zerolap.processes()))
    ended = stop(child, number)
    assert ended.code == 130, ended
    assert "interrupted; a sweep keeps nothing" in ended.err
    assert "Traceback" not in ended.err
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("redis_server")
def test_killed_no_process_is_left_and_the_next_sweep_removes_the_files(
    zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = zerolap.start("snapshot", "redis-server", *SMALL)
    wait_until(lambda: any("zerolap-load" in line for line in zerolap.processes()))
    child.kill()
    child.communicate()
    zerolap.wait_for_no_process()
    # A directory of less than a minute may belong to a process that has not locked it yet.
    monkeypatch.setattr(scratch, "YOUNG_SECONDS", -1)
    monkeypatch.setattr(tempfile, "tempdir", str(zerolap.trials))
    remove_abandoned(TRIAL_PREFIX)
    assert list(Path(zerolap.trials).iterdir()) == []
