"""The rules of histories: nodes, the order of measuring, the ledger and its drifts, levels of time."""

import itertools
import math
import random
import statistics
from collections.abc import Sequence

import pytest
from made_records import a_series_key

from zerolap.cases import core_suite
from zerolap.history.commit_work import CaseWork, WorkPoints
from zerolap.history.fill_range import bisecting_order
from zerolap.history.nodes import Nodes, nodes_of
from zerolap.judge import (
    REPORTED,
    SMALLEST_CHANGE,
    Contrast,
    Drift,
    Ledger,
    WorkStep,
    after_change,
    bounds_95,
    drifts_of,
    is_rare_change,
    levels_of,
    log_change,
)
from zerolap.judge.ledger import DRIFT, FEWEST_STEPS_OF_DRIFT
from zerolap.store import CommitBuild, CountedPoint

INSTRUCTIONS, SYSCALLS = "instructions_per_op", "syscalls_per_op"

# Nodes


def built(commit: str, build: str, image: str = "") -> CommitBuild:
    return CommitBuild(commit=commit, build=build, image=image, variant="default", flags="-O2")


def test_commits_whose_programs_are_the_same_are_one_node() -> None:
    nodes = nodes_of("abcd", [built("a", "b-1", "x"), built("b", "b-2", "x"), built("d", "b-3", "y")])
    assert nodes.of_commits == (0, 0, None, 1)
    assert nodes.count == 2
    assert nodes.first_positions == {0: 0, 1: 3}
    assert nodes.builds_of(0) == ["b-1", "b-2"]


def test_a_program_that_comes_back_is_the_node_that_it_was() -> None:
    nodes = nodes_of("abc", [built("a", "b-1", "x"), built("b", "b-2", "y"), built("c", "b-3", "x")])
    assert nodes.of_commits == (0, 1, 0)


def test_builds_whose_image_is_not_known_are_equal_to_none() -> None:
    assert nodes_of("ab", [built("a", "b-1"), built("b", "b-2")]).of_commits == (0, 1)


def test_one_build_of_two_commits_is_one_node() -> None:
    assert nodes_of("ab", [built("a", "b-1"), built("b", "b-1")]).of_commits == (0, 0)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_builds_of_a_commit_by_several_compilers_are_one_node(order: Sequence[int]) -> None:
    """Whatever the order in which the store lists them, which is that of digests."""
    builds = [built("a", "b-1", "x"), built("a", "b-2", "new x"), built("b", "b-3", "x"), built("c", "b-4", "new y")]
    nodes = nodes_of("abc", [builds[number] for number in order])
    assert nodes.of_commits == (0, 0, 1)
    assert nodes.builds == {"b-1": 0, "b-2": 0, "b-3": 0, "b-4": 1}


# The order in which commits are measured


def order_of(positions: Sequence[int], differing: range = range(0), measured: Sequence[int] = ()) -> list[int]:
    """Return the order over positions of which those in `differing` execute something else than those before it."""
    done = set(measured)
    order = []

    def differs(first: int, last: int) -> bool:
        return first in done and last in done and (first in differing) != (last in differing)

    for position in bisecting_order(positions, differs, done.__contains__):
        order.append(position)
        done.add(position)
    return order


def test_ends_come_first_then_middles() -> None:
    assert order_of(range(9)) == [0, 8, 4, 2, 6, 1, 3, 5, 7]
    assert order_of(range(1)) == [0]
    assert order_of(range(2)) == [0, 1]
    assert order_of([]) == []


def test_where_something_differs_comes_before_what_is_wider() -> None:
    # The only difference lies between 20 and 21; the half before 16 is wider than all intervals with it.
    order = order_of(range(33), range(21, 33))
    assert order[:6] == [0, 32, 16, 24, 20, 22]


def test_what_is_measured_is_not_measured_again() -> None:
    assert order_of(range(9), measured=[0, 8, 4]) == [2, 6, 1, 3, 5, 7]
    assert order_of(range(9), measured=range(9)) == []


def test_positions_that_cannot_be_measured_are_asked_for_once() -> None:
    """An end or a middle that fails bounds what lies between nevertheless."""
    for failing in ({0}, {8}, {0, 8}, {4}, set(range(9))):
        done: set[int] = set()
        order = []
        for position in bisecting_order(range(9), lambda first, last: False, done.__contains__):
            order.append(position)
            done |= {position} - failing
        assert sorted(order) == list(range(9))


def test_every_position_is_yielded_once_whatever_is_measured() -> None:
    drawn = random.Random(1)
    for _ in range(200):
        count = drawn.randrange(1, 40)
        measured = drawn.sample(range(count), drawn.randrange(count + 1))
        first = drawn.randrange(count)
        order = order_of(range(count), range(first, count), measured)
        assert sorted([*order, *measured]) == list(range(count))


