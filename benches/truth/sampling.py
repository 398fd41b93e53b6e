"""Single starts of comparisons, and comparisons that are drawn from them."""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from zerolap import open_store
from zerolap.judge import DEFAULT_MIN_EFFECT, LOOKS, Q, TimedPair, adjusted, judge_timed
from zerolap.records import COUNTER_METRICS, METRICS

METRIC = "cpu_ns_per_op"
DRAWS = 400
DRAWN_CASES = 12
POWER = 0.95
METRICS_OF_A_CASE = len(METRICS) - len(COUNTER_METRICS)
"""On a machine without hardware counters."""
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


def starts_of(comparison: str, location: Path) -> dict[str, list[float]]:
    """Return the starts that a comparison's verdicts on CPU time are of, by case and in order."""
    starts: dict[str, list[float]] = {}
    with open_store(location) as store:
        for start in sorted(store.start_ratios(comparison), key=lambda start: start.block):
            if start.metric == METRIC and not start.anchor:
                starts.setdefault(start.case, []).append(start.log_ratio)
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


def pair_of(log_ratio: float) -> TimedPair:
    """Return a start of which nothing but the change of CPU time is known."""
    return TimedPair(1, {METRIC: log_ratio}, {METRIC: 0.0}, {}, {}, {})


def _words(cases: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Return the verdicts on drawn cases by the rules and the default effect of comparisons.

    All other metrics of a case are unchanged: CPU time has to hold against as many as a case is judged by.
    """
    effect = DEFAULT_MIN_EFFECT["timed"]
    judged = judge_timed(METRIC, {name: list(map(pair_of, ratios)) for name, ratios in cases.items()}, effect)
    families = [[one, *[replace(one, p=1.0)] * (METRICS_OF_A_CASE - 1)] for one in judged.values()]
    return {name: verdicts[0].verdict for name, verdicts in zip(judged, adjusted(families, Q), strict=True)}


def seconds_for_power(starts: Starts, change: float, seconds_per_start: float) -> PowerCost:
    """Return what it costs to detect a change of one case in most comparisons, as users compare.

    A start of one case, both sides with their relinks and data, takes `seconds_per_start`. A case that is called the
    same is not looked at again.
    """
    chance = random.Random(1)
    detected = dict.fromkeys(LOOKS, 0)
    for _ in range(DRAWS):
        drawn = _drawn(starts, chance, LOOKS[-1])
        changed = next(iter(drawn))
        drawn[changed] = [one + math.log1p(change) for one in drawn[changed]]
        for look in LOOKS:
            word = _words({name: ratios[:look] for name, ratios in drawn.items()})[changed]
            if word == "unsure":
                continue
            for later in LOOKS[LOOKS.index(look) :]:
                detected[later] += word == "regression"
            break
    look = next((look for look in LOOKS if detected[look] >= POWER * DRAWS), LOOKS[-1])
    notes = [
        f"power {detected[look] / DRAWS:.0%} after {look} starts, {look * seconds_per_start:.0f} s" for look in LOOKS
    ]
    return PowerCost(look * seconds_per_start, detected[look] / DRAWS, notes)


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
        words = _words(drawn)
        alarms += sum(word in ("regression", "improvement") for word in words.values())
        total += len(words)
    return alarms / total
