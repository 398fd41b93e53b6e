"""Verdicts on what a snapshot costs, of two sides that were started in turns: a pair of starts is a sample."""

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, get_args

from zerolap import _core
from zerolap.judge.look_levels import PartOfError
from zerolap.judge.lopsided_starts import OfAllCases, are_lopsided, looked_at_wild_starts
from zerolap.judge.verdict_rule import Look, UnadjustedVerdict, adjusted, moderated_change, sides_around
from zerolap.judge.wild_starts import BoundedStarts, bounded_starts
from zerolap.records import SNAPSHOT_RULES, MetricRule, SnapshotLoad, Verdict

SNAPSHOT_MIN_EFFECT: Final = 0.1
"""The smallest change that matters unless another is given: longest pauses of equal servers differ by some percent."""
RESOLUTION: Final = 0.001
"""The smallest standard deviation of a pair's log ratio: a tenth of a percent of a fork of some milliseconds."""
FEWEST_PAIRS: Final = 2
WHOLE_ERROR: Final = PartOfError(1.0)
"""The share of the error that a look has which is the only one."""


@dataclass(frozen=True)
class SnapshotPairs:
    """The metrics of the repetitions of both sides at one size under one load; those of the same index are a pair."""

    load: SnapshotLoad
    base: Sequence[Mapping[str, float]]
    head: Sequence[Mapping[str, float]]

    def values(self, metric: str) -> list[tuple[float, float]]:
        """Return the values of base and head by pair; nothing where one is missing or has no logarithm."""
        values = [
            (base.get(metric, 0.0), head.get(metric, 0.0)) for base, head in zip(self.base, self.head, strict=True)
        ]
        return values if all(base > 0 and head > 0 for base, head in values) else []


def judge_snapshots(places: Sequence[SnapshotPairs], min_effect: float) -> list[list[Verdict]]:
    """Return the verdicts of each place on the metrics of `SNAPSHOT_RULES` that both sides reported throughout.

    The change is that of the mean logarithm, in which single starts are bounded; wild ones can leave it unsure. Its
    variance is moderated by those of the other places of its load (Smyth 2004, as for timed starts). There is one look,
    after all repetitions. Places and metrics are adjusted for together.
    """
    judged: list[list[UnadjustedVerdict]] = [[] for _ in places]
    for rule, load in itertools.product(SNAPSHOT_RULES, get_args(SnapshotLoad)):
        measured = {str(index): place.values(rule.name) for index, place in enumerate(places) if place.load == load}
        pairs = {index: values for index, values in measured.items() if len(values) >= FEWEST_PAIRS}
        changes = bounded_starts(
            {index: [math.log(head / base) for base, head in values] for index, values in pairs.items()}
        )
        seen = [_core.sample_variance(starts.values) for starts in changes.values()]
        prior = _core.fit_prior([variance for variance in seen if variance is not None])
        of_all = OfAllCases(are_lopsided(changes.values()))
        for index, starts in changes.items():
            verdict = _judged(rule, pairs[index], starts, prior, min_effect, of_all)
            judged[int(index)].append(verdict)
    return adjusted(judged)


def _judged(
    rule: MetricRule,
    pairs: Sequence[tuple[float, float]],
    starts: BoundedStarts,
    prior: tuple[float, float] | None,
    min_effect: float,
    of_all: OfAllCases,
) -> UnadjustedVerdict:
    look = Look(rule, partial(moderated_change, starts.values, prior, RESOLUTION), WHOLE_ERROR, min_effect)
    word, found = look.judged()
    word, wild_starts = looked_at_wild_starts(rule, starts, word, min_effect, of_all)
    centre = math.exp(statistics.fmean(math.log(base * head) / 2 for base, head in pairs))
    return look.verdict((word, found), sides_around(centre, found.change), len(pairs), len(pairs), wild_starts)
