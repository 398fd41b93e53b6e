"""Variants of builds: compiler, flags and allocator, as requested, as available here, and as they took effect."""

import contextlib
import difflib
import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from zerolap.records import DEFAULT_VARIANT, EnvironmentMissing, Record, UsageError
from zerolap.sandbox import confined_reader

Optimization: TypeAlias = Literal["-O0", "-O1", "-O2", "-O3"]
Allocator: TypeAlias = Literal["jemalloc", "libc"]

COMPILER = re.compile(r"(gcc|clang)(?:-(\d+))?")
"""A compiler, optionally with a version as in the names of distributions: `clang-19`."""
WORDS: dict[str, tuple[str, str | bool]] = {
    "-O0": ("optimization", "-O0"),
    "-O1": ("optimization", "-O1"),
    "-O2": ("optimization", "-O2"),
    "-O3": ("optimization", "-O3"),
    "-flto": ("link_time_optimization", True),
    "-fno-lto": ("link_time_optimization", False),
    "jemalloc": ("allocator", "jemalloc"),
    "libc": ("allocator", "libc"),
    "frame-pointers": ("frame_pointers", True),
    "no-frame-pointers": ("frame_pointers", False),
    "no-inlining": ("inlining", False),
}
"""The words after the compiler in a variant's name, in order, each with the field and value that it sets."""

COMPILERS = ("gcc", "clang")

SYNONYMS = {"-fno-omit-frame-pointer": "frame-pointers", "-fomit-frame-pointer": "no-frame-pointers"}
EXTRA_FLAG = re.compile(r"-[fmD][\w.+=:-]+")
"""Flags that mean the same in every Makefile: none that make, a shell or the linker interprets."""


GCC_KEEPS_CALLS = (
    "-fno-inline",
    "-fno-partial-inlining",
    "-fno-ipa-cp",
    "-fno-ipa-icf",
    "-fno-ipa-pure-const",
    "-fno-optimize-sibling-calls",
)
"""Keep gcc from making anything else of a call of the source: its callee's code or a copy of it, the call of an equal
function, the result of an earlier call of a pure function, or a jump. See "Options That Control Optimization" in its
manual; there is no flag against `always_inline`."""
CLANG_KEEPS_CALLS = ("-fno-inline", "-fno-optimize-sibling-calls")
"""The same for clang, which has no flag for the other optimizations: the results of pure functions are used again."""


class Variant(Record):
    """The requested variant of a build; a field that is None is left to the source's Makefile.

    `extra` are further compiler flags, for the server's own code only. `inlining` is false where calls of functions
    are to stay calls.
    """

    compiler: str | None = None
    optimization: Optimization | None = None
    link_time_optimization: bool | None = None
    allocator: Allocator | None = None
    frame_pointers: bool | None = None
    inlining: bool | None = None
    extra: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The words of this variant in canonical order; `default` for the Makefile's own build."""
        words = [word for word, (field, value) in WORDS.items() if getattr(self, field) == value]
        compiler = [] if self.compiler is None else [self.compiler]
        return ",".join([*compiler, *words, *self.extra]) or DEFAULT_VARIANT

    @property
    def is_default(self) -> bool:
        """Whether everything is left to the Makefile."""
        return self == DEFAULT

    @property
    def of_count_build(self) -> "Variant":
        """The variant of a count build: the same without inlining, also of what is inlined at the link."""
        return self.model_copy(update={"inlining": False, "link_time_optimization": False})

    def with_changes(self, other: "Variant") -> "Variant":
        """Return this variant with the fields that `other` sets."""
        changed = {field: value for field, value in other if value is not None}
        return self.model_copy(update=changed | {"extra": tuple(dict.fromkeys(self.extra + other.extra))})


DEFAULT = Variant()