# The ledger


def steps_of(*changes: float, same_code: bool = False, accepted: Sequence[int] = ()) -> list[WorkStep]:
    """Return steps between neighbouring commits that are as large as this, as ratios less one."""
    return [
        WorkStep(number, number + 1, math.log1p(change), same_code, number + 1 in accepted)
        for number, change in enumerate(changes)
    ]


def mirrored(steps: Sequence[WorkStep]) -> list[WorkStep]:
    return [WorkStep(step.after, step.position, -step.log_change, step.same_code, step.accepted) for step in steps]


def drawn_steps(drawn: random.Random) -> list[WorkStep]:
    """Return steps of all sizes: of none, too small to be events, small, and reported."""
    sizes = (0.0, 0.5 * SMALLEST_CHANGE, 0.4 * REPORTED, 0.9 * REPORTED, 4 * REPORTED)
    slope = drawn.uniform(-1, 1)
    return [
        WorkStep(
            number, number + 1, drawn.choice(sizes) * (drawn.uniform(-1, 1) + slope), accepted=drawn.random() < 0.1
        )
        for number in range(drawn.randrange(1, 60))
    ]


def test_what_is_an_event_and_what_is_reported() -> None:
    counting, event, reported = steps_of(0.9 * SMALLEST_CHANGE, 1.1 * SMALLEST_CHANGE, 1.01 * REPORTED)
    assert (counting.is_change, event.is_change, reported.is_change) == (False, True, True)
    assert (counting.is_reported, event.is_reported, reported.is_reported) == (False, False, True)
    [same] = steps_of(1.01 * REPORTED, same_code=True)
    assert (same.is_change, same.is_reported) == (False, False)


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_both_directions_are_reported_from_the_same_size(factor: float) -> None:
    there = WorkStep(0, 1, factor * math.log1p(REPORTED))
    assert [step.is_reported for step in (there, *mirrored([there]))] == [factor > 1] * 2


def test_the_ledger_is_the_exact_sum_of_all_changes() -> None:
    """First to last, whatever the order and size of what lies between."""
    drawn = random.Random(2)
    for _ in range(100):
        counts = [drawn.uniform(0.5, 1.5) * 10 ** drawn.uniform(1, 6) for _ in range(drawn.randrange(2, 200))]
        steps = [
            WorkStep(number, number + 1, log_change(INSTRUCTIONS, base, head))
            for number, (base, head) in enumerate(itertools.pairwise(counts))
        ]
        since = drawn.randrange(len(steps))
        ledger = Ledger.of(steps, since)
        assert ledger.total == pytest.approx(math.log(counts[-1] / counts[since]), abs=1e-12)
        assert ledger.total == pytest.approx(ledger.reported + ledger.unreported, abs=1e-12)
        assert ledger.slope == pytest.approx(ledger.unreported / (len(steps) - since), abs=1e-12)


def test_the_ledger_parts_what_is_reported_from_what_is_not() -> None:
    ledger = Ledger.of(steps_of(0.01, 0.001, 0.002, -0.02, -0.001), 0)
    assert ledger.reported == pytest.approx(math.log(1.01 * 0.98))
    assert ledger.unreported == pytest.approx(math.log(1.001 * 1.002 * 0.999))


def test_a_ledger_without_steps_is_empty() -> None:
    assert Ledger.of([], 3) == Ledger(3, 0.0, 0.0, 0.0, 0.0)
    assert Ledger.of(steps_of(0.01, 0.01), 2) == Ledger(2, 0.0, 0.0, 0.0, 0.0)


def test_a_ledger_mirrors_when_the_sides_are_swapped() -> None:
    drawn = random.Random(3)
    for _ in range(200):
        steps = drawn_steps(drawn)
        there, back = Ledger.of(steps, 0), Ledger.of(mirrored(steps), 0)
        assert (there.total, there.reported, there.unreported, there.slope) == pytest.approx(
            (-back.total, -back.reported, -back.unreported, -back.slope), abs=1e-15
        )


# Counts of what happens rarely


def test_a_change_of_what_happens_rarely_is_no_event_though_it_doubles() -> None:
    assert is_rare_change(SYSCALLS, 0.001, 0.005)
    assert not is_rare_change(SYSCALLS, 0.0, 0.0625)
    assert not is_rare_change(INSTRUCTIONS, 1000.0, 1000.1)
    rare = WorkStep(0, 1, log_change(SYSCALLS, 0.001, 0.005), is_rare=True)
    assert (rare.is_change, rare.is_reported) == (False, False)
    assert drift_of([WorkStep(at, at + 1, 0.3, is_rare=True) for at in range(9)], 0) is None


