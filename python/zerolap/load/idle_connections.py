"""Connections that stay idle beside the measured ones: each has sent one request, and then nothing."""

import contextlib
import resource
from collections.abc import Iterator
from typing import Final

from zerolap.server import CommandConnection, RunningServer

SPARED_FILES: Final = 1_024
"""Files of this process beside the idle connections of the trials that are under way."""
TRIALS_AT_ONCE: Final = 8


@contextlib.contextmanager
def idle_connections(server: RunningServer, number: int) -> Iterator[None]:
    """Open so many connections to a server; they end with the context.

    Raises `TrialFailed` where the server does not take or answer them.
    """
    if number:
        _allow_files(number * TRIALS_AT_ONCE + SPARED_FILES)
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            connection = CommandConnection(server.socket, login=server.load_login)
            stack.callback(connection.close)
            connection.call("PING")
        yield


def _allow_files(number: int) -> None:
    """Let this process have so many files, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
