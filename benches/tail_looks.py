"""What an open loop's p99 costs and finds: `python -m benches.tail_looks [SEED [COMPARISONS]]`.

Comparisons of twelve cases are drawn and judged at the looks of the lab, with its own rules of when a case is looked at
again. CPU time and throughput have not changed; the p99 of one case may have.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from benches.looks import CASES, METRICS_OF_A_CASE, SPREAD_OF_SPREADS
from benches.wild_starts import CPU, ELAPSED, SPREAD, SPREAD_OF_ELAPSED
from zerolap.judge import (
    DEFAULT_MIN_EFFECT,
    LOOKS,
    JudgedCase,
    Q,
    Starts,
    StartsLookedAt,
    TimedPair,
    judge_cases,
    time_answer,
    undecided_in_time,
)
from zerolap.records import TAIL, Settings

COMPARISONS: Final = 100
SPREADS_OF_TAILS: Final = (None, 0.05, 0.1, 0.15, 0.3)
"""The standard deviations of a start's p99 as a log ratio; none where there is no open loop."""
CHANGES: Final = (0.0, 0.1, 0.2, 0.3)
SETTINGS: Final = Settings(engines=["timed"], min_effect=dict(DEFAULT_MIN_EFFECT), q=Q, budget_seconds=None, seed=1)
Ended: TypeAlias = tuple[str | None, int]
Cases: TypeAlias = Mapping[str, Sequence[TimedPair]]


def drawn(spread_of_tail: float | None, change: float, chance: random.Random) -> Cases:
    """Return as many starts of all cases as the last look takes; the p99 of the first case is so much longer."""
    cases = {}
    for case in range(CASES):
        own, of_tail = (math.exp(chance.gauss(0, SPREAD_OF_SPREADS)) for _ in range(2))
        tail = None if spread_of_tail is None else (math.log1p(change) if case == 0 else 0.0, spread_of_tail * of_tail)
        cases[str(case)] = list(_starts(SPREAD * own, tail, chance))
    return cases


def _starts(spread: float, tail: tuple[float, float] | None, chance: random.Random) -> Iterator[TimedPair]:
    for _ in range(LOOKS[-1]):
        cpu = chance.gauss(0, spread)
        changes = {CPU: cpu, ELAPSED: cpu + chance.gauss(0, SPREAD_OF_ELAPSED)}
        if tail is not None:
            changes[TAIL] = chance.gauss(*tail)
        yield TimedPair(1, changes, dict.fromkeys(changes, 0.0), {}, {}, {})


def compared(cases: Cases) -> dict[str, Ended]:
    """Return by case the answer on its time, and the starts that it was decided after."""
    looks = dict.fromkeys(cases, 0)
    while True:
        looked_at = {name: _looked_at(cases[name][: LOOKS[look]]) for name, look in looks.items()}
        wanted = undecided_in_time(looked_at, frozenset(), SETTINGS, {}, METRICS_OF_A_CASE * len(cases))
        wanted = frozenset(name for name in wanted if looks[name] + 1 < len(LOOKS))
        if not wanted:
            judged = {
                name: JudgedCase({}, is_identical=False, at_full_speed=one.at_full_speed, of_cost=one.of_cost)
                for name, one in looked_at.items()
            }
            verdicts = judge_cases(judged, SETTINGS, {})
            return {name: (time_answer(verdicts[name])[0], LOOKS[look]) for name, look in looks.items()}
        looks |= {name: looks[name] + 1 for name in wanted}


def _looked_at(pairs: Sequence[TimedPair]) -> StartsLookedAt:
    starts = Starts(pairs, "standalone", has_fixed_layouts=False)
    return StartsLookedAt(len(pairs), starts, starts, is_paced=False)


def main() -> None:
    """Print a line for each spread and change: how cases end, and after how many starts on the mean."""
    arguments = [int(argument) for argument in sys.argv[1:3]]
    seed, comparisons = (*arguments, *(1, COMPARISONS)[len(arguments) :])
    print(f"seed {seed}, {comparisons} comparisons a row; same, unsure, regression, improvement; starts a case")
    for spread in SPREADS_OF_TAILS:
        for change in CHANGES if spread is not None else (0.0,):
            chance = random.Random(seed)
            of_comparisons = [compared(drawn(spread, change, chance)) for _ in range(comparisons)]
            ended = [one for of in of_comparisons for name, one in of.items() if change == 0 or name == "0"]
            words = Counter(word for word, _ in ended)
            shares = " ".join(
                f"{words[word] / len(ended):6.1%}" for word in ("same", "unsure", "regression", "improvement")
            )
            label = "no open loop" if spread is None else f"p99 differs by {spread:.0%}, {change:+.0%}"
            print(f"{label:28} {shares}   {sum(starts for _, starts in ended) / len(ended):5.1f}")


if __name__ == "__main__":
    main()
