"""Agents and conductors of other versions: they are refused with the reason, and no job fails for it."""

import asyncio
import json
from pathlib import Path

import pytest
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases
from waiting import PATIENCE_SECONDS

from zerolap.fleet.agent import Agent
from zerolap.fleet.delivery import AgentName
from zerolap.fleet.in_process import InProcessLink
from zerolap.fleet.messages import PROTOCOL, MessageReply
from zerolap.store import Store

OTHER = PROTOCOL + 1
GREETING = {"message": "hello", "protocol": OTHER, "zerolap": "9.0", "machine": {"of": ["another form"]}}
NAME = AgentName("lab", PLATFORM, "agent-0")


@pytest.fixture
def fleet(store: Store, redis_server: Path) -> SimulatedFleet:
    return SimulatedFleet(store, redis_server, agents=0)


async def send(fleet: SimulatedFleet, message: dict[str, object]) -> MessageReply:
    assert fleet.conductor is not None
    return MessageReply.model_validate_json(await fleet.conductor.intake.reply(NAME, json.dumps(message).encode()))


def refusals(fleet: SimulatedFleet) -> dict[str, str | None]:
    return {agent.name: agent.refusal for agent in fleet.store.fleet.agents()}


def test_an_agent_of_another_protocol_is_refused_and_its_platform_waits(fleet: SimulatedFleet) -> None:
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        answer = await send(fleet, GREETING)
        assert (answer.accepted, answer.protocol) == (False, PROTOCOL)
        assert f"its protocol is {OTHER} (Zerolap 9.0), that of the conductor is {PROTOCOL}" in answer.reason
        assert refusals(fleet) == {"agent-0": answer.reason}
        await fleet.until(lambda: f"its protocol is {OTHER}" in fleet.store.request(request.id).reason)
        # It cannot be read either, and the agent is to introduce itself instead of repeating it.
        assert (await send(fleet, {"message": "claim", "what": 1})).unknown
        # The agent is replaced by one of the same version.
        fleet.start(fleet.agent(0))
        assert await fleet.ended(request) == ["done"]
        assert refusals(fleet) == {"agent-0": None}

    fleet.run(scenario)


def test_a_conductor_that_is_started_again_remembers_why_an_agent_is_refused(fleet: SimulatedFleet) -> None:
    request = fleet.submit(made_up_cases(1))

    async def refused(fleet: SimulatedFleet) -> None:
        await send(fleet, GREETING)

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: f"its protocol is {OTHER}" in fleet.store.request(request.id).reason)

    fleet.run(refused)
    fleet.run(scenario)
    assert f"its protocol is {OTHER}" in (refusals(fleet)["agent-0"] or "")


def test_jobs_wait_when_all_agents_are_replaced_by_those_of_another_protocol(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zerolap.fleet.request_planning.MANY_PUBLICATIONS", 0)
    request = fleet.submit(made_up_cases(2))

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.agent(0)._introduce()
        await fleet.until(fleet.store.fleet.open_attempts)
        await send(fleet, GREETING)
        await fleet.until(lambda: f"its protocol is {OTHER}" in fleet.store.request(request.id).reason)
        assert fleet.states(request) == ["running"]
        fleet.start(fleet.agent(1))
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    assert {attempt.state for attempt in fleet.store.fleet.attempts(request.id)} == {"done"}


class OtherConductor(InProcessLink):
    """A link to a conductor of another protocol, once it has `turned` from one of the same."""

    turned = False
    asked: list[bytes]

    async def ask(self, content: bytes, seconds: float) -> bytes | None:
        if not self.turned:
            return await super().ask(content, seconds)
        self.asked.append(content)
        return b'{"protocol": %d, "accepted": false, "why": {"no": "agent of that protocol"}}' % OTHER


@pytest.mark.slow
def test_an_agent_leaves_the_jobs_of_a_conductor_of_another_protocol_to_others(fleet: SimulatedFleet) -> None:
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        link = OtherConductor(fleet.queues, NAME)
        link.__class__.asked = []
        agent: Agent = fleet.agent(0)
        agent._link = link
        await agent._introduce()
        link.__class__.turned = True
        fleet.running.append(agent)
        working = asyncio.create_task(agent.run())
        await fleet.until(lambda: len(link.asked) >= 1)
        link.__class__.turned = False
        fleet.start(fleet.agent(1))
        assert await fleet.ended(request) == ["done"]
        # It asks again in minutes.
        assert [json.loads(content)["message"] for content in link.asked] == ["hello"]
        agent.drain()
        await working

    fleet.run(scenario)
    assert {attempt.agent for attempt in fleet.store.fleet.attempts(request.id)} == {"agent-1"}


def test_an_agent_gives_a_job_of_another_protocol_back(fleet: SimulatedFleet) -> None:
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        agent = fleet.agent(0)
        await agent._introduce()
        await fleet.until(fleet.store.fleet.open_attempts)
        delivered = await fleet.queues.link(NAME).next_job(PATIENCE_SECONDS)
        assert delivered is not None
        offered = delivered._queued.job.content
        assert json.loads(offered)["protocol"] == PROTOCOL
        given_back: list[float] = []

        class Delivered:
            content = b'{"protocol": %d, "work": "in another form"}' % OTHER
            delivery = 1

            async def give_back(self, delay_seconds: float) -> None:
                given_back.append(delay_seconds)

        await agent._take(Delivered())  # type: ignore[arg-type]
        assert len(given_back) == 1

    fleet.run(scenario)
    assert fleet.states(request) == ["running"]
