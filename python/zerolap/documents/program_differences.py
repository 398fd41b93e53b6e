"""Which functions differ between two programs; those that are merely called otherwise do not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from zerolap.records import FunctionCode

Functions: TypeAlias = Mapping[str, FunctionCode]


def differing_functions(base: Functions, head: Functions) -> frozenset[str]:
    """Return the names of functions whose code differs, or that one program alone has code of.

    What functions of equal instructions refer to by other names on each side was renamed, if neither program has the
    other's name.
    """
    renamed = _Renamed(base, head)
    removed, added = base.keys() - head.keys(), head.keys() - base.keys()
    moved = {old: new for old in removed if (new := renamed.names.get(old)) in added and renamed.are_alike(old, new)}
    return frozenset(
        {name for name in base.keys() & head.keys() if not renamed.are_alike(name, name)}
        | (removed - moved.keys())
        | (added - set(moved.values()))
    )


@dataclass
class _Renamed:
    """The names that things have in the base and in the head, of those that have others."""

    base: Functions
    head: Functions

    def __post_init__(self) -> None:
        self.names: dict[str, str] = {}
        of_base, of_head = (
            {*functions, *(name for function in functions.values() for name in function.names.split())}
            for functions in (self.base, self.head)
        )
        by_digest = {self.head[name].digest: name for name in self.head.keys() - self.base.keys()}
        for name, function in self.base.items():
            other = name if name in self.head else by_digest.get(function.digest)
            if other is None or self.head[other].digest != function.digest:
                continue
            pairs = zip(function.names.split(), self.head[other].names.split(), strict=False)
            for old, new in ((name, other), *pairs):
                if old != new and old not in of_head and new not in of_base:
                    self.names.setdefault(old, new)

    def are_alike(self, old: str, new: str) -> bool:
        """Whether a function of the base and one of the head do the same, to things of the same names but for these."""
        before, after = self.base[old], self.head[new]
        if before.digest != after.digest:
            return False
        if before.names == after.names:
            return True
        return [self.names.get(name, name) for name in before.names.split()] == after.names.split()
