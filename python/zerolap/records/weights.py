"""How much each case counts where several are put together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from zerolap.errors import UsageError
from zerolap.records.base import Record
from zerolap.records.case import Case

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


def named_weights(weighting: Weighting, cases: Sequence[Case]) -> CaseWeights:
    """Return weights by what is known of the cases alone; raises `UsageError` where no case has a priority."""
    stated = StatedWeights(kind=weighting)
    if weighting == "equal":
        return CaseWeights(stated, {case.name: 1.0 for case in cases})
    if weighting == "command":
        # Each list of commands has the same weight, which the cases that send them share.
        sent = Counter(tuple(case.verbs) for case in cases)
        return CaseWeights(stated, {case.name: 1.0 / sent[tuple(case.verbs)] for case in cases})
    by_case = priority_weights({case.name: case.priority for case in cases})
    if not by_case:
        raise UsageError(
            "`--weights priority`: no case has a priority",
            hint="suites of the public format have them; for others give --weights equal or a file",
        )
    return CaseWeights(stated, by_case)


def priority_weights(priorities: Mapping[str, int | None]) -> dict[str, float]:
    """Return weights as the reciprocal of the priority, which is a rank: 1 is the most used command.

    The use of commands falls about with the reciprocal of their rank (Zipf, Human Behavior and the Principle of Least
    Effort, 1949). A case without a priority ranks last; without any priority there are no weights.
    """
    ranks = {name: priority for name, priority in priorities.items() if priority is not None and priority > 0}
    if not ranks:
        return {}
    last = max(ranks.values())
    return {name: 1.0 / ranks.get(name, last) for name in priorities}
