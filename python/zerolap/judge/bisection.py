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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from zerolap.judge.ledger import EVENT
from zerolap.judge.wild_starts import bounded

CERTAIN: Final = 0.95
"""The probability of a culprit at which the search ends."""
WORK_WEIGHT: Final = 20.0
"""How much likelier a commit that changed counted work is the culprit than one of which nothing is known."""
VERIFIED: Final = 3.0
"""Standard errors by which two ends have to differ. They are looked at several times: as twice the error of 0.27 %."""
SIGN: Final = 2.0
"""Standard errors that are a sign of a difference, which is then verified."""
EQUIVALENT: Final = 2.326
"""Standard errors for a test of equivalence with an error of 1 %."""
FIRST_STARTS: Final = 6
"""Of the end of a range: fewer say too little of how much starts differ."""
STARTS_FOR_REST: Final = 12
"""Of each end of what is left of a range beside a culprit, unless fewer show what is there."""
MOST_STARTS: Final = 60
"""Of a commit; after these, what is not shown of the ends of a range counts as not there."""
PLANNED_STARTS: Final = (4, 8, 12, 16, 24)
"""What a visit is worth is judged by the best of these."""
STARTS_OF_VISIT: Final = 4
"""After these the search looks again, and goes on with the same commit where that is worth most. Of fewer, no wild one
could be told."""
LEAST_INFORMATION: Final = 0.005
"""In bits: what no trial can exceed is not worth any."""
LEVEL_SD: Final = 0.3
"""Standard deviation of the prior of a level, as a logarithm: wide."""
PRIOR_DEGREES: Final = 4.0
"""Degrees of freedom that the expected variance of starts counts as (moderated variance; Smyth 2004)."""
LARGEST_LOGIT: Final = 30.0
"""A probability beyond counts as certain."""
SMALLEST_VARIANCE: Final = 1e-8
EXACT_VARIANCE: Final = 1e-12
"""Of the level of the first commit, which all others are measured against."""

NODES: Final = tuple(-4.5 + 0.5 * step for step in range(19))
"""Values of a standard normal variate at which its density is summed up; a sum at equal distances is exact enough for
smooth integrands that vanish at both ends."""
NODE_WEIGHTS: Final = tuple(0.5 * math.exp(-node * node / 2) / math.sqrt(2 * math.pi) for node in NODES)


@dataclass(frozen=True)
class BisectedCommit:
    """What is known of a commit of the range.

    `log_ratios` has one for each start: this commit over the first one. `code` is equal for commits that execute the
    same, `work` is the logarithm of counted work. `weight` is how likely it is the culprit before anything is measured,
    beside 1 for an ordinary commit. `is_skipped`: it cannot be built or measured.
    """

    log_ratios: tuple[float, ...] = ()
    code: str | None = None
    work: float | None = None
    weight: float = 1.0
    is_built: bool = False
    is_skipped: bool = False


@dataclass(frozen=True)
class BisectionCosts:
    """Seconds of a build, of looking at what a commit executes, and of a start."""

    build: float
    start: float
    count: float = 0.0


