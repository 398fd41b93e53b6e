"""What the cases of a comparison show together: all, groups of them, and those that execute a changed function."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from zerolap.judge import CPU_TIME, FEWEST_CASES, MEMORY, CasesTogether, pooled_changes
from zerolap.records import METRICS, CaseResult, PooledChange, PooledScope, Settings, StartRatio

POOLED_METRICS: Final = (("instructions_per_op", CPU_TIME), ("memory_bytes_per_key",))
"""Those that have a q together: bytes are exact, and take nothing from what times can show."""
MOST_FUNCTIONS: Final = 20
"""Sets of cases by the changed functions that they execute."""


def suite_changes(
    cases: Sequence[CaseResult],
    settings: Settings,
    executed_by: Mapping[str, Sequence[str]],
    starts: Sequence[StartRatio] = (),
) -> list[PooledChange]:
    """Return the pooled changes of work, time and memory; `executed_by` has the cases of each changed function.

    `starts` are what each start says of each case.
    """
    by_block: dict[tuple[str, str], dict[int, float]] = {}
    for start in starts:
        if not start.anchor:
            by_block.setdefault((start.metric, start.case), {})[start.block] = start.log_ratio
    scopes, pooled = list(_scopes(cases, executed_by)), []
    for metrics in POOLED_METRICS:
        changes = {metric: dict(_changes(cases, metric)) for metric in metrics}
        together = []
        for scope, name, chosen in scopes:
            for metric, of in changes.items():
                least = _min_effect(metric, settings)
                if least is None:
                    continue
                names = sorted(chosen & of.keys())
                of_blocks = [by_block.get((metric, case), {}) for case in names]
                together.append(CasesTogether(scope, name, metric, [of[case] for case in names], least, of_blocks))
        pooled += pooled_changes(together)
    return pooled


def _min_effect(metric: str, settings: Settings) -> float | None:
    """Return the smallest change of a metric that matters; none in what was asked before the metric was there."""
    rule = METRICS[metric]
    return settings.min_effect.get(MEMORY) if rule.answer == "memory" else settings.min_effect.get(rule.engine, 0.0)


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
