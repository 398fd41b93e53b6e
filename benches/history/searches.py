"""How often searches for the culprit of a change are right, and what they cost beside bisection with fixed samples.

Searches are replayed: starts of commits are drawn, and the rule of the lab says what to measure next. The change is as
large as the noise of a start, of both sides together, and neither is known to the search.
"""

import math
import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from benches.figures import Figure
from zerolap.judge import BisectedCommit, Bisection, BisectionCosts, BisectionNoise, LocatedChange

COMMITS: Final = 64
SIZE: Final = 0.05
"""Of the change, and the standard deviation of a start."""
EXPECTED_SD: Final = 0.02
"""What the search takes for it before it has seen any."""
SEARCHES: Final = 400
PEER_SEARCHES: Final = 4000
SECONDS: Final = BisectionCosts(build=45.0, start=2.0, count=3.0)
"""A build of Redis on two processors without a cache, a start of both sides, and counting a commit."""


@dataclass(frozen=True)
class Condition:
    """What is known of the commits of a range, and what measuring them costs.

    `changing` is the share of the commits that change what the case executes. A search learns of it by counting the
    commits that it builds; `counted` is whether all were counted before, as those of a watched branch are.
    """

    costs: BisectionCosts = SECONDS
    changing: float = 1.0
    counted: bool = False

    def __str__(self) -> str:
        code = f"{self.changing:.0%} of the commits change what the case executes"
        known = ", known before" if self.counted else ""
        return f"{code}{known}; a build {self.costs.build:g} s, a start {self.costs.start:g} s"


CONDITIONS: Final = (
    Condition(replace(SECONDS, build=20.0)),
    Condition(),
    Condition(replace(SECONDS, start=5.0)),
    Condition(replace(SECONDS, build=10.0)),
    Condition(changing=0.5),
    Condition(changing=0.5, counted=True),
    Condition(changing=0.25, counted=True),
)


@dataclass
class ReplayedSearch:
    """A range with one culprit, and a search in it; `seconds` are those of builds, counts and starts, ends included."""

    number: int
    condition: Condition
    seconds: float = 0.0

    def __post_init__(self) -> None:
        condition = self.condition
        self._chance = random.Random(f"search {self.number}")
        self.culprit = self._chance.randint(1, COMMITS)
        changes = [self._chance.random() < condition.changing or one == self.culprit for one in range(COMMITS + 1)]
        self._codes = [str(sum(changes[1 : one + 1])) for one in range(COMMITS + 1)]
        self._counts = condition.changing < 1.0 and not condition.counted
        self._commits = [BisectedCommit(code=code if condition.counted else None) for code in self._codes]
        for end in (0, COMMITS):
            self._build(end)

    def _build(self, position: int) -> None:
        commit, costs = self._commits[position], self.condition.costs
        if commit.is_built:
            return
        self.seconds += costs.build
        if self._counts:
            self.seconds += costs.count
            commit = replace(commit, code=self._codes[position])
        self._commits[position] = replace(commit, is_built=True)

    def located(self) -> tuple[LocatedChange, ...]:
        """Search until the first culprit is located, and return it: what follows looks for others."""
        costs = self.condition.costs if self._counts else replace(self.condition.costs, count=0.0)
        while True:
            state = Bisection(self._commits, costs, BisectionNoise(EXPECTED_SD**2, 0.0)).state()
            if state.visit is None or state.changes:
                return state.changes
            position, starts = state.visit.position, state.visit.starts
            if not self._commits[position].is_built:
                self._build(position)
                if self._counts:
                    # What it executes may have answered the question.
                    continue
            self.seconds += costs.start * starts
            self._commits[position] = self._timed(position, starts)

    def _timed(self, position: int, starts: int) -> BisectedCommit:
        level = SIZE if position >= self.culprit else 0.0
        drawn = [self._chance.gauss(level, SIZE) for _ in range(starts)]
        commit = self._commits[position]
        return replace(commit, log_ratios=(*commit.log_ratios, *drawn))

    def is_right(self) -> bool:
        """Whether the search ends with the culprit alone."""
        return [change.positions for change in self.located()] == [(self.culprit,)]


@dataclass(frozen=True)
class FixedBisection:
    """Bisection in which every commit gets the same number of starts, and so does the bad end.

    A commit is bad if its mean lies beyond half of the bad end's: the best threshold where no size is known.
    """

    starts: int

    def is_right(self, number: int) -> bool:
        """Whether a replayed search ends with the culprit."""
        chance = random.Random(f"fixed {number}")
        culprit = chance.randint(1, COMMITS)
        error = SIZE / math.sqrt(self.starts)
        bad_level = chance.gauss(SIZE, error)
        good, bad = 0, COMMITS
        while bad - good > 1:
            middle = (good + bad) // 2
            level = chance.gauss(SIZE if middle >= culprit else 0.0, error)
            good, bad = (good, middle) if level > bad_level / 2 else (middle, bad)
        return bad == culprit

    def seconds(self, costs: BisectionCosts) -> float:
        """Return what it costs: six commits and both ends."""
        steps = int(math.log2(COMMITS))
        return (steps + 2) * costs.build + (steps + 1) * self.starts * costs.start

    @classmethod
    def as_accurate_as(cls, share: float) -> "FixedBisection":
        """Return the one with the fewest starts that is right as often."""
        return next(one for one in cls._growing() if one.share_right() >= share)

    @classmethod
    def _growing(cls) -> Iterator["FixedBisection"]:
        starts = 10
        while True:
            yield cls(starts)
            starts += 1

    def share_right(self) -> float:
        """Return the share of replayed searches that are right."""
        return statistics.fmean(self.is_right(number) for number in range(PEER_SEARCHES))


def bisect_right() -> Figure:
    """Measure how many of a hundred searches end with the culprit alone; nothing is known of the commits."""
    right = [ReplayedSearch(number, Condition()).is_right() for number in range(SEARCHES)]
    share = statistics.fmean(right)
    note = f"{COMMITS} commits; standard error {100 * math.sqrt(share * (1 - share) / SEARCHES):.1f}"
    return Figure(100 * share, "of 100 searches", list(map(int, right)), SEARCHES, {}, [note])


def bisect_time_ratio() -> Figure:
    """Measure the machine seconds of a search over those of a fixed-size bisection that is right as often.

    The value is that of the first condition; notes have the others.
    """
    ratios, notes, samples, peers = [], [], [], []
    for condition in CONDITIONS:
        searches = [ReplayedSearch(number, condition) for number in range(SEARCHES)]
        share = statistics.fmean(search.is_right() for search in searches)
        fixed = FixedBisection.as_accurate_as(share)
        own, other = statistics.fmean(search.seconds for search in searches), fixed.seconds(condition.costs)
        ratios.append(own / other)
        samples.append([search.seconds for search in searches])
        peers.append(other)
        notes.append(
            f"{own / other:.2f} where {condition}: {share:.1%} right in {own:.0f} s, "
            f"with {fixed.starts} starts of each commit in {other:.0f} s"
        )
    trials = len(CONDITIONS) * SEARCHES
    return Figure(ratios[0], "of a fixed size", samples, trials, {"fixed size": peers}, notes)


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {
    "bisect_right": bisect_right,
    "bisect_time_ratio": bisect_time_ratio,
}
