"""Comparisons of drawn starts, ended by the rule of the lab or by the one before: what they say, and what they cost.

The rule before had five looks, each with a part of the error for itself, and a start for each case.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from benches.looks import FIVE_LOOKS, METRICS_OF_A_CASE, MIN_EFFECT
from benches.wild_starts import CPU, ELAPSED
from zerolap.engines import cases_per_start
from zerolap.judge import (
    ALL_LOOKS,
    TimedPair,
    UnadjustedVerdict,
    adjusted,
    is_certain_change,
    judge_timed,
    look_at_time,
    share_of_look,
    time_answer,
    wants_more_starts,
)
from zerolap.judge.look_levels import LookError, PartOfError

Draw: TypeAlias = Callable[[str, int, random.Random], TimedPair]
"""Draws a start of a case; the number is that of the servers' start, which cases may share."""


def _one_of_five(_effect: float, starts: int, _degrees: float) -> LookError:
    return PartOfError(share_of_look(FIVE_LOOKS, starts))


@dataclass(frozen=True)
class Rule:
    """When cases are looked at, what a look may err, and how many of so many cases share a start."""

    looks: Sequence[int]
    look_at: Callable[[float, int, float], LookError]
    cases_per_start: Callable[[int], int]


BEFORE: Final = Rule(FIVE_LOOKS, _one_of_five, lambda _: 1)
NOW: Final = Rule(ALL_LOOKS, look_at_time, cases_per_start)


@dataclass
class Ended:
    """How a comparison ended: answers and starts by case, and the starts of servers that were taken."""

    answers: Mapping[str, str | None]
    starts: Mapping[str, int]
    server_starts: int
    reasons: Mapping[str, str | None] = field(default_factory=dict)

    def seconds(self, of_start: float, of_case: float) -> float:
        """Return what it took, where a start of servers and a case on them take so long."""
        return self.server_starts * of_start + sum(self.starts.values()) * of_case


def pair_of(change: float, elapsed: float) -> TimedPair:
    """Return a start of these log ratios of CPU time and elapsed time."""
    changes = {CPU: change, ELAPSED: elapsed}
    return TimedPair(1, changes, dict.fromkeys(changes, 0.0), {}, {}, {})


def compared(names: Sequence[str], draw: Draw, rule: Rule, chance: random.Random) -> Ended:
    """Carry out a comparison whose starts are drawn, until all cases are decided or had their last look."""
    starts: dict[str, list[TimedPair]] = {name: [] for name in names}
    looks, server_starts = dict.fromkeys(names, 0), 0
    while True:
        while missing := [name for name in names if len(starts[name]) < rule.looks[looks[name]]]:
            block = min(len(starts[name]) for name in missing)
            turns = [name for name in missing if len(starts[name]) == block]
            chance.shuffle(turns)
            together = rule.cases_per_start(len(names))
            for first in range(0, len(turns), together):
                server_starts += 1
                for name in turns[first : first + together]:
                    starts[name].append(draw(name, server_starts, chance))
        judged = _judged(starts, rule)
        undecided = [
            name
            for name, of_case in judged.items()
            if looks[name] + 1 < len(rule.looks) and _is_undecided(of_case, len(starts[name]), len(names))
        ]
        if not undecided:
            return _ended(judged, starts, server_starts)
        looks |= {name: looks[name] + 1 for name in undecided}


def _judged(starts: Mapping[str, Sequence[TimedPair]], rule: Rule) -> dict[str, list[UnadjustedVerdict]]:
    by_metric = [judge_timed(metric, starts, MIN_EFFECT, look_at=rule.look_at) for metric in (CPU, ELAPSED)]
    return {name: [judged[name] for judged in by_metric] for name in starts}


def _is_undecided(judged: Sequence[UnadjustedVerdict], starts: int, cases: int) -> bool:
    comparisons = cases * METRICS_OF_A_CASE
    if any(is_certain_change(of_metric, comparisons) for of_metric in judged):
        return False
    return any(wants_more_starts(of_metric, starts, comparisons) for of_metric in judged)


def _ended(
    judged: Mapping[str, list[UnadjustedVerdict]], starts: Mapping[str, Sequence[TimedPair]], server_starts: int
) -> Ended:
    verdicts = dict(zip(judged, adjusted(list(judged.values())), strict=True))
    answers: dict[str, str | None] = {name: time_answer(of_case)[0] for name, of_case in verdicts.items()}
    wild = {name: of_case[0].wild_starts for name, of_case in verdicts.items()}
    return Ended(
        answers,
        {name: len(of_case) for name, of_case in starts.items()},
        server_starts,
        {name: None if one is None else one.reason for name, one in wild.items()},
    )


def slow_in_some(share: float, longer: float) -> Callable[[int, random.Random], float]:
    """Return what the head takes longer in a start of servers, as a log ratio; it does so in a share of them."""
    drawn: dict[int, float] = {}

    def of_start(number: int, chance: random.Random) -> float:
        if number not in drawn:
            drawn[number] = math.log1p(longer) if chance.random() < share else 0.0
        return drawn[number]

    return of_start
