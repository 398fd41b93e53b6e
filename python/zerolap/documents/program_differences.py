"""Which functions differ between two programs; those that are merely called otherwise do not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from zerolap.records import FunctionCode

Key: TypeAlias = tuple[str, str]
"""The name and the file of a function."""
Functions: TypeAlias = Mapping[Key, FunctionCode]


def differing_functions(base: Functions, head: Functions) -> frozenset[Key]:
    """Return the functions whose code differs, or that one program alone has code of.

    What functions of equal instructions refer to by other names on each side was renamed, if neither program has the
    other's name. What has the same name and code in another file was moved.
    """
    renamed = _Renamed(base, head)
    removed, added = base.keys() - head.keys(), head.keys() - base.keys()
    moved: dict[Key, Key] = {}
    for new in sorted(added):
        old = next((one for one in sorted(removed - moved.keys()) if renamed.is_same_elsewhere(one, new)), None)
        if old is not None:
            moved[old] = new
    return frozenset(
        {key for key in base.keys() & head.keys() if not renamed.are_alike(key, key)}
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
            {name for (own, _), code in functions.items() for name in (own, *code.names.split())}
            for functions in (self.base, self.head)
        )
        by_digest = {self.head[key].digest: key for key in self.head.keys() - self.base.keys()}
        for key, code in self.base.items():
            other = key if key in self.head else by_digest.get(code.digest)
            if other is None or self.head[other].digest != code.digest:
                continue
            pairs = zip(code.names.split(), self.head[other].names.split(), strict=False)
            for old, new in ((key[0], other[0]), *pairs):
                if old != new and old not in of_head and new not in of_base:
                    self.names.setdefault(old, new)

    def is_same_elsewhere(self, old: Key, new: Key) -> bool:
        """Whether a function of the head is one of the base, in another file or with another name."""
        return new[0] in (old[0], self.names.get(old[0])) and self.are_alike(old, new)

    def are_alike(self, old: Key, new: Key) -> bool:
        """Whether a function of the base and one of the head do the same, to things of the same names but for these."""
        before, after = self.base[old], self.head[new]
        if before.digest != after.digest:
            return False
        if before.names == after.names:
            return True
        return [self.names.get(name, name) for name in before.names.split()] == after.names.split()
