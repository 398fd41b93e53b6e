"""Whose job is given out next: the snapshot of agents that plans are made with, and the order of requests."""

import asyncio
import time
from collections.abc import Sequence

import pytest
from simulated_fleet import LOAD_PLATFORM, PLATFORM, SimulatedFleet, made_up_cases

from zerolap.fleet.delivery import AgentName
from zerolap.fleet.fleet_execution import FleetExecution
from zerolap.fleet.messages import Hello
from zerolap.fleet.roster import Roster, RosterSnapshot, ServedPlatform
from zerolap.fleet.setup.configuration import PlatformRequirement
from zerolap.fleet.turns import AGEING_SECONDS, JOBS_PER_AGENT, Turns, aged_priority
from zerolap.host import fingerprint
from zerolap.lab import Lab, Plan, SubmissionOptions
from zerolap.records import (
    BuildJob,
    EnvironmentMissing,
    Event,
    JobFinished,
    JobStarted,
    Priority,
    ServerSpec,
    TrialsJob,
)

HELLO = Hello(kind="bench", zerolap="0", platform=fingerprint(), architecture="", memory_bytes=1, address="here")


def roster_of(*agents: tuple[str, str]) -> Roster:
    """Return a roster with agents by name and platform; timed jobs need an agent for load besides."""
    roster = Roster([ServedPlatform(PLATFORM, PLATFORM, PlatformRequirement(load=LOAD_PLATFORM))])
    for agent, platform in agents:
        roster.introduce(AgentName("lab", platform, agent), HELLO)
    return roster


def jobs(execution: FleetExecution, *engines: str) -> Sequence[TrialsJob]:
    """Plan a job of each of these engines."""
    planned = [
        TrialsJob(
            request=execution.id,
            case=made_up_cases(1)[0],
            servers={"base": ServerSpec(build="b-1", topology=made_up_cases(1)[0].topology)},
            engine=engine,
            blocks=(),
        )
        for engine in engines
    ]
    execution.planned = {job.id: job for job in planned}
    return planned


def execution_of(
    fleet: SimulatedFleet, roster: Roster, priority: Priority = "pull", hours_ago: float = 0.0
) -> FleetExecution:
    request = fleet.submit(made_up_cases(1), submitting=SubmissionOptions(priority))
    submitted = time.time() - hours_ago * 3600
    return FleetExecution(request, roster, Lab(fleet.store), submitted)


class Interrupting(str):
    """The name of a platform; an agent introduces itself whenever it is compared."""

    roster: Roster | None = None
    times = 0

    def __eq__(self, other: object) -> bool:
        if self.roster is None:
            return str.__eq__(self, other)
        type(self).times += 1
        self.roster.introduce(AgentName("lab", "another", f"other-{self.times}"), HELLO)
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_agents_that_come_while_a_plan_is_made_do_not_end_it() -> None:
    roster = roster_of(("agent-0", PLATFORM), ("agent-1", PLATFORM))
    roster.introduce(AgentName("lab", Interrupting(PLATFORM), "agent-2"), HELLO)
    snapshot = roster.snapshot()
    Interrupting.roster = roster
    try:
        assert snapshot.known_platform(PLATFORM) is not None
        assert snapshot.tools_of_builder(PLATFORM) == {}
    finally:
        Interrupting.roster = None
    assert Interrupting.times > 0
    assert len(snapshot.agents) < len(roster.snapshot().agents)


class Interrupted(FleetExecution):
    """An execution to which something happens while a thread plans; its first plan fails."""

    job: TrialsJob
    plans: list[list[Event]]

    def _planned_after(self, happened: Sequence[tuple[BuildJob | TrialsJob, Event]], roster: RosterSnapshot) -> Plan:
        self.plans.append([event for _, event in happened])
        self.take_in(self.job, JobFinished(job=self.job.id))
        if len(self.plans) == 1:
            raise EnvironmentMissing("the store is away")
        return Plan()


def test_what_happens_while_a_plan_is_made_is_in_the_next_one(fleet: SimulatedFleet) -> None:
    roster = roster_of(("agent-0", PLATFORM))
    request = fleet.submit(made_up_cases(1))
    execution = Interrupted(request, roster, Lab(fleet.store))
    [execution.job] = jobs(execution, "counted")
    execution.plans = []
    execution.take_in(execution.job, JobStarted(job=execution.job.id))

    async def plan() -> None:
        with pytest.raises(EnvironmentMissing):
            await execution.plan()
        await execution.plan()

    asyncio.run(plan())
    assert [len(events) for events in execution.plans] == [1, 2]


def test_a_job_that_lacks_agents_does_not_hold_back_those_behind_it(fleet: SimulatedFleet) -> None:
    roster = roster_of(("agent-0", PLATFORM))
    execution = execution_of(fleet, roster)
    _, counted = jobs(execution, "timed", "counted")
    chosen = Turns(roster).choose([execution], [])
    assert [attempt.job for attempt in chosen] == [counted]
    assert [job.engine for job in execution.planned.values() if isinstance(job, TrialsJob)] == ["timed"]


@pytest.mark.parametrize(
    ("priority", "hours_ago", "aged"),
    [
        ("backfill", 0, "backfill"),
        ("backfill", 5.9, "backfill"),
        ("backfill", 6.1, "pull"),
        ("backfill", 12.1, "release"),
        ("backfill", 1000, "release"),
        ("release", 1000, "release"),
        ("pull", -1, "pull"),
    ],
)
def test_priorities_rise_with_time(fleet: SimulatedFleet, priority: Priority, hours_ago: float, aged: Priority) -> None:
    assert AGEING_SECONDS == 6 * 3600
    assert aged_priority(execution_of(fleet, roster_of(), priority, hours_ago)) == aged


def test_a_backfill_is_served_though_pull_requests_never_end(fleet: SimulatedFleet) -> None:
    roster = roster_of(("agent-0", PLATFORM))
    turns = Turns(roster)
    backfill = execution_of(fleet, roster, "backfill", hours_ago=7)
    jobs(backfill, "counted")
    served = []
    for _ in range(4):
        pull = execution_of(fleet, roster)
        jobs(pull, "counted", "sampled", "loaded")
        served += turns.choose([pull, backfill], [])
    assert len(served) == 4 * JOBS_PER_AGENT
    assert backfill.id in {attempt.request for attempt in served}


def test_a_job_on_the_bus_rises_with_its_request(fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    request = fleet.submit(made_up_cases(1), submitting=SubmissionOptions("backfill"))
    fleet.agents = 0

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.agent(0)._introduce()
        await fleet.until(lambda: fleet.queues._waiting)
        assert {queued.job.priority for queued in fleet.queues._waiting} == {"backfill"}
        assert fleet.conductor is not None
        execution = fleet.conductor.executions[request.id]
        execution.submitted -= 2 * AGEING_SECONDS
        await fleet.until(lambda: "release" in {queued.job.priority for queued in fleet.queues._waiting})
        fleet.start(fleet.agent(1))
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
