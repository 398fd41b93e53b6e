"""Placements of a build: its program linked again with the functions in another order.

Where a linker puts functions moves the time of a request by several percent, in every start, without a line of its code
changed. So a build from source keeps, beside its program, an object that holds all of its code with each function in a
section of its own, and the command that links it. A placement orders these sections by a hash of a seed and their
names: two builds of nearly the same source get nearly the same order from the same seed. The order is given to the
linker as a script, which every linker of the GNU command line reads; code that the compiler has set apart as unlikely
stays apart.
"""

import hashlib
import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from zerolap.build.variant import BUILD_PATH, Variant, compiler_of, cxx_of
from zerolap.records import Record
from zerolap.sandbox import (
    Confinement,
    LimitReached,
    SandboxPolicy,
    build_limits,
    launch,
    remove_abandoned,
    scratch_directory,
)

COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "clang++")
SECTIONS_FLAG = "-ffunction-sections"
NOT_LINKING = frozenset({"-c", "-S", "-E", "-M", "-MM", "--version", "-v", "-###"})
TAKES_VALUE = frozenset(
    {"-L", "-l", "-u", "-z", "-e", "-T", "-Xlinker", "-I", "-D", "-U", "-include", "-isystem", "-x", "-wrapper"}
)
ABOUT_INPUTS = re.compile(r"-Wl,--(no-)?(whole-archive|start-group|end-group)|-Wl,-[()]")
"""Options of the linker that are about the files beside them."""
OF_CODE_GENERATION = re.compile(r"-(flto|fno-lto|ffat-lto|fuse-linker-plugin|fuse-ld|O|g|std=|W(?!l,))")
"""Options that a link of finished code does not need."""
CODE_SECTION = re.compile(r"^\s*\[\s*\d+\]\s+(\.text\.[\w.$@]+)\s+PROGBITS\b", re.MULTILINE)
SET_APART = (".text.unlikely", ".text.startup", ".text.exit", ".text.hot")
CODE, RELINKING = "code.o", "relinking.json"
PLACED_PREFIX, PLACING_PREFIX = "placed-", "placing-"
KEPT_PLACEMENTS = 48
"""Of one build: as many as a comparison takes, each of some megabytes."""
LARGEST_RECORD_BYTES = 1 << 20
LOG_LINES = 5


class LinkFailed(Exception):
    """A program could not be linked again; the text is the end of the linker's output, or another reason."""


class Relinking(Record):
    """How a build's object becomes a program: the compiler that links it, its options, the sections to be ordered.

    `failure` is why there is no such object, for the verdicts of such a build.
    """

    compiler: str = ""
    options: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class LinkRecorder:
    """Compilers under their usual names that record how they link and put each function into a section of its own."""

    directory: Path

    @classmethod
    def make(cls, directory: Path, variant: Variant) -> "LinkRecorder":
        """Make the programs in a new directory; what they record goes below it too."""
        recorder = cls(directory)
        recorder.programs.mkdir(parents=True)
        recorder.records.mkdir()
        for name in {*COMPILERS, compiler_of(variant), cxx_of(variant)}:
            program = recorder.programs / name
            program.write_text(recorder._script(name))
            program.chmod(0o755)
        return recorder

    @property
    def programs(self) -> Path:
        """The directory to look for compilers in first."""
        return self.directory / "bin"

    @property
    def records(self) -> Path:
        """The directory that takes the records, which the build can write to."""
        return self.directory / "links"

    def _script(self, name: str) -> str:
        # The number of its process names a record: two links at a time must not share one.
        record = f"""printf '%s\\0' "$PWD" {shlex.quote(name)} "$@" > {shlex.quote(str(self.records))}/$$"""
        return (
            f"#!/bin/sh\nPATH={shlex.quote(BUILD_PATH)}\nlinks=1\n"
            f"for argument; do case $argument in {'|'.join(sorted(NOT_LINKING))}) links=0;; esac; done\n"
            f"[ $links = 0 ] || {record}\n"
            f'exec {shlex.quote(name)} "$@" {SECTIONS_FLAG}\n'
        )

    def link_of(self, program: Path) -> "Link | None":
        """Return how a program was linked, or none if that was not recorded."""
        newest_first = sorted(self.records.iterdir(), key=lambda record: record.lstat().st_mtime_ns, reverse=True)
        compilers = {path.name for path in self.programs.iterdir()}
        for record in newest_first:
            # The build can write there what it likes.
            if not _is_regular(record) or record.lstat().st_size > LARGEST_RECORD_BYTES:
                continue
            directory, *words = record.read_bytes().decode(errors="replace").split("\0")
            if not words or words[0] not in compilers:
                continue
            link = Link(Path(os.path.normpath(directory)), words[0], tuple(words[1:-1]))
            if link.output is not None and link.output == program:
                return link
        return None


