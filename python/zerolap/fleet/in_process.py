"""Delivery within one process: `zerolap serve` without a bus, whose agents run in its own event loop."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from zerolap.fleet.delivery import MAX_DELIVERIES, AgentName, Answering, JobMessage
from zerolap.records import PRIORITIES


@dataclass
class _Queued:
    job: JobMessage
    delivery: int = 0


@dataclass
class InProcess:
    """Queues of jobs in memory; what is in them is lost with the process, and published again by the next.

    It is a `Dispatcher`; `link` makes the `AgentLink` of an agent. No content of a job is larger
    than `largest_content_bytes`.
    """

    outlives_conductor: bool = field(default=False, init=False)
    largest_content_bytes: int = sys.maxsize
    _waiting: list[_Queued] = field(default_factory=list)
    _delivered: list[_Queued] = field(default_factory=list)
    _exhausted: list[bytes] = field(default_factory=list)
    _callbacks: list[tuple[str, Callable[[str], None]]] = field(default_factory=list)
    _answering: Answering | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def link(self, name: AgentName) -> "InProcessLink":
        """Return the connection of an agent of that name."""
        return InProcessLink(self, name)

    async def set_up(self, platforms: dict[str, int]) -> str:
        """Do nothing: a queue needs no preparation, and loses nothing."""
        return ""

    async def reply(self, answering: Answering) -> None:
        """Have the messages of agents answered from now on."""
        self._answering = answering

    def largest_bytes(self) -> int:
        """Return the size of the largest content of a job."""
        return self.largest_content_bytes

    async def publish(self, jobs: list[JobMessage]) -> None:
        """Queue the jobs."""
        self._waiting += [_Queued(job) for job in jobs]
        self._waiting.sort(key=lambda queued: PRIORITIES.index(queued.job.priority))
        self._changed.set()

    async def waiting(self) -> dict[str, int]:
        """Return how many jobs are queued or delivered, by platform."""
        counts: dict[str, int] = {}
        for queued in [*self._waiting, *self._delivered]:
            counts[queued.job.platform] = counts.get(queued.job.platform, 0) + 1
        return counts

    async def purge(self, request: str) -> None:
        """Remove the jobs of a request that were not delivered."""
        self._waiting = [queued for queued in self._waiting if queued.job.request != request]

    async def cancel(self, platform: str, request: str) -> None:
        """Call the agents of the platform."""
        for of_platform, callback in self._callbacks:
            if of_platform == platform:
                callback(request)

    async def exhausted(self) -> list[bytes]:
        """Return the jobs that were given back too often."""
        contents, self._exhausted = self._exhausted, []
        return contents

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    async def _next(self, platform: str, seconds: float) -> "_DeliveredInProcess | None":
        end = asyncio.get_running_loop().time() + seconds
        while True:
            for queued in self._waiting:
                if queued.job.platform == platform:
                    self._waiting.remove(queued)
                    self._delivered.append(queued)
                    queued.delivery += 1
                    return _DeliveredInProcess(self, queued)
            left = end - asyncio.get_running_loop().time()
            if left <= 0:
                return None
            self._changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                return None

    async def _ask(self, name: AgentName, content: bytes, seconds: float) -> bytes | None:
        if self._answering is None:
            return None
        try:
            async with asyncio.timeout(seconds):
                return await self._answering(name, content)
        except TimeoutError:
            return None

    def _end(self, queued: _Queued) -> None:
        if queued in self._delivered:
            self._delivered.remove(queued)

    def _give_back(self, queued: _Queued) -> None:
        self._end(queued)
        if queued.delivery >= MAX_DELIVERIES:
            self._exhausted.append(queued.job.content)
            return
        self._waiting.insert(0, queued)
        self._changed.set()


@dataclass(frozen=True)
class InProcessLink:
    """The connection of an agent in the conductor's process."""

    _queues: InProcess
    _name: AgentName

    async def next_job(self, seconds: float) -> "_DeliveredInProcess | None":
        """Return the next job of the agent's platform."""
        return await self._queues._next(self._name.platform, seconds)

    async def ask(self, content: bytes, seconds: float) -> bytes | None:
        """Hand the conductor a message and return its answer."""
        return await self._queues._ask(self._name, content, seconds)

    def on_cancel(self, callback: Callable[[str], None]) -> None:
        """Have `callback` called with the id of each request of which jobs are to be stopped."""
        self._queues._callbacks.append((self._name.platform, callback))

    async def close(self) -> None:
        """Do nothing: there is no connection."""


@dataclass(frozen=True)
class _DeliveredInProcess:
    """A job that is held until it is ended: there is no lease, as agent and conductor end together."""

    _queues: InProcess
    _queued: _Queued

    @property
    def content(self) -> bytes:
        return self._queued.job.content

    @property
    def delivery(self) -> int:
        return self._queued.delivery

    async def extend(self) -> bool:
        return True

    async def done(self) -> None:
        self._queues._end(self._queued)

    async def give_back(self, delay_seconds: float) -> None:
        asyncio.get_running_loop().call_later(delay_seconds, self._queues._give_back, self._queued)

    async def refuse(self) -> None:
        self._queues._end(self._queued)
