"""Stopped at any moment, the program leaves no process and a store that holds what was measured."""

import re
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import PATIENCE_SECONDS, Zerolap, path_without, stop
from toy_server import CASES, ToySource

from zerolap.build import resolve
from zerolap.cases import load_cases
from zerolap.lab import RunRequest, Silent, run
from zerolap.records import Interrupted, Settings
from zerolap.sandbox import Cancellation, launch
from zerolap.store import Store

pytestmark = pytest.mark.usefixtures("valgrind")

MANY_CASES = "group: toy\ncases:\n" + "".join(
    f'  - {{name: work-{number}, commands: ["WORK key {number}"]}}\n' for number in range(1, 9)
)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Enough cases for the comparison to be interrupted in its middle."""
    file = tmp_path / "cases.yml"
    file.write_text(MANY_CASES)
    return file


def trials_in(store: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{store / 'zerolap.db'}?mode=ro", uri=True)) as connection:
            count: int = connection.execute("SELECT count(*) FROM trial WHERE state = 'done'").fetchone()[0]
            return count
    except sqlite3.OperationalError:
        return 0


def wait_until(condition: Callable[[], object], child: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def comparison(zerolap: Zerolap, program: Path, cases: Path, **environment: str) -> "subprocess.Popen[str]":
    """Return a comparison that has at least one trial in its store and others under way."""
    arguments = ["compare", program, program, "--cases", cases, "--store", zerolap.store]
    child = zerolap.start(*arguments, environment=environment)
    wait_until(lambda: trials_in(zerolap.store) >= 1 and zerolap.processes(), child)
    return child


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop(zerolap: Zerolap, toy_program: Path, cases: Path, number: signal.Signals) -> None:
    ended = stop(comparison(zerolap, toy_program, cases), number)
    assert ended.code == 130, ended
    assert "Traceback" not in ended.err
    assert "interrupted after" in ended.err
    assert ended.out == ""
    zerolap.leaves_nothing()
    explained = zerolap("explain", "latest", "--store", zerolap.store, "--json", "-")
    assert explained.code == 0, explained.err
    document = explained.document()
    assert document["state"] == "interrupted"
    assert f"zerolap explain {document['id']}" in ended.err
    with Store.open(str(zerolap.store)) as store:
        measured = store.measurements(document["id"])
        assert 1 <= len(measured) < 8 * 3 * 2
        assert store.failures(document["id"]) == [], "a trial that was interrupted has not failed"
        for _, measurement in measured:
            assert measurement.profile is not None
            assert store.blobs.get(measurement.profile)
    assert zerolap("explain", "latest", "--store", zerolap.store).code == 0


def test_stopped_twice_at_once(zerolap: Zerolap, toy_program: Path, cases: Path) -> None:
    child = comparison(zerolap, toy_program, cases)
    child.send_signal(signal.SIGINT)
    ended = stop(child, signal.SIGINT)
    assert ended.code == 130, ended
    assert "Traceback" not in ended.err
    zerolap.leaves_nothing()


def test_run_asked_to_stop(zerolap: Zerolap, toy_program: Path, cases: Path) -> None:
    child = zerolap.start("run", "--server", toy_program, "--cases", cases, "--store", zerolap.store)
    wait_until(lambda: trials_in(zerolap.store) >= 1, child)
    ended = stop(child, signal.SIGINT)
    assert ended.code == 130, ended
    zerolap.leaves_nothing()
    identity = ended.err.split("zerolap explain ")[1].strip()
    assert zerolap("explain", identity, "--store", zerolap.store).code == 0


def all_servers_answer(zerolap: Zerolap) -> bool:
    """Whether each server that was started has its load generator: none is still putting its sandbox up."""
    lines = [re.search(r"zerolap-\w{8}", line.removeprefix(str(zerolap.store))) for line in zerolap.processes()]
    started = {match[0] for match in lines if match}
    loaded = [line for line in zerolap.processes() if "zerolap-load" in line and "--control" in line]
    return 0 < len(started) <= len(loaded)


def test_killed(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    cases = tmp_path / "cases.yml"
    cases.write_text('group: toy\ncases:\n  - {name: work-1, commands: ["WORK key 100000"]}\n')
    child = comparison(zerolap, toy_program, cases)
    wait_until(lambda: all_servers_answer(zerolap), child)
    assert stop(child, signal.SIGKILL).code == -signal.SIGKILL
    zerolap.wait_for_no_process()
    explained = zerolap("explain", "latest", "--store", zerolap.store, "--json", "-")
    assert explained.code == 0, explained.err
    assert explained.document()["state"] == "running"
    assert trials_in(zerolap.store) >= 1
    again = zerolap(
        "compare", toy_program, toy_program, "work-1", "--cases", cases, "--store", zerolap.store, "--quick"
    )
    assert again.code == 0, again.err


def test_killed_without_a_sandbox(zerolap: Zerolap, toy_program: Path, cases: Path, tmp_path: Path) -> None:
    child = comparison(zerolap, toy_program, cases, **path_without(tmp_path / "path", "bwrap"))
    stop(child, signal.SIGKILL)
    zerolap.wait_for_no_process()


def test_stopped_while_building(zerolap: Zerolap, toy: ToySource) -> None:
    slow = toy.changed(("Makefile", "%.o: %.c server.h\n", "%.o: %.c server.h\n\tsleep 300\n"))
    common = ["--repo", toy.path, "--cases", CASES, "--store", zerolap.store]
    child = zerolap.start("compare", slow, slow, *common)
    wait_until(lambda: any("sleep 300" in line or "make" in line for line in zerolap.processes()), child)
    ended = stop(child, signal.SIGINT)
    assert ended.code == 130, ended
    assert "interrupted while building" in ended.err
    zerolap.leaves_nothing()
    assert list((zerolap.store / "builds").iterdir()) == []


def test_cancelled_from_another_thread(
    toy_program: Path,
    cases: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One process can cancel a request and go on with the next."""
    # The name of a unix socket below it is at most 107 bytes long.
    trials = tmp_path_factory.mktemp("t")
    monkeypatch.setattr(tempfile, "tempdir", str(trials))
    settings = Settings(engines=["counted"], min_effect={"counted": 0.01}, q=0.01, budget_seconds=None, seed=1)
    request = RunRequest(resolve(str(toy_program), None), load_cases(cases), settings, command_line="")
    cancellation = Cancellation()
    with Store.open(str(tmp_path / "store")) as store:
        progress = CancelsInAnotherThread(cancellation)
        with pytest.raises(Interrupted, match="interrupted after"):
            run(request, store, progress, cancellation)
        progress.canceller.join()
        assert list(trials.iterdir()) == []
        with cancellation.current(), pytest.raises(Interrupted):
            launch(["true"], environment={"PATH": "/usr/bin:/bin"})
        assert store.failures(store.latest().id) == [], "a trial that was interrupted has not failed"
        again = run(replace(request, cases=request.cases[:1]), store, Silent())
        assert [case.validity.valid for case in again.cases] == [True]


class CancelsInAnotherThread(Silent):
    """Cancels once the first trial has ended, while others are under way."""

    def __init__(self, cancellation: Cancellation) -> None:
        self.canceller = threading.Thread(target=cancellation.cancel)

    def trial_done(self, case: str, done: int, expected: int) -> None:
        if done == 1:
            self.canceller.start()