@dataclass(frozen=True)
class Link:
    """A recorded link: where it ran, the compiler's name, its arguments."""

    directory: Path
    compiler: str
    arguments: tuple[str, ...]

    @property
    def output(self) -> Path | None:
        """The program that was written."""
        for option, value in zip(self.arguments, self.arguments[1:], strict=False):
            if option == "-o":
                return Path(os.path.normpath(self.directory / value))
        return None

    def parts(self) -> tuple[list[str], list[str]]:
        """Return the files with the options about them, and all other options."""
        files: list[str] = []
        options: list[str] = []
        arguments = iter(self.arguments)
        for argument in arguments:
            if argument == "-o":
                next(arguments, None)
            elif argument in TAKES_VALUE:
                options += [argument, next(arguments, "")]
            elif ABOUT_INPUTS.match(argument) or not argument.startswith("-"):
                # A shared library is no code of the program; the program is linked to it later.
                (options if ".so" in Path(argument).name else files).append(argument)
            else:
                options.append(argument)
        return files, options


@dataclass(frozen=True)
class Linking:
    """Runs programs of the compiler's in the sandbox, in `directory`, within the limits of builds.

    They can write to `writable`; `visible` is what else they read. `log` takes their output.
    """

    directory: Path
    writable: Path
    policy: SandboxPolicy
    log: Path
    visible: Sequence[Path] = ()

    def run(self, command: Sequence[str]) -> str:
        """Run a program and return its output; raises `LinkFailed`."""
        self.log.unlink(missing_ok=True)
        confinement = Confinement(
            writable=[self.writable],
            read_only=self.visible,
            directory=self.directory,
            limits=build_limits(self.writable),
            policy=self.policy,
        )
        environment = {"PATH": BUILD_PATH, "HOME": "/tmp", "LANG": "C"}
        with launch(command, environment=environment, output=self.log, confinement=confinement) as process:
            try:
                code = process.wait_within_limits()
            except LimitReached as reached:
                raise LinkFailed(f"it reached {reached}") from reached
            if code != 0:
                raise LinkFailed(process.output_tail(LOG_LINES).strip() or f"`{command[0]}` ended with {code}")
        return self.log.read_text(errors="replace")


