"""One process start of one build under one case by one engine."""

from typing import Literal, TypeAlias

from zerolap.records.base import Record
from zerolap.records.metric import EngineName

Side: TypeAlias = Literal["base", "head"]


class Trial(Record):
    """What is to be measured once; `block` numbers the seeds, which both sides share."""

    case: str
    side: Side
    engine: EngineName
    block: int
    seed: int
