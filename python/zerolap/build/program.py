"""A server's program: its command line, its version and its allocator."""

import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.build.unstartable import VersionReply, fault_of_file, fault_of_start, shown_end
from zerolap.records import TrialFailed, UsageError
from zerolap.sandbox import (
    Confinement,
    SandboxPolicy,
    build_limits,
    launch,
    remove_abandoned,
    scratch_directory,
)

LARGEST_PROGRAM_BYTES: Final = 512 << 20
"""The programs of servers with debug information have up to 200 MiB; one of any size can have a hole."""
BASE_SETTINGS: dict[str, str] = {"port": "0", "save": "", "appendonly": "no", "daemonize": "no"}
SOCKET, DIRECTORY = "{socket}", "{directory}"


@dataclass(frozen=True)
class Program:
    """A program, with the arguments of its start command.

    Settings follow the arguments in the syntax of Redis, unless an argument contains `{socket}`, the path of the socket
    to listen on: then the program gets only its arguments. `{directory}` is the directory that it may write to.
    `policy` decides whether it may run if no sandbox is available: programs given by the user may, code of a repository
    only with the user's permission.
    """

    path: Path
    arguments: tuple[str, ...] = ()
    policy: SandboxPolicy = SandboxPolicy.UNSAFE

    @property
    def takes_settings(self) -> bool:
        """Whether the command line accepts settings in the syntax of Redis."""
        return not any(SOCKET in argument for argument in self.arguments)

    @property
    def visible(self) -> list[Path]:
        """Paths that the server of a start command needs: its program's directory, and those named by arguments."""
        if not self.arguments:
            return []
        words = [part for argument in self.arguments for part in (argument, argument.partition("=")[2])]
        named = [Path(word) for word in words if word.startswith("/") and word != "/" and Path(word).exists()]
        return list(dict.fromkeys([self.path.resolve().parent, *named]))

    def command(self, at: Path, directory: Path, socket: Path, settings: Mapping[str, str]) -> list[str]:
        """Return the command line that starts the program, whose executable is `at`.

        Raises `TrialFailed` if there are settings and the program does not accept any.
        """
        if self.takes_settings:
            fixed = BASE_SETTINGS | {"dir": str(directory), "unixsocket": str(socket)}
            return [str(at), *self._placed(directory, socket), *setting_arguments(fixed | dict(settings))]
        if settings:
            named = ", ".join(f"`{name}`" for name in settings)
            raise TrialFailed(
                f"the server does not accept the settings {named}: its start command sets the socket by itself",
                hint=f"omit {SOCKET} for a server that accepts settings as Redis does",
            )
        return [str(at), *self._placed(directory, socket)]

    def _placed(self, directory: Path, socket: Path) -> list[str]:
        return [argument.replace(SOCKET, str(socket)).replace(DIRECTORY, str(directory)) for argument in self.arguments]


def setting_arguments(settings: Mapping[str, str]) -> list[str]:
    """Return settings as arguments of a server's command line; a value may have several words.

    Raises `UsageError` for a value whose quotation does not end.
    """
    arguments = []
    for name, value in settings.items():
        try:
            arguments += [f"--{name}", *(shlex.split(value) or [""])]
        except ValueError as wrong:
            raise UsageError(f"the server setting `{name}` has the value `{value}`: {wrong}") from wrong
    return arguments


VERSION_SECONDS = 20
MOST_ANSWER_BYTES = 1 << 16
ASKING_PREFIX = "zerolap-asking-"


@dataclass(frozen=True)
class ServerWords:
    """Version and allocator, such as `jemalloc-5.2.1`; the allocator is empty if the program does not report it."""

    version: str
    allocator: str


def server_words(program: Program, name: str | None = None) -> ServerWords:
    """Return the version and allocator that a program reports; raises `UsageError` if it is not a server.

    A program with a start command need not report any: the user has specified how it becomes a server. `name` is what
    messages call the program, by default its path.
    """
    named = name or str(program.path)
    confinement = Confinement(
        read_only=[program.path, *program.visible], limits=build_limits(program.path.parent), policy=program.policy
    )
    answer = _asked_for_version(program.path, confinement)
    text = "" if answer is None else answer.output
    version = re.search(r"\bv=(\S+)", text) or re.search(r"\b(\d+\.\d+\.\d+\S*)", text)
    if answer is not None and not text.strip():
        # A file of another machine that an emulator can start has answered.
        fault = fault_of_file(program.path) or fault_of_start(program.path, answer)
        if fault is not None:
            raise UsageError(f"`{named}` cannot be started: {fault}", hint=_remedy(fault))
    if program.arguments and version is None:
        return ServerWords("", "")
    if answer is None:
        raise _no_server(named, "it does not answer")
    if not text.strip():
        raise _no_server(named, shown_end(answer))
    if version is None or re.match(r"\S+-(cli|benchmark|check-\w+)\b", text):
        raise _no_server(named, f"it answers `{text.strip()[:80]}`")
    allocator = re.search(r"\bmalloc=(\S+)", text)
    return ServerWords(version.group(1), allocator.group(1) if allocator else "")


def _remedy(fault: str) -> str:
    missing = re.search(r"loading shared libraries: (\S+):", fault)
    if missing is not None:
        return f"install the library {missing[1]} in a directory of the system, or build the server here"
    return "give a program that was built for this machine, or a source tree or revision to build here"


def _asked_for_version(path: Path, confinement: Confinement) -> VersionReply | None:
    """Return how a program answers `--version`, or None if it does not end in time."""
    command = [str(path), "--version"]
    remove_abandoned(ASKING_PREFIX)
    with scratch_directory(ASKING_PREFIX) as scratch:
        errors = scratch / "errors"
        with launch(command, environment={}, output=errors, confinement=confinement, piped=True) as process:
            try:
                code = process.wait(VERSION_SECONDS)
            except subprocess.TimeoutExpired:
                return None
            output = process.stdout.read(MOST_ANSWER_BYTES) if process.stdout else b""
            return VersionReply(output.decode(errors="replace"), process.output_tail(), code)


def _no_server(program: str, answer: str) -> UsageError:
    return UsageError(
        f"`{program}` is not a server: asked for `--version`, {answer}",
        hint="give a server that reports no version with its arguments, in quotes",
    )
