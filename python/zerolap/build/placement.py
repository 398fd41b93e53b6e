"""Placements of a build: its program linked again with its functions and variables in another order.

The places that a linker gives to functions and variables change the time of a request by several percent, in every
start, although no line of code changed. So a build from source keeps, beside its program, an object that holds all of
its code and data with each function and variable in a section of its own, and the command that links it. A placement
orders these sections by a hash of a seed and their names: two builds of nearly the same source get nearly the same
order from the same seed. The order is given to the linker as a script, which every linker of the GNU command line
reads. Code that the compiler has set apart as unlikely or hot stays apart, and constants that the linker merges are
left to it.

Functions of one file call each other, and lie together in programs as they are built. So the order is one of files, and
of functions within files: with functions of all files mixed, some requests take several percent longer.
"""

import contextlib
import hashlib
import os
import re
import shutil
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from zerolap.build.compilers import Compilers, Link
from zerolap.build.variant import BUILD_PATH
from zerolap.records import Record
from zerolap.sandbox import (
    Confinement,
    FileRefused,
    LimitReached,
    SandboxPolicy,
    build_limits,
    is_regular_file,
    launch,
    read_file,
    remove_abandoned,
    scratch_directory,
)

OF_CODE_GENERATION = re.compile(r"-(flto|fno-lto|ffat-lto|fuse-linker-plugin|fuse-ld|O|g|std=|W(?!l,))")
"""Options that a link of finished code does not need."""
SECTION = re.compile(
    r"^\s*\[\s*\d+\]\s+(?P<name>\.(?P<kind>text|rodata|data|bss)\.[\w.$@]+)\s+(?:PROGBITS|NOBITS)"
    r"(?:\s+[0-9a-f]+){4}\s+(?P<flags>[A-Za-z]+)\s",
    re.MULTILINE,
)
"""A section of one function or variable, as `readelf --wide --sections` prints it."""
USUAL_FLAGS = {"text": "AX", "rodata": "A", "data": "WA", "bss": "WA"}
"""Others are of sections that are mergeable, compressed, bound to another section, or of each thread."""
HARMLESS_FLAGS = str.maketrans("", "", "GR")
"""Of groups, of which an object has one copy, and of sections that are kept although nothing refers to them."""
SET_APART = re.compile(r"\.text\.(unlikely|startup|exit|sorted)(\.|$)")
HOT = re.compile(r"\.text\.hot(\.|$)")
COMPILER_NUMBER = re.compile(r"(?<=\.LC)\d+|\.\d+(?=\.|$)")
"""What compilers append to names, such as those of static variables: it differs between nearly equal sources."""
READ_ONLY_AFTER_LOADING = ".data.rel.ro"
OUTPUT_SECTIONS = {
    ".text": "BEFORE",
    # Before it, the memory is still that of code.
    ".rodata": "AFTER",
    READ_ONLY_AFTER_LOADING: "AFTER",
    # Before them are the symbols of their beginnings, `data_start` and `__bss_start`.
    ".data": "AFTER",
    ".bss": "AFTER",
}
"""The sections of programs, and on which side of each goes what is placed: the linker gives it the same permissions."""
ALL_OTHER_CONSTANTS = "*(.rodata .rodata.*)"
"""Strings and other constants, which the linker merges."""
PRINTED_FILE = re.compile(r"^File: (.+)$", re.MULTILINE)
PAGE_BYTES, DISPLACEMENT_STEP_BYTES = 4096, 16
UNFINISHED_FILES = r"""grep -l -s -a -e '[.]gnu[.]lto_' -e "^BC$(printf '\300\336')" -- "$@" || true"""
"""Prints which files hold what link-time optimization has yet to make code of: gcc's, or bitcode of clang."""
CODE, RELINKING = "code.o", "relinking.json"
PLACED_PREFIX, PLACING_PREFIX = "placed-", "placing-"
KEPT_PLACEMENTS = 96
"""Of all builds in a directory: more than a comparison takes, each of some megabytes. The next one has other seeds."""
_PLACING = threading.Lock()
LOG_LINES = 5
LARGEST_LOG_BYTES = 64 << 20
"""Of a program of the compiler's: `readelf` prints some hundred bytes for each function."""


class LinkFailed(Exception):
    """A program could not be linked again; the text is the end of the linker's output, or another reason."""