def test_changes_from_none_and_to_none_add_up() -> None:
    counts = [0.0, 1.0, 3.0, 0.0, 0.5, 0.0]
    changes = [log_change(SYSCALLS, base, head) for base, head in itertools.pairwise(counts)]
    assert all(math.isfinite(change) and change != 0 for change in changes)
    assert math.fsum(changes) == pytest.approx(0.0, abs=1e-12)
    assert log_change(SYSCALLS, 0.0, 0.0) == 0.0


# Drifts


def drift_of(steps: Sequence[WorkStep], since: int) -> Drift | None:
    """Return the largest drift after a position."""
    return max(drifts_of(steps, since), key=lambda drift: abs(drift.log_change), default=None)


def test_small_changes_of_one_direction_are_a_drift_once_they_add_up() -> None:
    each = 0.0005
    enough = math.ceil(math.log1p(DRIFT) / math.log1p(each))
    assert drift_of(steps_of(*[each] * (enough - 1)), 0) is None
    drift = drift_of(steps_of(*[each] * enough), 0)
    assert drift is not None
    assert (drift.after, drift.position) == (0, enough)
    assert drift.log_change == pytest.approx(enough * math.log1p(each))
    assert drift.slope == pytest.approx(math.log1p(each))
    # 0.05 % a commit is named before it adds up to 3 %.
    assert math.expm1(drift.log_change) < 0.03


def test_a_drift_names_the_stretch_and_its_steps_the_largest_first() -> None:
    flat, rising = [0.0] * 20, [0.004, 0.003, 0.0045, 0.0, -0.001, 0.004, 0.0044, 0.003]
    drift = drift_of(steps_of(*flat, *rising, *flat), 0)
    assert drift is not None
    assert (drift.after, drift.position) == (20, 28)
    assert drift.log_change == pytest.approx(math.fsum(map(math.log1p, rising)))
    assert [round(math.expm1(step.log_change), 6) for step in drift.steps[:2]] == [0.0045, 0.0044]
    assert len(drift.steps) == 7


def test_changes_that_are_reported_or_accepted_are_no_part_of_a_drift() -> None:
    small = [0.004] * 4
    assert drift_of(steps_of(*small, 0.3), 0) is None
    drift = drift_of(steps_of(*small, 0.3, 0.004), 0)
    assert drift is not None
    assert drift.log_change == pytest.approx(5 * math.log1p(0.004))
    assert drift_of(steps_of(*small, 0.3, 0.004, accepted=[1]), 0) is None


def test_a_drift_begins_after_what_it_is_looked_for_since() -> None:
    steps = steps_of(*[0.004] * 10)
    late = drift_of(steps, 4)
    assert late is not None
    assert (late.after, late.position) == (4, 10)
    assert drift_of(steps, 6) is None


def test_a_few_steps_among_what_counting_varies_by_are_no_drift() -> None:
    noise = [0.9 * SMALLEST_CHANGE] * 100
    few = [0.004] * (FEWEST_STEPS_OF_DRIFT - 1)
    assert drift_of(steps_of(*noise, *few), 0) is None
    drift = drift_of(steps_of(*noise, *few, 0.004), 0)
    assert drift is not None
    assert len(drift.steps) == FEWEST_STEPS_OF_DRIFT


def test_ups_and_downs_that_even_out_are_no_drift() -> None:
    assert drift_of(steps_of(*[0.004, -0.004] * 100), 0) is None


def test_what_counting_itself_varies_by_is_no_drift() -> None:
    assert drift_of(steps_of(*[0.9 * SMALLEST_CHANGE] * 300), 0) is None
    assert drift_of(steps_of(*[0.004] * 20, same_code=True), 0) is None


def test_a_drift_mirrors_when_the_sides_are_swapped() -> None:
    drawn = random.Random(4)
    drifts = 0
    for _ in range(400):
        steps = drawn_steps(drawn)
        there, back = drift_of(steps, 0), drift_of(mirrored(steps), 0)
        assert (there is None) == (back is None)
        if there is not None and back is not None:
            drifts += 1
            assert (there.after, there.position) == (back.after, back.position)
            assert there.log_change == pytest.approx(-back.log_change)
            assert [step.position for step in there.steps] == [step.position for step in back.steps]
    assert drifts > 20


# Levels of time


def starts(drawn: random.Random, change: float, count: int = 6, deviation: float = 0.01) -> tuple[float, ...]:
    return tuple(drawn.gauss(change, deviation) for _ in range(count))


