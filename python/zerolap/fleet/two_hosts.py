"""Trials that span two agents: one runs the server, the other runs the load generator on another machine."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from zerolap.engines import Place
from zerolap.lab import Worker
from zerolap.load.remote import Listening, RemoteLoadHost, connect_to_server_host, listen_for_load_host, serve_load
from zerolap.records import BuildJob, Event, JobFinished, LoadJob, TrialsJob
from zerolap.sandbox import Cancellation, SandboxPolicy

LOAD_HOST_SECONDS: Final = 180.0
"""How long the measuring agent waits for the agent that puts load on its servers."""
CONNECT_SECONDS: Final = 30.0


@dataclass
class LoadFromElsewhere:
    """Where an agent waits for one of the platform `name`; both know `secret` once the job is claimed."""

    listening: Listening
    name: str = ""
    secret: str = ""

    @classmethod
    @contextlib.contextmanager
    def awaited(cls, address: str, name: str = "") -> Iterator["LoadFromElsewhere"]:
        """Listen at an address of this machine, until the context ends."""
        with listen_for_load_host(address) as listening:
            yield cls(listening, name)

    def carry_out(self, worker: Worker, job: BuildJob | TrialsJob, place: Place) -> Iterator[Event]:
        """Execute a job once the other agent is there, and yield what happens.

        Raises `EnvironmentMissing` if it does not come, or is lost.
        """
        with place.cancellation.current():
            channel = self.listening.accept(self.secret, LOAD_HOST_SECONDS)
            with contextlib.closing(channel):
                yield from worker.carry_out(job, replace(place, load_host=RemoteLoadHost(channel, name=self.name)))


def put_load(job: LoadJob, secret: str, cancellation: Cancellation, policy: SandboxPolicy) -> Iterator[Event]:
    """Put load on the servers of the waiting agent, until it has no further orders."""
    with cancellation.current():
        serve_load(connect_to_server_host(job.address, job.certificate, secret, CONNECT_SECONDS), sandbox=policy)
    yield JobFinished(job=job.id)
