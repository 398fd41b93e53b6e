"""A conductor with agents that make their measurements up, in one event loop: delivery, store and planner are real."""

import asyncio
import shutil
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from waiting import PATIENCE_SECONDS

from zerolap.build import Builds, resolve
from zerolap.engines.simulated import Simulated
from zerolap.events.lab_event import LabEvent
from zerolap.fleet import Conductor, Pace, ServedPlatform
from zerolap.fleet.agent import Agent, AgentPlace, FilesAreHere
from zerolap.fleet.delivery import AgentName
from zerolap.fleet.in_process import InProcess
from zerolap.fleet.messages import MessageReply, message_json
from zerolap.fleet.setup.configuration import PlatformRequirement
from zerolap.lab import Options, SubmissionOptions, Worker, comparison_request, on_platforms
from zerolap.records import Block, Case, Record, Request, RequestedServer, TrialsJob, WrittenClient
from zerolap.store import Store

PLATFORM = "here"
LOAD_PLATFORM = "loaders"
PACE = Pace(lease_seconds=60, poll_seconds=0.05, review_seconds=0.3, patience_seconds=0)


def made_up_cases(count: int, group: str = "made up") -> list[Case]:
    """Return cases that only simulated engines can measure."""
    clients = [WrittenClient(commands=[f"GET {number}:__key__"]).client for number in range(count)]
    return [Case(name=f"case-{number}", group=group, client=client) for number, client in enumerate(clients)]


class HeldTrials:
    """Stands in for `on_trial` of an engine: so many trials are carried out, and all others wait for `release`.

    What a scenario does next it does while work is left, however fast the machine is.
    """

    def __init__(self, carried_out: int = 0) -> None:
        self._left = carried_out
        self._lock = threading.Lock()
        self._released = threading.Event()

    def __call__(self, _job: TrialsJob, _block: Block) -> None:
        with self._lock:
            self._left -= 1
            if self._left >= 0:
                return
        assert self._released.wait(PATIENCE_SECONDS)

    def release(self) -> None:
        """Let all trials go on from now."""
        self._released.set()


@dataclass
class SimulatedFleet:
    """Agents of one platform, which builds for itself; `engine` stands in for all engines.

    With `load_agents`, that is the number of agents that put load on its servers; 0 of them are too few. `on_event`
    is called with what happens. `pace` is that of the tests unless it is given.
    `further_platforms` have an agent each, with an engine of its own.
    """

    store: Store
    server: Path
    engine: Simulated = field(default_factory=Simulated)
    agents: int = 2
    load_agents: int | None = None
    on_event: Callable[[LabEvent], None] = lambda _event: None
    further_platforms: Mapping[str, Simulated] = field(default_factory=dict)
    new_queues: Callable[[], InProcess] = InProcess
    pace: Pace | None = None
    queues: InProcess = field(default_factory=InProcess)
    running: list[Agent] = field(default_factory=list)
    conductor: Conductor | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def submit(
        self,
        cases: Sequence[Case],
        platform: str = PLATFORM,
        head: Path | None = None,
        engines: Sequence[str] = ("counted",),
        submitting: SubmissionOptions | None = None,
    ) -> Request:
        """Submit a comparison of the server with itself, or with another head."""
        base = RequestedServer(source=resolve(str(self.server), None))
        other = base if head is None else RequestedServer(source=resolve(str(head), None))
        asked = comparison_request(base, other, cases, Options(engines=engines, seed=1))
        [request] = on_platforms(asked, [platform], self.store.blobs, submitting)
        self.store.submit([request])
        return request

    def run(self, scenario: Callable[["SimulatedFleet"], Awaitable[None]]) -> None:
        """Run conductor and agents until a scenario has ended."""
        asyncio.run(self._run(scenario))

    async def ended(self, *requests: Request) -> list[str]:
        """Wait until requests have ended, and return their states."""
        await self.until(lambda: all(state not in ("waiting", "running") for state in self.states(*requests)))
        return self.states(*requests)

    def states(self, *requests: Request) -> list[str]:
        """Return the states of requests."""
        by_id = self.store.fleet.states(request.id for request in requests)
        return [by_id[request.id] for request in requests]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds; the time only bounds a hang."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():
                # Most conditions ask the store.
                await asyncio.sleep(0.03)

    async def say(self, message: Record, agent: str = "agent-0") -> MessageReply:
        """Send the conductor a message in the name of an agent."""
        assert self.conductor is not None
        name = AgentName("lab", LOAD_PLATFORM if agent.startswith("load") else PLATFORM, agent)
        return MessageReply.model_validate_json(await self.conductor.intake.reply(name, message_json(message)))

    def agent(self, number: int) -> Agent:
        """Return a further agent, which is not running."""
        name = AgentName("lab", PLATFORM, f"agent-{number}")
        return Agent("bench", self.queues.link(name), FilesAreHere(), self._place())

    def agent_of(self, platform: str) -> Agent:
        """Return the agent of a further platform, which is not running."""
        name = AgentName("lab", platform, f"{platform}-agent")
        place = self._place(self.further_platforms[platform])
        return Agent("bench", self.queues.link(name), FilesAreHere(), place)

    def load_agent(self, number: int) -> Agent:
        """Return a further agent that puts load on servers, which is not running."""
        name = AgentName("lab", LOAD_PLATFORM, f"load-{number}")
        return Agent("load", self.queues.link(name), FilesAreHere(), self._place())

    def _place(self, engine: Simulated | None = None) -> AgentPlace:
        worker = Worker(dict.fromkeys(("counted", "timed", "sampled"), engine or self.engine))
        return AgentPlace(Builds(self.store.builds_directory), self.store.blobs, worker, "127.0.0.1")

    def start(self, agent: Agent) -> None:
        """Have a further agent work until the scenario ends."""
        self.running.append(agent)
        self._tasks.append(asyncio.create_task(agent.run()))

    async def _run(self, scenario: Callable[["SimulatedFleet"], Awaitable[None]]) -> None:
        self.queues = self.new_queues()
        requirement = PlatformRequirement(load=None if self.load_agents is None else LOAD_PLATFORM)
        platform = ServedPlatform(PLATFORM, PLATFORM, requirement)
        further = [ServedPlatform(name, name) for name in self.further_platforms]
        self.conductor = Conductor(
            self.store, self.queues, [platform, *further], pace=self.pace or PACE, on_event=self.on_event
        )
        self.running, self._tasks = [], [asyncio.create_task(self.conductor.run())]
        for number in range(self.agents):
            self.start(self.agent(number))
        for name in self.further_platforms:
            self.start(self.agent_of(name))
        for number in range(self.load_agents or 0):
            self.start(self.load_agent(number))
        ended: asyncio.Task[None] = asyncio.create_task(scenario(self))  # type: ignore[arg-type]
        done, _ = await asyncio.wait({ended, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
        for agent in self.running:
            agent.drain()
            agent.drain()
        self._tasks[0].cancel()
        await asyncio.wait(self._tasks, timeout=PATIENCE_SECONDS)
        for task in done:
            await task


def other_build(server: Path, copy: Path) -> Path:
    """Copy a program with a byte more, which is another build."""
    shutil.copy(server, copy)
    with copy.open("ab") as file:
        file.write(b"\0")
    return copy


__all__ = ["PLATFORM", "HeldTrials", "SimulatedFleet", "made_up_cases", "other_build"]
