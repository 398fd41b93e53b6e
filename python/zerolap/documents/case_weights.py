"""How much each case counts in what is said of all cases together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zerolap.records import Case, TableWeights, UsageError


@dataclass(frozen=True)
class CaseWeights:
    """The weight of each case, by name; they need not add up to 1."""

    stated: TableWeights
    by_case: Mapping[str, float]


def equal_weights(cases: Sequence[Case]) -> CaseWeights:
    """Return weights by which all cases count the same."""
    return CaseWeights(TableWeights(kind="equal"), {case.name: 1.0 for case in cases})


def priority_weights(cases: Sequence[Case]) -> CaseWeights:
    """Return weights as the reciprocal of the priority, which is a rank: 1 is the most used command.

    The use of commands falls about with the reciprocal of their rank (Zipf, Human Behavior and the Principle of Least
    Effort, 1949). A case without a priority ranks last.
    """
    ranks = [case.priority for case in cases if case.priority is not None and case.priority > 0]
    if not ranks:
        raise UsageError(
            "`--weights priority`: no case has a priority",
            hint="suites of the public format have them; for others give --weights equal or a file",
        )
    last = max(ranks)
    by_case = {case.name: 1.0 / (case.priority if case.priority and case.priority > 0 else last) for case in cases}
    return CaseWeights(TableWeights(kind="priority"), by_case)
