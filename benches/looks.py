"""What parts of the error at the looks at timed starts cost and decide, simulated: `python -m benches.looks`.

Equal parts against those that verdicts use. A comparison has twelve cases, one of which is judged; all of them say how
much starts differ.
"""

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from zerolap import _core
from zerolap.judge import LOOKS, Q, share_of_look
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

PARTS: Final[dict[str, Callable[[int], float]]] = {
    "equal parts": lambda _: 1 / len(LOOKS),
    "as verdicts": partial(share_of_look, LOOKS),
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


def looked_at(cases: list[list[float]], part: Callable[[int], float]) -> Ended:
    """Return where looking at the first case ends; a change has to hold against all metrics of all cases."""
    for starts in LOOKS:
        seen = [_core.sample_variance(ratios[:starts]) for ratios in cases]
        prior = _core.fit_prior([variance for variance in seen if variance is not None])
        change_at = partial(moderated_change, cases[0][:starts], prior, RESOLUTION)
        word, change = Look(CPU, change_at, part(starts), MIN_EFFECT, Q).judged()
        if word == "same" or (word != "unsure" and change.p * CASES * METRICS_OF_A_CASE <= Q):
            return Ended(starts, decided=True)
    return Ended(LOOKS[-1], decided=False)


def main() -> None:
    """Print a line for each spread and way to part the error."""
    print(f"changes of {', '.join(f'{change:.1%}' for change in CHANGES)}; {COMPARISONS} comparisons each")
    for spread in SPREADS:
        for name, part in PARTS.items():
            chance = random.Random(1)
            ended = {
                change: [looked_at(drawn_starts(spread, change, chance), part) for _ in range(COMPARISONS)]
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
