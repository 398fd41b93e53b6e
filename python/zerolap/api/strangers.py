"""The turns of requests without a known token: they are spaced out, so that the event loop has time for all others."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any, Final

from fastapi import Request
from starlette.types import Scope

from zerolap.allowance import Allowance

PER_SECOND: Final = 200.0
AT_ONCE: Final = 32
"""So many turns are given at once after a pause: a page of the lab takes up to twenty requests."""
LATENESS_SHARE: Final = 0.25
"""Where the event loop is late, it is so because of what it was given: the next turn is given after four times that."""
_STATE: Final = "is_stranger"
_TURN: Final = "turn"


class ClientGone(Exception):
    """The client of a request that waits for its turn has closed the connection."""


class StrangersTurns:
    """Gives turns, no more than `per_second` after the first `at_once`; to be used in one event loop.

    Where requests wait, their networks have a turn one after the other, however many requests of each wait, and a turn
    is given once the event loop has had time for others after the one before.
    """

    def __init__(self, per_second: float = PER_SECOND, at_once: int = AT_ONCE) -> None:
        self._per_second = per_second
        self._left = Allowance(at_once, per_second)
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._due: float | None = None

    async def turn(self, network: str, scope: Scope) -> None:
        """Wait until a request of a network has its turn; raises `ClientGone` once it has left the queue."""
        if not self._waiting and self._left.take():
            return
        turn = asyncio.get_running_loop().create_future()
        scope.setdefault("state", {})[_TURN] = turn
        self._waiting.setdefault(network, deque()).append(turn)
        if self._due is None:
            self._give_after(1 / self._per_second)
        await turn

    def _give_after(self, seconds: float) -> None:
        self._due = time.monotonic() + seconds
        asyncio.get_running_loop().call_later(seconds, self._give, self._due)

    def _give(self, due: float) -> None:
        self._due = None
        late_seconds = time.monotonic() - due
        # What waits takes the turns that come up meanwhile.
        self._left.use_up()
        if self._give_to_next():
            self._give_after(max(1 / self._per_second, late_seconds / LATENESS_SHARE))

    def _give_to_next(self) -> bool:
        """Give a turn to a request that waits; returns false where there is none."""
        while self._waiting:
            network, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[network] = turns
            # Nobody waits any more for one that was given up.
            if not turn.done():
                turn.set_result(None)
                return True
        return False


def leave_queue(state: Mapping[str, Any]) -> None:
    """Have a request with this state give up its turn, if it waits for one."""
    turn = state.get(_TURN)
    if turn is not None and not turn.done():
        turn.set_exception(ClientGone)


def note_stranger(scope: Scope, *, is_stranger: bool) -> None:
    """Note in the state of a request whether its token or session is not known."""
    scope.setdefault("state", {})[_STATE] = is_stranger


def is_stranger(request: Request) -> bool:
    """Whether the token or session of a request is not known, or was not looked at."""
    return bool(getattr(request.state, _STATE, True))
