"""The rule of a bisection, on searches that are replayed with fixed seeds."""

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pytest

from benches.history.searches import SIZE, Condition, ReplayedSearch, Starts
from zerolap.judge import (
    BisectedCommit,
    Bisection,
    BisectionCosts,
    BisectionNoise,
    BisectionState,
    CountedBisection,
    Visit,
)
from zerolap.judge.bisected_commits import prior_weights
from zerolap.judge.bisection import CERTAIN, MOST_STARTS
from zerolap.judge.visit_information import binary_information, most_information

COSTS = BisectionCosts(build=45.0, start=5.0)


@dataclass
class Range:
    """A range of commits whose levels step at culprits, and what a search has learned of it so far."""

    commits: int
    steps: Mapping[int, float]
    sd: float = 0.02
    layout_sd: float = 0.0
    seed: int = 1
    skipped: frozenset[int] = frozenset()
    sign: float = 1.0
    known: dict[int, BisectedCommit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.layouts = [self.chance.gauss(0, self.layout_sd) for _ in range(self.commits + 1)]
        self.starts = 0

    def level(self, position: int) -> float:
        return math.fsum(step for culprit, step in self.steps.items() if position >= culprit)

    def searched(self) -> BisectionState:
        """Carry out visits until the search ends."""
        while True:
            state = self.bisection().state()
            if state.visit is None:
                return state
            self.visit(state.visit)

    def bisection(self) -> Bisection:
        noise = BisectionNoise(0.02**2, self.layout_sd**2)
        commits = [
            self.known.get(position, BisectedCommit(is_skipped=position in self.skipped))
            for position in range(self.commits + 1)
        ]
        return Bisection(commits, COSTS, noise)

    def visit(self, visit: Visit) -> None:
        assert visit.position not in self.skipped
        centre = self.level(visit.position) + self.layouts[visit.position]
        drawn = [self.sign * self.chance.gauss(centre, self.sd) for _ in range(visit.starts)]
        before = self.known.get(visit.position, BisectedCommit(is_built=True))
        self.known[visit.position] = replace(before, log_ratios=(*before.log_ratios, *drawn))
        self.starts += visit.starts


def culprits(state: BisectionState) -> list[tuple[int, ...]]:
    return [change.positions for change in state.changes]


def test_a_change_as_small_as_the_noise_is_found() -> None:
    right = 0
    for seed in range(40):
        culprit = random.Random(seed).randint(1, 64)
        searched = Range(64, {culprit: 0.05}, sd=0.05, seed=seed)
        state = searched.searched()
        right += culprits(state) == [(culprit,)]
        assert state.outcome == "located"
    # It ends at a probability of 95 %.
    assert right >= 36


def test_the_size_of_the_change_is_known() -> None:
    state = Range(32, {20: 0.06}).searched()
    [change] = state.changes
    assert change.positions == (20,)
    assert change.probability >= CERTAIN
    assert abs(change.log_change - 0.06) < 4 * change.error < 0.05


@pytest.mark.parametrize("steps", [{7: 0.05}, {7: 0.05, 20: 0.04}, {}])
def test_the_opposite_change_is_searched_alike(steps: Mapping[int, float]) -> None:
    up, down = Range(32, steps), Range(32, steps, sign=-1.0)
    worse, better = up.searched(), down.searched()
    assert (culprits(worse), worse.outcome) == (culprits(better), better.outcome)
    assert worse.log_change == pytest.approx(-better.log_change)
    assert up.starts == down.starts


def test_scaling_changes_and_noise_scales_sizes_alone() -> None:
    searched = Range(32, {11: 0.05})
    searched.searched()
    commits = [searched.known.get(position, BisectedCommit()) for position in range(33)]
    doubled = [replace(one, log_ratios=tuple(2 * ratio for ratio in one.log_ratios)) for one in commits]
    small = Bisection(commits, COSTS, BisectionNoise(0.02**2, 0.0), min_effect=0.02).state()
    large = Bisection(doubled, COSTS, BisectionNoise(0.04**2, 0.0), min_effect=0.04).state()
    assert culprits(small) == culprits(large) == [(11,)]
    assert large.changes[0].log_change == pytest.approx(2 * small.changes[0].log_change)


def test_no_difference_between_the_ends_ends_the_search() -> None:
    outcomes = [Range(32, {}, seed=seed).searched() for seed in range(20)]
    assert [state.outcome for state in outcomes].count("no difference") >= 19
    assert all(not state.changes for state in outcomes if state.outcome == "no difference")


def test_ends_that_stay_unclear_count_as_equal() -> None:
    searched = Range(4, {2: 0.01}, sd=0.2)
    state = searched.searched()
    assert state.outcome == "no difference"
    assert searched.starts >= MOST_STARTS


@pytest.mark.parametrize("seed", range(8))
def test_two_culprits_are_both_found(seed: int) -> None:
    state = Range(48, {10: 0.05, 33: 0.07}, seed=seed).searched()
    assert culprits(state) == [(10,), (33,)]


@pytest.mark.parametrize("seed", range(8))
def test_a_change_that_another_one_partly_undoes_is_found(seed: int) -> None:
    state = Range(48, {10: 0.10, 33: -0.04}, seed=seed).searched()
    assert culprits(state) == [(10,), (33,)]


def test_commits_that_cannot_be_built_are_never_visited_and_share_the_probability() -> None:
    state = Range(32, {15: 0.06}, skipped=frozenset({14, 15, 16})).searched()
    [change] = state.changes
    # 17 is the first after the change that can be built.
    assert change.positions == (14, 15, 16, 17)
    assert change.certain


def test_neighbours_of_skipped_commits_are_told_apart() -> None:
    state = Range(32, {14: 0.06}, skipped=frozenset({15, 16})).searched()
    assert culprits(state) == [(14,)]


def test_what_executes_the_same_is_no_culprit() -> None:
    commits = [BisectedCommit(code="a"), BisectedCommit(), BisectedCommit(code="a"), BisectedCommit(code="b")]
    assert prior_weights(commits) == [0.0, 0.0, 0.0, 1.0]


def test_changed_work_is_a_likely_reason() -> None:
    same = [BisectedCommit(code=code, work=0.0) for code in "abc"]
    assert prior_weights(same) == [0.0, 1.0, 1.0]
    changed = [same[0], replace(same[1], work=0.01), replace(same[2], work=0.01)]
    assert prior_weights(changed) == [0.0, 20.0, 1.0]
    # Which of two commits changed it is not known.
    assert prior_weights([changed[0], BisectedCommit(), changed[2]]) == [0.0, 10.5, 10.5]


def test_what_executes_the_same_as_the_good_commit_is_never_timed() -> None:
    searched = Range(8, {5: 0.05})
    searched.known |= {position: BisectedCommit(code="good") for position in range(5)}
    searched.known |= {position: BisectedCommit(code="changed") for position in range(5, 8)}
    assert culprits(searched.searched()) == [(5,)]
    assert not any(searched.known[position].log_ratios for position in range(5))


def test_knowing_what_is_identical_saves_trials() -> None:
    def starts(codes: Iterable[str | None]) -> int:
        searched = Range(32, {16: 0.05}, sd=0.03)
        for position, code in enumerate(codes):
            searched.known[position] = BisectedCommit(code=code)
        state = searched.searched()
        assert culprits(state) == [(16,)]
        return searched.starts

    unknown = starts([None] * 33)
    assert starts(["a"] * 15 + ["b"] + ["c"] * 17) < unknown


def test_a_build_is_priced_in() -> None:
    searched = Range(64, {40: 0.05})
    first = searched.bisection().state().visit
    assert first is not None
    assert first.position == 64
    searched.known[64] = BisectedCommit((0.05, 0.06, 0.04, 0.05, 0.05, 0.05), is_built=True)
    searched.known[20] = BisectedCommit(is_built=True)
    visit = searched.bisection().state().visit
    assert visit is not None
    # One at the middle says more, but 20 is built.
    assert visit.position == 20


def test_starts_of_one_build_say_no_more_than_its_layout_lets_them() -> None:
    commits = [BisectedCommit(), BisectedCommit(), BisectedCommit((0.05,) * 6)]
    fresh = Bisection(commits, COSTS, BisectionNoise(0.02**2, 0.03**2))
    often = Bisection(
        [commits[0], BisectedCommit((0.03, 0.02) * 25), BisectedCommit((0.05, 0.051) * 30)],
        COSTS,
        BisectionNoise(0.02**2, 0.03**2),
        min_effect=0.001,
    )
    assert fresh.state().visit is not None
    # Sixty starts would be a certain answer if layouts did not count.
    [change] = replace(often, min_effect=0.03).state().changes or [None]
    assert change is None or change.probability < CERTAIN


def test_information_is_that_of_a_certain_answer_at_most() -> None:
    assert binary_information(0.5, 20.0) == pytest.approx(1.0, abs=1e-6)
    assert binary_information(0.5, 0.0) == binary_information(1.0, 3.0) == 0.0
    # A start at half a probability and a distance of one standard deviation carries 0.161 bits at most.
    assert 0.14 < binary_information(0.5, 1.0) < 0.161
    for probability in (0.02, 0.3, 0.5, 0.9):
        for distance in (0.1, 0.5, 1.0, 2.0, 4.0):
            bits = binary_information(probability, distance)
            assert bits == pytest.approx(binary_information(1 - probability, distance), abs=1e-9)
            assert 0 < bits <= most_information(probability, distance) + 1e-5


class TestCountedBisection:
    """Exact values need no probabilities."""

    @staticmethod
    def search(levels: list[float], skipped: frozenset[int] = frozenset()) -> tuple[list[tuple[int, ...]], int]:
        """Return the culprits, and how many commits between the ends were counted."""
        known: dict[int, float] = {0: levels[0], len(levels) - 1: levels[-1]}
        while True:
            works = [known.get(position) for position in range(len(levels))]
            search = CountedBisection(works, skipped, min_effect=0.005)
            position = search.next_position()
            if position is None:
                return [change.positions for change in search.changes()], len(known) - 2
            assert position not in known
            assert position not in skipped
            known[position] = levels[position]

    def test_one_step_takes_as_many_counts_as_halving(self) -> None:
        for culprit in range(1, 65):
            found, counted = self.search([0.0] * culprit + [0.02] * (65 - culprit))
            assert found == [(culprit,)]
            assert counted == 6

    def test_several_steps_are_all_found(self) -> None:
        levels = [0.0] * 5 + [0.02] * 10 + [0.05] * 10 + [0.04] * 8
        assert self.search(levels)[0] == [(5,), (15,), (25,)]

    def test_small_steps_that_add_up_are_found_down_to_a_quarter_of_their_sum(self) -> None:
        assert self.search([0.0] * 4 + [0.003] * 4 + [0.006] * 4)[0] == [(4,), (8,)]

    def test_commits_that_cannot_be_built_share_the_step(self) -> None:
        assert self.search([0.0] * 4 + [0.02] * 6, frozenset({3, 4}))[0] == [(3, 4, 5)]

    def test_nothing_changed(self) -> None:
        assert self.search([0.0] * 9) == ([], 0)


def test_wild_starts_mislead_few_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of searches that name a wrong commit where starts count as normal ones, caution mends most."""
    condition = Condition(starts=Starts("wild", wild=0.05))
    searches = (33, 36, 39, 57, 82, 104)
    assert all(ReplayedSearch(number, condition).is_right() for number in searches[:3])
    assert sum(ReplayedSearch(number, condition).is_right() for number in searches) >= len(searches) - 1
    monkeypatch.setattr("zerolap.judge.bisection.CAUTION", 1.0)
    assert not any(ReplayedSearch(number, condition).is_right() for number in searches)


def test_starts_of_other_kinds_have_the_deviation_that_is_stated() -> None:
    chance = random.Random(5)
    for kind in (Starts("normal"), Starts("t", degrees=5)):
        drawn = [kind.drawn(chance) for _ in range(20_000)]
        assert math.sqrt(sum(start**2 for start in drawn) / len(drawn)) == pytest.approx(SIZE, rel=0.05)
    slow = Starts("slow", wild=0.5, is_one_sided=True)
    assert sum(slow.drawn(chance) for _ in range(1000)) / 1000 == pytest.approx(3 * SIZE, rel=0.2)