@dataclass(frozen=True)
class BisectionNoise:
    """How trials differ, as variances of log ratios.

    `start` is what is expected of starts, `layout` what remains of a build however many starts it has.
    """

    start: float
    layout: float


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
    those that are located so far; where the search was given up, their credible sets. `log_change` is the whole
    difference with its standard error.
    """

    outcome: Literal["searching", "no difference", "located"]
    visit: Visit | None
    changes: tuple[LocatedChange, ...]
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
    _located: list[LocatedChange] = field(default_factory=list, init=False, repr=False, compare=False)
    _open: list["_Segment"] = field(default_factory=list, init=False, repr=False, compare=False)

    def state(self) -> BisectionState:
        """Return where the search stands; the same commits give the same state."""
        self._located.clear()
        self._open.clear()
        last = len(self.commits) - 1
        checked = self._checked(0, last) if any(prior_weights(self.commits)) else False
        visit = checked if isinstance(checked, Visit) else None
        if checked is True:
            visit = self._searched(0, last)
        outcome: Literal["searching", "no difference", "located"] = "searching"
        if visit is None:
            outcome = "located" if checked is True else "no difference"
        change, variance = self._difference(0, last)
        changes = tuple(sorted(self._located, key=lambda change: change.positions[0]))
        return BisectionState(outcome, visit, changes, change, math.sqrt(variance))

    def open_changes(self) -> list[LocatedChange]:
        """Return the credible set of the change that the last state is looking for."""
        return [segment.credible() for segment in self._open]

    def levels(self) -> list[tuple[int, int, float, float]]:
        """Return position, starts, level and standard error of each commit that was timed."""
        values, precisions = self._levels
        return [
            (position, self._starts(position), values[position], precisions[position] ** -0.5)
            for position in range(1, len(self.commits))
            if self._starts(position)
        ]

    # Levels.

    @cached_property
    def start_variance(self) -> float:
        """The variance of starts of a commit, pooled over all of them and drawn towards what is expected."""
        samples = self._bounded.values()
        squares = math.fsum((value - _mean(sample)) ** 2 for sample in samples for value in sample)
        degrees = sum(len(sample) - 1 for sample in samples)
        pooled = (PRIOR_DEGREES * self.noise.start + squares) / (PRIOR_DEGREES + degrees)
        return max(SMALLEST_VARIANCE, pooled)

    @cached_property
    def _bounded(self) -> dict[str, list[float]]:
        """The starts by position, with bounds for wild ones."""
        return bounded(
            {str(position): one.log_ratios for position, one in enumerate(self.commits) if one.log_ratios and position}
        )

    @cached_property
    def _levels(self) -> tuple[list[float], list[float]]:
        """The level of each position, and the inverse of its variance, which is 0 where none was timed."""
        values, precisions = [0.0] * len(self.commits), [0.0] * len(self.commits)
        precisions[0] = 1.0 / EXACT_VARIANCE
        for name, sample in self._bounded.items():
            position = int(name)
            values[position] = _mean(sample)
            precisions[position] = 1.0 / (self.start_variance / len(sample) + self.noise.layout)
        good = self.commits[0].code
        for position, commit in enumerate(self.commits):
            if good is not None and commit.code == good:
                # The same code takes the same time.
                values[position], precisions[position] = 0.0, precisions[0]
        return values, precisions

    def _starts(self, position: int) -> int:
        return len(self.commits[position].log_ratios)

    def _difference(self, first: int, last: int) -> tuple[float, float]:
        """Return the change from one position to another, and its variance: infinite where one was not timed."""
        values, precisions = self._levels
        if not precisions[first] or not precisions[last]:
            return 0.0, math.inf
        return values[last] - values[first], 1 / precisions[first] + 1 / precisions[last]

    def _checked(self, first: int, last: int) -> bool | Visit:
        """Return whether two positions differ by what matters, or the visit that this takes."""
        change, variance = self._difference(first, last)
        error = math.sqrt(variance)
        if math.isfinite(error):
            if abs(change) + EQUIVALENT * error < self.min_effect:
                return False
            if abs(change) >= VERIFIED * error:
                return True
        return self._more_of(first, last) or False

    def _more_of(self, first: int, last: int, most: int = MOST_STARTS) -> Visit | None:
        """Return the visit that makes the difference of two positions better known; none if both had the most."""
        precisions = self._levels[1]
        open_ends = [
            position
            for position in (first, last)
            if precisions[position] < precisions[0] and self._starts(position) < most
        ]
        if not open_ends:
            return None
        end = min(open_ends, key=lambda position: (precisions[position], -position))
        return Visit(end, STARTS_OF_VISIT if self._starts(end) >= FIRST_STARTS else FIRST_STARTS)

    def _rest(self, first: int, last: int) -> bool | Visit:
        """Return whether something is left of the difference on a side of a located change, or the visit this takes.

        It is verified only where there is a sign of it. Both ends have enough starts for a sign of what matters, or as
        many as such a doubt is worth.
        """
        change, variance = self._difference(first, last)
        error = math.sqrt(variance)
        visit = self._more_of(first, last, STARTS_FOR_REST)
        if error > self.min_effect / VERIFIED and visit is not None:
            return visit
        return False if abs(change) < SIGN * error else self._checked(first, last)

    # The search.

    def _searched(self, first: int, last: int) -> Visit | None:
        """Locate the changes between two positions that differ, and return the next visit, none at the end."""
        segment = _Segment(self, first, last)
        group = segment.likeliest
        if group.probability < CERTAIN:
            visit = segment.best_visit()
            if visit is not None:
                self._open.append(segment)
                return visit
            self._located.append(segment.credible())
            return None
        before = max(position for position in segment.measurable if position < group.positions[0])
        after = min(position for position in segment.measurable if position >= group.positions[-1])
        for end in (before, after):
            if not self._levels[1][end]:
                return Visit(end, STARTS_OF_VISIT)
        change, variance = self._difference(before, after)
        self._located.append(
            LocatedChange(group.positions, group.probability, change, math.sqrt(variance), certain=True)
        )
        for begin, end in ((first, before), (after, last)):
            if begin == end or not any(segment.weights[begin + 1 : end + 1]):
                continue
            checked = self._rest(begin, end)
            visit = checked if isinstance(checked, Visit) else self._searched(begin, end) if checked else None
            if visit is not None:
                return visit
        return None


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
        values, precisions = self.search._levels
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
        change, variance = self.search._difference(self.first, self.last)
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
            if self.search._starts(position) >= MOST_STARTS:
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
        precisions = self.search._levels[1]
        end = min((self.first, self.last), key=lambda position: precisions[position])
        is_known_less = precisions[end] <= precisions[visit.position] and self.search._starts(end) < MOST_STARTS
        return Visit(end, STARTS_OF_VISIT) if is_known_less else visit

    def _distance(self, position: int, starts: int) -> float:
        """Return by how many standard deviations the mean of further starts differs before and after the change.

        What a build's layout adds is the same in all its starts: earlier ones have shown a part of it.
        """
        layout, variance = self.search.noise.layout, self.search.start_variance
        made = self.search._starts(position)
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


def prior_weights(commits: Sequence[BisectedCommit]) -> list[float]:
    """Return how likely each position is the culprit before any is timed, as weights; the first one's is 0.

    Between two commits that execute the same, none is. Where counted work changed, the weight of the commit that did it
    is larger; which one it is of those between is not known.
    """
    weights = [0.0, *(commit.weight for commit in commits[1:])]
    known = [position for position, commit in enumerate(commits) if commit.code is not None]
    for before, after in itertools.pairwise(known):
        between = slice(before + 1, after + 1)
        inside = weights[between]
        if commits[before].code == commits[after].code:
            weights[between] = [0.0] * len(inside)
            continue
        work = commits[before].work, commits[after].work
        if work[0] is not None and work[1] is not None and abs(work[1] - work[0]) > EVENT and any(inside):
            total = math.fsum(inside)
            weights[between] = [weight * (1 + (WORK_WEIGHT - 1) / total) for weight in inside]
    return weights


def binary_information(probability: float, distance: float) -> float:
    """Return the bits that a normal variate says about a yes or no, by whose answer its mean differs.

    `distance` is that difference in standard deviations, `probability` that of yes.
    """
    if not 0 < probability < 1 or distance <= 0:
        return 0.0
    logit = math.log(probability / (1 - probability))
    half = distance * distance / 2
    yes = _expected_entropy(logit + half + distance * node for node in NODES)
    no = _expected_entropy(logit - half + distance * node for node in NODES)
    return max(0.0, _entropy(logit) - probability * yes - (1 - probability) * no)


def most_information(probability: float, distance: float) -> float:
    """Return a bound of `binary_information`: what a normally distributed signal of the same variance could carry."""
    return math.log2(1 + max(0.0, probability * (1 - probability)) * distance * distance) / 2


def _expected_entropy(logits: Iterable[float]) -> float:
    return sum(weight * _entropy(logit) for weight, logit in zip(NODE_WEIGHTS, logits, strict=True))


def _entropy(logit: float) -> float:
    """Return the entropy in bits of a yes whose odds have that logarithm."""
    size = abs(logit)
    if size > LARGEST_LOGIT:
        return 0.0
    rest = math.exp(-size)
    return (math.log1p(rest) + size * rest / (1 + rest)) / math.log(2)


def _mean(sample: Sequence[float]) -> float:
    return math.fsum(sample) / len(sample)
