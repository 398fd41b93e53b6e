"""The compilers of a build under their usual names: what the lab adds to each call, and what it records of it."""

import contextlib
import os
import re
import shlex
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from zerolap.build.variant import BUILD_PATH, Variant, compiler_of, compiler_version, cxx_of, tools_digest
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
CODE_SUFFIX = ".code"
"""Of the directory beside a link's record that takes the code that link-time optimization made for it."""
GENERATED_CODE = re.compile(r".+\.ltrans\.o|lto\.o[0-9]*")
"""The objects there, as gcc and clang name them."""
MOST_GENERATED_FILES = 1024
"""gcc makes up to 128, clang some for each object."""
KEEPS_CODE_OF_GCC = f"""\
[ $optimizes != unknown ] || ! grep -q -s -d skip -D skip -e '[.]gnu[.]lto_' -- "$@" < /dev/null || optimizes=1
if [ $optimizes$plugin = 11 ] && mkdir "$code"; then
    # The linker's plugin removes its temporary files unless it is to be debugged. The code is the same.
    export TMPDIR="$code"
    set -- "$@" -Wl,-plugin-opt=-debug
    [ $serial = 0 ] || set -- "$@" -flto={os.cpu_count() or 1}
fi
"""
KEEPS_CODE_OF_CLANG = """\
if [ $optimizes = 1 ] && mkdir "$code"; then
    set -- "$@" -Wl,-plugin-opt=obj-path="$code/lto.o"
fi
"""
CONFIGURED_BY = ("ac_configure_args", "CC", "CXX", "CPP", "CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS", "LIBS")
"""Variables that the answers of a configure script depend on, beside the script itself and the tools."""
OBJECT_CACHE = "ccache"
NOTES = "notes"
CACHES_BY_NOTES = f"""\
notes=1 depends=0
for argument; do
    shift
    case $argument in
    -M | -MM | -E | -S | -Wp,-M* | @* | *.s) notes=0 depends=;;
    -MMD) argument=-MD depends=${{depends:+1}} notes=0;;
    -MD) depends=${{depends:+1}} notes=0;;
    -c) compiles=1;;
    esac
    set -- "$@" "$argument"
done
[ $compiles$notes != 11 ] || {{ set -- "$@" -MD -MF "$records/{NOTES}/$$"; depends=1; }}
[ "$depends" != 1 ] || export CCACHE_DEPEND=1
"""
"""Notes of dependencies state which headers an object is made of: files need not be preprocessed for ccache's sake.

They have to name the headers of the system too. Where their form is not known, ccache preprocesses.
"""
EMBEDS_FILES = re.compile(rb"incbin", re.IGNORECASE)
"""The directive of assemblers for another file, which no notes name, and ccache finds in preprocessed files only."""
LARGEST_SOURCE_BYTES = 32 << 20
LARGEST_CACHE_BYTES = 256 << 20
MOST_COPIED_BYTES = 2 * LARGEST_CACHE_BYTES
LONGEST_CACHED_PATH_BYTES = 256

GIT = f"""#!/bin/sh
[ "$1" = diff ] && exit 128
PATH={shlex.quote(BUILD_PATH)} exec git "$@"
"""
"""Builds are made outside of any repository. There `git diff` compares any two directories that it is given, instead of
failing, and servers take its lines for uncommitted changes: every commit would have a number of its own in its code."""


@dataclass(frozen=True)
class Compilers:
    """Programs in `directory` that call the compilers of their names for a build in `tree`.

    Each function and each variable goes to a section of its own, links are recorded, and debug information names
    `SOURCE_ROOT`. What link-time optimization makes is kept for placements, and made on all processors. Where ccache is
    installed, objects are kept in `objects`.
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
        for made in (compilers.programs, compilers.records / NOTES, compilers.objects):
            made.mkdir(parents=True)
        if objects_of is not None and objects_of.is_dir():
            copy_files(objects_of, compilers.objects)
        compilers.site.write_text(compilers._site_script(variant))
        has_notes = not _embeds_files(tree)
        for name in {*COMPILERS, compiler_of(variant), cxx_of(variant)}:
            program = compilers.programs / name
            program.write_text(compilers._script(name, has_notes=has_notes))
            program.chmod(0o755)
        git = compilers.programs / "git"
        git.write_text(GIT)
        git.chmod(0o755)
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
    def site(self) -> Path:
        """The script that configure scripts read first."""
        return self.directory / "config.site"

    @property
    def environment(self) -> dict[str, str]:
        """What the programs need to be set."""
        return {
            "CCACHE_DIR": str(self.objects),
            "CCACHE_MAXSIZE": f"{LARGEST_CACHE_BYTES >> 20}M",
            "CONFIG_SITE": str(self.site),
        }

    def _site_script(self, variant: Variant) -> str:
        """Return what lets an equal configure script take its answers about the system from another build."""
        answers, tools = shlex.quote(str(self.objects / "configured")), shlex.quote(" ".join(tools_digest(variant)))
        variables = " ".join(f'"${name}"' for name in CONFIGURED_BY)
        return f"""\
