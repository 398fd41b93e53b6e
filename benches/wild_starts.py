"""What single wild starts cost verdicts by the mean and by the bounded estimate: `python -m benches.wild_starts`.

A comparison has twelve cases whose starts differ by 2 %, one of which is judged. Some starts are some 12 % off.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from benches.looks import CASES, METRICS_OF_A_CASE, MIN_EFFECT, RESOLUTION, drawn_starts
from zerolap import _core
from zerolap.judge import LOOKS, Q, share_of_look
from zerolap.judge.verdict_rule import Change, look
from zerolap.judge.wild_starts import bounded
from zerolap.records import METRICS

CPU: Final = METRICS["cpu_ns_per_op"]
SPREAD = 0.02
WILD_SHARES = (0.0, 0.01, 0.03)
"""Of the starts of each side."""
WILD, SPREAD_OF_WILD = 0.12, 0.02
CHANGES = (0.0, 0.03)
COMPARISONS = 1000

Samples: TypeAlias = Mapping[str, Sequence[float]]
ESTIMATES: Final[dict[str, Callable[[Samples], Samples]]] = {"mean": lambda samples: samples, "as verdicts": bounded}


def with_wild_starts(cases: list[list[float]], share: float, chance: random.Random) -> list[list[float]]:
    """Return log ratios of which as many are off as where that share of each side's starts is."""
    return [
        [
            ratio + chance.choice((-1, 1)) * chance.gauss(WILD, SPREAD_OF_WILD)
            if chance.random() < 2 * share
            else ratio
            for ratio in starts
        ]
        for starts in cases
    ]


def looked_at(cases: list[list[float]], estimate: Callable[[Samples], Samples]) -> str:
    """Return the verdict on the first case; a change has to hold against all metrics of all cases."""
    for starts in LOOKS:
        samples = estimate({str(case): ratios[:starts] for case, ratios in enumerate(cases)})
        seen = [_core.sample_variance(list(ratios)) for ratios in samples.values()]
        prior = _core.fit_prior([variance for variance in seen if variance is not None])
        first = list(samples["0"])

        def change_at(
            confidence: float, first: list[float] = first, prior: tuple[float, float] | None = prior
        ) -> Change:
            return Change.of(_core.moderated_change(first, prior, RESOLUTION, confidence))

        word, change = look(CPU, change_at, share_of_look(LOOKS, starts), MIN_EFFECT, Q)
        if word == "same" or (word != "unsure" and change.p * CASES * METRICS_OF_A_CASE <= Q):
            return word
    return "unsure"


def main() -> None:
    """Print a line for each share of wild starts and estimate."""
    for share in WILD_SHARES:
        for name, estimate in ESTIMATES.items():
            chance = random.Random(1)
            words = {
                change: [
                    looked_at(with_wild_starts(drawn_starts(SPREAD, change, chance), share, chance), estimate)
                    for _ in range(COMPARISONS)
                ]
                for change in CHANGES
            }
            same, found = words[0.0].count("same"), words[0.03].count("regression")
            print(
                f"{share:.0%} wild, {name}: without a change {same / COMPARISONS:.0%} the same;"
                f" of changes of 3 % {found / COMPARISONS:.0%} found"
            )


if __name__ == "__main__":
    main()
