"""Which functions allocate more or fewer bytes for the data: what two profiles of allocations leave at their ends."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from zerolap.explain.allocations import ALLOCATES_STRING
from zerolap.records import AllocatingFrame, AllocationSite, AllocationSites, Finding, PerSide

MOST_FINDINGS: Final = 5
SMALLEST_SHARE: Final = 0.05
"""What is a smaller part of all that grew and shrank is not named."""
SMALLEST_BYTES: Final = 64
"""What differs by less in the whole server is none of its data."""


class _Where(NamedTuple):
    """A function that allocates, and for whom where it is one that makes strings for others; the files of both."""

    function: str
    file: str
    caller: str = ""
    caller_file: str = ""


@dataclass
class _Held:
    """What is left of what a function allocated, and at which of its lines most of it."""

    bytes: int = 0
    blocks: int = 0
    by_line: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, site: AllocationSite, line: int) -> None:
        self.bytes += site.bytes
        self.blocks += site.blocks
        self.by_line[line] += site.bytes


_NOTHING: Final = _Held()


def explain_bytes(base: AllocationSites, head: AllocationSites, changed: frozenset[str] = frozenset()) -> list[Finding]:
    """Return a finding for each function that allocates more or fewer bytes, the largest first.

    `changed` are functions that the commit changed: one that makes strings is named itself then, not its callers.
    """
    sides = [_held(of_side, changed) for of_side in (base, head)]
    changes = {
        where: sides[1].get(where, _NOTHING).bytes - sides[0].get(where, _NOTHING).bytes
        for where in dict.fromkeys([*sides[0], *sides[1]])
    }
    total = sum(changes.values())
    moved = sum(abs(change) for change in changes.values())
    largest = sorted(changes, key=lambda where: abs(changes[where]), reverse=True)
    stated = [
        where
        for where in largest
        if abs(changes[where]) >= SMALLEST_BYTES and abs(changes[where]) >= SMALLEST_SHARE * moved
    ]
    return [
        _finding(rank, where, sides, (base.keys, head.keys), changes[where] / total if total else None, changed)
        for rank, where in enumerate(stated[:MOST_FINDINGS], 1)
    ]


def _held(of_side: AllocationSites, changed: frozenset[str]) -> dict[_Where, _Held]:
    held: dict[_Where, _Held] = defaultdict(_Held)
    for site in of_side.sites:
        if not site.frames:
            continue
        where, line = _where(site.frames, changed)
        held[where].add(site, line)
    return held


def _where(frames: Sequence[AllocatingFrame], changed: frozenset[str]) -> tuple[_Where, int]:
    first = frames[0]
    if first.function in changed or not ALLOCATES_STRING.fullmatch(first.function):
        return _Where(first.function, first.file), first.line
    caller = next((frame for frame in frames[1:] if not ALLOCATES_STRING.fullmatch(frame.function)), None)
    if caller is None:
        return _Where(first.function, first.file), first.line
    return _Where(first.function, first.file, caller.function, caller.file), caller.line


def _finding(
    rank: int,
    where: _Where,
    sides: Sequence[Mapping[_Where, _Held]],
    keys: tuple[int, int],
    share: float | None,
    changed: frozenset[str],
) -> Finding:
    held = [of_side.get(where, _NOTHING) for of_side in sides]
    per_key = [one.bytes / max(1, number) for one, number in zip(held, keys, strict=True)]
    blocks = [one.blocks / max(1, number) for one, number in zip(held, keys, strict=True)]
    of_line = held[1] if held[1].by_line else held[0]
    line = max(of_line.by_line, key=lambda number: of_line.by_line[number], default=0)
    function, file = (where.caller, where.caller_file) if where.caller else (where.function, where.file)
    return Finding(
        kind="allocation",
        rank=rank,
        function=function,
        file=file or None,
        lines=[line] if line else None,
        bytes_per_key=PerSide(base=per_key[0], head=per_key[1]),
        share_of_change=share,
        in_diff=function in changed if changed else None,
        text="".join(_text(where, function, file, line, per_key, blocks)),
    )


def _text(
    where: _Where, function: str, file: str, line: int, per_key: Sequence[float], blocks: Sequence[float]
) -> Iterator[str]:
    yield f"`{function}` allocates {_number(per_key[1])} instead of {_number(per_key[0])} bytes a key"
    if round(blocks[0], 2) != round(blocks[1], 2):
        yield f" in {_number(blocks[1])} instead of {_number(blocks[0])} blocks"
    if where.caller:
        yield f" by `{where.function}`"
    place = f"{file}:{line}" if file and line else file
    yield f" ({place})." if place else "."


def _number(value: float) -> str:
    if value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