def drawn_contrasts(drawn: random.Random, levels: Sequence[float]) -> list[Contrast]:
    """Return contrasts of nodes with these levels, as a history measures them: with the first one and the neighbour."""
    pairs = [(0, head) for head in range(1, len(levels))]
    pairs += list(itertools.pairwise(range(1, len(levels))))
    return [Contrast(base, head, starts(drawn, levels[head] - levels[base])) for base, head in pairs]


def test_two_nodes_have_the_mean_of_their_starts_between_them() -> None:
    ratios = (0.010, 0.012, 0.011, 0.009, 0.0105, 0.0095)
    levels = levels_of(2, [Contrast(0, 1, ratios)], 0, [(0, 1)])
    level = levels.nodes[1]
    assert level is not None
    assert level.value == pytest.approx(sum(ratios) / 6)
    assert levels.steps == (level,)


def test_levels_mirror_when_the_sides_of_all_contrasts_are_swapped() -> None:
    drawn = random.Random(5)
    for _ in range(20):
        contrasts = drawn_contrasts(drawn, [drawn.gauss(0, 0.02) for _ in range(8)])
        swapped = [Contrast(c.head, c.base, tuple(-ratio for ratio in c.log_ratios)) for c in contrasts]
        negated = [Contrast(c.base, c.head, tuple(-ratio for ratio in c.log_ratios)) for c in contrasts]
        there = levels_of(8, contrasts, 0).nodes
        for node, same, back in zip(there, levels_of(8, swapped, 0).nodes, levels_of(8, negated, 0).nodes, strict=True):
            assert node is not None
            assert same is not None
            assert back is not None
            assert (same.value, same.variance) == pytest.approx((node.value, node.variance), abs=1e-12)
            assert (back.value, back.variance) == pytest.approx((-node.value, node.variance), abs=1e-12)


def test_steps_do_not_depend_on_the_reference() -> None:
    drawn = random.Random(6)
    contrasts = drawn_contrasts(drawn, [0.0, 0.01, 0.01, -0.02, 0.03])
    pairs = list(itertools.pairwise(range(5)))
    by_reference = [levels_of(5, contrasts, reference, pairs).steps for reference in range(5)]
    for steps in by_reference:
        for step, first in zip(steps, by_reference[0], strict=True):
            assert step is not None
            assert first is not None
            assert (step.value, step.variance) == pytest.approx((first.value, first.variance), rel=1e-9)


def test_levels_are_as_far_from_the_truth_as_their_errors_say() -> None:
    """Of flat ranges, about one of twenty errors lies beyond 95 %."""
    drawn = random.Random(7)
    beyond, count = 0, 0
    for _ in range(300):
        for level in levels_of(10, drawn_contrasts(drawn, [0.0] * 10), 0).nodes[1:]:
            assert level is not None
            beyond += abs(level.value) > 1.96 * math.sqrt(level.variance)
            count += 1
    assert 0.03 < beyond / count < 0.08


def of_three_servers(drawn: random.Random, levels: Sequence[float]) -> list[Contrast]:
    """Return contrasts as a history measures them: of the first node, the neighbour and the new one together."""
    contrasts = [Contrast(0, 1, starts(drawn, levels[1] - levels[0]))]
    for new in range(2, len(levels)):
        nodes = (0, new - 1, new)
        times = {node: starts(drawn, levels[node], deviation=0.01 / math.sqrt(2)) for node in nodes}
        for base, head in itertools.combinations(nodes, 2):
            ratios = tuple(of_head - of_base for of_base, of_head in zip(times[base], times[head], strict=True))
            contrasts.append(Contrast(base, head, ratios, is_of_three=True))
    return contrasts


def test_levels_and_steps_of_three_servers_are_as_far_from_the_truth_as_their_errors_say() -> None:
    drawn = random.Random(9)
    beyond, count = 0, 0
    for _ in range(300):
        pairs = list(itertools.pairwise(range(10)))
        levels = levels_of(10, of_three_servers(drawn, [0.0] * 10), 0, pairs)
        for level in [*levels.nodes[1:], *levels.steps]:
            assert level is not None
            beyond += abs(level.value) > 1.96 * math.sqrt(level.variance)
            count += 1
    assert 0.03 < beyond / count < 0.08


