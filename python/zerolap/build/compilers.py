"""The compilers of a build under their usual names: what the lab adds to each call, and what it records of it."""

import contextlib
import os
import re
import shlex
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from zerolap.build.variant import BUILD_PATH, Variant, compiler_of, cxx_of
from zerolap.sandbox import FileRefused, read_file, walk

COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "clang++")
SECTIONS_FLAGS = ("-ffunction-sections", "-fdata-sections")
SOURCE_ROOT = "/zerolap/source"
"""The directory that debug information names instead of that of the build: equal sources give equal objects."""
NOT_LINKING = frozenset({"-c", "-S", "-E", "-M", "-MM", "--version", "-v", "-###"})
TAKES_VALUE = frozenset(
    {"-L", "-l", "-u", "-z", "-e", "-T", "-Xlinker", "-I", "-D", "-U", "-include", "-isystem", "-x", "-wrapper"}
)
ABOUT_INPUTS = re.compile(r"-Wl,--(no-)?(whole-archive|start-group|end-group)|-Wl,-[()]")
"""Options of the linker that are about the files beside them."""
LARGEST_RECORD_BYTES = 1 << 20
OBJECT_CACHE = "ccache"
LARGEST_CACHE_BYTES = 256 << 20
MOST_COPIED_BYTES = 2 * LARGEST_CACHE_BYTES
LONGEST_CACHED_PATH_BYTES = 256


@dataclass(frozen=True)
class Compilers:
    """Programs in `directory` that call the compilers of their names for a build in `tree`.

    Each function and each variable goes to a section of its own, links are recorded, and debug information names
    `SOURCE_ROOT`. Where ccache is installed, objects are kept in `objects`.
    """

    directory: Path
    tree: Path

    @classmethod
    def make(cls, directory: Path, tree: Path, variant: Variant, objects_of: Path | None = None) -> "Compilers":
        """Make the programs in a new directory; what they record and keep goes below it too.

        `objects_of` is the directory with the objects of another build, which the new build gets a copy of: it cannot
        change those of the other. If it does not exist, all is compiled.
        """
        compilers = cls(directory, tree)
        for made in (compilers.programs, compilers.records, compilers.objects):
            made.mkdir(parents=True)
        if objects_of is not None and objects_of.is_dir():
            copy_files(objects_of, compilers.objects)
        for name in {*COMPILERS, compiler_of(variant), cxx_of(variant)}:
            program = compilers.programs / name
            program.write_text(compilers._script(name))
            program.chmod(0o755)
        return compilers

    @property
    def programs(self) -> Path:
        """The directory to look for compilers in first."""
        return self.directory / "bin"

    @property
    def records(self) -> Path:
        """The directory that takes the records, which the build can write to."""
        return self.directory / "links"

    @property
    def objects(self) -> Path:
        """The directory that takes the objects, which the build can write to."""
        return self.directory / "objects"

    @property
    def environment(self) -> dict[str, str]:
        """What the programs need to be set."""
        return {"CCACHE_DIR": str(self.objects), "CCACHE_MAXSIZE": f"{LARGEST_CACHE_BYTES >> 20}M"}

    def _script(self, name: str) -> str:
        # The number of its process names a record: two links at a time must not share one.
        record = f"""printf '%s\\0' "$PWD" {shlex.quote(name)} "$@" > {shlex.quote(str(self.records))}/$$"""
        flags = f"{' '.join(SECTIONS_FLAGS)} {shlex.quote(f'-fdebug-prefix-map={self.tree}={SOURCE_ROOT}')}"
        compiles = f"{OBJECT_CACHE} " if shutil.which(OBJECT_CACHE, path=BUILD_PATH) else ""
        return (
            f"#!/bin/sh\nPATH={shlex.quote(BUILD_PATH)}\nlinks=1\n"
            f"for argument; do case $argument in {'|'.join(sorted(NOT_LINKING))}) links=0;; esac; done\n"
            f'[ $links = 1 ] || exec {compiles}{shlex.quote(name)} "$@" {flags}\n'
            f'{record}\nexec {shlex.quote(name)} "$@" {flags}\n'
        )

    def link_of(self, program: Path) -> "Link | None":
        """Return how a program was linked, or none if that was not recorded."""
        newest_first = sorted(self.records.iterdir(), key=lambda record: record.lstat().st_mtime_ns, reverse=True)
        compilers = {path.name for path in self.programs.iterdir()}
        for record in newest_first:
            # The build can write anything there.
            try:
                content = read_file(record, LARGEST_RECORD_BYTES)
            except FileRefused:
                continue
            directory, *words = content.decode(errors="replace").split("\0")
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


def copy_files(source: Path, target: Path) -> None:
    """Copy the regular files below a directory that a build wrote, which may have added others.

    Files deeper in the tree than those of a cache are left out, and so are files beyond the size of a cache.
    """
    target.mkdir(parents=True, exist_ok=True)
    left_bytes = MOST_COPIED_BYTES
    # Another process may just be removing the objects of an old build.
    with contextlib.suppress(FileNotFoundError):
        for entry in walk(source):
            if not stat.S_ISREG(entry.status.st_mode) or not entry.has_path_within(LONGEST_CACHED_PATH_BYTES):
                continue
            # By its length, not by its disk space: the holes of a file are copied as zeros.
            left_bytes -= entry.status.st_size
            if left_bytes < 0:
                return
            (target / entry.path).parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError, PermissionError):
                shutil.copy2(source / entry.path, target / entry.path, follow_symlinks=False)
