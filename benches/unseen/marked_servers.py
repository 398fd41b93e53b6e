"""Servers that mark what they execute: another instrument than the lab's, under the same requests.

A commit is compiled without optimisation, so that each function has code of its own. Its blocks are marked by the
compiler's own means (`marks.c`), callgrind's counts are not read.
"""

import array
import os
import struct
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from zerolap.build import Program
from zerolap.engines.counted import CountedTrial, count
from zerolap.records import Case, ServerSpec, Windows
from zerolap.sandbox import SandboxPolicy

HERE: Final = Path(__file__).parent
JOBS: Final = 2
PROGRAMS: Final = ("redis-server", "valkey-server")
DONE: Final = struct.Struct("<I")
DONE_OFFSET: Final = 36
COUNTED: Final = (9, 10, 12, 13, 14, 15, 16, 17, 18, 19)
"""How many requests of the lab are carried out while a window is open: a small and a large one, timers, few and many
requests that come alone. What lies between is the lab's own.
"""
WITHOUT_ALONE: Final = 18
ALL_DONE: Final = 20

Key: TypeAlias = tuple[str, str]
"""Name and file of a function, the file below `src`."""


@dataclass(frozen=True)
class MarkedServer:
    """A commit as it was compiled: its program, and the directory of what the preprocessor wrote of each file."""

    commit: str
    program: Path
    preprocessed: Path
    functions: frozenset[Key]


class MarkedServers:
    """Compiles commits of one repository in one tree, where of commits in a row little is compiled again."""

    def __init__(self, repository: Path, place: Path) -> None:
        self._repository, self._place = repository.resolve(), place.resolve()
        self._tree = self._place / "tree"
        self._marks = self._place / "marks.o"
        self._compiled = self._place / "preprocessed"
        self._executed: dict[tuple[str, str, int, Windows], set[Key]] = {}
        for directory in (self._tree, self._compiled):
            directory.mkdir(parents=True, exist_ok=True)
        _run(["gcc", "-O2", "-c", "-o", self._marks, HERE / "marks.c"], self._place)

    @property
    def tree(self) -> str:
        """The directory that commits are compiled in."""
        return str(self._tree)

    def built(self, commit: str) -> MarkedServer:
        """Return a commit's server; it is kept."""
        kept = self._place / commit
        program, preprocessed = kept / "server", kept / "preprocessed"
        if not program.exists():
            self._check_out(commit)
            self._make()
            source = next(self._tree / "src" / name for name in PROGRAMS if (self._tree / "src" / name).exists())
            preprocessed.mkdir(parents=True, exist_ok=True)
            for file in self._compiled.iterdir():
                # The compiler removes what it writes anew: these stay as they are.
                if (self._tree / "src" / file.name.removesuffix(".i")).exists():
                    (preprocessed / file.name).unlink(missing_ok=True)
                    os.link(file, preprocessed / file.name)
            program.write_bytes(source.read_bytes())
            program.chmod(0o755)
        return MarkedServer(commit, program, preprocessed, frozenset(self._functions(program)))

    def _check_out(self, commit: str) -> None:
        environment = {**os.environ, "GIT_INDEX_FILE": str(self._place / "index"), "GIT_DIR": str(self._repository)}
        command = ["git", f"--work-tree={self._tree}", "read-tree", "--reset", "-u", commit]
        subprocess.run(command, cwd=self._tree, env=environment, check=True)

    def _make(self) -> None:
        makefile = (self._tree / "src" / "Makefile").read_text()
        name = PROGRAMS[1] if PROGRAMS[1] in makefile or "valkey" in makefile else PROGRAMS[0]
        for program in PROGRAMS:
            (self._tree / "src" / program).unlink(missing_ok=True)
        compiler = HERE / "marked_compiler.sh"
        variables = {"MARKS": str(self._marks), "PREPROCESSED": str(self._compiled)}
        command: list[str | Path] = ["make", "-C", "src", f"-j{JOBS}", f"CC={compiler}", "OPTIMIZATION=-O0", name]
        _run(command, self._tree, variables)

    def _functions(self, program: Path) -> Iterator[Key]:
        """Yield the functions of which the program has code, with the files that define them."""
        shown = _run(["nm", "--defined-only", program], self._place)
        addresses = [line.split()[0] for line in shown.splitlines() if line.split()[1] in "tT"]
        for _, key in self._named(program, addresses):
            yield key

    def executed_in(self, server: MarkedServer, spec: ServerSpec, case: Case, seed: int, windows: Windows) -> set[Key]:
        """Return what `executed` does, of a trial that was carried out already too."""
        asked = (server.commit, case.name, seed, windows)
        if asked not in self._executed:
            self._executed[asked] = self.executed(server, spec, case, seed, windows)
        return self._executed[asked]

    def executed(self, server: MarkedServer, spec: ServerSpec, case: Case, seed: int, windows: Windows) -> set[Key]:
        """Return the functions that a case executes in the windows of a trial that was counted with this seed."""
        directory = self._place / "trial"
        _run(["rm", "-rf", directory], self._place)
        directory.mkdir()
        program = Program(server.program, policy=SandboxPolicy.UNSAFE)
        count(CountedTrial(program, spec, case, seed, directory, str(self._tree), windows))
        (marks,) = directory.rglob("marks")
        (done,) = DONE.unpack_from(marks.with_name("control").read_bytes(), DONE_OFFSET)
        if done not in (WITHOUT_ALONE, ALL_DONE):
            raise SystemExit(f"another sequence of windows than this bench knows: {done} requests")
        of_blocks = array.array("I", marks.read_bytes())
        counted = sum(1 << number for number in COUNTED)
        start = _start(server.program)
        # What returns here was called from the instruction before.
        addresses = [f"{start + offset - 1:x}" for offset, mark in enumerate(of_blocks) if mark & counted]
        return {key for _, key in self._named(server.program, addresses)}

    def _named(self, program: Path, addresses: list[str]) -> Iterator[tuple[str, Key]]:
        """Yield the functions at addresses, those too that are inlined there as they always are."""
        command = ["addr2line", "--functions", "--inlines", "--addresses", f"--exe={program}"]
        ended = subprocess.run(command, input="\n".join(addresses), capture_output=True, text=True, check=True)
        lines, address = iter(ended.stdout.splitlines()), ""
        for line in lines:
            if line.startswith("0x"):
                address = line
                continue
            file = next(lines).rpartition(":")[0]
            path = os.path.normpath(file)
            if path.startswith(f"{self._tree}/"):
                yield address, (line, path.removeprefix(f"{self._tree}/").removeprefix("src/"))


def _start(program: Path) -> int:
    shown = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in shown.splitlines() if line.endswith(" __executable_start")]
    return int(line.split()[0], 16)


def _run(command: list[str | Path], directory: Path, variables: Mapping[str, str] | None = None) -> str:
    environment = {**os.environ, **(variables or {})}
    ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{command[0]} failed: {(ended.stdout + ended.stderr)[-2000:]}")
    return ended.stdout