def test_three_servers_show_each_difference_with_the_variance_of_two() -> None:
    """What each start of a server adds to both of its contrasts counts once."""
    of_three = of_three_servers(random.Random(10), [0.0, 0.0, 0.02])[1:]
    [together] = levels_of(3, of_three, 0, [(1, 2)]).steps
    assert together is not None
    alone = next(contrast for contrast in of_three if (contrast.base, contrast.head) == (1, 2))
    assert together.value == pytest.approx(sum(alone.log_ratios) / len(alone.log_ratios))
    spread = statistics.variance([ratio for contrast in of_three for ratio in centred(contrast.log_ratios)])
    assert together.variance == pytest.approx(spread / len(alone.log_ratios), rel=0.5)


def centred(ratios: Sequence[float]) -> list[float]:
    return [ratio - statistics.fmean(ratios) for ratio in ratios]


def test_one_wild_start_does_not_move_a_level_far() -> None:
    drawn = random.Random(8)
    contrasts = drawn_contrasts(drawn, [0.0] * 6)
    wild = [Contrast(0, 1, (*contrasts[0].log_ratios[:-1], 0.5)), *contrasts[1:]]
    level = levels_of(6, wild, 0).nodes[1]
    assert level is not None
    assert abs(level.value) < 0.02


def test_nodes_that_no_contrast_joins_and_contrasts_of_a_single_start_have_no_level() -> None:
    levels = levels_of(4, [Contrast(0, 1, (0.1, 0.1)), Contrast(0, 2, (0.1,))], 0, [(0, 3)])
    assert [level is None for level in levels.nodes] == [False, False, True, True]
    assert levels.steps == (None,)
    assert levels_of(2, [], 0).nodes[1] is None


# Values


def counted_point(value: float, trial: int, comparison: str = "") -> CountedPoint:
    key = a_series_key()
    return CountedPoint(f"b-{trial}", key, (10, 20), value, None, None, trial, comparison)


def values_of(*nodes: dict[str, CountedPoint]) -> list[float]:
    """Return the values of commits that are each a node with these points, by segment."""
    of_nodes = Nodes(tuple(range(len(nodes))), {})
    work = CaseWork(core_suite()[0], of_nodes, {INSTRUCTIONS: WorkPoints(dict(enumerate(nodes)))})
    series = work.counted(INSTRUCTIONS)
    for (after, position), step in series.steps.items():
        change = math.log(series.values[position] / series.values[after])
        assert change == pytest.approx(step.log_change, abs=1e-12)
    return [*series.values.values()]


def test_values_are_those_that_steps_are_made_of_whatever_else_was_counted_later() -> None:
    history = [{"h": counted_point(value, trial)} for trial, value in enumerate((100.0, 110.0, 110.0))]
    assert values_of(*history) == [100.0, 110.0, 110.0]
    compared = {"c": counted_point(109.0, 8, "c")}, {"c": counted_point(108.0, 9, "c")}
    assert values_of(history[0], history[1] | compared[0], history[2] | compared[1]) == [100.0, 110.0, 110.0]
    # A commit that only a comparison has joined goes on from the value before it.
    assert values_of(history[0] | compared[0], compared[1]) == pytest.approx([100.0, 100.0 * 108 / 109])


def test_values_go_on_in_the_unit_of_the_first_segment_and_begin_anew_where_nothing_joins() -> None:
    old, new = counted_point(100.0, 1), counted_point(102.0, 3)
    joined = values_of({"old": counted_point(50.0, 0)}, {"old": old, "new": new}, {"new": counted_point(204.0, 4)})
    assert joined == pytest.approx([50.0, 100.0, 200.0])
    assert values_of({"old": old}, {"new": new}) == [100.0, 102.0]


def test_counts_from_none_have_their_value() -> None:
    assert after_change(SYSCALLS, 0.0, log_change(SYSCALLS, 0.0, 1.0)) == pytest.approx(1.0)
    assert after_change(SYSCALLS, 0.0, 0.0) == 0.0


@pytest.mark.parametrize("contrasts", [1, 3, 12])
def test_intervals_of_levels_hold_as_often_as_they_state(contrasts: int) -> None:
    """Six starts say little of how much starts differ: by a normal distribution 88 % of the intervals would hold."""
    chance = random.Random(17)
    drawn = 1500
    held = 0
    for _ in range(drawn):
        measured = [
            Contrast(0, number + 1, tuple(chance.gauss(0.0, 0.014) for _ in range(6))) for number in range(contrasts)
        ]
        level = levels_of(contrasts + 1, measured, 0).nodes[1]
        assert level is not None
        held += abs(level.value) <= level.half_width
    assert 0.935 < held / drawn < 0.97


def test_bounds_are_those_of_students_t() -> None:
    assert [bounds_95(degrees) for degrees in (1, 5, 30, 1e6)] == pytest.approx([12.7062, 2.5706, 2.0423, 1.96], 1e-4)