def parse_variant(text: str) -> Variant:
    """Return the variant of a comma-separated list of words; raises `UsageError`."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise UsageError(f"`--variant {text}` names nothing", hint="write clang,-O2,-flto,libc or default")
    if words == [DEFAULT_VARIANT]:
        return DEFAULT
    chosen: dict[str, str | bool] = {}
    word_of_field: dict[str, str] = {}
    extra: list[str] = []
    for word in words:
        if word == DEFAULT_VARIANT:
            raise UsageError(f"`--variant {text}`: `{DEFAULT_VARIANT}` stands alone", hint="omit the other words")
        known = ("compiler", word) if COMPILER.fullmatch(word) else WORDS.get(SYNONYMS.get(word, word))
        if known is None:
            extra.append(_extra_flag(word))
            continue
        field, value = known
        if chosen.setdefault(field, value) != value:
            raise UsageError(
                f"`--variant {text}`: `{word_of_field[field]}` and `{word}` contradict", hint="keep one of them"
            )
        word_of_field[field] = word
    return Variant.model_validate(chosen | {"extra": tuple(dict.fromkeys(extra))})


def _extra_flag(word: str) -> str:
    """Return a flag that is passed to the compiler unchanged; raises `UsageError` for an unknown word."""
    unchecked = word.startswith(("-flto", "-fno-lto", "-fuse-ld", "-fplugin"))
    if EXTRA_FLAG.fullmatch(word) and not unchecked:
        return word
    near = difflib.get_close_matches(word, [*COMPILERS, *WORDS, DEFAULT_VARIANT], n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    words = ", ".join([*COMPILERS, *WORDS])
    raise UsageError(
        f"`{word}` is not a word of a variant",
        hint=f"{hint}words: {words}; a compiler's version such as clang-19; or a flag such as -march=native",
    )


BUILD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH of builds, whose sandbox contains no other programs."""

CLANG_DEBUG_FLAGS = ("-grecord-command-line", "-gdwarf-4")
"""Make clang record its flags in the debug information, as gcc does by default, in a form that valgrind reads: 3.19
does not support the indexed strings of clang's DWARF 5."""


def compiler_of(variant: Variant) -> str:
    """Return the C compiler's program; `cc`, make's default, if the variant names none."""
    return variant.compiler or "cc"


def cxx_of(variant: Variant) -> str:
    """Return the C++ compiler's program, of the same version as the C compiler."""
    family, dash, version = compiler_of(variant).partition("-")
    return {"cc": "c++", "gcc": "g++", "clang": "clang++"}[family] + dash + version


def lto_flag(variant: Variant) -> str:
    """Return the flag for link-time optimization on all processors: clang does not support gcc's `auto`."""
    return "-flto" if is_clang(variant) else "-flto=auto"


def is_clang(variant: Variant) -> bool:
    """Whether the compiler is clang, whatever its name; raises `EnvironmentMissing` if it is not installed."""
    return "clang" in compiler_version(compiler_of(variant))


def flags_that_keep_calls(variant: Variant) -> tuple[str, ...]:
    """Return the flags with which the calls of the source stay calls; raises as `is_clang` does."""
    return CLANG_KEEPS_CALLS if is_clang(variant) else GCC_KEEPS_CALLS


def lto_linker(variant: Variant) -> str | None:
    """Return the linker that reads the objects of clang's link-time optimization without a plugin, if installed.

    A linker of another version does not read them.
    """
    _, dash, version = compiler_of(variant).partition("-")
    linker = f"ld.lld{dash}{version}"
    return linker if shutil.which(linker, path=BUILD_PATH) is not None else None


def tools_digest(variant: Variant) -> list[str]:
    """Return what the tools of a build are: the architecture, the compiler's version and, with clang, the linker's.

    Raises `EnvironmentMissing` if the compiler is not installed.
    """
    # Equal versions on other processors make other programs.
    tools = [os.uname().machine, compiler_version(compiler_of(variant))]
    linker = lto_linker(variant) if is_clang(variant) else None
    if linker is not None:
        tools.append(_first_line(linker, linker.removeprefix("ld.")))
    return tools


def all_tools() -> dict[str, tuple[str, ...]]:
    """Return the tools of all compilers on the PATH of builds by the compiler's name, `cc` being make's default.

    This is what a machine that builds for others announces, and what `tools_of` reads.
    """
    found = {path.name for directory in BUILD_PATH.split(":") for path in Path(directory).glob("[gc]*")}
    named = sorted(name for name in found if COMPILER.fullmatch(name))
    tools = {}
    for variant in [DEFAULT, *(Variant(compiler=name) for name in named)]:
        # What is there may be a link to nothing, or not on this process's own PATH.
        with contextlib.suppress(EnvironmentMissing):
            tools[compiler_of(variant)] = tuple(tools_digest(variant))
    return tools


