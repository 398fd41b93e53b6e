"""What the looks at timed starts and their parts of the error cost and decide, simulated: `python -m benches.looks`.

Five looks that have parts of the error for themselves, equal ones and growing ones, against those that verdicts use. A
comparison has twelve cases, one of which is judged; all of them say how much starts differ.
"""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from zerolap import _core
from zerolap.judge import LOOKS, Q, look_at_time, share_of_look
from zerolap.judge.look_levels import LookError, PartOfError
from zerolap.judge.verdict_rule import Look, moderated_change
from zerolap.records import METRICS

CPU: Final = METRICS["cpu_ns_per_op"]
MIN_EFFECT = 0.02
CHANGES = (0.0, 0.015, 0.03)
SPREADS = (0.01, 0.02, 0.03, 0.04)
"""Standard deviations of a start's log ratio; a case's own is log-normal about it."""
SPREAD_OF_SPREADS = 0.25
CASES, METRICS_OF_A_CASE = 12, 12
COMPARISONS = 2000
RESOLUTION = 0.001

FIVE_LOOKS: Final = (6, 12, 18, 24, 36)


@dataclass(frozen=True)
class Rule:
    """When a case is looked at, and what a look at so many starts may err."""

    looks: Sequence[int]
    error: Callable[[int], LookError]


RULES: Final = {
    "five looks, equal parts": Rule(FIVE_LOOKS, lambda _: PartOfError(1 / len(FIVE_LOOKS))),
    "five looks, growing parts": Rule(FIVE_LOOKS, lambda starts: PartOfError(share_of_look(FIVE_LOOKS, starts))),
    "as verdicts": Rule(LOOKS, partial(look_at_time, MIN_EFFECT)),
}


@dataclass(frozen=True)
class Ended:
    """Where looking at a case ended, and whether it was decided then."""

    starts: int
    decided: bool


def drawn_starts(spread: float, change: float, chance: random.Random) -> list[list[float]]:
    """Return the log ratios of all starts of a comparison's cases; the first case changed."""
    spreads = [spread * math.exp(chance.gauss(0, SPREAD_OF_SPREADS)) for _ in range(CASES)]
    return [
        [chance.gauss(math.log1p(change) if case == 0 else 0.0, of_case) for _ in range(LOOKS[-1])]
        for case, of_case in enumerate(spreads)
    ]


def looked_at(cases: list[list[float]], rule: Rule) -> Ended:
    """Return where looking at the first case ends; a change has to hold against all metrics of all cases."""
    for starts in rule.looks:
        seen = [_core.sample_variance(ratios[:starts]) for ratios in cases]
        prior = _core.fit_prior([variance for variance in seen if variance is not None])
        change_at = partial(moderated_change, cases[0][:starts], prior, RESOLUTION)
        word, change = Look(CPU, change_at, rule.error(starts), MIN_EFFECT, Q).judged()
        if word == "same" or (word != "unsure" and change.p * CASES * METRICS_OF_A_CASE <= Q):
            return Ended(starts, decided=True)
    return Ended(LOOKS[-1], decided=False)


def main() -> None:
    """Print a line for each spread and way to part the error."""
    print(f"changes of {', '.join(f'{change:.1%}' for change in CHANGES)}; {COMPARISONS} comparisons each")
    for spread in SPREADS:
        for name, rule in RULES.items():
            chance = random.Random(1)
            ended = {
                change: [looked_at(drawn_starts(spread, change, chance), rule) for _ in range(COMPARISONS)]
                for change in CHANGES
            }
            every = [one for of_change in ended.values() for one in of_change]
            starts = statistics.fmean(one.starts for one in every)
            decided = statistics.fmean(one.decided for one in every)
            same = statistics.fmean(one.decided for one in ended[0.0])
            print(
                f"starts differ by {spread:.0%}, {name}: {starts:.1f} starts a case, {decided:.0%} decided,"
                f" {starts / decided:.1f} starts for each verdict; without a change {same:.0%} decided"
            )


if __name__ == "__main__":
    main()
