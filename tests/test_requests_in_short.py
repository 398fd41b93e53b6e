"""Requests as lists show them: the newest first, in parts, with the states of their jobs, in both databases."""

from pathlib import Path

import pytest
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases

from zerolap.records import BuildJob
from zerolap.store import Attempt, Store


@pytest.fixture
def store(either_store: Store) -> Store:
    return either_store


def test_requests_in_short(store: Store, redis_server: Path) -> None:
    submitted = [SimulatedFleet(store, redis_server).submit(made_up_cases(1)) for _ in range(3)]
    oldest, middle, newest = (one.id for one in submitted)
    assert [one.id for one in store.fleet.comparisons(2)] == [newest, middle]
    assert [one.id for one in store.fleet.comparisons(2, before=middle)] == [oldest]
    assert store.fleet.comparisons(2, before="c-0") == []
    store.fleet.set_state(oldest, "cancelled", "by somebody")
    short = store.fleet.in_short(oldest)
    assert short is not None
    assert (short.platform, short.state, short.reason, short.trigger) == (
        PLATFORM, "cancelled", "by somebody", "command line"
    )  # fmt: skip
    assert {side: of_side.name for side, of_side in short.sides.items()} == dict.fromkeys(
        ("base", "head"), str(redis_server)
    )
    assert store.fleet.in_short(oldest[:-1]) is None
    # Nothing was measured: there is no document.
    assert store.in_short([oldest, newest]) == {}


def test_the_last_attempt_at_a_job_counts(store: Store, redis_server: Path) -> None:
    fleet = SimulatedFleet(store, redis_server)
    request = fleet.submit(made_up_cases(2))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    states = store.fleet.job_states(request.id)
    assert set(states.values()) == {"done"}
    attempts = store.fleet.attempts(request.id)
    assert set(states) == {attempt.job.id for attempt in attempts}
    build = next(attempt.job for attempt in attempts if isinstance(attempt.job, BuildJob))
    store.fleet.add_attempts([Attempt("a-again", request.id, PLATFORM, build)])
    assert store.fleet.job_states(request.id)[build.id] == "ready"
