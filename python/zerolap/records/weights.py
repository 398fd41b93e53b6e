"""How much each case counts where several are put together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from zerolap.records.base import Record

Weighting: TypeAlias = Literal["command", "equal", "priority"]
"""What is known of the cases themselves: that each command counts the same, or each case, or by its priority."""


class StatedWeights(Record):
    """What the cases are weighted by.

    `command` gives each command the same weight, however many cases it has. `usage` is the time that a server of the
    user spent in each command; `source` is where that was read from, `covered` the part of it in these commands.
    """

    kind: Literal["command", "equal", "priority", "usage"]
    source: str = ""
    covered: float | None = None


@dataclass(frozen=True)
class CaseWeights:
    """The weight of each case, by name; they need not add up to 1."""

    stated: StatedWeights
    by_case: Mapping[str, float]
