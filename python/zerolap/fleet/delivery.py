"""How jobs reach agents and how agents reach the conductor: what the conductor and an agent need of a bus.

Two kinds exist: `zerolap.fleet.bus` over NATS, and `zerolap.fleet.in_process` for one machine. Both deliver a job
at least once, to one agent at a time; the store decides what counts.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

LEASE_SECONDS: Final = 30.0
"""A job whose agent has not reported for so long is delivered to another."""
MAX_DELIVERIES: Final = 5
"""The number of deliveries without an end after which a job is given up."""


@dataclass(frozen=True)
class AgentName:
    """An agent as the bus has authenticated it: its lab, its platform, and its own name."""

    lab: str
    platform: str
    agent: str


@dataclass(frozen=True)
class JobMessage:
    """A job to be published: `content` is JSON, `message` the id by which the bus drops duplicates."""

    platform: str
    priority: str
    request: str
    message: str
    content: bytes


class DeliveredJob(Protocol):
    """A job that an agent was given, until one of `done`, `give_back` and `refuse` is called."""

    @property
    def content(self) -> bytes:
        """The content of the `JobMessage`."""

    @property
    def delivery(self) -> int:
        """How often the message has been delivered, this time included."""

    async def extend(self) -> bool:
        """Extend the lease to `LEASE_SECONDS` from now; returns whether the bus has confirmed it."""

    async def done(self) -> None:
        """Take the job from the queue: its result is stored."""

    async def give_back(self, delay_seconds: float) -> None:
        """Have the job delivered again after a delay."""

    async def refuse(self) -> None:
        """Take the job from the queue: it is not a job of this agent, or no job at all."""


class AgentLink(Protocol):
    """An agent's connection. Nothing raises while the bus cannot be reached: it is connected to again for ever."""

    async def next_job(self, seconds: float) -> DeliveredJob | None:
        """Return the next job of this agent's platform by `PRIORITIES`; None if none came within the time."""

    async def ask(self, content: bytes, seconds: float) -> bytes | None:
        """Send a message to the conductor and return its answer; None if none came within the time."""

    def on_cancel(self, callback: Callable[[str], None]) -> None:
        """Have `callback` called with the id of each request of which jobs are to be stopped; some may be missed."""

    async def close(self) -> None:
        """End the connection."""


Answering = Callable[[AgentName, bytes], Awaitable[bytes | None]]
"""Takes a message of an agent and returns the answer to it; none if another conductor is to answer."""


class Dispatcher(Protocol):
    """The conductor's connection. All methods but `close` raise `BusLost` while the bus cannot be reached."""

    @property
    def outlives_conductor(self) -> bool:
        """Whether jobs and their agents go on without the conductor."""

    async def set_up(self, platforms: dict[str, int]) -> str:
        """Create what the bus lacks for these platforms, each with its number of machines; may be called again.

        Returns another text than before once the bus has lost its jobs.
        """

    async def reply(self, answering: Answering) -> None:
        """Have the messages of agents answered from now on, several at a time."""

    def largest_bytes(self) -> int:
        """Return the size of the largest content of a job that can be published."""

    async def publish(self, jobs: list[JobMessage]) -> None:
        """Publish jobs; they are kept by the bus when this returns."""

    async def waiting(self) -> dict[str, int]:
        """Return how many jobs the bus holds by platform, delivered ones that have not ended included."""

    async def purge(self, request: str) -> None:
        """Remove the jobs of a request that were not delivered."""

    async def cancel(self, platform: str, request: str) -> None:
        """Tell the agents of a platform, if they are connected, to stop the jobs of a request."""

    async def exhausted(self) -> list[bytes]:
        """Return the contents of the jobs that were delivered `MAX_DELIVERIES` times since the last call.

        They are removed from the queue.
        """

    async def close(self) -> None:
        """End the connection."""


class BusLost(Exception):
    """The bus cannot be reached, or has forgotten its queues; the message has the reason."""
