"""Differences of two builds, other than in functions, that may explain a change of time alone.

A candidate is not a proven cause: it is what to examine first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from zerolap.records import Finding

NAMED_STRUCTURES = 4
OF_THE_TREE = ("-g", "-W", "-I", "-M", "-fdebug-prefix-map", "-ffile-prefix-map", "-fmacro-prefix-map")
"""Flags that do not change what the program executes."""


@dataclass(frozen=True)
class Structure:
    """The size of a structure, and its members with the byte at which each begins, in the order of the source."""

    size_bytes: int
    members: tuple[tuple[str, int], ...]


Structures: TypeAlias = Mapping[tuple[str, str], Structure]
"""The structures of a build by name and file."""


@dataclass(frozen=True)
class BuildFacts:
    """How a build was made; an unknown fact is empty."""

    compiler: str
    flags: str
    allocator: str
    libc: str


def explain_build(base: BuildFacts, head: BuildFacts) -> list[Finding]:
    """Return the differences in flags, compiler, allocator and C library."""
    pairs = {
        "compiler": (base.compiler, head.compiler),
        "allocator": (base.allocator, head.allocator),
        "C library": (base.libc, head.libc),
    }
    texts = [
        f"The builds differ in their {what}: base {old}, head {new}."
        for what, (old, new) in pairs.items()
        if old and new and old != new
    ]
    old_flags, new_flags = _effective(base.flags), _effective(head.flags)
    if base.flags and head.flags and set(old_flags) != set(new_flags):
        texts.append(
            "The builds differ in their flags: "
            f"base {_flags(old_flags, new_flags)}, head {_flags(new_flags, old_flags)}."
        )
    return [_candidate(text) for text in texts]


def explain_layout(base: Structures, head: Structures) -> list[Finding]:
    """Return the structures that have another size or lay out their members otherwise."""
    sizes, layouts = {}, {}
    for key in sorted(base.keys() & head.keys()):
        old, new = base[key], head[key]
        if old.size_bytes != new.size_bytes:
            sizes[key] = f"`{key[0]}` ({key[1]}) has {new.size_bytes:,} bytes instead of {old.size_bytes:,}"
        elif moved := _moved(old, new):
            layouts[key] = f"`{key[0]}` ({key[1]}) has {moved}"
    changed = [*sizes.values(), *layouts.values()]
    if not changed:
        return []
    shown = "; ".join(changed[:NAMED_STRUCTURES])
    more = f"; and {len(changed) - NAMED_STRUCTURES} more" if len(changed) > NAMED_STRUCTURES else ""
    return [_candidate(f"Structures are laid out otherwise, which moves cache misses: {shown}{more}.")]


def explain_placement(*, is_placed: bool) -> list[Finding]:
    """Return that the placement of functions may be the difference, unless it was randomized."""
    if is_placed:
        return []
    return [
        _candidate(
            "The programs were timed as they are linked: where functions and pages lie is part of the difference."
        )
    ]


def _moved(old: Structure, new: Structure) -> str | None:
    """Return the members at other offsets; those without a name, such as anonymous unions, cannot be matched."""
    if old.members == new.members:
        return None
    before, after = dict(old.members), dict(new.members)
    for name, begins in after.items():
        if name and before.get(name, begins) != begins:
            return f"`{name}` at byte {begins} instead of {before[name]}"
    return "other members in the same size"


def _effective(flags: str) -> list[str]:
    return [flag for flag in flags.split() if not flag.startswith(OF_THE_TREE)]


def _flags(these: list[str], others: list[str]) -> str:
    own = [flag for flag in dict.fromkeys(these) if flag not in others]
    return f"`{' '.join(own)}`" if own else "none of these"


def _candidate(text: str) -> Finding:
    return Finding(kind="cause", rank=0, text=text)
