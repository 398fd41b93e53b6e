"""A server's program: how it takes what the lab wants of it, and what it says of itself."""

import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zerolap.records import TrialFailed, UsageError
from zerolap.sandbox import Confinement, SandboxPolicy, build_limits, launch

BASE_SETTINGS: dict[str, str] = {"port": "0", "save": "", "appendonly": "no", "daemonize": "no"}
SOCKET, DIRECTORY = "{socket}", "{directory}"


@dataclass(frozen=True)
class Program:
    """A program, and the arguments of its own that a start command gives it.

    Settings follow the arguments, as Redis takes them, unless an argument holds `{socket}`: then the server is told by
    that where to listen, and gets nothing else. `{directory}` is the one that it may write to. `policy` decides whether
    it may run where no sandbox can be had: what the user gives may, code of a repository may only if the user says so.
    """

    path: Path
    arguments: tuple[str, ...] = ()
    policy: SandboxPolicy = SandboxPolicy.UNSAFE

    @property
    def takes_settings(self) -> bool:
        """Whether settings can be given on its command line as to Redis."""
        return not any(SOCKET in argument for argument in self.arguments)

    @property
    def visible(self) -> list[Path]:
        """What a start command's server has to see: its program's directory, and what its arguments name."""
        if not self.arguments:
            return []
        words = [part for argument in self.arguments for part in (argument, argument.partition("=")[2])]
        named = [Path(word) for word in words if word.startswith("/") and word != "/" and Path(word).exists()]
        return list(dict.fromkeys([self.path.resolve().parent, *named]))

    def command(self, at: Path, directory: Path, socket: Path, settings: Mapping[str, str]) -> list[str]:
        """Return the command line that starts the program, which lies at `at`.

        Raises `TrialFailed` for settings that the program cannot be given.
        """
        if self.takes_settings:
            fixed = BASE_SETTINGS | {"dir": str(directory), "unixsocket": str(socket)}
            return [str(at), *self._placed(directory, socket), *_setting_arguments(fixed | dict(settings))]
        if settings:
            named = ", ".join(f"`{name}`" for name in settings)
            raise TrialFailed(
                f"the server cannot be given the settings {named}: its start command says where to listen by itself",
                hint=f"leave {SOCKET} out for a server that takes settings as Redis does",
            )
        return [str(at), *self._placed(directory, socket)]

    def _placed(self, directory: Path, socket: Path) -> list[str]:
        return [one.replace(SOCKET, str(socket)).replace(DIRECTORY, str(directory)) for one in self.arguments]


def _setting_arguments(settings: Mapping[str, str]) -> list[str]:
    """Return settings as a server's command line takes them; a value may hold several words."""
    arguments = []
    for name, value in settings.items():
        try:
            arguments += [f"--{name}", *(shlex.split(value) or [""])]
        except ValueError as wrong:
            raise UsageError(f"the server setting `{name}` has the value `{value}`: {wrong}") from wrong
    return arguments


VERSION_SECONDS = 20


@dataclass(frozen=True)
class ServerWords:
    """Version and allocator, such as `jemalloc-5.2.1`; the allocator is empty where the program does not say."""

    version: str
    allocator: str


def server_words(program: Program) -> ServerWords:
    """Return what a server program prints of itself; raises `UsageError` if it is no such server.

    Of a program with a start command there need be no words: the user has said how it becomes a server.
    """
    confinement = Confinement(
        read_only=[program.path, *program.visible], limits=build_limits(program.path.parent), policy=program.policy
    )
    text = _asked_for_version(program.path, confinement)
    found = re.search(r"\bv=(\S+)", text or "") or re.search(r"\b(\d+\.\d+\.\d+\S*)", text or "")
    if program.arguments and (text is None or found is None):
        return ServerWords("", "")
    if text is None:
        raise _no_server(program.path, "it does not answer")
    if found is None or re.match(r"\S+-(cli|benchmark|check-\w+)\b", text):
        raise _no_server(program.path, f"it answers `{text.strip()[:80]}`")
    allocator = re.search(r"\bmalloc=(\S+)", text)
    return ServerWords(found.group(1), allocator.group(1) if allocator else "")


def _asked_for_version(path: Path, confinement: Confinement) -> str | None:
    """Return what a program prints, or none if it does not end by itself."""
    with launch([str(path), "--version"], environment={}, confinement=confinement, piped=True) as process:
        try:
            process.wait(VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        return process.stdout.read().decode(errors="replace") if process.stdout else ""


def source_root_of(compile_directory: str) -> str:
    """Return the root of the tree that a binary was compiled in: servers are compiled in its `src`."""
    return compile_directory.removesuffix("/src")


def _no_server(program: Path, seen: str) -> UsageError:
    return UsageError(
        f"`{program}` is not a server: asked for `--version`, {seen}",
        hint="a server that does not tell is given with its arguments, in quotes",
    )
