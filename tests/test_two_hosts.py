"""Timed trials whose load comes from another machine: the servers here, the load generator there."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from engine_place import job_of, place_in
from machine import failed_by_the_server

from zerolap.cases import load_cases
from zerolap.engines import Place
from zerolap.engines.timed import Timed
from zerolap.load.channel import connect_to_server_host, listen_for_load_host
from zerolap.load.remote import RemoteLoadHost
from zerolap.load.serving import serve_load
from zerolap.records import HEAD, Amounts, Case, JobFinished, Measurement, TrialDone, TrialsJob, ZerolapError
from zerolap.sandbox import Cancellation, SandboxPolicy

SECRET = "a secret of thirty-two characters"
PATIENCE_SECONDS = 60.0
CASES = """
group: checks
datasets:
  strings:
    load: ["SET __key__ __data__"]
    keys: {minimum: 1, maximum: 200}
    expect: {keys: 200}
cases:
  - {name: good, dataset: strings, commands: ["GET __key__"], expect: {reply: bulk, hit_rate: ">= 0.99"}}
"""


@pytest.fixture
def cases(tmp_path: Path) -> dict[str, Case]:
    (tmp_path / "cases.yaml").write_text(CASES)
    return {case.name: case for case in load_cases(tmp_path / "cases.yaml")}


@dataclass
class ServingThread:
    """A load host in a thread of this process, and the error that ended it."""

    cancellation: Cancellation
    thread: threading.Thread
    ended_by: list[ZerolapError]


@contextlib.contextmanager
def load_host(address: str = "127.0.0.1") -> Iterator[tuple[RemoteLoadHost, ServingThread]]:
    with listen_for_load_host(address) as listening:
        cancellation, ended_by = Cancellation(), list[ZerolapError]()

        def serve() -> None:
            with cancellation.current():
                try:
                    channel = connect_to_server_host(listening.address, SECRET, PATIENCE_SECONDS)
                    serve_load(channel, sandbox=SandboxPolicy.UNSAFE)
                except ZerolapError as fault:
                    ended_by.append(fault)

        thread = threading.Thread(target=serve)
        thread.start()
        serving = ServingThread(cancellation, thread, ended_by)
        try:
            with contextlib.closing(listening.accept(SECRET, PATIENCE_SECONDS)) as channel:
                yield RemoteLoadHost(channel), serving
        finally:
            thread.join()


def timed(job: TrialsJob, place: Place) -> Measurement:
    done, finished = Timed().carry_out(job, place)
    assert isinstance(done, TrialDone)
    assert isinstance(finished, JobFinished)
    return done.measurements[HEAD]


def test_a_trial_spans_two_machines(cases: dict[str, Case], redis_server: Path, tmp_path: Path) -> None:
    with load_host() as (host, _):
        place = place_in(tmp_path / "place")
        place = Place(**{**vars(place), "load_host": host})
        job = job_of("timed", cases["good"], redis_server, place).model_copy(update={"amounts": Amounts(pairs=2)})
        measurement = timed(job, place)
    assert failed_by_the_server(measurement.validity.checks) == []