def tools_of(variant: Variant, announced: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """Return the tools of a variant on the machine that announced these, or none if it lacks the compiler."""
    tools = announced.get(compiler_of(variant))
    return None if tools is None else tuple(tools)


@functools.cache
def compiler_version(program: str) -> str:
    """Return the first line of a compiler's `--version`; raises `EnvironmentMissing` if it is not installed."""
    return _first_line(program, "gcc" if program == "cc" else program)


def _first_line(program: str, package: str) -> str:
    hint = f"apt-get install {package}"
    path = shutil.which(program, path=BUILD_PATH)
    if path is None or shutil.which(program) is None:
        missing = "no C compiler is installed" if program == "cc" else f"`{program}` is not installed"
        raise EnvironmentMissing(missing, hint=hint)
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        raise EnvironmentMissing(f"`{path}` does not work: {fault}", hint=hint) from fault
    return done.stdout.partition("\n")[0]


CODE_FLAG = re.compile(r"-(O|f|m|g|std=)")
RECORDING_FLAGS = {"-grecord-command-line", "-grecord-gcc-switches"}


@dataclass(frozen=True)
class Effective:
    """Compiler and flags of most of the server's own code; empty without debug information."""

    compiler: str
    flags: str


def effective(program: Path) -> Effective:
    """Return compiler and flags from a program's debug information; raises `ValueError` if it cannot be read."""
    facts = confined_reader.binary_facts(str(program))
    if "clang" not in facts.compiler:
        return Effective(facts.compiler, facts.flags)
    # If clang records flags, it records the whole command line: its path, file names and warnings, too.
    compiler = re.sub(r" /\S*$", "", facts.compiler)
    flags = [word for word in facts.flags.split() if CODE_FLAG.match(word) and word not in RECORDING_FLAGS]
    return Effective(compiler, " ".join(dict.fromkeys(flags)))


def unmet(variant: Variant, built: Effective, allocator: str) -> list[str]:
    """Return the words of a variant that did not take effect."""
    flags = built.flags.split()
    missed: list[str] = []
    if variant.compiler is not None and not _is_compiler(variant.compiler, built.compiler):
        missed.append(variant.compiler)
    if variant.optimization not in {None, last_flag(flags, r"-O\S*") or "-O0"}:
        missed.append(str(variant.optimization))
    with_lto = last_flag(flags, r"-flto(=.*)?|-fno-lto").startswith("-flto")
    if variant.link_time_optimization not in {None, with_lto}:
        missed.append("-flto" if variant.link_time_optimization else "-fno-lto")
    if variant.allocator is not None and not allocator.startswith(variant.allocator):
        missed.append(variant.allocator)
    with_pointers = last_flag(flags, "-f(no-)?omit-frame-pointer") == "-fno-omit-frame-pointer"
    if variant.frame_pointers not in {None, with_pointers}:
        missed.append("frame-pointers" if variant.frame_pointers else "no-frame-pointers")
    if variant.inlining is False and last_flag(flags, "-f(no-)?inline") != "-fno-inline":
        missed.append("no-inlining")
    # Macros are never recorded, and `native` is recorded as the processor's type.
    recorded = [flag for flag in variant.extra if not (flag.startswith("-D") or flag.endswith("=native"))]
    return missed + [flag for flag in recorded if flag not in flags]


def _is_compiler(wanted: str, recorded: str) -> bool:
    """Whether a recorded compiler, such as `GNU C11 12.2.0`, is the wanted one, such as `gcc` or `gcc-12`."""
    family, _, version = wanted.partition("-")
    recorded_family = "clang" if "clang" in recorded else "gcc"
    return family == recorded_family and (not version or re.search(rf"\b{version}\.\d", recorded) is not None)


def last_flag(flags: Sequence[str], pattern: str | re.Pattern[str]) -> str:
    """Return the last flag that matches, which is the one that takes effect; empty without any."""
    return next((flag for flag in reversed(flags) if re.fullmatch(pattern, flag)), "")
