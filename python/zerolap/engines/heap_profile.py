"""What valgrind's DHAT writes: each place that allocated, with what is left of it at the program's end.

The process of a server writes the file: it is read within bounds, and anything may be in it.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zerolap.records import MOST_CALLERS, MOST_SITES, AllocatingFrame, AllocationSite, TrialFailed

LARGEST_BYTES: Final = 32 << 20
"""The profile of a known server has some 300 KiB."""
MOST_PLACES: Final = 100_000
FRAME: Final = re.compile(r"0x[0-9A-F]+: (?P<function>[^\s(][^(]{0,290}?)(?: \((?P<place>[^()]{0,280})\))?$")
LINE: Final = re.compile(r"(?P<file>.+):(?P<line>\d{1,7})")
ALLOCATES: Final = re.compile(
    r"(?:je_|mi_|tc_)?(?:malloc|calloc|realloc|memalign|aligned_alloc|posix_memalign|reallocarray)(?:_default)?"
    r"|z(?:try)?(?:m|c|re)alloc\w*|valkey_(?:m|c|re)alloc|s_(?:m|c|re)alloc\w*|zstrdup"
)
"""The allocator and the server's functions around it: whoever calls these decides what is allocated."""


class _Place(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    eb: int = Field(default=0, ge=0, le=1 << 50)
    ebk: int = Field(default=0, ge=0, le=1 << 50)
    fs: list[int] = Field(max_length=200)


class _Profile(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    pps: list[_Place] = Field(max_length=MOST_PLACES)
    ftbl: list[str] = Field(max_length=MOST_PLACES)


def read_heap_profile(content: bytes) -> list[AllocationSite]:
    """Return what is left of what each chain of calls allocated, the largest first; raises `TrialFailed`."""
    try:
        profile = _Profile.model_validate_json(content)
    except ValidationError as fault:
        raise TrialFailed("valgrind wrote no whole profile of allocations") from fault
    frames = [_frame(text) for text in profile.ftbl]
    left: dict[tuple[AllocatingFrame, ...], list[int]] = defaultdict(lambda: [0, 0])
    for place in profile.pps:
        if place.eb and all(0 <= number < len(frames) for number in place.fs):
            of_site = left[_without_allocators([frames[number] for number in place.fs])]
            of_site[0] += place.eb
            of_site[1] += place.ebk
    largest = sorted(left.items(), key=lambda item: item[1][0], reverse=True)[:MOST_SITES]
    return [AllocationSite(frames=list(chain), bytes=size, blocks=blocks) for chain, (size, blocks) in largest]


def _frame(text: str) -> AllocatingFrame:
    match = FRAME.match(text[:600])
    if match is None:
        return AllocatingFrame(function="")
    place = LINE.fullmatch(match["place"] or "")
    if place is None:
        return AllocatingFrame(function=match["function"])
    return AllocatingFrame(function=match["function"], file=place["file"], line=int(place["line"]))


def _without_allocators(chain: Sequence[AllocatingFrame]) -> tuple[AllocatingFrame, ...]:
    """Return a chain of calls from the innermost function that is no allocator; all of it where there is none."""
    first = next((place for place, frame in enumerate(chain) if not ALLOCATES.fullmatch(frame.function)), 0)
    return tuple(chain[first : first + MOST_CALLERS])
