"""What `zerolap serve` answers before it is the conductor, and the application of the conductor afterwards."""

import asyncio
import contextlib
from http import HTTPStatus
from typing import Final

from fastapi import Response
from starlette.types import ASGIApp, Receive, Scope, Send

STAND_BY: Final = "stand-by: another conductor works on the store"
STARTING: Final = "starting"
RETRY_SECONDS: Final = 1
STARTING_SECONDS: Final = 10.0
"""A request that comes while the process starts waits so long for its answer: GitHub sends a delivery once."""


class Entrance:
    """An ASGI application: the one of the conductor once there is one, before it 503 with the reason."""

    def __init__(self) -> None:
        self._state = STARTING
        self._application: ASGIApp | None = None
        self._has_started = asyncio.Event()

    def stand_by(self, state: str) -> None:
        """Refuse all requests with a state from now on."""
        self._state = state
        self._has_started.set()

    def open(self, application: ASGIApp) -> None:
        """Have an application answer all requests from now on."""
        self._application = application
        self._has_started.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, `/health` as all others."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STARTING_SECONDS):
                await self._has_started.wait()
        if self._application is not None:
            await self._application(scope, receive, send)
            return
        headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
        answer = Response(f"{self._state}\n", HTTPStatus.SERVICE_UNAVAILABLE, headers, "text/plain")
        await answer(scope, receive, send)
