"""Where a server allocated what its data took at the end of a trial."""

from typing import Annotated, Final

from pydantic import Field

from zerolap.records.base import Record

MOST_SITES: Final = 2_000
MOST_CALLERS: Final = 12
Name = Annotated[str, Field(max_length=300)]


class AllocatingFrame(Record):
    """A function with the line that it was at; the file is as debug information names it, empty where it does not."""

    function: Name
    file: Name = ""
    line: int = 0


class AllocationSite(Record):
    """What one chain of calls has allocated and not yet released: its innermost function first, without allocators."""

    frames: Annotated[list[AllocatingFrame], Field(max_length=MOST_CALLERS)]
    bytes: int
    blocks: int


class AllocationSites(Record):
    """All that a server held at the end of a trial, by where it was allocated, the largest first; `keys` it had."""

    keys: int
    sites: Annotated[list[AllocationSite], Field(max_length=MOST_SITES)]
