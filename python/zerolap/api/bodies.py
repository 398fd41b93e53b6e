"""Bodies of requests, read within bounds on their size and on the time that they take."""

import asyncio
from http import HTTPStatus

from fastapi import Request

from zerolap.api.problems import Problem


async def read_body(request: Request, most_bytes: int, most_seconds: float) -> bytes:
    """Return the body of a request; raises `Problem` for one that is too large or takes too long."""
    body = bytearray()
    # What is left of a body that is refused must not be taken for the next request.
    headers = {"Connection": "close"}
    try:
        async with asyncio.timeout(most_seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > most_bytes:
                    detail = f"the body has more than {most_bytes} bytes"
                    raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, "", headers)
    except TimeoutError:
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, "the body takes too long", "", headers) from None
    return bytes(body)