@dataclass(frozen=True)
class Relinkable:
    """What a build keeps for its placements: how to link, and the object, if there is one."""

    relinking: Relinking
    code: Path | None = None

    @classmethod
    def failed(cls, reason: str) -> "Relinkable":
        """Return that a build has no placements of its own."""
        return cls(Relinking(failure=reason))

    @classmethod
    def make(cls, recorder: LinkRecorder, tree: Path, program: Path, policy: SandboxPolicy) -> "Relinkable":
        """Put all code of a program that was just built in `tree` into one object.

        The object has no debug information, which placements do not need. Where any of it fails, the reason is in what
        is returned.
        """
        link = recorder.link_of(program)
        if link is None or not link.directory.is_relative_to(tree):
            return cls.failed("its Makefile does not link it by a compiler of the usual name")
        if any(argument.startswith("@") for argument in link.arguments):
            return cls.failed("its Makefile links by a file of arguments")
        code, log = tree / CODE, recorder.directory / "relinking.log"
        linking = Linking(link.directory, tree, policy, log)
        files, options = link.parts()
        try:
            files = _with_generated_code(link, files, linking)
            linking.run([link.compiler, "-r", "-nostdlib", "-o", str(code), *files])
            linking.run(["strip", "--strip-debug", str(code)])
            sections = CODE_SECTION.findall(linking.run(["readelf", "--wide", "--sections", str(code)]))
        except LinkFailed as failed:
            return cls.failed(str(failed))
        if not _is_regular(code):
            return cls.failed("its link leaves no file")
        ordered = tuple(dict.fromkeys(name for name in sections if not name.startswith(SET_APART)))
        if not ordered:
            return cls.failed("its functions have no sections of their own")
        kept = tuple(option for option in options if not OF_CODE_GENERATION.match(option))
        return cls(Relinking(compiler=link.compiler, options=kept, sections=ordered), code)

    @classmethod
    def read(cls, directory: Path) -> "Relinkable":
        """Return what a build keeps in its directory."""
        try:
            relinking = Relinking.model_validate_json((directory / RELINKING).read_text())
        except (FileNotFoundError, ValidationError):
            return cls.failed("it was given as a program, without the objects that it was linked from")
        return cls(relinking, None if relinking.failure else directory / CODE)

    def keep(self, directory: Path) -> None:
        """Write all to a build's directory."""
        (directory / RELINKING).write_text(self.relinking.model_dump_json())
        if self.code is not None:
            shutil.copy2(self.code, directory / CODE)

    def place(self, seed: int, policy: SandboxPolicy) -> Path:
        """Return the program with its functions in the order of a seed; it is kept beside the object for a while.

        Raises `LinkFailed`.
        """
        if self.code is None:
            raise LinkFailed(self.relinking.failure)
        if shutil.which(self.relinking.compiler, path=BUILD_PATH) is None:
            raise LinkFailed(f"`{self.relinking.compiler}`, which links it, is not installed")
        placed = self.code.parent / f"{PLACED_PREFIX}{seed:016x}"
        if not placed.is_file():
            _remove_old(self.code.parent)
            with scratch_directory(PLACING_PREFIX, self.code.parent) as directory:
                self._link(seed, directory, policy).rename(placed)
        return placed

    def _link(self, seed: int, directory: Path, policy: SandboxPolicy) -> Path:
        assert self.code is not None
        script, program = directory / "order.ld", directory / "program"
        script.write_text(_script(self.relinking.sections, seed))
        command = [self.relinking.compiler, str(self.code), *self.relinking.options]
        linking = Linking(directory, directory, policy, directory / "log", [self.code])
        linking.run([*command, f"-Wl,-T,{script}", "-o", str(program)])
        if not _is_regular(program):
            raise LinkFailed("its link leaves no file")
        return program


def _is_regular(path: Path) -> bool:
    """Whether there is a file, and no link: that would lead the lab to another file than what was built."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _with_generated_code(link: Link, files: Sequence[str], linking: Linking) -> list[str]:
    """Return the files of a link with the code that link-time optimization makes of some of them in their place.

    The link is done once more, as the code in the program was made: its assembly is kept. Raises `LinkFailed`.
    """
    objects = [file for file in files if not file.startswith("-")]
    search = ["sh", "-c", 'grep -l -e "[.]gnu[.]lto_" -- "$@" || true', "sh", *objects]
    unfinished = set(linking.run(search).splitlines())
    if not unfinished:
        return list(files)
    # It ends with the tree that it lies in.
    generated = Path(tempfile.mkdtemp(prefix="generated-", dir=linking.writable))
    arguments = list(link.arguments)
    arguments[arguments.index("-o") + 1] = str(generated / "program")
    linking.run([link.compiler, *arguments, SECTIONS_FLAG, "-save-temps=obj"])
    assembled = []
    for assembly in sorted(generated.glob("*.ltrans.s")):
        assembled.append(str(assembly.with_suffix(".o")))
        linking.run([link.compiler, "-c", "-o", assembled[-1], str(assembly)])
    if not assembled:
        raise LinkFailed("its link-time optimization keeps no assembly")
    # First: members of archives that hold the same functions are not asked for then.
    return [*assembled, *(file for file in files if file not in unfinished or file.endswith(".a"))]


def _script(sections: Sequence[str], seed: int) -> str:
    """Return the linker script that puts sections of code into the order of a seed, before all other code."""
    ordered = sorted(sections, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())
    lines = "\n".join(f"*({name})" for name in ordered)
    return f"SECTIONS {{ .text.placed : {{\n{lines}\n}} }} INSERT BEFORE .text;\n"


def _remove_old(directory: Path) -> None:
    """Remove the placements that were used longest ago; others make them again where they are still wanted."""
    remove_abandoned(PLACING_PREFIX, directory)
    placements = sorted(directory.glob(f"{PLACED_PREFIX}*"), key=lambda placed: placed.stat().st_mtime_ns)
    for placed in placements[: -KEPT_PLACEMENTS + 1]:
        placed.unlink(missing_ok=True)