mkdir -p {answers}
cache_file={answers}/$({{ cat "$0"; printf '%s\\0' {tools} {variables}; }} | sha256sum | cut -c 1-64)
"""

    def _script(self, name: str, *, has_notes: bool) -> str:
        flags = f"{' '.join(SECTIONS_FLAGS)} {shlex.quote(f'-fdebug-prefix-map={self.tree}={SOURCE_ROOT}')}"
        compiler = shlex.quote(name)
        caches = shutil.which(OBJECT_CACHE, path=BUILD_PATH) is not None
        by_notes, cache = (CACHES_BY_NOTES if has_notes else "", f"{OBJECT_CACHE} ") if caches else ("", "")
        keeps_code = KEEPS_CODE_OF_CLANG if _is_clang(name) else KEEPS_CODE_OF_GCC
        # The number of its process names a record: two links at a time must not share one.
        return f"""#!/bin/sh
PATH={shlex.quote(BUILD_PATH)}
records={shlex.quote(str(self.records))}
links=1 compiles=0 optimizes=unknown serial=0 plugin=1
for argument; do case $argument in
{"|".join(sorted(NOT_LINKING))}) links=0;;
-flto) optimizes=1 serial=1;;
-flto=*) optimizes=1 serial=0;;
-fno-lto) optimizes=0;;
-fno-use-linker-plugin) plugin=0;;
esac; done
if [ $links = 0 ]; then
{by_notes}exec {cache}{compiler} "$@" {flags}
fi
record=$records/$$ code=$records/$${CODE_SUFFIX}
printf '%s\\0' "$PWD" {compiler} "$@" > "$record"
{keeps_code}exec {compiler} "$@" {flags}
"""

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
            code = self.records / f"{record.name}{CODE_SUFFIX}"
            link = Link(Path(os.path.normpath(directory)), words[0], tuple(words[1:-1]), code)
            if link.output is not None and link.output == program:
                return link
        return None

    def linked_files(self, program: Path, tree: Path) -> frozenset[str] | None:
        """Return the files that a program was linked from, relative to the tree; none if that was not recorded."""
        link = self.link_of(program)
        if link is None or any(argument.startswith("@") for argument in link.arguments):
            return None
        paths = [Path(os.path.normpath(link.directory / argument)) for argument in link.arguments]
        return frozenset(str(path.relative_to(tree)) for path in paths if path.is_relative_to(tree))


@dataclass(frozen=True)
class Link:
    """A recorded link: where it ran, the compiler's name, its arguments.

    `code` is the directory with the code that link-time optimization made for it, if it did.
    """

    directory: Path
    compiler: str
    arguments: tuple[str, ...]
    code: Path

    @property
    def output(self) -> Path | None:
        """The program that was written."""
        for option, value in zip(self.arguments, self.arguments[1:], strict=False):
            if option == "-o":
                return Path(os.path.normpath(self.directory / value))
        return None

    def generated_code(self) -> list[Path]:
        """Return the objects that link-time optimization made; the build can have put others there."""
        # Not through a link that the build may have left in place of the directory, and not if it cannot be read.
        names: list[str] = []
        with contextlib.suppress(OSError):
            if not self.code.is_symlink():
                with os.scandir(self.code) as entries:
                    files = (entry.name for entry in entries if entry.is_file(follow_symlinks=False))
                    names = sorted(name for name in files if GENERATED_CODE.fullmatch(name))
        return [self.code / name for name in names] if len(names) <= MOST_GENERATED_FILES else []

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


def _embeds_files(tree: Path) -> bool:
    """Whether a file of the tree may embed another by a directive of the assembler."""
    for entry in walk(tree):
        if stat.S_ISREG(entry.status.st_mode):
            try:
                if EMBEDS_FILES.search(read_file(tree / entry.path, LARGEST_SOURCE_BYTES)):
                    return True
            except FileRefused:
                return True
    return False


def _is_clang(name: str) -> bool:
    return "clang" in (compiler_version("cc") if name in {"cc", "c++"} else name)


def link_files(source: Path, target: Path) -> None:
    """Link the regular files below a directory that no build can write to, but for those that are there already."""
    with contextlib.suppress(FileNotFoundError):
        for entry in walk(source):
            if stat.S_ISREG(entry.status.st_mode):
                (target / entry.path).parent.mkdir(parents=True, exist_ok=True)
                # Nor those of other users, and where the file system has no links: what is missing is compiled again.
                with contextlib.suppress(OSError):
                    os.link(source / entry.path, target / entry.path, follow_symlinks=False)


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
