"""What a server program says of itself when asked for its version."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from zerolap.build.start_command import Program
from zerolap.records import UsageError
from zerolap.sandbox import Confinement, build_limits, launch

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
