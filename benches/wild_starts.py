"""What verdicts make of starts that lie far from the others: `python -m benches.wild_starts [SEED [COMPARISONS]]`.

Comparisons of twelve cases are drawn whose starts differ by 1.4 %, and judged at the looks of the lab by CPU time and
elapsed time. Some starts are longer: of both sides alike, of the head in one case, or of the head in all cases. `as
measured` draws from the starts of harmless edits in `benches/samples`.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from benches.looks import CASES, METRICS_OF_A_CASE, MIN_EFFECT, SPREAD_OF_SPREADS
from benches.truth.case_data import cases_of
from benches.truth.samples import KEPT, SampleFile
from zerolap.judge import (
    ALL_LOOKS,
    LOOKS,
    TimedPair,
    UnadjustedVerdict,
    adjusted,
    is_certain_change,
    judge_timed,
    time_answer,
    wants_more_starts,
)

CPU, ELAPSED = "cpu_ns_per_op", "elapsed_ns_per_op"
SPREAD, SPREAD_OF_ELAPSED = 0.014, 0.02
COMPARISONS = 300
HARMLESS: Final = ("nulls", "null_repeats")

Where: TypeAlias = Literal["no case", "both sides", "head, one case", "head, all cases"]
Cases: TypeAlias = Mapping[str, Sequence[TimedPair]]


@dataclass(frozen=True)
class LongStarts:
    """Which starts take longer: a share of those of each side that does so, and how much longer, as a fraction."""

    where: Where
    share: float = 0.0
    longer: float = 0.0

    def __str__(self) -> str:
        return "none" if self.where == "no case" else f"{self.where}: {self.share:.0%} +{self.longer:.0%}"


ROWS: Final = (
    LongStarts("no case"),
    LongStarts("both sides", 0.01, 0.12),
    LongStarts("both sides", 0.03, 0.12),
    LongStarts("both sides", 0.01, 1.0),
    *(
        LongStarts(where, share, longer)
        for where in ("head, one case", "head, all cases")
        for share, longer in ((0.1, 1.0), (0.05, 4.0), (0.1, 0.25), (0.2, 0.12), (0.3, 0.12))
    ),
)


def drawn(long_starts: LongStarts, chance: random.Random) -> Cases:
    """Return as many starts of all cases as the last look takes."""
    return {
        str(case): list(_starts(long_starts, chance, is_first=case == 0, spread=_own_spread(chance)))
        for case in range(CASES)
    }


def _own_spread(chance: random.Random) -> float:
    return SPREAD * math.exp(chance.gauss(0, SPREAD_OF_SPREADS))


def _starts(long_starts: LongStarts, chance: random.Random, *, is_first: bool, spread: float) -> Iterator[TimedPair]:
    where = long_starts.where
    has_long = where in ("both sides", "head, all cases") or (where == "head, one case" and is_first)
    for _ in range(ALL_LOOKS[-1]):
        change, elapsed = chance.gauss(0, spread), chance.gauss(0, SPREAD_OF_ELAPSED)
        sides = (1, -1) if where == "both sides" else (1,)
        is_long = [chance.random() < long_starts.share for _ in sides]
        if has_long:
            change += math.fsum(side for side, long in zip(sides, is_long, strict=True) if long) * math.log1p(
                long_starts.longer
            )
        yield _pair(change, change + elapsed)


def _pair(change: float, elapsed: float) -> TimedPair:
    changes = {CPU: change, ELAPSED: elapsed}
    return TimedPair(1, changes, dict.fromkeys(changes, 0.0), {}, {}, {})


def measured(path: Path) -> dict[str, list[float]]:
    """Return the log ratios of starts of harmless edits by case, as a file of samples has them."""
    starts: dict[str, list[float]] = {}
    for sample in SampleFile(path).samples:
        for case in cases_of(sample) if sample.experiment in HARMLESS else ():
            starts.setdefault(case.case, []).extend(case.log_ratios)
    return starts


def drawn_from(starts: Mapping[str, Sequence[float]], chance: random.Random) -> Cases:
    """Return as many starts of all cases, drawn from those that were measured."""
    return {
        name: [
            _pair(change, change + chance.gauss(0, SPREAD_OF_ELAPSED))
            for change in chance.choices(of_case, k=ALL_LOOKS[-1])
        ]
        for name, of_case in starts.items()
        if of_case
    }


def compared(cases: Cases) -> dict[str, tuple[str | None, int]]:
    """Return by case the answer on its time, and the starts that it was decided after."""
    looks = dict.fromkeys(cases, 0)
    while True:
        judged = _judged({name: starts[: ALL_LOOKS[looks[name]]] for name, starts in cases.items()})
        undecided = [
            name for name, of_case in judged.items() if _is_undecided(of_case, ALL_LOOKS[looks[name]], len(cases))
        ]
        if not undecided:
            verdicts = adjusted(list(judged.values()))
            return {
                name: (time_answer(of_case)[0], ALL_LOOKS[looks[name]])
                for name, of_case in zip(judged, verdicts, strict=True)
            }
        looks |= {name: looks[name] + 1 for name in undecided}


def _judged(cases: Cases) -> dict[str, list[UnadjustedVerdict]]:
    by_metric = [judge_timed(metric, cases, MIN_EFFECT) for metric in (CPU, ELAPSED)]
    return {name: [judged[name] for judged in by_metric] for name in cases}


def _is_undecided(judged: Sequence[UnadjustedVerdict], starts: int, cases: int) -> bool:
    comparisons = cases * METRICS_OF_A_CASE
    if any(is_certain_change(of_metric, comparisons) for of_metric in judged):
        return False
    return any(wants_more_starts(of_metric, starts, comparisons) for of_metric in judged)


def _print_row(name: str, ended: Sequence[tuple[str | None, int]]) -> None:
    words, looks = Counter(word for word, _ in ended), Counter(starts for _, starts in ended)
    shares = [f"{words[word] / len(ended):6.1%}" for word in ("same", "unsure", "regression", "improvement")]
    of_looks = " ".join(f"{looks[starts] / len(ended):4.0%}" for starts in LOOKS)
    print(f"{name:32} {' '.join(shares)}   {of_looks}   {sum(starts for _, starts in ended) / len(ended):5.1f}")


def main() -> None:
    """Print a line for each kind of long starts: how cases end, after how many starts, and the mean of these."""
    arguments = [int(argument) for argument in sys.argv[1:3]]
    seed, comparisons = (*arguments, *(1, COMPARISONS)[len(arguments) :])
    print(f"seed {seed}, {comparisons} comparisons a row; same, unsure, regression, improvement; ended at {LOOKS}")
    for row in ROWS:
        chance = random.Random(seed)
        of_comparisons = [compared(drawn(row, chance)) for _ in range(comparisons)]
        is_of_one = row.where == "head, one case"
        _print_row(str(row), [of["0"] for of in of_comparisons] if is_of_one else _all(of_comparisons))
    for path in sorted(KEPT.glob("truth-*.json.xz")):
        chance, starts = random.Random(seed), measured(path)
        _print_row("as measured", _all([compared(drawn_from(starts, chance)) for _ in range(comparisons)]))


def _all(comparisons: Sequence[Mapping[str, tuple[str | None, int]]]) -> list[tuple[str | None, int]]:
    return [ended for of_comparison in comparisons for ended in of_comparison.values()]


if __name__ == "__main__":
    main()
