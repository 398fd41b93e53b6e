"""Clients that run beside the measured one, such as subscribers, or workers that wait for queued jobs."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from zerolap.load.generator import packaged
from zerolap.load.target import by_socket
from zerolap.records import Client, TrialFailed
from zerolap.sandbox import Process, launch
from zerolap.server import RunningServer, count_sockets, number_in

READY_SECONDS = 120
UNASKED_SECONDS = 2
POLL_SECONDS = 0.02
LOG_LINES = 5


class Companions:
    """Running companions of a case."""

    def __init__(self, processes: Sequence[Process]) -> None:
        self._processes = processes

    def require_running(self) -> None:
        """Raise `TrialFailed` if a companion has ended: the measured load was not that of the case."""
        for process in self._processes:
            _require_running(process)


@contextlib.contextmanager
def companions(
    server: RunningServer, clients: Sequence[Client], seed: int, log: Path, processors: Sequence[int] = ()
) -> Iterator[Companions]:
    """Start companions, on `processors` if any are given, and wait until all are connected.

    They end with the context. Raises `TrialFailed` if one ends early or is not connected in time.
    """
    with contextlib.ExitStack() as stack:
        processes = []
        for number, client in enumerate(clients, 1):
            wanted = WantedConnections(server, client.connections + client.listeners)
            output = log.with_name(f"{log.stem}-companion-{number}.log")
            command = [str(packaged("zerolap-load")), *by_socket(server.socket, server.load_login).arguments]
            command += client.companion_arguments()
            if client.connections:
                command += ["--seed", str(seed)]
            if processors:
                command += ["--cpus", ",".join(map(str, processors))]
            processes.append(stack.enter_context(launch(command, environment={}, output=output)))
            _wait(wanted, processes[-1])
        yield Companions(processes)


class WantedConnections:
    """Connections that a server is to have beside those of now."""

    def __init__(self, server: RunningServer, connections: int) -> None:
        self._server = server
        self._clients = self._connected() + connections
        self._sockets = count_sockets(server.process) + connections
        self._asked_from = time.monotonic() + UNASKED_SECONDS

    def are_there(self) -> bool:
        """Whether the server has them; raises `TrialFailed` if it does not report its number of clients.

        It is asked once it has as many more sockets: else the number of questions would depend on the machine.
        """
        has_sockets = count_sockets(self._server.process) >= self._sockets
        return (has_sockets or time.monotonic() > self._asked_from) and self._connected() >= self._clients

    def _connected(self) -> int:
        connected = number_in(self._server.info("clients"), "connected_clients")
        if connected is None:
            raise TrialFailed("the server does not report its number of clients")
        return connected


def _wait(wanted: WantedConnections, process: Process) -> None:
    end = time.monotonic() + READY_SECONDS
    while not wanted.are_there():
        _require_running(process)
        if time.monotonic() > end:
            raise TrialFailed(f"a client beside the measured one was not connected within {READY_SECONDS} s")
        time.sleep(POLL_SECONDS)


def _require_running(process: Process) -> None:
    if process.returncode is not None:
        raise TrialFailed(f"a client beside the measured one ended: {process.output_tail(LOG_LINES)}")
