"""One server process: started on a unix socket in its own directory, awaited until ready, stopped in any case."""

import contextlib
import functools
import re
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

from zerolap.build import Program
from zerolap.records import CaseRefused, TrialFailed
from zerolap.resp_frames import Reply, ServerLost, UnreadableReply, written
from zerolap.sandbox import Confinement, Network, Process, launch, prepared_socket, server_limits
from zerolap.server.batch import send_batch
from zerolap.server.connection import REPLY_SECONDS, CommandConnection, CommandRefused, info_fields
from zerolap.server.machine_port import MachinePort
from zerolap.server.server_login import load_login, own_login
from zerolap.server.statistics import StatisticsReader
from zerolap.server.threads import count_sockets

START_SECONDS = 60
POLL_SECONDS = 0.01
DYING_SECONDS = 2
CLOSING_SECONDS = 2
CLOSING_POLL_SECONDS = 0.0005
SIGNAL_OFFSET = 128
NO_LOGIN = re.compile(r"NOAUTH|the server refused the password")
PASSWORD_HINT = "let the lab set the password: --config requirepass=…, or --config 'user=NAME on >… ~* +@all'"
LOADING = "LOADING"
"""The code of the error by which a server that still reads its data answers."""
CREDENTIALS = struct.Struct("3i")
"""Process, user and group of the listening peer: `struct ucred` of unix(7)."""


@dataclass(frozen=True)
class Launch:
    """How to launch a server: the program to run it under, environment variables, and further readable paths.

    `network` is a network that it shares with other processes; without it the server has none. `port` is a port of
    another network, on which it accepts connections. It shares the limit of memory with others: `servers` in all.
    """

    prefix: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    read_only: Sequence[Path] = ()
    network: Network | None = None
    port: MachinePort | None = None
    servers: int = 1