class Relinking(Record):
    """How a build's object becomes a program: the compiler that links it, its options, the sections to be ordered.

    `files` are those that the sections come from, one for each section. `failure` is why there is no such
    object, for the verdicts of such a build.
    """

    compiler: str = ""
    options: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class Linker:
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
        try:
            return read_file(self.log, LARGEST_LOG_BYTES).decode(errors="replace")
        except FileRefused as reason:
            raise LinkFailed(f"what `{command[0]}` wrote is refused: {reason}") from reason


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
    def make(cls, compilers: Compilers, tree: Path, program: Path, policy: SandboxPolicy) -> "Relinkable":
        """Put all code of a program that was just built in `tree` into one object.

        The object has no debug information, which placements do not need. Where any of it fails, the reason is in what
        is returned.
        """
        link = compilers.link_of(program)
        if link is None or not link.directory.is_relative_to(tree):
            return cls.failed("its Makefile does not link it by a compiler of the usual name")
        if any(argument.startswith("@") for argument in link.arguments):
            return cls.failed("its Makefile links by a file of arguments")
        code, log = tree / CODE, compilers.directory / "relinking.log"
        linking = Linker(link.directory, tree, policy, log, [compilers.records])
        files, options = link.parts()
        try:
            files = _with_generated_code(link, files, linking)
            linking.run([link.compiler, "-r", "-nostdlib", "-o", str(code), *files])
            linking.run(["strip", "--strip-debug", str(code)])
            sections = _own_sections(linking.run(["readelf", "--wide", "--sections", str(code)]))
            objects = [file for file in files if not file.startswith("-")]
            # Scripts of the linker may be among them, which readelf refuses.
            read_all = ["sh", "-c", 'readelf --wide --sections "$@" || true', "sh", str(code), *objects]
            file_of = _files_by_section(linking.run(read_all))
        except LinkFailed as failed:
            return cls.failed(str(failed))
        if not is_regular_file(code):
            return cls.failed("its link leaves no file")
        if not any(name.startswith(".text.") for name in sections):
            return cls.failed("its functions have no sections of their own")
        named = tuple(file_of.get(section, "") for section in sections)
        kept = tuple(option for option in options if not OF_CODE_GENERATION.match(option))
        return cls(Relinking(compiler=link.compiler, options=kept, sections=sections, files=named), code)

    @classmethod
    def read(cls, directory: Path) -> "Relinkable":
        """Return what a build keeps in its directory."""
        try:
            relinking = Relinking.model_validate_json((directory / RELINKING).read_text())
        except (FileNotFoundError, ValidationError):
            return cls.failed("it was given as a program, without the objects that it was linked from")
        return cls(relinking, None if relinking.failure else directory / CODE)

    def keep(self, directory: Path) -> None:
        """Write all to a build's directory; the object is moved there."""
        (directory / RELINKING).write_text(self.relinking.model_dump_json())
        if self.code is not None:
            shutil.move(self.code, directory / CODE)

    def relink(self, seed: int, policy: SandboxPolicy) -> Path:
        """Return the program with its functions and variables in the order of a seed; raises `LinkFailed`.

        It is kept beside the object for a while.
        """
        if self.code is None:
            raise LinkFailed(self.relinking.failure)
        if shutil.which(self.relinking.compiler, path=BUILD_PATH) is None:
            raise LinkFailed(f"`{self.relinking.compiler}`, which links it, is not installed")
        placed = self.code.parent / f"{PLACED_PREFIX}{seed:016x}"
        # The link of the other side must not remove what this one has just decided to use.
        with _PLACING:
            with contextlib.suppress(FileNotFoundError, PermissionError):
                # Other comparisons of the build remove what was used longest ago, for placements of their own.
                os.utime(placed)
            is_there = placed.is_file()
            if not is_there:
                remove_abandoned(PLACING_PREFIX, self.code.parent)
                _remove_old(self.code.parent.parent)
        if not is_there:
            with scratch_directory(PLACING_PREFIX, self.code.parent) as directory:
                self._link(seed, directory, policy).rename(placed)
        return placed

    def _link(self, seed: int, directory: Path, policy: SandboxPolicy) -> Path:
        assert self.code is not None
        script, program = directory / "order.ld", directory / "program"
        script.write_text(_script(self.relinking, seed))
        command = [self.relinking.compiler, str(self.code), *self.relinking.options]
        linking = Linker(directory, directory, policy, directory / "log", [self.code])
        linking.run([*command, f"-Wl,-T,{script}", "-o", str(program)])
        if not is_regular_file(program):
            raise LinkFailed("its link leaves no file")
        return program


