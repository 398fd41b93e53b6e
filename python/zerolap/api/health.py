"""What `/health` answers with: whether the lab works, and what of it needs attention."""

import asyncio
import math
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Generic, Literal, TypeVar

from pydantic import Field

from zerolap.fleet import Conductor
from zerolap.records import EnvironmentMissing, Record
from zerolap.store import Store

T = TypeVar("T")

KEPT_SECONDS: Final = 5.0
"""How long the state of the triggers is kept: anybody may ask for it."""
LATE_SECONDS: Final = 900.0
"""A trigger that waits for longer needs attention."""
FAILED_SECONDS: Final = 3600.0
"""How long a failed trigger counts as a problem."""


class KeptValue(Generic[T]):
    """What `read` returns of the store, in a thread, at most once in a while; to be used in one event loop."""

    def __init__(self, read: Callable[[], T], kept_seconds: float) -> None:
        self._read = read
        self._kept_seconds = kept_seconds
        self._read_at = -math.inf
        self._reading = asyncio.Lock()
        self._value: T | None = None

    async def latest(self) -> T | None:
        """Return the value now, or a short while ago; none where the store cannot be read."""
        async with self._reading:
            if time.monotonic() - self._read_at >= self._kept_seconds:
                self._read_at = time.monotonic()
                try:
                    self._value = await asyncio.to_thread(self._read)
                except EnvironmentMissing:
                    self._value = None
            return self._value


class TriggerHealth(Record):
    """The triggers that wait, and the one that has failed last, by its id; ages in seconds."""

    waiting: int
    oldest_waiting_seconds: float | None
    last_failed: str | None
    last_failed_seconds: float | None = Field(description="How long ago it was recorded.")


class Health(Record):
    """`state` is `failed` while nothing can be given out or recorded, `degraded` where `problems` has entries."""

    state: Literal["working", "degraded", "failed"]
    problems: tuple[str, ...]
    agents: dict[str, int] = Field(description="Agents that take jobs, by platform.")
    triggers: TriggerHealth | None = Field(description="None where the store cannot be read.")

    @property
    def status(self) -> HTTPStatus:
        """The status of the answer."""
        return HTTPStatus.SERVICE_UNAVAILABLE if self.state == "failed" else HTTPStatus.OK


class HealthCheck:
    """Examines a conductor and its store; to be used in one event loop."""

    def __init__(self, conductor: Conductor, store: Store) -> None:
        self._conductor = conductor
        self._backlog = KeptValue(store.triggers.backlog, KEPT_SECONDS)

    async def health(self) -> Health:
        """Return the state of the lab."""
        agents = self._conductor.roster.machines()
        problems = [f"no agent of the platform {name} takes jobs" for name, number in agents.items() if not number]
        triggers = await self.triggers()
        if triggers is not None and (triggers.oldest_waiting_seconds or 0.0) > LATE_SECONDS:
            problems.append(f"a trigger has waited for {triggers.oldest_waiting_seconds:.0f} seconds")
        failed_seconds = None if triggers is None else triggers.last_failed_seconds
        if triggers is not None and failed_seconds is not None and failed_seconds < FAILED_SECONDS:
            problems.append(f"the trigger {triggers.last_failed} has failed")
        trouble = self._conductor.trouble
        if trouble is not None:
            problems.insert(0, trouble)
        state: Literal["working", "degraded", "failed"] = "degraded" if problems else "working"
        return Health(
            state=state if trouble is None else "failed", problems=tuple(problems), agents=agents, triggers=triggers
        )

    async def triggers(self) -> TriggerHealth | None:
        """Return how it stands with the triggers; none where the store cannot be read."""
        backlog = await self._backlog.latest()
        if backlog is None:
            return None
        return TriggerHealth(
            waiting=backlog.waiting,
            oldest_waiting_seconds=_age(backlog.oldest_waiting),
            last_failed=backlog.last_failed,
            last_failed_seconds=_age(backlog.last_failed_created),
        )


def _age(created: float | None) -> float | None:
    return None if created is None else round(max(0.0, time.time() - created), 1)
