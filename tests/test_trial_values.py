"""The values of trials over time: means, intervals and extremes of trials in a row, without invalid ones."""

import math
from typing import Any

import httpx
import pytest
from http_server import served_lab
from made_records import a_measurement
from stored_run import DISTURBED, RESOLVED, RUN, record_trials
from waiting import PATIENCE_SECONDS

from zerolap.store import Store

METRIC = "cpu_ns_per_op"


def values_of(store: Store, **parameters: Any) -> Any:
    with served_lab(store) as url, httpx.Client(trust_env=False, timeout=PATIENCE_SECONDS) as client:
        answer = client.get(
            f"{url}/api/v1/pages/trial-values", params={"case": "get-100B", "metric": METRIC} | parameters
        )
    assert answer.status_code == 200, answer.text
    return answer.json()


def record(store: Store, count: int) -> None:
    """Record trials of 1,000 ns, 1,001 ns and so on, and an invalid one of 5 ns."""
    store.begin(RESOLVED)
    trials = [a_measurement(metrics={METRIC: 1000.0 + number}, began=moment(number)) for number in range(count)]
    record_trials(store, "get-100B", "timed", [*trials, a_measurement(metrics={METRIC: 5.0}, validity=DISTURBED)])


def moment(number: int) -> str:
    return f"2026-11-20T{number // 60:02}:{number % 60:02}:00Z"


def test_each_trial_is_a_point_where_there_are_few(store: Store) -> None:
    record(store, 3)
    [line] = values_of(store)["lines"]
    assert line["means"] == line["least"] == line["most"] == [1000.0, 1001.0, 1002.0]
    # Nobody knows how far another trial would be from a single one.
    assert line["lows"] == line["highs"] == [None, None, None]
    assert line["counts"] == [1, 1, 1]
    assert line["times"] == [moment(0), moment(1), moment(2)]
    assert (line["platform_name"], line["engine"]) == (RUN.platform.name, "timed")


def test_invalid_trials_are_left_out_of_both_databases(either_store: Store) -> None:
    store = either_store
    store.begin(RESOLVED)
    trials = [
        a_measurement(metrics={METRIC: 1000.0 + number})
        if number % 2
        else a_measurement(metrics={METRIC: 5.0}, validity=DISTURBED)
        for number in range(7)
    ]
    record_trials(store, "get-100B", "timed", trials)
    [series] = store.measured.trial_series(["get-100B"], [METRIC], [], 10)
    alone = store.measured.over_time(series.id, 100, 100)
    assert [(group.mean, group.trials) for group in alone] == [(1001.0, 1), (1003.0, 1), (1005.0, 1)]
    [together] = store.measured.over_time(series.id, 1, 100)
    assert (together.least, together.most, together.trials) == (1001.0, 1005.0, 3)


def test_many_trials_are_few_points(store: Store) -> None:
    record(store, 100)
    [line] = values_of(store, pixels=10)["lines"]
    assert len(line["means"]) <= 10
    assert sum(line["counts"]) == 100
    assert (min(line["least"]), max(line["most"])) == (1000.0, 1099.0)
    for low, mean, high, count in zip(line["lows"], line["means"], line["highs"], line["counts"], strict=True):
        assert (low is None) == (high is None) == (count == 1)
        assert low is None or low <= mean <= high
    assert line["means"][0] == pytest.approx((line["least"][0] + line["most"][0]) / 2)


def test_the_bounds_of_few_trials_are_wide(store: Store) -> None:
    record(store, 29)
    [line] = values_of(store, pixels=10)["lines"]
    # Three trials in a row, each 1 from the next: Student's t of two degrees of freedom is 4.303.
    assert line["counts"][0] == 3
    assert line["highs"][0] - line["means"][0] == pytest.approx(4.303 / math.sqrt(3))


def test_only_platforms_that_are_asked_for_are_shown(store: Store) -> None:
    record(store, 2)
    assert len(values_of(store, platform=RUN.platform.name)["lines"]) == 1
    assert len(values_of(store, platform=RUN.platform.fingerprint)["lines"]) == 1
    assert values_of(store, platform="another")["lines"] == []


def test_nothing_is_shown_of_what_is_not_measured(store: Store) -> None:
    assert values_of(store) == {"lines": [], "left_out": False, "most_values": 50_000}
