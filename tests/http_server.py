"""Real HTTP servers in threads: of any application, and of a lab whose conductor does not work."""

import asyncio
import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from zerolap.api import application
from zerolap.fleet import Conductor, ServedPlatform
from zerolap.fleet.in_process import InProcess
from zerolap.store import Store
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import TriggerSettings


class Server(uvicorn.Server):
    """Ends connections of the application to others at its end, as long as their event loop is there."""

    def __init__(self, configuration: uvicorn.Config, end: Callable[[], Awaitable[None]] | None) -> None:
        super().__init__(configuration)
        self._end = end

    async def main_loop(self) -> None:
        # The framework looks every tenth of a second whether it is to end.
        ticks = itertools.count()
        while not await self.on_tick(next(ticks)):
            await asyncio.sleep(0.02)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self._end is not None:
            await self._end()


@contextlib.contextmanager
def served(app: FastAPI, end: Callable[[], Awaitable[None]] | None = None) -> Iterator[str]:
    """Serve an application on a free port of this machine until `end` was awaited; yields its URL."""
    # With its protocol named, asyncio has answers sent at once; without, they wait for the client's acknowledgement.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        configuration = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none")
        server = Server(configuration, end)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def served_lab(store: Store, settings: TriggerSettings | None = None, mirrors: Path = Path("mirrors")) -> Iterator[str]:
    """Serve what `zerolap serve` does; nothing is measured, triggers stay as they are recorded, reports are public."""
    conductor = Conductor(store, InProcess(), [ServedPlatform("local", builder="local")])
    triggers = None if settings is None else Triggers(store, settings, mirrors)
    end = None if triggers is None or triggers.github is None else triggers.github.close
    with served(application(conductor, store, triggers, public_reports=settings is None), end) as url:
        yield url


def is_listening(port: int) -> bool:
    """Whether somebody listens on a port of this machine."""
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0