class RunningServer:
    """A server that is ready; `connection` carries commands that are not part of the measured load."""

    def __init__(self, process: Process, socket: Path, log: Path, copy: Path, settings: Mapping[str, str]) -> None:
        self._process = process
        self._copy = copy
        self.socket = socket
        self.log = log
        self.login = own_login(settings)
        self.load_login = load_login(settings)
        self.connection = CommandConnection(socket, login=self.login)

    @functools.cached_property
    def process(self) -> int:
        """The process id of the listening process, which may be a descendant of a sandbox, a shell or an emulator.

        Raises `TrialFailed` if it cannot be determined.
        """
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(REPLY_SECONDS)
                connection.connect(str(self.socket))
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
                process, _user, _group = map(int, CREDENTIALS.unpack(credentials))
                # Once it answers, the connection is one of its sockets.
                connection.sendall(written([b"PING"]))
                connection.recv(64)
                sockets = count_sockets(process)
        except OSError as lost:
            raise self.failure(f"the server was lost: {lost}") from lost
        if not process:
            raise TrialFailed("the server's process id cannot be determined")
        _wait_for_sockets(process, sockets - 1)
        return process

    @property
    def runs_from_copy(self) -> bool:
        """Whether it executes the copy that was made for this start; also true where the kernel does not show it.

        Otherwise all starts share the pages of one file. Raises `TrialFailed` as `process` does.
        """
        try:
            return Path(f"/proc/{self.process}/exe").samefile(self._copy)
        except OSError:
            return True

    @contextlib.contextmanager
    def closed_connections(self) -> Iterator[None]:
        """At the end of the context, wait until the server has closed the connections that were opened in it.

        Otherwise it depends on the machine whether the next command arrives before or after that; so would the places
        that the server's allocator chooses then, and with them the number of instructions.
        """
        sockets = count_sockets(self.process)
        yield
        _wait_for_sockets(self.process, sockets)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.returncode is None

    def command(self, *arguments: str | bytes) -> Reply:
        """Send a command and return its reply.

        Raises `CommandRefused` if the server refuses it, `TrialFailed` if it is gone or its reply cannot be read.
        """
        try:
            return self.connection.call(*arguments)
        except CommandRefused as refused:
            raise CommandRefused(f"the server refused `{_shown(arguments)}`: {refused.message}") from refused
        except UnreadableReply as unreadable:
            raise self.failure(f"the reply to `{_shown(arguments)}` cannot be read: {unreadable.message}") from None
        except ServerLost as lost:
            raise self.failure(f"the server was lost: {lost.message}") from lost

    def count_keys(self) -> int:
        """Return the number of keys; raises `TrialFailed` if the server does not report it."""
        reply = self.command("DBSIZE")
        if not isinstance(reply, int):
            raise self.failure("the reply to `DBSIZE` is no number")
        return reply

    def info(self, section: str) -> dict[str, str]:
        """Return the fields of a section of INFO; raises `TrialFailed` as `command` does."""
        return info_fields(self.command("INFO", section))

    def statistics(self, verbs: Sequence[str]) -> StatisticsReader:
        """Return a reader of the server's own statistics of these commands; whoever asks for it closes it."""
        return StatisticsReader(self.socket, verbs, self.login)

    def commands(self, commands: Sequence[Sequence[str | bytes]]) -> None:
        """Send commands together and wait for all replies; raises `TrialFailed` as `command` does."""
        try:
            with self.closed_connections():
                refused = send_batch(self.socket, commands, REPLY_SECONDS, self.login)
        except TrialFailed as lost:
            raise self.failure(lost.message) from lost
        if refused is not None:
            index, text = refused
            raise TrialFailed(f"the server refused `{_shown(commands[index])}`: {text}")

    def require_reply_on(self, port: MachinePort) -> None:
        """Raise `TrialFailed` if the server does not answer on a port that it was to listen on."""
        # Where it has not taken the socket, the kernel still accepts connections, and no process answers.
        reason: str | None = "its program loads no other library, as if linked statically"
        if not self._lacks(port.library):
            with self.closed_connections():
                reason = port.silence(REPLY_SECONDS)
        if reason is not None:
            raise self.failure(f"the server does not accept connections from another machine: {reason}")

    def _lacks(self, library: Path) -> bool:
        """Whether a library is known not to be in the server's memory."""
        try:
            return library.name not in Path(f"/proc/{self.process}/maps").read_text()
        except OSError:
            return False

    def _listens(self) -> bool:
        """Whether the socket exists and is a socket: a link could point to another server."""
        with contextlib.suppress(FileNotFoundError):
            return stat.S_ISSOCK(self.socket.lstat().st_mode)
        return False

    def failure(self, what: str) -> TrialFailed:
        """Return the error for a failed server, with its exit status, if it died, and the end of its log."""
        first_dead([self])
        code = self._process.returncode
        limit = None if code is None else self._process.reached_limit()
        message = what if code is None else f"{what}; the server died ({_ending(code)})"
        if limit is not None:
            message += f": it reached {limit}"
        return TrialFailed(message, hint="see the end of its log", details=self._process.output_tail())

    def wait_until_ready(self) -> None:
        """Wait until the server answers PING; raises `TrialFailed` with the log if it dies or takes too long."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if not self.alive:
                raise self.failure("the server did not start")
            if self._listens():
                try:
                    self.connection.call("PING")
                    return
                except CommandRefused as refused:
                    if not refused.message.startswith(LOADING):
                        failure = self.failure(f"the server refused `PING`: {refused.message}")
                        if NO_LOGIN.match(refused.message):
                            failure.hint = PASSWORD_HINT
                        raise failure from refused
                except UnreadableReply as unreadable:
                    raise self.failure(f"the reply to `PING` cannot be read: {unreadable.message}") from None
                except ServerLost:
                    pass
            time.sleep(POLL_SECONDS)
        raise self.failure(f"the server was not ready within {START_SECONDS} s")


def first_dead(servers: Sequence[RunningServer]) -> RunningServer | None:
    """Return a server whose process has ended, or ends within `DYING_SECONDS`: connections close before that."""
    end = time.monotonic() + DYING_SECONDS
    while (dead := next((server for server in servers if not server.alive), None)) is None:
        if time.monotonic() > end:
            return None
        time.sleep(POLL_SECONDS)
    return dead


@contextlib.contextmanager
def named_death(*servers: RunningServer) -> Iterator[None]:
    """Raise a failure in the context as that of a server which has died, if one has, with the end of its log."""
    try:
        yield
    except CaseRefused:
        raise
    except TrialFailed as fault:
        dead = first_dead(servers)
        if dead is None:
            raise
        raise dead.failure(fault.message).at(fault.side, fault.block) from fault


def _wait_for_sockets(process: int, wanted: int) -> None:
    """Wait until a process has no more than `wanted` sockets, but not for one that has opened others meanwhile."""
    end = time.monotonic() + CLOSING_SECONDS
    # The count is 0 where the kernel hides them.
    while count_sockets(process) > max(0, wanted) and time.monotonic() < end:
        time.sleep(CLOSING_POLL_SECONDS)


def _shown(command: Sequence[str | bytes]) -> str:
    words = [word.decode(errors="replace") if isinstance(word, bytes) else word for word in command]
    return " ".join(words)[:80]


def _ending(code: int) -> str:
    # A sandbox reports a signal as shells do.
    number = -code if code < 0 else code - SIGNAL_OFFSET
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:
        return f"exit code {code}"


def _files_in(settings: Mapping[str, str]) -> list[Path]:
    """Return the files that settings name, such as a module to load: the sandbox has to show them."""
    words = [word for value in settings.values() for word in shlex.split(value)]
    return [Path(word) for word in words if word.startswith("/") and Path(word).is_file()]


@contextlib.contextmanager
def start(
    program: Program,
    settings: Mapping[str, str],
    directory: Path,
    log: Path,
    launched: Launch = Launch(),
) -> Iterator[RunningServer]:
    """Start a server in `directory`, and stop it at the end of the context.

    The server can write only to `directory`. Its output is written to `log`, which lies outside of `directory`.
    """
    with prepared_socket(directory) as socket_path:
        yield from _started(program, settings, directory, socket_path, log, launched)


def _started(
    program: Program, settings: Mapping[str, str], directory: Path, socket_path: Path, log: Path, launched: Launch
) -> Iterator[RunningServer]:
    # A name of fixed length: the start of the stack depends on the length of the arguments.
    executable = directory / "server"
    copy, placed = executable, dict[Path, Path]()
    if program.arguments:
        # It may need files that lie beside it: in the sandbox, the copy is shown at its usual place.
        copy = directory / "program"
        executable.symlink_to(program.path.resolve())
        placed[program.path.resolve()] = copy
    shutil.copy2(program.path, copy)
    port, preloading = launched.port, dict[str, str]()
    if port is not None:
        settings, preloading = {**settings, **port.settings}, port.environment
    arguments = [*launched.prefix, *program.command(executable, directory, socket_path, settings)]
    read_only = [*launched.read_only, *_files_in(settings), *program.visible]
    if port is not None:
        read_only.append(port.library)
    confinement = Confinement(
        writable=list(dict.fromkeys([directory, socket_path.parent])),
        read_only=read_only,
        directory=directory,
        network=launched.network,
        listening=None if port is None else port.descriptor,
        limits=server_limits(directory, launched.servers),
        policy=program.policy,
        placed=placed,
    )
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(directory), "LANG": "C"}
    variables |= {**launched.environment, **preloading}
    with launch(arguments, environment=variables, output=log, confinement=confinement) as process:
        server = RunningServer(process, socket_path, log, copy, settings)
        try:
            server.wait_until_ready()
            yield server
        finally:
            server.connection.close()
