"""The two machines of a trial, as threads and processes of the tests: a load host, and the machine of the servers.

As a program it is one of both: `load HOST:PORT CERTIFICATE`, or `servers FILE HOST PROGRAM CASES DIRECTORY`, which
writes where it listens and the digest of its certificate to a file, and then prints the measurement.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine_place import job_of, place_in

from zerolap.cases import load_cases
from zerolap.engines import Place
from zerolap.engines.timed import Timed
from zerolap.host import disturbance
from zerolap.load.load_host import LoadHost
from zerolap.load.remote.channel import connect_to_server_host, listen_for_load_host
from zerolap.load.remote.load_side import serve_load
from zerolap.load.remote.server_side import RemoteLoadHost
from zerolap.records import Amounts, Case, Event, Measurement, Side, TrialDone, TrialsJob, ZerolapError
from zerolap.sandbox import Cancellation, SandboxPolicy

SECRET = "a secret of thirty-two characters"
LIMITS_OF_THE_MACHINE = ("STEAL_LIMIT", "OTHERS_LIMIT", "SWAP_LIMIT", "CLOCK_LIMIT_SECONDS")
LOOPBACK = "127.0.0.1"
LOAD_PLATFORM = "senders"
PATIENCE_SECONDS = 120.0


@dataclass
class ServingThread:
    """A load host in a thread of this process, and the errors that ended it."""

    cancellation: Cancellation = field(default_factory=Cancellation)
    ended_by: list[ZerolapError] = field(default_factory=list)

    def serve(self, address: str, certificate: str) -> None:
        with self.cancellation.current():
            try:
                serve(address, certificate)
            except ZerolapError as fault:
                self.ended_by.append(fault)


def serve(address: str, certificate: str) -> None:
    channel = connect_to_server_host(address, certificate, SECRET, PATIENCE_SECONDS)
    serve_load(channel, sandbox=SandboxPolicy.UNSAFE)


@contextlib.contextmanager
def load_host_in_a_thread() -> Iterator[tuple[RemoteLoadHost, ServingThread]]:
    serving = ServingThread()
    with listen_for_load_host(LOOPBACK) as listening:
        thread = threading.Thread(target=serving.serve, args=(listening.address, listening.certificate))
        thread.start()
        try:
            with contextlib.closing(listening.accept(SECRET, PATIENCE_SECONDS)) as channel:
                yield RemoteLoadHost(channel, name=LOAD_PLATFORM), serving
        finally:
            thread.join()


@contextlib.contextmanager
def load_host_in_a_process(log: Path) -> Iterator[tuple[RemoteLoadHost, "subprocess.Popen[bytes]"]]:
    with listen_for_load_host(LOOPBACK) as listening, log.open("wb") as output:
        command = [sys.executable, __file__, "load", listening.address, listening.certificate]
        with subprocess.Popen(command, env=environment(), stdout=output, stderr=output) as process:
            try:
                with contextlib.closing(listening.accept(SECRET, PATIENCE_SECONDS)) as channel:
                    yield RemoteLoadHost(channel), process
            finally:
                process.kill()


def environment() -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def place_with(host: LoadHost, directory: Path) -> Place:
    return replace(place_in(directory), load_host=host)


def timed_job(case: Case, program: Path, place: Place) -> TrialsJob:
    """Return a job of one start, of two pairs."""
    return job_of("timed", case, program, place).model_copy(update={"amounts": Amounts(pairs=2)})


def measurements(events: Iterator[Event]) -> dict[Side, Measurement]:
    """Return the measurements of a job's only start."""
    (done,) = (event for event in events if isinstance(event, TrialDone))
    return done.measurements


def servers(file: str, host: str, program: str, cases: str, directory: str) -> None:
    with listen_for_load_host(host) as listening:
        # Whoever waits for the file is to find it whole.
        written = Path(f"{file}.new")
        written.write_text(f"{listening.address} {listening.certificate}")
        written.rename(file)
        with contextlib.closing(listening.accept(SECRET, PATIENCE_SECONDS)) as channel:
            place = place_with(RemoteLoadHost(channel), Path(directory))
            job = timed_job(load_cases(Path(cases))[0], Path(program), place)
            (measurement,) = measurements(Timed().carry_out(job, place)).values()
    print(measurement.model_dump_json())


if __name__ == "__main__":
    for limit in LIMITS_OF_THE_MACHINE:
        setattr(disturbance, limit, float("inf"))
    {"load": serve, "servers": servers}[sys.argv[1]](*sys.argv[2:])
