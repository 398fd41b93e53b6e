"""Comparisons drawn from starts that were measured at many placements of a harmless edit."""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benches.comparing import ClockedComparison
from zerolap import _core, open_store
from zerolap.judge import LOOKS, TimedPair, judge_timed, timed_looks
from zerolap.records import BASE, HEAD, Timeline

METRIC = "cpu_ns_per_op"
DRAWS = 400
DRAWN_CASES = 12
POWER = 0.95
EFFECT = 0.02
COVERED_STARTS = 12
REGIMES = 3
"""A common shift holds for one of so many parts of a comparison."""


Starts: TypeAlias = Mapping[str, Sequence[float]]
"""What single starts came to, by case: log ratios of head to base."""


@dataclass(frozen=True)
class PowerCost:
    """Machine seconds a case up to the look at which the wanted power is reached, or up to the last one."""

    seconds: float
    reached: float
    notes: list[str]


def starts_of(comparisons: Sequence[ClockedComparison], location: Path) -> dict[str, list[float]]:
    """Return what the starts of comparisons came to, by case."""
    starts: dict[str, list[float]] = {}
    with open_store(location) as store:
        for comparison in comparisons:
            measurements = {
                (trial.case, trial.block, trial.side): measurement
                for trial, measurement in store.measurements(comparison.document.id)
                if trial.engine == "timed" and trial.per_second is None and measurement.timeline is not None
            }
            for (case, block, side), base in measurements.items():
                if side != BASE:
                    continue
                both = (base, measurements[case, block, HEAD])
                of_base, of_head = (Timeline.model_validate_json(store.blobs.get(one.timeline or "")) for one in both)
                starts.setdefault(case, []).append(TimedPair.of(of_base, of_head).changes[METRIC])
    return starts


def _drawn(starts: Starts, chance: random.Random, count: int) -> dict[str, list[float]]:
    """Return log ratios of starts without any change, drawn with replacement, of some of the cases."""
    drawn = {}
    for number in range(DRAWN_CASES):
        case = chance.choice(list(starts))
        ratios = starts[case]
        centre = statistics.mean(ratios)
        drawn[f"{number} {case}"] = [chance.choice(ratios) - centre for _ in range(count)]
    return drawn


def _pair(log_ratio: float) -> TimedPair:
    return TimedPair(1, {METRIC: log_ratio}, {METRIC: 0.0}, {}, {}, {})


def _words(cases: Mapping[str, Sequence[float]], effect: float) -> dict[str, str]:
    judged = judge_timed(METRIC, {name: [_pair(one) for one in ratios] for name, ratios in cases.items()}, effect)
    return {name: one.verdict.verdict for name, one in judged.items()}


def seconds_for_power(starts: Starts, change: float, seconds_per_start: float) -> PowerCost:
    """Return what it costs to detect a change of one case in most comparisons; half of it is the smallest effect.

    A start of one case, both sides with their relinks and data, takes `seconds_per_start`.
    """
    chance, looks = random.Random(1), timed_looks(change / 2)
    detected = dict.fromkeys(looks, 0)
    for _ in range(DRAWS):
        drawn = _drawn(starts, chance, looks[-1])
        changed = next(iter(drawn))
        drawn[changed] = [one + math.log1p(change) for one in drawn[changed]]
        for look in looks:
            if _words({name: ratios[:look] for name, ratios in drawn.items()}, change / 2)[changed] == "regression":
                for later in looks[looks.index(look) :]:
                    detected[later] += 1
                break
    look = next((look for look in looks if detected[look] >= POWER * DRAWS), looks[-1])
    notes = [
        f"power {detected[look] / DRAWS:.0%} after {look} starts, {look * seconds_per_start:.0f} s" for look in looks
    ]
    return PowerCost(look * seconds_per_start, detected[look] / DRAWS, notes)


def coverage(starts: Starts) -> float:
    """Return the share of intervals stated as 95 % that hold the mean over all placements."""
    chance = random.Random(2)
    held = total = 0
    for _ in range(DRAWS):
        drawn = _drawn(starts, chance, COVERED_STARTS)
        variances = [seen for ratios in drawn.values() if (seen := _core.sample_variance(ratios)) is not None]
        prior = _core.fit_prior(variances)
        for ratios in drawn.values():
            change = _core.moderated_change(ratios, prior, 0.001, 0.95)
            held += change.low <= 0.0 <= change.high
            total += 1
    return held / total


def share_of_alarms(starts: Starts, shift: float) -> float:
    """Return the share of verdicts that report a change where all starts of a while are shifted alike.

    Starts of all cases alternate: a while is the same part of the starts of each case.
    """
    chance = random.Random(3)
    alarms = total = 0
    for _ in range(DRAWS):
        drawn = _drawn(starts, chance, LOOKS[0])
        begin = chance.randrange(REGIMES) * LOOKS[0] // REGIMES
        shifted = range(begin, begin + LOOKS[0] // REGIMES)
        for ratios in drawn.values():
            for number in shifted:
                ratios[number] += shift
        words = _words(drawn, EFFECT)
        alarms += sum(word in ("regression", "improvement") for word in words.values())
        total += len(words)
    return alarms / total
