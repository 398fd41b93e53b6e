"""What the cases of a comparison show together: all, groups of them, and those that execute a changed function."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from zerolap.judge import CPU_TIME, FEWEST_CASES, CasesTogether, pooled_changes
from zerolap.records import METRICS, CaseResult, PooledChange, PooledScope, Settings, StartRatio

POOLED_METRICS: Final = ("instructions_per_op", CPU_TIME)
MOST_FUNCTIONS: Final = 20
"""Sets of cases by the changed functions that they execute."""


def suite_changes(
    cases: Sequence[CaseResult],
    settings: Settings,
    executed_by: Mapping[str, Sequence[str]],
    starts: Sequence[StartRatio] = (),
) -> list[PooledChange]:
    """Return the pooled changes of work and of time; `executed_by` has the cases of each changed function.

    `starts` are what each start says of each case.
    """
    by_block: dict[tuple[str, str], dict[int, float]] = {}
    for start in starts:
        if not start.anchor:
            by_block.setdefault((start.metric, start.case), {})[start.block] = start.log_ratio
    changes = {metric: dict(_changes(cases, metric)) for metric in POOLED_METRICS}
    together = []
    for scope, name, chosen in _scopes(cases, executed_by):
        for metric, of in changes.items():
            min_effect = settings.min_effect.get(METRICS[metric].engine, 0.0)
            names = sorted(chosen & of.keys())
            of_blocks = [by_block.get((metric, case), {}) for case in names]
            together.append(CasesTogether(scope, name, metric, [of[case] for case in names], min_effect, of_blocks))
    return pooled_changes(together)


def _changes(cases: Sequence[CaseResult], metric: str) -> Iterator[tuple[str, float]]:
    for case in cases:
        for verdict in case.verdicts if case.validity.valid else ():
            if verdict.metric == metric and math.isfinite(verdict.change) and verdict.change > -1:
                yield case.case, verdict.change


def _scopes(
    cases: Sequence[CaseResult], executed_by: Mapping[str, Sequence[str]]
) -> Iterator[tuple[PooledScope, str, frozenset[str]]]:
    """Yield all cases, then each set of enough of them that share a group or a changed function."""
    everything = frozenset(case.case for case in cases)
    yield "suite", "", everything
    known = {everything}
    for group in dict.fromkeys(case.group for case in cases):
        chosen = frozenset(case.case for case in cases if case.group == group)
        if len(chosen) >= FEWEST_CASES and chosen not in known:
            known.add(chosen)
            yield "group", group, chosen
    for function, names in executed_by.items():
        chosen = frozenset(names)
        if len(chosen) >= FEWEST_CASES and chosen not in known and len(known) <= MOST_FUNCTIONS:
            known.add(chosen)
            yield "function", function, chosen
