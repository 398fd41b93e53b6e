"""Trials that span two agents: the server with one, what puts load on it with the other."""

import asyncio
import functools
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from simulated_fleet import LOAD_PLATFORM, SimulatedFleet, made_up_cases
from sqlalchemy import select
from waiting import PATIENCE_SECONDS

from zerolap.build import Builds
from zerolap.engines import Place
from zerolap.engines.simulated import Simulated
from zerolap.fleet.messages import Claim, GiveUp, Heartbeat
from zerolap.fleet.remote_agent import _clear_up
from zerolap.fleet.two_hosts import LOAD_HOST_SECONDS
from zerolap.host import fingerprint
from zerolap.records import Event, LoadJob, Request, TrialsJob
from zerolap.store import Attempt
from zerolap.store.tables import platform_facts


@dataclass
class LoadedFromElsewhere(Simulated):
    """Notes by engine where the load of each job came from."""

    load_hosts: list[tuple[str, str | None]] = field(default_factory=list)

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Make up the trials."""
        host = place.load_host
        self.load_hosts.append((job.engine, None if host is None else f"{host.name} to {host.address}"))
        yield from super().carry_out(job, place)


def open_loads(fleet: SimulatedFleet) -> list[Attempt]:
    """Return the attempts at load that have not ended."""
    return [attempt for attempt in fleet.store.fleet.open_attempts() if isinstance(attempt.job, LoadJob)]


def open_timed(fleet: SimulatedFleet) -> list[Attempt]:
    """Return the attempts at timed trials that have not ended."""
    attempts = fleet.store.fleet.open_attempts()
    return [one for one in attempts if isinstance(one.job, TrialsJob) and one.job.engine == "timed"]


async def has_ended(fleet: SimulatedFleet, request: Request) -> None:
    """Wait until a request is done: its server is built then."""
    assert await fleet.ended(request) == ["done"]


def test_timed_trials_take_their_load_from_another_agent(fleet: SimulatedFleet) -> None:
    fleet.load_agents, fleet.engine = 1, LoadedFromElsewhere()
    request = fleet.submit(made_up_cases(3), engines=("counted", "timed"))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]
        await fleet.until(lambda: not fleet.store.fleet.open_attempts())

    fleet.run(scenario)
    assert set(fleet.engine.load_hosts) == {("counted", None), ("timed", f"{LOAD_PLATFORM} to 127.0.0.1")}
    states = {attempt.state for attempt in fleet.store.fleet.attempts(request.id)}
    assert states == {"done"}
    here = fingerprint()
    assert {measured.facts for _, measured in fleet.store.measurements(request.id)} == {here.facts_digest}
    with fleet.store._database.read_transaction() as connection:
        states_of_platforms = connection.execute(select(platform_facts.c.digest)).scalars().all()
    assert states_of_platforms == [here.facts_digest]


def test_a_timed_trial_waits_until_both_agents_are_free(fleet: SimulatedFleet) -> None:
    fleet.load_agents = 0
    request = fleet.submit(made_up_cases(1), engines=("timed",))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert fleet.conductor is not None
        executions = fleet.conductor.executions

        def is_planned() -> bool:
            planned = executions[request.id].planned.values() if request.id in executions else []
            return any(isinstance(job, TrialsJob) for job in planned)

        await fleet.until(is_planned)
        assert not fleet.store.fleet.open_attempts()
        fleet.start(fleet.load_agent(7))
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)


WAITING = {"load_address": "127.0.0.1:9", "load_certificate": "0" * 64}
"""Where an agent waits for load, in its claim."""


@pytest.mark.slow
def test_load_is_given_to_another_agent_if_the_first_cannot_connect(fleet: SimulatedFleet) -> None:
    fleet.run(functools.partial(has_ended, request=fleet.submit(made_up_cases(1))))
    fleet.load_agents, fleet.agents = 0, 0
    fleet.submit(made_up_cases(1), engines=("timed",))

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.agent(0)._introduce()
        await fleet.load_agent(0)._introduce()
        await fleet.until(lambda: open_timed(fleet))
        [timed] = open_timed(fleet)
        assert not (await fleet.say(Claim(attempt=timed.id, delivery=1))).accepted
        claimed = await fleet.say(Claim(attempt=timed.id, delivery=1, **WAITING))
        assert claimed.accepted
        await fleet.until(lambda: open_loads(fleet))
        [load] = open_loads(fleet)
        assert isinstance(load.job, LoadJob)
        assert {"load_address": load.job.address, "load_certificate": load.job.certificate} == WAITING
        assert (await fleet.say(Claim(attempt=load.id, delivery=1), "load-0")).accepted
        assert (await fleet.say(GiveUp(attempt=load.id, reason="nobody listens"), "load-0")).accepted
        await fleet.until(lambda: [one.id for one in open_loads(fleet)] not in ([], [load.id]))
        [again] = open_loads(fleet)
        assert again.job == load.job
        same = await fleet.say(Claim(attempt=timed.id, delivery=2, **WAITING))
        assert (same.accepted, same.load_secret) == (True, claimed.load_secret)
        # An agent that was started again waits at another port: who knew the secret of the first does not know this.
        moved = await fleet.say(Claim(attempt=timed.id, delivery=3, **(WAITING | {"load_certificate": "1" * 64})))
        assert moved.accepted
        assert moved.load_secret != claimed.load_secret
        await fleet.until(lambda: [one.id for one in open_loads(fleet)] not in ([], [again.id]))
        [again] = open_loads(fleet)
        assert (await fleet.say(Claim(attempt=again.id, delivery=1), "load-0")).accepted
        # The load ends with the trials.
        assert (await fleet.say(GiveUp(attempt=timed.id, reason="a full disk"))).accepted
        assert not (await fleet.say(Heartbeat(attempt=again.id), "load-0")).accepted
        await fleet.until(lambda: again.id not in [one.id for one in fleet.store.fleet.open_attempts()])

    fleet.run(scenario)


@pytest.mark.slow
def test_an_agent_that_cannot_listen_leaves_the_job_to_others(fleet: SimulatedFleet) -> None:
    fleet.load_agents, fleet.agents = 1, 0
    request = fleet.submit(made_up_cases(1), engines=("timed",))

    async def scenario(fleet: SimulatedFleet) -> None:
        broken = fleet.agent(0)
        # An address of documentation, which no machine has.
        broken._place = replace(broken._place, address="192.0.2.1")
        fleet.start(broken)
        await fleet.until(lambda: broken._given_up)
        assert open_timed(fleet)
        fleet.start(fleet.agent(1))
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)


def test_an_agent_that_waits_for_load_ends_once_it_is_told_to(fleet: SimulatedFleet) -> None:
    assert PATIENCE_SECONDS < LOAD_HOST_SECONDS
    fleet.load_agents, fleet.agents = 0, 0
    fleet.submit(made_up_cases(1), engines=("timed",))

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.load_agent(0)._introduce()
        agent = fleet.agent(0)
        working = asyncio.create_task(agent.run())
        await fleet.until(lambda: open_loads(fleet))
        agent.drain()
        agent.drain()
        await fleet.until(working.done)

    fleet.run(scenario)


@pytest.mark.parametrize("name", ["zerolap-load-abandoned", "zerolap-trial-abandoned", "builds/k-abandoned"])
def test_an_agent_removes_what_killed_agents_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    abandoned = tmp_path / name
    abandoned.mkdir(parents=True)
    os.utime(abandoned, (0, 0))

    async def clear_up() -> None:
        clearing = asyncio.create_task(_clear_up(Builds(tmp_path / "builds")))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while abandoned.exists():
                await asyncio.sleep(0.01)
        clearing.cancel()

    asyncio.run(clear_up())
