"""The bench of starts that take longer: on which side and in which case they are drawn, by the seed that is given."""

import random

import pytest

from benches.wild_starts import CPU, LongStarts, Where, compared, drawn, drawn_from

FAR = 0.4


def far(where: Where, seed: int = 3) -> dict[str, list[float]]:
    """The starts that are far off by case, twice as long or half as long, of a fifth of each side's."""
    cases = drawn(LongStarts(where, 0.2, 1.0), random.Random(seed))
    changes = {name: [start.changes[CPU] for start in starts] for name, starts in cases.items()}
    return {name: [change for change in of_case if abs(change) > FAR] for name, of_case in changes.items()}


@pytest.mark.parametrize(
    ("where", "cases", "signs"),
    [
        ("no case", 0, set()),
        ("head, one case", 1, {True}),
        ("head, all cases", 12, {True}),
        ("both sides", 12, {True, False}),
    ],
)
def test_long_starts_are_of_the_sides_and_cases_that_are_asked_for(where: Where, cases: int, signs: set[bool]) -> None:
    found = far(where)
    assert sum(map(bool, found.values())) == cases
    assert {change > 0 for of_case in found.values() for change in of_case} == signs
    assert far(where) == found
    assert cases == 0 or far(where, seed=4) != found


def test_a_comparison_ends_by_the_rule_of_the_lab() -> None:
    ended = compared(drawn(LongStarts("head, one case", 0.2, 1.0), random.Random(5)))
    assert ended.pop("0") == ("unsure", 36)
    assert {word for word, _ in ended.values()} == {"same"}
    measured = drawn_from({"get": [0.01, -0.01], "none": []}, random.Random(1))
    assert {start.changes[CPU] for start in measured["get"]} == {0.01, -0.01}
    assert "none" not in measured
