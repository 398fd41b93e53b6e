"""How often an agent may do what costs others something, and until when it may hold a job."""

import asyncio

import pytest
from simulated_fleet import HeldTrials, SimulatedFleet, made_up_cases

from zerolap.fleet import intake
from zerolap.fleet.agent import Lease, boot_seconds
from zerolap.fleet.messages import Claim, GiveUp, Heartbeat
from zerolap.store import Attempt

LEASE_SECONDS = 1000.0


def test_an_agent_that_gives_up_too_many_jobs_is_given_none_for_a_while(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_GIVEN_UP", 2.0)
    monkeypatch.setattr(intake, "GIVEN_UP_PER_SECOND", 1e-9)
    fleet.agents = 1
    fleet.submit(made_up_cases(8))
    held = HeldTrials()
    fleet.engine.on_trial = held
    given_up: set[str] = set()

    def is_offered(attempt: Attempt) -> bool:
        return attempt.state == "ready" and attempt.job.kind == "trials" and attempt.job.id not in given_up

    async def scenario(fleet: SimulatedFleet) -> None:
        assert fleet.conductor is not None
        attempts = fleet.conductor.intake.attempts
        await fleet.until(lambda: any(map(is_offered, attempts.values())))
        fleet.running[0].drain()
        await fleet.agent(9)._introduce()
        answers = []
        for _ in range(4):
            await fleet.until(lambda: any(map(is_offered, attempts.values())))
            offered = next(filter(is_offered, attempts.values()))
            answers.append(await fleet.say(Claim(attempt=offered.id, delivery=1), "agent-9"))
            await fleet.say(GiveUp(attempt=offered.id, reason="no disk"), "agent-9")
            given_up.add(offered.job.id)
        held.release()
        assert [answer.accepted for answer in answers] == [True, True, True, False]
        assert (await fleet.say(Heartbeat(), "agent-9")).draining
        assert not (await fleet.say(Heartbeat(), "agent-0")).draining

    fleet.run(scenario)


def test_an_agent_that_introduces_itself_all_the_time_is_answered_later(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_INTRODUCTIONS", 3.0)
    monkeypatch.setattr(intake, "INTRODUCTIONS_PER_SECOND", 1e-9)

    async def scenario(fleet: SimulatedFleet) -> None:
        assert fleet.conductor is not None
        await fleet.until(lambda: fleet.conductor.roster.usable("here"))  # type: ignore[union-attr]
        present = fleet.conductor.roster.usable("here")[0]
        agent = present.name.agent
        answers = [await fleet.say(present.hello, agent) for _ in range(3)]
        assert [(answer.accepted, answer.again) for answer in answers] == [(True, False)] * 2 + [(False, True)]

    fleet.run(scenario)


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_a_lease_counts_from_when_its_extension_was_asked_for(fleet: SimulatedFleet, is_confirmed: bool) -> None:
    async def scenario(fleet: SimulatedFleet) -> None:
        begun = boot_seconds() - LEASE_SECONDS / 2
        lease = Lease(LEASE_SECONDS, begun)
        answered = asyncio.Event()

        async def extend() -> bool:
            await answered.wait()
            return is_confirmed

        extending = asyncio.create_task(fleet.agent(9)._extended_by(lease, extend(), bool))
        await asyncio.sleep(0)
        asked_by = boot_seconds()
        await asyncio.sleep(0.05)
        answered.set()
        assert await extending is is_confirmed
        assert begun < lease.confirmed <= asked_by if is_confirmed else lease.confirmed == begun

    fleet.run(scenario)


def test_no_answer_is_waited_for_after_the_lease(fleet: SimulatedFleet) -> None:
    async def scenario(fleet: SimulatedFleet) -> None:
        lease = Lease(0.1)

        async def extend() -> bool:
            await asyncio.Event().wait()
            return True

        assert await fleet.agent(9)._extended_by(lease, extend(), bool) is None
        assert lease.has_lapsed

    fleet.run(scenario)
