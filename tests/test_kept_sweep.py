"""What a sweep of snapshots has measured until it ends, in a file that survives a kill at any moment."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zerolap.records import KeptRepetition, SnapshotRepetition
from zerolap.store import RequestBusy, Store
from zerolap.store.kept_sweep import KEPT_SECONDS, kept_sweep

DIGEST = "0123abcd"


def repetition(number: int, seed: int = 7) -> KeptRepetition:
    measured = SnapshotRepetition(began="2026-11-25T20:00:00Z", metrics={"fork_us": 100.0 + number}, series=[])
    return KeptRepetition(
        seed=seed,
        side="",
        size_bytes=1 << 30,
        load="open",
        number=number,
        keys=1000,
        data_bytes=None,
        seconds=10.0 * number,
        repetition=measured,
    )


def test_repetitions_are_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert kept.repetitions == []
        kept.keep(repetition(0))
        kept.keep(repetition(1))
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert kept.repetitions == [repetition(0), repetition(1)]
        kept.keep(repetition(2))
        assert kept.repetitions[-1] == repetition(2)
    with kept_sweep(tmp_path, "another") as other:
        assert other.repetitions == []
    assert [path.stem for path in tmp_path.iterdir()] == [DIGEST]
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert [repetition.number for repetition in kept.repetitions] == [0, 1, 2]


def test_a_repetition_that_is_written_when_the_user_stops_the_sweep_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests that are started in the background ignore the signal.
    monkeypatch.setattr(os, "fsync", lambda _file: os.kill(os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), kept_sweep(tmp_path, DIGEST) as kept:
            kept.keep(repetition(0))
    finally:
        signal.signal(signal.SIGINT, before)
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert kept.repetitions == [repetition(0)]


@pytest.mark.parametrize("torn", ['{"seed": 7, "si', "", "\udcff", "7\n", repetition(1).model_dump_json()])
def test_a_line_that_was_written_in_part_leaves_nothing(tmp_path: Path, torn: str) -> None:
    with kept_sweep(tmp_path, DIGEST) as kept:
        kept.keep(repetition(0))
    path = tmp_path / f"{DIGEST}.jsonl"
    with path.open("ab") as file:
        file.write(torn.encode(errors="surrogateescape"))
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert kept.repetitions == [repetition(0)]
        kept.keep(repetition(1))
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert kept.repetitions == [repetition(0), repetition(1)]


def test_a_sweep_that_has_ended_or_begins_anew_has_no_repetitions(tmp_path: Path) -> None:
    with kept_sweep(tmp_path, DIGEST) as kept:
        kept.keep(repetition(0))
        kept.begin_anew()
        assert kept.repetitions == []
        kept.keep(repetition(0, seed=8))
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert kept.repetitions == [repetition(0, seed=8)]
        kept.end()
    assert list(tmp_path.iterdir()) == []


HOLDER = """
import sys
from pathlib import Path
from zerolap.store.kept_sweep import kept_sweep
with kept_sweep(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time_carries_out_a_sweep_and_a_killed_one_lets_it_go(tmp_path: Path) -> None:
    with kept_sweep(tmp_path, DIGEST) as kept:
        kept.keep(repetition(0))
    command = [sys.executable, "-c", HOLDER, str(tmp_path), DIGEST]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(RequestBusy, match="this sweep is being worked on"), kept_sweep(tmp_path, DIGEST):
            pass
        process.kill()
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert kept.repetitions == [repetition(0)]


def test_a_file_that_is_removed_while_it_is_locked_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda _file, _operation: (tmp_path / f"{DIGEST}.jsonl").unlink())
    with pytest.raises(RequestBusy), kept_sweep(tmp_path, DIGEST):
        pass


def test_sweeps_that_nobody_has_gone_on_with_are_removed(tmp_path: Path) -> None:
    for digest in ("old", "young", DIGEST):
        with kept_sweep(tmp_path, digest) as kept:
            kept.keep(repetition(0))
    long_ago = time.time() - KEPT_SECONDS - 60
    for digest in ("old", DIGEST):
        os.utime(tmp_path / f"{digest}.jsonl", (long_ago, long_ago))
    with kept_sweep(tmp_path, DIGEST) as kept:
        assert len(kept.repetitions) == 1
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted([DIGEST, "young"])


def test_a_store_keeps_them_beside_its_database(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store")) as store, store.sweep(DIGEST) as kept:
        kept.keep(repetition(0))
    assert (tmp_path / "store" / "sweeps" / f"{DIGEST}.jsonl").exists()
