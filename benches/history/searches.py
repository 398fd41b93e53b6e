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
OTHER_SEARCHES: Final = 150
PEER_SEARCHES: Final = 4000
PLACED_SD: Final = 0.002
"""What the search takes builds to differ by where each start has functions in an order of its own."""
SECONDS: Final = BisectionCosts(build=45.0, start=2.0, count=3.0)
"""A build of Redis on two processors without a cache, a start of both sides, and counting a commit."""


@dataclass(frozen=True)
class Starts:
    """What starts are drawn from; the search takes them for normal, and builds for alike but for 0.2 %.

    Student's t of `degrees`, scaled to the usual deviation; a share of `wild` ones is `WILD` deviations off, on both
    sides or on the slow one; builds differ by `build_sd` however many starts they have. `effect` is the change in
    deviations of a start.
    """

    name: str
    degrees: float = math.inf
    wild: float = 0.0
    is_one_sided: bool = False
    build_sd: float = 0.0
    effect: float = 1.0

    def drawn(self, chance: random.Random) -> float:
        """Return the distance of a start from its commit's level."""
        distance = chance.gauss(0.0, 1.0)
        if math.isfinite(self.degrees):
            # A t is a normal variable over the root of a chi-squared one, a gamma variable of twice the scale.
            chi_squared = chance.gammavariate(self.degrees / 2, 2.0)
            scale = math.sqrt((self.degrees - 2) / self.degrees)
            distance *= scale / math.sqrt(chi_squared / self.degrees)
        if chance.random() < self.wild:
            distance += WILD if self.is_one_sided else chance.choice((-WILD, WILD))
        return SIZE * distance


WILD: Final = 6.0
NORMAL: Final = Starts("normal")
OF_OTHER_KINDS: Final = (
    Starts("Student's t, 3 degrees of freedom", degrees=3),
    Starts("5 % wild, both sides", wild=0.05),
    Starts("6 % wild, slow", wild=0.06, is_one_sided=True),
    *(Starts(f"builds differ by {sd:.1%}", build_sd=sd) for sd in (0.005, 0.01, 0.02)),
    *(Starts(f"a change of {effect} deviations", effect=effect) for effect in (0.6, 0.4)),
)


@dataclass(frozen=True)
class Condition:
    """What is known of the commits of a range, and what measuring them costs.

    `changing` is the share of the commits that change what the case executes. A search learns of it by counting the
    commits that it builds; `counted` is whether all were counted before, as those of a watched branch are.
    """

    costs: BisectionCosts = SECONDS
    changing: float = 1.0
    counted: bool = False
    starts: Starts = NORMAL

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
        build_sd = condition.starts.build_sd
        self._of_builds = [self._chance.gauss(0.0, build_sd) if build_sd else 0.0 for _ in range(COMMITS + 1)]
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
            state = Bisection(self._commits, costs, BisectionNoise(EXPECTED_SD**2, self._layout_variance)).state()
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

    @property
    def _layout_variance(self) -> float:
        """What the search takes for the variance of builds: none where they are drawn alike, else as the lab does."""
        return PLACED_SD**2 if self.condition.starts is not NORMAL else 0.0

    def _timed(self, position: int, starts: int) -> BisectedCommit:
        kind = self.condition.starts
        level = self._of_builds[position] + (kind.effect * SIZE if position >= self.culprit else 0.0)
        drawn = [level + kind.drawn(self._chance) for _ in range(starts)]
        commit = self._commits[position]
        return replace(commit, log_ratios=(*commit.log_ratios, *drawn))

    def is_right(self) -> bool:
        """Whether the search ends with the culprit alone."""
        return self.named() == (self.culprit,)

    def named(self) -> tuple[int, ...]:
        """Return the commits that the search ends with: one that is certain, several, or none."""
        return next((change.positions for change in self.located()), ())


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


def bisect_otherwise() -> Figure:
    """Measure searches whose starts are of other kinds than the rule assumes; the value is of the kind worst named.

    Wrong is a single commit that is not the culprit.
    """
    wrong, notes, samples = [], [], []
    for kind in OF_OTHER_KINDS:
        searches = [ReplayedSearch(number, Condition(starts=kind)) for number in range(OTHER_SEARCHES)]
        ended = [(search.named(), search.culprit) for search in searches]
        right = statistics.fmean(named == (culprit,) for named, culprit in ended)
        wrong.append(statistics.fmean(len(named) == 1 and named != (culprit,) for named, culprit in ended))
        notes.append(f"{kind.name}: {right:.1%} right, {wrong[-1]:.1%} wrong")
        samples.append([named == (culprit,) for named, culprit in ended])
    return Figure(100 * max(wrong), "of 100 searches", samples, len(OF_OTHER_KINDS) * OTHER_SEARCHES, {}, notes)


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
    "bisect_otherwise": bisect_otherwise,
    "bisect_time_ratio": bisect_time_ratio,
}
