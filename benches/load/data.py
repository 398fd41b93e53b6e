"""The server that all tools put load on, and the keys they read."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import redis

from benches.comparing import SERVER
from benches.load.process import SERVER_PROCESSOR, pinned

KEYS = 100_000
FIRST_NUMBER = 100_000
NUMBER_PREFIX = "key:000000"
"""Before a number from `FIRST_NUMBER` on: as long as the keys of redis-benchmark, `key:` and 12 digits."""
VALUE = "x" * 32
START_SECONDS = 10.0


@dataclass(frozen=True)
class DataServer:
    """A running server that holds all keys in both forms."""

    port: int
    client: redis.Redis

    def lookups(self) -> tuple[int, int]:
        """Return how many keys were found, and how many were not, since the server started."""
        stats = self.client.info("stats")
        assert isinstance(stats, dict)
        return int(stats["keyspace_hits"]), int(stats["keyspace_misses"])


def free_port() -> int:
    """Return a port of this machine that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def data_server() -> Iterator[DataServer]:
    """Start the installed server on its processor, without persistence, and load the keys."""
    port = free_port()
    command = [SERVER, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(pinned(SERVER_PROCESSOR, command), stdout=subprocess.DEVNULL)
    client = redis.Redis(port=port)
    try:
        wait_until_ready(client)
        load_keys(client)
        yield DataServer(port, client)
    finally:
        client.close()
        process.terminate()
        process.wait()


def wait_until_ready(client: redis.Redis) -> None:
    """Wait for the first answer; raises `redis.ConnectionError` if none comes in time."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            client.ping()
        except redis.ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def load_keys(client: redis.Redis) -> None:
    """Set each key twice: as redis-benchmark names it, and as the tools that take a prefix do."""
    for first in range(0, KEYS, 1000):
        numbers = range(first, first + 1000)
        values = {f"key:{number:012}": VALUE for number in numbers}
        client.mset(values | {f"{NUMBER_PREFIX}{FIRST_NUMBER + number}": VALUE for number in numbers})
