"""One process start of one build under one case by one engine."""

from typing import Literal, TypeAlias

from zerolap.records.base import Record

Side: TypeAlias = Literal["base", "head"]


class Trial(Record):
    """What is to be measured once; `engine` may be a plugin, `block` numbers the seeds, which both sides share."""

    case: str
    side: Side
    engine: str
    block: int
    seed: int
