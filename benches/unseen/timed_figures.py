"""What verdicts on time cost and miss: comparisons whose starts are drawn from those of harmless edits.

Each is ended by the rule of the lab, and by the one before for comparison. What a start takes is measured here: cases
that share one against cases with a start each, in turns.
"""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Final

from benches.figures import Figure
from benches.truth.samples import KEPT
from benches.unseen.start_seconds import StartSeconds, measured_seconds
from benches.unseen.timed_rules import BEFORE, NOW, Draw, Ended, Rule, compared, pair_of, slow_in_some
from benches.wild_starts import measured
from zerolap.judge import TimedPair
from zerolap.records import UNCHANGED

CASES: Final = 12
COMPARISONS: Final = 100
COMPARISONS_OF_ONE: Final = 300
ELAPSED_SPREAD: Final = 0.01
"""By how much the elapsed time of a start scatters beside its CPU time; samples have the latter alone."""
CHANGE: Final = math.log1p(0.02)
SLOW_SHARE, SLOW_BY = 0.1, 1.0


def timed_figures(seed: int) -> dict[str, Figure]:
    """Return the figures; all that is drawn is drawn with the seed."""
    starts: dict[str, list[float]] = {}
    for path in sorted(KEPT.glob("truth-*.json.xz")):
        starts |= {name: ratios for name, ratios in measured(path).items() if ratios}
    names = sorted(starts)[:CASES]
    seconds = measured_seconds()

    def ended(
        rule: Rule, planted: Callable[[str, int, int, random.Random], float], cases: int = CASES, comparisons: int = 0
    ) -> list[Ended]:
        chance = random.Random(seed)
        return [
            compared(names[:cases], _draw(starts, planted, number), rule, chance)
            for number in range(comparisons or COMPARISONS)
        ]

    def nothing(_name: str, _comparison: int, _start: int, _chance: random.Random) -> float:
        return 0.0

    def one_slower(name: str, comparison: int, _start: int, _chance: random.Random) -> float:
        return CHANGE if name == names[comparison % len(names)] else 0.0

    slow: dict[int, Callable[[int, random.Random], float]] = {}

    def sometimes_slow(_name: str, comparison: int, start: int, chance: random.Random) -> float:
        return slow.setdefault(comparison, slow_in_some(SLOW_SHARE, SLOW_BY))(start, chance)

    nulls, nulls_before = ended(NOW, nothing), ended(BEFORE, nothing)
    slower = ended(NOW, one_slower)
    lopsided = ended(NOW, sometimes_slow)
    slow.clear()
    alone = ended(NOW, sometimes_slow, 1, COMPARISONS_OF_ONE)
    changed = [ended_of.answers[names[number % len(names)]] for number, ended_of in enumerate(slower)]
    cost, cost_before = _seconds(nulls, seconds, is_shared=True), _seconds(nulls_before, seconds, is_shared=False)
    power_seconds = statistics.fmean(
        ended_of.starts[names[number % len(names)]] for number, ended_of in enumerate(slower)
    ) * (seconds.of_start / 3 + seconds.of_case)
    notes = [
        f"a start takes {seconds.of_start:.2f} s and {seconds.of_case:.2f} s for each case on it, here and now",
        f"before: {cost_before:.2f} s; ratio {cost / cost_before:.2f}, at most 0.5 wanted",
        f"starts a case {_starts(nulls):.1f}, before {_starts(nulls_before):.1f}",
    ]
    return {
        "nulls": _figure(nulls, _is_changed, "alarms of verdicts, at most 0.0025"),
        "nulls_same": _figure(nulls, lambda word, _: word == "same", "of verdicts"),
        "seconds_null_case": Figure(cost, "s, at most 4.5", [asdict(seconds)], len(nulls), notes=notes),
        "seconds_ratio": Figure(cost / cost_before, "of before, at most 0.5", [], len(nulls)),
        "power_2pct": Figure(
            sum(word == "regression" for word in changed) / len(changed),
            "found, 0.9 in 15 s wanted",
            [asdict(one) for one in slower],
            len(slower),
            notes=[f"{power_seconds:.1f} s a case; called same {changed.count('same')} times"],
        ),
        "lopsided_same": _figure(lopsided, lambda word, _: word == "same", "of verdicts, at most 0.05"),
        "lopsided_found": _figure(lopsided, _is_told, "of verdicts, at least 0.8"),
        "lopsided_same_alone": _figure(alone, lambda word, _: word == "same", "of single cases"),
        "lopsided_found_alone": _figure(alone, _is_told, "of single cases"),
    }


def _draw(
    starts: dict[str, list[float]], planted: Callable[[str, int, int, random.Random], float], comparison: int
) -> Draw:
    def draw(name: str, number: int, chance: random.Random) -> TimedPair:
        change = chance.choice(starts[name]) + planted(name, comparison, number, chance)
        return pair_of(change, change + chance.gauss(0, ELAPSED_SPREAD))

    return draw


def _is_changed(word: str | None, _: str | None) -> bool:
    return word in ("regression", "improvement")


def _is_told(word: str | None, reason: str | None) -> bool:
    """Whether it is stated that a side is slow in some starts, or that it is slower."""
    return word == "regression" or (word not in UNCHANGED and reason is not None)


def _seconds(comparisons: Sequence[Ended], seconds: StartSeconds, *, is_shared: bool) -> float:
    """Return the seconds a case."""
    of_start, of_case = (seconds.of_start, seconds.of_case) if is_shared else (0.0, seconds.alone)
    return statistics.fmean(one.seconds(of_start, of_case) / len(one.starts) for one in comparisons)


def _starts(comparisons: Sequence[Ended]) -> float:
    return statistics.fmean(starts for one in comparisons for starts in one.starts.values())


def _figure(comparisons: Sequence[Ended], counts: Callable[[str | None, str | None], bool], unit: str) -> Figure:
    words = [counts(word, one.reasons[name]) for one in comparisons for name, word in one.answers.items()]
    return Figure(sum(words) / len(words), unit, [asdict(one) for one in comparisons], len(words))
