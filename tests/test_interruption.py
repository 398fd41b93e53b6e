"""Stopped at any moment, the program leaves no process and a store that holds what was measured."""

import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import Zerolap, path_without, stop
from toy_server import CASES, ToySource
from waiting import BUILD_PATIENCE_SECONDS

from zerolap.build import resolve
from zerolap.cases import load_cases
from zerolap.documents import read_comparison
from zerolap.lab import Lab, Options, run, run_request
from zerolap.records import BuildJob, Event, Interrupted, RequestedServer, TrialDone
from zerolap.sandbox import Cancellation, launch
from zerolap.store import Store

pytestmark = pytest.mark.usefixtures("valgrind")

LINK = "\t$(CC) -g -o $@ $(OBJECTS)"
MANY_CASES = "group: toy\ncases:\n" + "".join(
    f'  - {{name: work-{number}, commands: ["WORK key {number}"]}}\n' for number in range(1, 9)
)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """So many cases that of a comparison several are under way."""
    file = tmp_path / "cases.yml"
    file.write_text(MANY_CASES)
    return file


def trials_in(store: Path) -> int:
    return rows_of(store, "trial")


def rows_of(store: Path, table: str) -> int:
    try:
        with closing(sqlite3.connect(f"file:{store / 'zerolap.db'}?mode=ro", uri=True)) as connection:
            count: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            return count
    except sqlite3.OperationalError:
        return 0


