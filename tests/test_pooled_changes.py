"""Cases together: a small cost that all pay is found, one that a single case pays is not everybody's."""

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_records import a_case, a_comparison, a_work

from zerolap.documents.suite_changes import suite_changes
from zerolap.fail_on import FailOn
from zerolap.judge import CasesTogether, pooled_changes
from zerolap.records import PooledChange

CPU = "cpu_ns_per_op"


def pooled(changes: Sequence[float], metric: str = CPU, min_effect: float = 0.02) -> PooledChange:
    (change,) = pooled_changes([CasesTogether("suite", "", metric, changes, min_effect)])
    return change


def drawn(seed: int, mean: float, scatter: float = 0.004, cases: int = 12) -> list[float]:
    draws = random.Random(seed)
    return [draws.gauss(mean, scatter) for _ in range(cases)]


def test_what_every_case_pays_is_found_though_none_of_them_shows_it() -> None:
    words = [pooled(drawn(seed, 0.0075)).verdict for seed in range(200)]
    assert words.count("regression") >= 190
    assert words.count("improvement") == 0


def test_cases_that_differ_by_chance_are_no_change() -> None:
    # Some scatter more than others.
    nulls = [drawn(seed, 0.0, 0.003) + drawn(seed + 1_000, 0.0, 0.01, cases=4) for seed in range(300)]
    words = [pooled(changes).verdict for changes in nulls]
    assert words.count("regression") + words.count("improvement") <= 3


def test_what_cases_of_a_start_have_in_common_is_no_change_of_all() -> None:
    """Half of what a start is off by is that of all three cases that share it."""

    def drawn_cases(seed: int, mean: float = 0.0) -> CasesTogether:
        chance = random.Random(seed)
        starts: list[dict[int, float]] = [{} for _ in range(12)]
        for block in range(8):
            turns = chance.sample(range(12), 12)
            for first in range(0, 12, 3):
                common = chance.gauss(0, 0.01)
                for case in turns[first : first + 3]:
                    starts[case][block] = mean + common + chance.gauss(0, 0.01)
        changes = [math.expm1(statistics.fmean(of_case.values())) for of_case in starts]
        return CasesTogether("suite", "", CPU, changes, 0.02, starts)

    def alarms(*, by_block: bool) -> int:
        cases = [drawn_cases(seed) for seed in range(500)]
        if not by_block:
            cases = [replace(together, by_block=()) for together in cases]
        return sum(pooled_changes([together])[0].verdict not in ("same", "unsure") for together in cases)

    assert alarms(by_block=False) > 10
    assert alarms(by_block=True) <= 6
    found = [pooled_changes([drawn_cases(seed, 0.0125)])[0].verdict for seed in range(50)]
    assert found.count("regression") >= 40


def test_what_one_case_pays_is_not_a_change_of_all() -> None:
    assert pooled([0.1, *drawn(1, 0.0, cases=11)]).verdict == "unsure"


def test_the_same_is_said_within_a_quarter_of_the_minimum_effect() -> None:
    assert pooled(drawn(1, 0.0, 0.0005)).verdict == "same"
    assert pooled(drawn(1, 0.0, 0.01)).verdict == "unsure"
    # A change that is certain and too small to matter is the same.
    small = pooled(drawn(1, 0.001, 0.0003))
    assert (small.verdict, small.q) == ("same", None)


def test_few_cases_are_not_judged_together() -> None:
    assert pooled_changes([CasesTogether("suite", "", CPU, drawn(1, 0.0, cases=3), 0.02)]) == []


def test_the_chance_of_many_groups_is_in_q() -> None:
    groups = [CasesTogether("group", str(seed), CPU, drawn(seed, 0.0), 0.02) for seed in range(50)]
    planted = CasesTogether("group", "planted", CPU, drawn(1, 0.0075), 0.02)
    changed = [change for change in pooled_changes([*groups, planted]) if change.verdict == "regression"]
    assert [change.name for change in changed] == ["planted"]
    alone = pooled(drawn(1, 0.0075))
    assert changed[0].q is not None
    assert alone.q is not None
    assert changed[0].q > alone.q


def test_cases_are_together_by_suite_group_and_changed_function() -> None:
    cases = [a_case(f"case-{number}", a_work("same", 0.003 + number / 1e5)) for number in range(8)]
    comparison = a_comparison(cases)
    names = [case.case for case in comparison.cases]
    executed_by = {"lookupKey": names[:5], "addReply": names, "rare": names[:2]}
    changes = suite_changes(comparison.cases, comparison.settings, executed_by)
    assert [(change.scope, change.name, change.cases) for change in changes] == [
        ("suite", "", 8),
        ("function", "lookupKey", 5),
    ]
    assert all((change.metric, change.verdict) == ("instructions_per_op", "regression") for change in changes)
    assert changes[0].low < changes[0].change < changes[0].high


@pytest.mark.parametrize(("when", "fails"), [("suite", True), ("regression", True), ("work", False), ("never", False)])
def test_a_gate_sees_what_cases_pay_together(when: FailOn, fails: bool) -> None:
    cases = [a_case(f"case-{number}", a_work("same", 0.003)) for number in range(8)]
    comparison = a_comparison(cases)
    suite = suite_changes(comparison.cases, comparison.settings, {})
    assert comparison.model_copy(update={"suite": suite}).fails_on(when) is fails
    assert not comparison.fails_on("regression")
    assert comparison.fails_on("suite"), "nothing is known of cases together"
