"""What a built program says of how it was built, and whether that is what was asked."""

import re
from dataclasses import dataclass
from pathlib import Path

from zerolap.build.variant import Variant
from zerolap.sandbox import reading

CODE_FLAG = re.compile(r"-(O|f|m|g|std=)")
RECORDING_FLAGS = {"-grecord-command-line", "-grecord-gcc-switches"}


@dataclass(frozen=True)
class Effective:
    """Compiler and flags, of most of the server's own code; empty without debug information."""

    compiler: str
    flags: str


def effective(program: Path) -> Effective:
    """Return compiler and flags from a program's debug information; raises `ValueError` if it cannot be read."""
    facts = reading.binary_facts(str(program))
    if "clang" not in facts.compiler:
        return Effective(facts.compiler, facts.flags)
    # Where it records at all, it records its whole command line: its path, each file's name, all warnings.
    compiler = re.sub(r" /\S*$", "", facts.compiler)
    flags = [word for word in facts.flags.split() if CODE_FLAG.match(word) and word not in RECORDING_FLAGS]
    return Effective(compiler, " ".join(dict.fromkeys(flags)))


def unmet(variant: Variant, built: Effective, allocator: str) -> list[str]:
    """Return the words of a variant that did not take effect."""
    flags = built.flags.split()
    missed: list[str] = []
    if variant.compiler is not None and not _is_compiler(variant.compiler, built.compiler):
        missed.append(variant.compiler)
    if variant.optimization not in {None, _optimization(flags)}:
        missed.append(str(variant.optimization))
    with_lto = _last(flags, r"-flto(=.*)?", "-fno-lto")
    if variant.link_time_optimization not in {None, with_lto}:
        missed.append("-flto" if variant.link_time_optimization else "-fno-lto")
    if variant.allocator is not None and not allocator.startswith(variant.allocator):
        missed.append(variant.allocator)
    with_pointers = _last(flags, "-fno-omit-frame-pointer", "-fomit-frame-pointer")
    if variant.frame_pointers not in {None, with_pointers}:
        missed.append("frame-pointers" if variant.frame_pointers else "no-frame-pointers")
    return missed + [flag for flag in variant.extra if not _is_recorded(flag, flags)]


def _is_compiler(wanted: str, said: str) -> bool:
    """Whether a compiler that says so of itself, such as `GNU C11 12.2.0`, is what `gcc`, or `gcc-12`, stands for."""
    family, _, version = wanted.partition("-")
    own_family = "clang" if "clang" in said else "gcc"
    return family == own_family and (not version or re.search(rf"\b{version}\.\d", said) is not None)


def _optimization(flags: list[str]) -> str:
    """Return the level that counts, the last one; without any the compiler does not optimize."""
    levels = [flag for flag in flags if re.fullmatch(r"-O\S*", flag)]
    return levels[-1] if levels else "-O0"


def _last(flags: list[str], yes: str, no: str) -> bool:
    """Whether of two contrary flags the first one came last."""
    found = [flag for flag in flags if re.fullmatch(f"{yes}|{no}", flag)]
    return bool(found) and re.fullmatch(yes, found[-1]) is not None


def _is_recorded(flag: str, flags: list[str]) -> bool:
    """Whether a flag is among those recorded; macros never are, and `native` stands for what the processor is."""
    return flag.startswith("-D") or flag.endswith("=native") or flag in flags
