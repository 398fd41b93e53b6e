"""The rule of a bisection: from what is known of the commits of a range to the next one to be timed, or the culprits.

A change that is as small as the noise of a trial misleads a search that believes each trial. Here each commit has a
probability of being the culprit, which starts add to (Ben-Or and Hassidim, "The Bayesian learner is optimal for noisy
binary search", FOCS 2008). Commits that do not come apart by what they execute cannot be culprits; what changed work is
likelier to have changed time. The levels before and after the change are not known and integrated out. The next trials
are those with the largest expected information about the culprit per second, with the time of builds in it.

A range may hold several changes: after a culprit the rest of the difference is looked for on either side of it, as in
binary segmentation (Vostrikova, Soviet Mathematics Doklady 24, 1981).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from zerolap.judge.bisected_commits import BisectedCommit, BisectionNoise, CommitLevels, prior_weights
from zerolap.judge.visit_information import binary_information, most_information

CERTAIN: Final = 0.95
"""The probability of a culprit at which the search ends."""
VERIFIED: Final = 3.0
"""Standard errors by which two ends have to differ. They are looked at several times: as twice the error of 0.27 %."""
SIGN: Final = 2.0
"""Standard errors that are a sign of a difference, which is then verified."""
EQUIVALENT: Final = 2.326
"""Standard errors for a test of equivalence with an error of 1 %."""
FIRST_STARTS: Final = 6
"""The first starts of each end of a range: fewer do not show how much starts differ."""
STARTS_FOR_REST: Final = 12
"""The starts of each end of the rest of a range beside a culprit, unless fewer decide."""
MOST_STARTS: Final = 60
"""The most starts of a commit; a difference of the ends that these do not show is taken for none."""
PLANNED_STARTS: Final = (4, 8, 12, 16, 24)
"""What a visit is worth is judged by the best of these."""
STARTS_OF_VISIT: Final = 4
"""The starts of a commit after which the search chooses again, perhaps the same commit. Among fewer, a wild start
could not be detected.
"""
LEAST_INFORMATION: Final = 0.005
"""The information in bits that a trial has to promise at least."""
CAUTION: Final = 1.25
"""So much larger the variances of levels count for probabilities, as starts are no normal ones: their tails are
heavier, and wild ones move a level though they are bounded (docs/bisecting.md has what that takes and gives)."""
LEVEL_SD: Final = 0.3
"""Standard deviation of the prior of a level, as a logarithm: wide."""


@dataclass(frozen=True)
class BisectionCosts:
    """Seconds of a build, of looking at what a commit executes, and of a start."""

    build: float
    start: float
    count: float = 0.0


@dataclass(frozen=True)
class Visit:
    """Starts of a commit against the first one: the next step of a search."""

    position: int
    starts: int


@dataclass(frozen=True)
class LocatedChange:
    """A change of the range: the positions that may be its culprit, with their probability together.

    `log_change` is its size with the standard error `error`. More than one position is `certain` if nothing that can be
    built lies between them.
    """

    positions: tuple[int, ...]
    probability: float
    log_change: float
    error: float
    certain: bool


@dataclass(frozen=True)
class BisectionState:
    """Where a search stands: the next visit, or none at its end.

    `outcome` of a search that has ended is `no difference` where the ends do not differ, else `located`. `changes` are
    those that are located so far; where the search was given up, their credible sets. `open_change` is the credible set
    of the one that is looked for. `log_change` is the whole difference with its standard error.
    """

    outcome: Literal["searching", "no difference", "located"]
    visit: Visit | None
    changes: tuple[LocatedChange, ...]
    open_change: LocatedChange | None
    log_change: float
    error: float


@dataclass(frozen=True)
class Bisection:
    """A search in a range of commits, of which the first one, position 0, is good and the last one bad.

    `min_effect` is the smallest change that matters, as a fraction.
    """

    commits: Sequence[BisectedCommit]
    costs: BisectionCosts
    noise: BisectionNoise
    min_effect: float = 0.02

    @cached_property
    def levels(self) -> CommitLevels:
        """The levels of the commits."""
        return CommitLevels(self.commits, self.noise)

    def state(self) -> BisectionState:
        """Return where the search stands; the same commits give the same state."""
        last = len(self.commits) - 1
        checked = self._checked(0, last) if any(prior_weights(self.commits)) else False
        searched = self._searched(0, last) if checked is True else _Searched(checked or None)
        outcome: Literal["searching", "no difference", "located"] = "searching"
        if searched.visit is None:
            outcome = "located" if checked else "no difference"
        change, variance = self.levels.difference(0, last)
        changes = tuple(sorted(searched.located, key=lambda change: change.positions[0]))
        return BisectionState(outcome, searched.visit, changes, searched.open_change, change, math.sqrt(variance))

    # Differences.

    def _checked(self, first: int, last: int) -> bool | Visit:
        """Return whether two positions differ by what matters, or the visit that this takes."""
        change, variance = self.levels.difference(first, last)
        error = math.sqrt(variance)
        if math.isfinite(error):
            if abs(change) + EQUIVALENT * error < self.min_effect:
                return False
            if abs(change) >= VERIFIED * error:
                return True
        return self._more_of(first, last) or False

    def _more_of(self, first: int, last: int, most: int = MOST_STARTS) -> Visit | None:
        """Return the visit that makes the difference of two positions better known; none if both had the most."""
        open_ends = [
            position
            for position in (first, last)
            if not self.levels.is_exact(position) and self.levels.starts(position) < most
        ]
        if not open_ends:
            return None
        end = min(open_ends, key=lambda position: (self.levels.precisions[position], -position))
        return Visit(end, STARTS_OF_VISIT if self.levels.starts(end) >= FIRST_STARTS else FIRST_STARTS)

    def _rest(self, first: int, last: int) -> bool | Visit:
        """Return whether something is left of the difference on a side of a located change, or the visit this takes.

        It is verified only where there is a sign of it. Both ends have enough starts for a sign of what matters, or as
        many as such a doubt is worth.
        """
        change, variance = self.levels.difference(first, last)
        error = math.sqrt(variance)
        visit = self._more_of(first, last, STARTS_FOR_REST)
        if error > self.min_effect / VERIFIED and visit is not None:
            return visit
        return False if abs(change) < SIGN * error else self._checked(first, last)

    # The search.

    def _searched(self, first: int, last: int) -> "_Searched":
        """Locate the changes between two positions that differ, as far as they are known."""
        segment = _Segment(self, first, last)
        group = segment.likeliest
        if group.probability < CERTAIN:
            visit = segment.best_visit()
            credible = segment.credible()
            return _Searched(None, (credible,)) if visit is None else _Searched(visit, (), credible)
        before = max(position for position in segment.measurable if position < group.positions[0])
        after = min(position for position in segment.measurable if position >= group.positions[-1])
        for end in (before, after):
            if not self.levels.precisions[end]:
                return _Searched(Visit(end, STARTS_OF_VISIT), (), segment.credible())
        change, variance = self.levels.difference(before, after)
        culprit = LocatedChange(group.positions, group.probability, change, math.sqrt(variance), certain=True)
        located: tuple[LocatedChange, ...] = (culprit,)
        for begin, end in ((first, before), (after, last)):
            if begin == end or not any(segment.weights[begin + 1 : end + 1]):
                continue
            rest = self._rest(begin, end)
            searched = self._searched(begin, end) if rest is True else _Searched(rest or None)
            located += searched.located
            if searched.visit is not None:
                return _Searched(searched.visit, located, searched.open_change)
        return _Searched(None, located)


@dataclass(frozen=True)
class _Searched:
    """What a search in a part of the range came to; with a visit it goes on, for `open_change` if that is known."""

    visit: Visit | None
    located: tuple[LocatedChange, ...] = ()
    open_change: LocatedChange | None = None


@dataclass(frozen=True)
class _Group:
    """Candidates that no trial can tell apart, with their probability together."""

    positions: tuple[int, ...]
    probability: float


@dataclass(frozen=True)
class _Segment:
    """A part of the range whose ends differ."""

    search: Bisection
    first: int
    last: int

    @cached_property
    def weights(self) -> list[float]:
        """How likely each position of the whole range is the culprit before any is timed."""
        return prior_weights(self.search.commits)

    @cached_property
    def measurable(self) -> list[int]:
        """The positions of this segment that can be timed."""
        return [
            position
            for position in range(self.first, self.last + 1)
            if position in (self.first, self.last) or not self.search.commits[position].is_skipped
        ]

    @cached_property
    def _sums(self) -> list[tuple["_Sum", "_Sum"]]:
        """The sums of levels before each candidate, and from it on."""
        values = self.search.levels.values
        precisions = [precision / CAUTION for precision in self.search.levels.precisions]
        inside = [_Sum(precisions[at], precisions[at] * values[at]) for at in range(self.first, self.last + 1)]
        before = list(itertools.accumulate(inside))
        after = list(itertools.accumulate(reversed(inside)))[::-1]
        return list(zip(before, after[1:], strict=False))

    @cached_property
    def probabilities(self) -> list[float]:
        """The probability of each position of the range to be the culprit of this segment."""
        prior = self.weights[self.first + 1 : self.last + 1]
        logs = [
            math.log(weight) + low.log_marginal + high.log_marginal if weight > 0 else -math.inf
            for weight, (low, high) in zip(prior, self._sums, strict=True)
        ]
        largest = max(logs)
        shares = [math.exp(one - largest) for one in logs]
        total = math.fsum(shares)
        probabilities = [0.0] * len(self.search.commits)
        probabilities[self.first + 1 : self.last + 1] = [share / total for share in shares]
        return probabilities

    @cached_property
    def groups(self) -> list[_Group]:
        """The candidates that can be told apart, in order."""
        groups, measurable = [], self.measurable
        for before, after in itertools.pairwise(measurable):
            positions = [position for position in range(before + 1, after + 1) if self.weights[position] > 0]
            if positions:
                groups.append(_Group(tuple(positions), math.fsum(self.probabilities[at] for at in positions)))
        return groups

    @property
    def likeliest(self) -> _Group:
        """The likeliest candidate, or those that cannot be told apart from it."""
        return max(self.groups, key=lambda group: group.probability)

    def credible(self) -> LocatedChange:
        """Return the smallest set of candidates that is likely enough together."""
        candidates = range(self.first + 1, self.last + 1)
        ordered = sorted(candidates, key=lambda position: -self.probabilities[position])
        shares = list(itertools.accumulate(self.probabilities[position] for position in ordered))
        size = 1 + sum(share < CERTAIN for share in shares[:-1])
        change, variance = self.search.levels.difference(self.first, self.last)
        return LocatedChange(tuple(ordered[:size]), shares[size - 1], change, math.sqrt(variance), certain=False)

    @cached_property
    def _step(self) -> float:
        """The size of the change, as the mean over all candidates."""
        inside = self.probabilities[self.first + 1 : self.last + 1]
        return math.fsum(
            probability * (high.mean - low.mean) for probability, (low, high) in zip(inside, self._sums, strict=True)
        )

    def best_visit(self) -> Visit | None:
        """Return the visit with the most information per second; none where no visit has any worth its trials."""
        before = list(itertools.accumulate(self.probabilities))
        best_rate, best = 0.0, None
        # Where the answer is least certain is most to be learned: what cannot be better is not computed.
        for position in sorted(self.measurable[1:], key=lambda position: abs(before[position] - 0.5)):
            if self.search.levels.starts(position) >= MOST_STARTS:
                continue
            for starts in PLANNED_STARTS:
                distance, seconds = self._distance(position, starts), self._seconds(position, starts)
                if most_information(before[position], distance) <= best_rate * seconds:
                    continue
                bits = binary_information(before[position], distance)
                if bits >= LEAST_INFORMATION and bits > best_rate * seconds * (1 + 1e-9):
                    best_rate, best = bits / seconds, Visit(position, STARTS_OF_VISIT)
        return None if best is None else self._balanced(best)

    def _balanced(self, visit: Visit) -> Visit:
        """Return the visit, or one of an end of the segment whose level is known less: a commit is told by both.

        That what is learned of a commit depends on how well the levels are known is not in its information.
        """
        precisions = self.search.levels.precisions
        end = min((self.first, self.last), key=lambda position: precisions[position])
        is_known_less = precisions[end] <= precisions[visit.position] and self.search.levels.starts(end) < MOST_STARTS
        return Visit(end, STARTS_OF_VISIT) if is_known_less else visit

    def _distance(self, position: int, starts: int) -> float:
        """Return by how many standard deviations the mean of further starts differs before and after the change.

        What a build's layout adds is the same in all its starts: earlier ones have shown a part of it.
        """
        layout, variance = self.search.noise.layout, self.search.levels.start_variance
        made = self.search.levels.starts(position)
        known = 0.0 if not made else layout / (layout + variance / made)
        return abs(self._step) * (1 - known) / math.sqrt(layout * (1 - known) + variance / starts)

    def _seconds(self, position: int, starts: int) -> float:
        commit, costs = self.search.commits[position], self.search.costs
        once = (0.0 if commit.is_built else costs.build) + (costs.count if commit.code is None else 0.0)
        return once + starts * costs.start


@dataclass(frozen=True)
class _Sum:
    """Levels of commits that have one level in common: the sum of their precisions, and of the levels times these."""

    precision: float
    total: float

    def __add__(self, other: "_Sum") -> "_Sum":
        return _Sum(self.precision + other.precision, self.total + other.total)

    @property
    def mean(self) -> float:
        """The estimate of the common level."""
        return self.total / self.precision if self.precision else 0.0

    @property
    def log_marginal(self) -> float:
        """The logarithm of the likelihood with the common level integrated out, but for terms that all parts share."""
        prior = LEVEL_SD**2
        spread = 1 + prior * self.precision
        return (prior * self.total**2 / spread - math.log(spread)) / 2
