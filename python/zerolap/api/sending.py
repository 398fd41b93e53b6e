"""How answers are sent: in pieces, so that one that is not read takes little memory, and without a body for HEAD."""

import asyncio
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PIECE_BYTES: Final = 32 << 10
"""The next piece is made once the client has read those before it; what is sent whole is copied as a whole."""


class Sending:
    """Sends large bodies in pieces, and answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._send_head({**scope, "method": "GET"}, receive, send)
        else:
            await self._app(scope, receive, lambda message: _send_in_pieces(message, send))

    async def _send_head(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head of what a GET is answered with; raises what the application raises."""

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body"})
                # A stream would go on for as long as it is read.
                raise _HeadSent

        try:
            await self._app(scope, receive, send_head)
        except _HeadSent:
            return


class _HeadSent(Exception):
    pass


async def _send_in_pieces(message: Message, send: Send) -> None:
    body: Any = message.get("body", b"")
    if len(body) <= PIECE_BYTES:
        await send(message)
        return
    content = memoryview(body)
    for begin in range(0, len(content), PIECE_BYTES):
        end = begin + PIECE_BYTES
        has_more = end < len(content) or message.get("more_body", False)
        await send({"type": message["type"], "body": bytes(content[begin:end]), "more_body": has_more})
        # Others have a turn, and the end of the connection is noticed.
        await asyncio.sleep(0)