def wait_until(condition: Callable[[], object], child: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + BUILD_PATIENCE_SECONDS
    while not condition():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def comparison(zerolap: Zerolap, program: Path, cases: Path, **environment: str) -> "subprocess.Popen[str]":
    """Return a comparison that has one trial in its store and others under way, which do not end by themselves."""
    arguments = ["compare", program, program, "--cases", cases, "--store", zerolap.store]
    child = zerolap.start_held(1, *arguments, environment=environment)
    wait_until(lambda: trials_in(zerolap.store) >= 1 and all_servers_answer(zerolap), child)
    return child


@pytest.mark.slow
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
    assert f"zerolap resume {document['id']}" in ended.err
    assert f"zerolap explain {document['id']}" in ended.err
    with Store.open(str(zerolap.store)) as store:
        measured = store.measurements(document["id"])
        assert len(measured) == 1
        assert store.failures(document["id"]) == [], "a trial that was interrupted has not failed"
        for _, measurement in measured:
            assert measurement.graph is not None
            assert store.blobs.get(measurement.graph)
    assert zerolap("explain", "latest", "--store", zerolap.store).code == 0


@pytest.mark.slow
def test_stopped_twice_at_once(zerolap: Zerolap, toy_program: Path, cases: Path) -> None:
    child = comparison(zerolap, toy_program, cases)
    for _ in range(20):
        child.send_signal(signal.SIGINT)
        time.sleep(0.002)
    ended = stop(child, signal.SIGINT)
    assert ended.code == 130, ended
    assert "Traceback" not in ended.err
    zerolap.leaves_nothing()


def test_a_signal_while_work_is_cancelled_leaves_no_process() -> None:
    @dataclass(eq=False)
    class Signalling:
        is_killed: bool = False
        is_stopped: bool = False

        def kill(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            self.is_killed = True

        def stop(self) -> None:
            self.is_stopped = True

    cancellation, processes = Cancellation(), [Signalling(), Signalling()]
    for process in processes:
        cancellation.own(lambda process=process: process)
    # Where tests run side by side, their processes ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            cancellation.cancel()
    finally:
        signal.signal(signal.SIGINT, before)
    assert all(process.is_killed and process.is_stopped for process in processes)


def test_run_asked_to_stop(zerolap: Zerolap, toy_program: Path, cases: Path) -> None:
    child = zerolap.start_held(1, "run", "--server", toy_program, "--cases", cases, "--store", zerolap.store)
    wait_until(lambda: trials_in(zerolap.store) >= 1, child)
    ended = stop(child, signal.SIGINT)
    assert ended.code == 130, ended
    zerolap.leaves_nothing()
    [identity] = set(re.findall(r"\br-[0-9a-f]{24}\b", ended.err))
    assert f"zerolap resume {identity}" in ended.err
    assert zerolap("explain", identity, "--store", zerolap.store).code == 0


def all_servers_answer(zerolap: Zerolap) -> bool:
    """Whether each server that was started has its load generator: none is still putting its sandbox up."""
    lines = [re.search(r"zerolap-trial-\w{8}", line.removeprefix(str(zerolap.store))) for line in zerolap.processes()]
    started = {match[0] for match in lines if match}
    loaded = [line for line in zerolap.processes() if "zerolap-load" in line and "--control" in line]
    return 0 < len(started) <= len(loaded)


@pytest.mark.slow
def test_killed(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    cases = tmp_path / "cases.yml"
    cases.write_text('group: toy\ncases:\n  - {name: work-1, commands: ["WORK key 1"]}\n')
    child = comparison(zerolap, toy_program, cases)
    assert stop(child, signal.SIGKILL).code == -signal.SIGKILL
    zerolap.wait_for_no_process()
    explained = zerolap("explain", "latest", "--store", zerolap.store, "--json", "-")
    assert explained.code == 0, explained.err
    killed = explained.document()
    assert killed["state"] == "running"
    with Store.open(str(zerolap.store)) as store:
        kept = store.measurements(killed["id"])
        assert len(kept) >= 1
        # What was measured is part of the document, though the killed program wrote none of it.
        assert [case.case for case in read_comparison(store, killed["id"]).cases] == ["work-1"]
    resumed = zerolap("resume", killed["id"], "--store", zerolap.store, "--json", "-")
    assert resumed.code == 0, resumed.err
    assert (resumed.document()["id"], resumed.document()["state"]) == (killed["id"], "done")
    with Store.open(str(zerolap.store)) as store:
        measured = store.measurements(killed["id"])
    assert measured[: len(kept)] == kept, "nothing is measured twice"
    assert len({(trial.job, trial.side, trial.block) for trial, _ in measured}) == len(measured)


@pytest.mark.slow
def test_the_same_command_goes_on(zerolap: Zerolap, toy_program: Path, tmp_path: Path) -> None:
    cases = tmp_path / "cases.yml"
    cases.write_text('group: toy\ncases:\n  - {name: work-1, commands: ["WORK key 1"]}\n')
    command = ["compare", toy_program, toy_program, "--cases", cases, "--engine", "counted", "--store", zerolap.store]
    child = zerolap.start_held(1, *command)
    wait_until(lambda: trials_in(zerolap.store) >= 1, child)
    ended = stop(child, signal.SIGINT)
    [identity] = set(re.findall(r"\bc-[0-9a-f]{24}\b", ended.err))
    again = zerolap(*command, "--json", "-")
    assert again.code == 0, again.err
    assert f"continuing {identity}" in again.err
    assert (again.document()["id"], again.document()["state"]) == (identity, "done")
    afresh = zerolap(*command, "--json", "-")
    assert afresh.document()["id"] != identity, "what is done is not continued"


@pytest.mark.slow
def test_killed_without_a_sandbox(zerolap: Zerolap, toy_program: Path, cases: Path, tmp_path: Path) -> None:
    child = comparison(zerolap, toy_program, cases, **path_without(tmp_path / "path", "bwrap"))
    stop(child, signal.SIGKILL)
    zerolap.wait_for_no_process()


@pytest.mark.slow
def test_stopped_while_building(zerolap: Zerolap, toy: ToySource) -> None:
    slow = toy.changed(("Makefile", "%.o: %.c server.h\n", "%.o: %.c server.h\n\tsleep 3600\n"))
    common = ["--repo", toy.path, "--cases", CASES, "--store", zerolap.store]
    child = zerolap.start("compare", slow, slow, *common)
    wait_until(lambda: any("sleep 3600" in line or "make" in line for line in zerolap.processes()), child)
    ended = stop(child, signal.SIGINT)
    assert ended.code == 130, ended
    assert "interrupted while building" in ended.err
    zerolap.leaves_nothing()
    assert list((zerolap.store / "builds").iterdir()) == []


@pytest.mark.slow
def test_killed_while_building(zerolap: Zerolap, toy: ToySource) -> None:
    slow = toy.changed(("Makefile", LINK, f"\tsleep 10\n{LINK}"))
    options = ["--cases", CASES, "--engine", "counted", "--store", zerolap.store]
    child = zerolap.start("compare", toy.first, slow, "--repo", toy.path, *options, "toy-get")
    # The head is built after the base. It holds however late it is killed.
    wait_until(lambda: rows_of(zerolap.store, "job") >= 2 and zerolap.processes(), child)
    assert stop(child, signal.SIGKILL).code == -signal.SIGKILL
    zerolap.wait_for_no_process()
    # The repository is not needed any more.
    toy.path.rename(toy.path.with_name("elsewhere"))
    try:
        resumed = zerolap("resume", "latest", "--store", zerolap.store, "--json", "-")
    finally:
        toy.path.with_name("elsewhere").rename(toy.path)
    assert resumed.code == 0, resumed.err
    document = resumed.document()
    assert (document["state"], document["head"]["commit"]) == ("done", slow)
    with Store.open(str(zerolap.store)) as store:
        builds = [recorded.job for recorded in store.jobs(document["id"]) if isinstance(recorded.job, BuildJob)]
    assert len({job.id for job in builds}) == len(builds) == 2


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
    server = RequestedServer(source=resolve(str(toy_program), None))
    request = run_request(server, load_cases(cases), Options(engines=["counted"]))
    cancellation = Cancellation()
    with Store.open(str(tmp_path / "store")) as store:
        canceller = CancelsInAnotherThread(cancellation)
        with pytest.raises(Interrupted, match="interrupted after"):
            run(request, Lab(store, canceller, cancellation=cancellation))
        assert list(trials.iterdir()) == []
        with cancellation.current(), pytest.raises(Interrupted):
            launch(["true"], environment={"PATH": "/usr/bin:/bin"})
        assert store.failures(store.latest().id) == [], "a trial that was interrupted has not failed"
        again = run(request.model_copy(update={"id": "r-again", "cases": request.cases[:1]}), Lab(store))
        assert [case.validity.valid for case in again.cases] == [True]


class CancelsInAnotherThread:
    """Cancels once the first trial has ended, while others are under way."""

    def __init__(self, cancellation: Cancellation) -> None:
        self._thread = threading.Thread(target=cancellation.cancel)
        self._is_started = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, TrialDone) and not self._is_started:
            self._is_started = True
            self._thread.start()
            # The work goes on no sooner: on many processors the others would have ended.
            self._thread.join()