def _with_generated_code(link: Link, files: Sequence[str], linking: Linker) -> list[str]:
    """Return the files of a link with the code that link-time optimization made of some of them in their place.

    It was kept when the program was linked, and is the code in the program. Raises `LinkFailed`.
    """
    objects = [file for file in files if not file.startswith("-")]
    unfinished = set(linking.run(["sh", "-c", UNFINISHED_FILES, "sh", *objects]).splitlines())
    if not unfinished:
        return list(files)
    generated = [str(path) for path in link.generated_code()]
    if not generated:
        raise LinkFailed("its link-time optimization keeps no code")
    # First: members of archives that hold the same functions are not asked for then.
    return [*generated, *(file for file in files if file not in unfinished or file.endswith(".a"))]


def _own_sections(printed: str) -> tuple[str, ...]:
    """Return the sections of single functions and variables that may be put into any order, as the object has them."""
    names = []
    for section in SECTION.finditer(printed):
        flags = section["flags"].translate(HARMLESS_FLAGS)
        if flags == USUAL_FLAGS[section["kind"]] and not SET_APART.match(section["name"]):
            names.append(section["name"])
    return tuple(dict.fromkeys(names))


def _files_by_section(printed: str) -> dict[str, str]:
    """Return the file, or member of an archive, that a section comes from; the first text is that of their object."""
    file_of: dict[str, str] = {}
    # There are no headings where there is only the object.
    printed_files = PRINTED_FILE.split(printed)[3:]
    for file, text in zip(printed_files[::2], printed_files[1::2], strict=True):
        for section in SECTION.finditer(text):
            file_of.setdefault(section["name"], file.rpartition("/")[2])
    return file_of


def _script(relinking: Relinking, seed: int) -> str:
    """Return the linker script that puts sections into the order of a seed, each kind beside the others of its kind.

    What is placed is displaced within a page, and with it constants that have no section of their own, such as strings.
    """
    placed: dict[str, list[str]] = {output: [] for output in OUTPUT_SECTIONS}
    for name in _ordered(relinking, seed):
        placed[_output_of(name)].append(name)
    # Hot functions stay together.
    placed[".text"].sort(key=lambda name: HOT.match(name) is None)
    commands = []
    for output, names in placed.items():
        if names:
            steps = int.from_bytes(_hash(seed, output)[:4], "big") % (PAGE_BYTES // DISPLACEMENT_STEP_BYTES)
            lines = "\n".join(f"*({name})" for name in names)
            if output == ".rodata":
                lines += f"\n{ALL_OTHER_CONSTANTS}"
            displaced = f". = . + {steps * DISPLACEMENT_STEP_BYTES};"
            commands.append(
                f"SECTIONS {{ {output}.placed : {{\n{displaced}\n{lines}\n}} }}"
                f" INSERT {OUTPUT_SECTIONS[output]} {output};\n"
            )
    return "".join(commands)


def _ordered(relinking: Relinking, seed: int) -> list[str]:
    """Return sections in the order of a seed, first by their files.

    Of names in one file that differ only in the compiler's numbers, the first in the object counts as 0.
    """
    file_of = dict(zip(relinking.sections, relinking.files, strict=False))
    seen: Counter[tuple[str, str]] = Counter()
    keys = {}
    for name in relinking.sections:
        file, plain = file_of.get(name, ""), COMPILER_NUMBER.sub("", name)
        keys[name] = _hash(seed, file), _hash(seed, plain, seen[file, plain])
        seen[file, plain] += 1
    return sorted(relinking.sections, key=lambda name: keys[name])


def _hash(seed: int, name: str, number: int = 0) -> bytes:
    return hashlib.sha256(f"{seed}:{name}:{number}".encode()).digest()


def _output_of(name: str) -> str:
    if name.startswith(f"{READ_ONLY_AFTER_LOADING}."):
        return READ_ONLY_AFTER_LOADING
    return "." + name.split(".")[1]


def _remove_old(builds: Path) -> None:
    """Remove the placements that were used longest ago; others make them again where they are still wanted."""
    for placed in newest_first(builds.glob(f"*/{PLACED_PREFIX}*"))[KEPT_PLACEMENTS - 1 :]:
        # Those of another user are left to that user.
        with contextlib.suppress(FileNotFoundError, PermissionError):
            placed.unlink()


def newest_first(paths: Iterable[Path]) -> list[Path]:
    """Return paths in the order of their times, without those that other processes remove meanwhile."""
    used_ns: dict[Path, int] = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            used_ns[path] = path.stat().st_mtime_ns
    return sorted(used_ns, key=lambda path: used_ns[path], reverse=True)
