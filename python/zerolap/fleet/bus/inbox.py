"""The messages of one agent to the conductor: a subscription, places and a rate of its own.

What an agent sends beyond its allowance is dropped, and one that goes on is not listened to for a while: without a
subscription the server keeps its messages to itself, and the connection of the conductor is left to all others.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from zerolap.allowance import Allowance
from zerolap.fleet.bus.bus_connection import BUS_FAULTS, Session, agent_subject
from zerolap.fleet.delivery import AgentName

PLACES: Final = 64
"""The most messages of an agent that wait for a reply at a time. A working agent sends at most three at once, and
repeats them only while the store cannot be used.
"""
PLACES_BYTES: Final = 8 << 20
COST_BYTES: Final = 16 << 10
"""A message costs 1, and 1 more for each of so many bytes."""
MOST_COST: Final = 1000.0
COST_PER_SECOND: Final = 100.0
"""What costs more is answered later."""
MOST_DROPPED_COST: Final = 2000.0
DROPPED_COST_PER_SECOND: Final = 10.0
"""An agent of which more is dropped is not listened to for `REST_SECONDS`."""
REST_SECONDS: Final = 30.0
PENDING_MESSAGES: Final = 4096
PENDING_BYTES: Final = 32 << 20
"""The most bytes of received messages that the client keeps before they are looked at."""

log = structlog.get_logger("zerolap.bus")


class AgentInbox:
    """Takes the messages of one agent, and has them answered; `spawn` runs what is to be done meanwhile."""

    def __init__(
        self,
        name: AgentName,
        answer: Callable[[AgentName, Msg], Awaitable[None]],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._name = name
        self._reply = answer
        self._spawn = spawn
        self._rate = Allowance(MOST_COST, COST_PER_SECOND)
        self._dropped = Allowance(MOST_DROPPED_COST, DROPPED_COST_PER_SECOND)
        self._places = 0
        self._places_bytes = 0
        self.session: Session | None = None
        self._subscription: Subscription | None = None
        self._resting: asyncio.TimerHandle | None = None

    async def open(self, session: Session) -> None:
        """Listen in a session, unless the agent rests; in an earlier one nothing comes in any more."""
        self.session, self._subscription = session, None
        if self._resting is None:
            self._subscription = await session.client.subscribe(
                agent_subject(self._name),
                cb=self._receive,
                pending_msgs_limit=PENDING_MESSAGES,
                pending_bytes_limit=PENDING_BYTES,
            )

    async def close(self) -> None:
        """Listen no more."""
        if self._resting is not None:
            self._resting.cancel()
        self.session = None
        await self._unsubscribe()

    async def _unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            # Lost with its connection otherwise.
            with contextlib.suppress(*BUS_FAULTS):
                await subscription.unsubscribe()

    async def _receive(self, message: Msg) -> None:
        if not message.reply or message.subject != agent_subject(self._name) or self._resting is not None:
            # An agent can have the server deliver a job here, by its request for one.
            return
        size_bytes = len(message.data)
        cost = 1 + size_bytes // COST_BYTES
        if self._places < PLACES and self._places_bytes + size_bytes <= PLACES_BYTES:
            self._places += 1
            self._places_bytes += size_bytes
            self._spawn(self._reply_in_turn(message, cost))
        elif not self._dropped.take(cost):
            self._rest()

    async def _reply_in_turn(self, message: Msg, cost: int) -> None:
        try:
            if wait_seconds := self._rate.take_in_advance(cost):
                await asyncio.sleep(wait_seconds)
            await self._reply(self._name, message)
        finally:
            self._places -= 1
            self._places_bytes -= len(message.data)

    def _rest(self) -> None:
        log.warning("an agent sends too much, and is not listened to", agent=self._name.agent, seconds=REST_SECONDS)
        # Not by this task, which ends with the subscription.
        self._spawn(self._unsubscribe())
        self._resting = asyncio.get_running_loop().call_later(REST_SECONDS, self._end_rest)

    def _end_rest(self) -> None:
        self._resting = None
        self._dropped = Allowance(MOST_DROPPED_COST, DROPPED_COST_PER_SECOND)
        if self.session is not None and not self.session.ended.done():
            self._spawn(self._open_again(self.session))

    async def _open_again(self, session: Session) -> None:
        # If the session is lost by now, the next one is prepared.
        with contextlib.suppress(*BUS_FAULTS):
            await self.open(session)
