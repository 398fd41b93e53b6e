"""One server process: started on a unix socket in its own directory, ready by its state, stopped whatever happens."""

import contextlib
import functools
import shlex
import shutil
import signal
import socket
import stat
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from zerolap.build import Program
from zerolap.records import TrialFailed
from zerolap.sandbox import Confinement, Network, Process, launch, server_limits
from zerolap.server.batch import send_batch

START_SECONDS = 60
POLL_SECONDS = 0.01
REPLY_SECONDS = 60
DYING_SECONDS = 2
SIGNAL_OFFSET = 128
CREDENTIALS = struct.Struct("3i")
"""Process, user and group, as unix sockets tell them of the one that listens."""


@dataclass(frozen=True)
class Launch:
    """How a server is launched: under which program, with which variables, and what it gets to see beside its own.

    `network` is one that it shares with others; else it has none.
    """

    prefix: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    read_only: Sequence[Path] = ()
    network: Network | None = None


class RunningServer:
    """A server that answers; `client` sends it commands outside of what is measured."""

    def __init__(self, process: Process, socket: Path, log: Path) -> None:
        self._process = process
        self.socket = socket
        self.log = log
        self.client = redis.Redis(
            unix_socket_path=str(socket),
            socket_timeout=REPLY_SECONDS,
            single_connection_client=False,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
        )

    @functools.cached_property
    def process(self) -> int:
        """The system's number of the process that listens, which may be below a sandbox, a shell or an emulator.

        Raises `TrialFailed` if it cannot be told.
        """
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(REPLY_SECONDS)
                connection.connect(str(self.socket))
                told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
        except OSError as lost:
            raise self.failure(f"the server was lost: {lost}") from lost
        process, _user, _group = CREDENTIALS.unpack(told)
        if not process:
            raise TrialFailed("the server's process cannot be told from here")
        return int(process)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.returncode is None

    def command(self, *arguments: str | bytes) -> object:
        """Send a command and return its reply; raises `TrialFailed` if the server refuses it or is gone."""
        try:
            return self.client.execute_command(*arguments)  # type: ignore[no-untyped-call]
        except redis.ResponseError as refused:
            raise TrialFailed(f"the server refused `{_shown(arguments)}`: {refused}") from refused
        except (redis.ConnectionError, redis.TimeoutError) as lost:
            raise self.failure(f"the server was lost: {lost}") from lost

    def commands(self, commands: Sequence[Sequence[str | bytes]]) -> None:
        """Send commands together and wait for all replies; raises `TrialFailed` as `command` does."""
        try:
            refused = send_batch(self.socket, commands, REPLY_SECONDS)
        except TrialFailed as lost:
            raise self.failure(lost.message) from lost
        if refused is not None:
            index, text = refused
            raise TrialFailed(f"the server refused `{_shown(commands[index])}`: {text}")

    def died(self) -> bool:
        """Whether the process ended, or does so within a moment: a connection is lost before the process is gone."""
        end = time.monotonic() + DYING_SECONDS
        while self.alive and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return not self.alive

    def _listens(self) -> bool:
        """Whether the socket is there, and is one: a link would lead the lab to another server."""
        with contextlib.suppress(FileNotFoundError):
            return stat.S_ISSOCK(self.socket.lstat().st_mode)
        return False

    def failure(self, what: str) -> TrialFailed:
        """Return the error for a server that failed, with its end and the end of its log."""
        self.died()
        code = self._process.returncode
        limit = None if code is None else self._process.reached_limit()
        message = what if code is None else f"{what}; the server died ({_ending(code)})"
        if limit is not None:
            message += f": it reached {limit}"
        return TrialFailed(message, hint="the end of its log says why", details=self._process.output_tail())

    def wait_until_ready(self) -> None:
        """Wait until the server answers PING and has loaded its data; raises `TrialFailed` with its log if it dies."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if not self.alive:
                raise self.failure("the server did not start")
            if self._listens():
                try:
                    self.client.ping()
                    return
                except (redis.AuthenticationError, redis.ResponseError) as refused:
                    raise self.failure(f"the server refused `PING`: {refused}") from refused
                except (redis.ConnectionError, redis.TimeoutError):
                    pass
            time.sleep(POLL_SECONDS)
        raise self.failure(f"the server was not ready within {START_SECONDS} s")


def _shown(command: Sequence[str | bytes]) -> str:
    words = [word.decode(errors="replace") if isinstance(word, bytes) else word for word in command]
    return " ".join(words)[:80]


def _ending(code: int) -> str:
    # A sandbox tells of a signal as shells do.
    number = -code if code < 0 else code - SIGNAL_OFFSET
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:
        return f"exit code {code}"


def _files_in(settings: Mapping[str, str]) -> list[Path]:
    """Return the files that settings name, such as a module to load: the server has to see them."""
    words = [word for value in settings.values() for word in shlex.split(value)]
    return [Path(word) for word in words if word.startswith("/") and Path(word).is_file()]


def start(
    program: Program,
    settings: Mapping[str, str],
    directory: Path,
    *,
    log: Path,
    prefix: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    read_only: Sequence[Path] = (),
) -> contextlib.AbstractContextManager[RunningServer]:
    """Start a server without network in `directory` under `prefix` (such as an emulator), as `start_launched` does."""
    return start_launched(program, settings, directory, log, Launch(prefix, environment or {}, read_only))


@contextlib.contextmanager
def start_launched(
    program: Program, settings: Mapping[str, str], directory: Path, log: Path, launched: Launch
) -> Iterator[RunningServer]:
    """Start a server in `directory`, and stop it at the end of the context.

    The server can write to `directory` and to nothing else; `log`, which takes its output, lies outside of it.
    """
    own_socket = directory / "socket"
    # A name of fixed length: where the stack begins depends on the length of the arguments.
    named = directory / "server"
    if program.arguments:
        # It may look for what it needs beside itself.
        named.symlink_to(program.path.resolve())
    else:
        shutil.copy2(program.path, named)
    arguments = [*launched.prefix, *program.command(named, directory, own_socket, settings)]
    seen = [*launched.read_only, *_files_in(settings), *program.visible]
    confinement = Confinement(
        writable=[directory],
        read_only=seen,
        directory=directory,
        network=launched.network,
        limits=server_limits(directory),
        policy=program.policy,
    )
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(directory), "LANG": "C", **launched.environment}
    with launch(arguments, environment=variables, output=log, confinement=confinement) as process:
        server = RunningServer(process, own_socket, log)
        try:
            server.wait_until_ready()
            yield server
        finally:
            server.client.close()
