"""Webhooks: deliveries are admitted or refused at once, and worked on later."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from zerolap.records import EnvironmentMissing, UsageError
from zerolap.store import Store
from zerolap.triggers.admission import Delivery, admit, log_outcome
from zerolap.triggers.memory import Memory
from zerolap.triggers.outcomes import Admitted, Cause, Ignored, Outcome, Refused
from zerolap.triggers.settings import TriggerSettings

MOST_READ_AT_ONCE: Final = 64
"""Bodies: they are held in memory until their signature is checked."""
DROPPED_BYTES: Final = 1 << 20
"""What is read behind the limit and not kept: a sender that may not finish its body does not get to see the answer."""
RETRY_SECONDS: Final = 10

log = structlog.get_logger("zerolap.webhooks")


def webhooks_router(
    store: Store, settings: TriggerSettings, on_admitted: Callable[[], object] = lambda: None
) -> APIRouter:
    """Return the route of GitHub's webhooks; `on_admitted` is called in the loop once a trigger is recorded.

    Raises `UsageError` if the settings have no secret to check signatures with.
    """
    if settings.github.webhook_secret is None:
        raise UsageError("webhooks need a secret", hint="set webhook_secret_file under [github]")
    router = APIRouter()
    memory = Memory(store.triggers, settings.limits)
    reading: set[Request] = set()

    @router.post("/webhooks/github")
    async def github(request: Request) -> JSONResponse:
        """Take a delivery: 202 for one that is worked on, 200 for one that asks for nothing."""
        if len(reading) >= MOST_READ_AT_ONCE:
            log.warning("too many deliveries at once", address=_address(request))
            return _unavailable()
        reading.add(request)
        try:
            return await _answered(request)
        finally:
            reading.discard(request)

    async def _answered(request: Request) -> JSONResponse:
        try:
            body = await _body(request, settings)
        except ClientDisconnect:
            log.info("a delivery broke off", address=_address(request))
            return _answer(Refused(Cause.TOO_SLOW, "the sender is gone"))
        delivery = Delivery(dict(request.headers), body or b"", _address(request))
        if body is None:
            late = Refused(Cause.TOO_SLOW, f"the body took more than {settings.limits.body_seconds:g} seconds")
            log_outcome(late, delivery)
            return _answer(late)
        try:
            outcome = await asyncio.to_thread(admit, delivery, settings, memory)
        except EnvironmentMissing as fault:
            # Nothing of it was recorded: it can be delivered again.
            log.error("a delivery could not be recorded", reason=fault.message)
            return _unavailable()
        if isinstance(outcome, Admitted):
            on_admitted()
        return _answer(outcome)

    return router


async def _body(request: Request, settings: TriggerSettings) -> bytes | None:
    """Return the body, cut off right behind the limit, whatever its length is said to be; none if it takes too long."""
    most = settings.limits.body_bytes
    said = request.headers.get("content-length", "")
    if said.isascii() and said.isdecimal() and int(said[:20]) > most + DROPPED_BYTES:
        return bytes(most + 1)
    body, read_bytes = bytearray(), 0
    try:
        async with asyncio.timeout(settings.limits.body_seconds):
            async for piece in request.stream():
                body += piece[: most + 1 - len(body)]
                read_bytes += len(piece)
                if read_bytes > most + DROPPED_BYTES:
                    break
    except TimeoutError:
        return None
    return bytes(body)


def _answer(outcome: Outcome) -> JSONResponse:
    match outcome:
        case Admitted():
            return JSONResponse({"status": "accepted", "trigger": outcome.identity}, HTTPStatus.ACCEPTED)
        case Ignored():
            return JSONResponse({"status": "ignored", "reason": outcome.reason})
        case Refused():
            # What is left of a body that was not read whole must not be taken for the next request.
            is_cut = outcome.cause in (Cause.TOO_LARGE, Cause.TOO_SLOW)
            headers = {"Connection": "close"} if is_cut else None
            return JSONResponse({"status": "refused", "reason": outcome.answer}, outcome.status, headers)


def _unavailable() -> JSONResponse:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
    return JSONResponse({"status": "refused", "reason": status.phrase}, status, headers)


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host
