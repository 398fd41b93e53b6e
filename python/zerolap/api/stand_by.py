"""What `zerolap serve` answers before it is the conductor, and the application of the conductor afterwards."""

from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from fastapi import Response

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

STAND_BY: Final = "stand-by: another conductor works on the store"
RETRY_SECONDS: Final = 1


class Entrance:
    """An ASGI application: the `application` of the conductor once there is one, before it 503 with the `state`."""

    def __init__(self) -> None:
        self.state = "starting"
        self.application: Application | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, `/health` as all others."""
        if self.application is not None:
            await self.application(scope, receive, send)
            return
        headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
        answer = Response(f"{self.state}\n", HTTPStatus.SERVICE_UNAVAILABLE, headers, "text/plain")
        await answer(scope, receive, send)
