"""Webhooks: deliveries are admitted or refused at once, and worked on later."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Final, Literal

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from zerolap.records import EnvironmentMissing, UsageError
from zerolap.store import Store
from zerolap.triggers import TriggerSettings
from zerolap.triggers.webhooks import (
    AdmissionState,
    Admitted,
    Cause,
    Delivery,
    Ignored,
    Outcome,
    Refused,
    admit,
    log_outcome,
)

MOST_HELD_BYTES: Final = 256 << 20
"""The most bytes of all bodies together, which are in memory until their signatures are checked."""
DROPPED_BYTES: Final = 1 << 20
"""What is read behind the limit and not kept: a sender that may not finish its body does not get to see the answer."""
RETRY_SECONDS: Final = 10

log = structlog.get_logger("zerolap.webhooks")


def webhooks_router(
    store: Store,
    settings: TriggerSettings,
    on_admitted: Callable[[], object] = lambda: None,
    on_outcome: Callable[[Outcome], object] = lambda _outcome: None,
) -> APIRouter:
    """Return the route of GitHub's webhooks.

    In the loop, `on_admitted` is called once a trigger is recorded, and `on_outcome` with the outcome of each delivery.

    Raises `UsageError` if the settings have no secret to check signatures with.
    """
    if settings.github.webhook_secret is None:
        raise UsageError("webhooks need a secret", hint="set webhook_secret_file under [github]")
    router = APIRouter()
    state = AdmissionState(store.triggers, settings.limits)
    bodies = _Bodies(settings)
    # A single one: SQLite has writers wait for each other in steps of up to 0.1 s, and this takes 2 ms.
    admitting = ThreadPoolExecutor(1, "admission")

    @router.post("/webhooks/github")
    async def github(request: Request) -> JSONResponse:
        """Take a delivery: 202 for one that is worked on, 200 for one that asks for nothing."""
        try:
            async with bodies.of(request) as body:
                return await _answered(request, body)
        except ClientDisconnect:
            log.info("a delivery broke off", address=_address(request))
            return _response(Refused(Cause.TOO_SLOW, "the sender is gone"))
        except _MemoryFull:
            log.warning("too many deliveries at once", address=_address(request))
            return _unavailable()

    async def _answered(request: Request, body: bytes | Literal[Cause.TOO_SLOW, Cause.TOO_LARGE]) -> JSONResponse:
        content = body if isinstance(body, bytes) else b""
        delivery = Delivery(dict(request.headers), content, _address(request), is_cut=body is Cause.TOO_LARGE)
        if body is Cause.TOO_SLOW:
            late = Refused(body, f"the body took more than {settings.limits.body_seconds:g} seconds")
            log_outcome(late, delivery)
            on_outcome(late)
            return _response(late)
        try:
            outcome = await asyncio.get_running_loop().run_in_executor(admitting, admit, delivery, settings, state)
        except EnvironmentMissing as fault:
            # Nothing of it was recorded: it can be delivered again.
            log.error("a delivery could not be recorded", reason=fault.message)
            return _unavailable()
        on_outcome(outcome)
        if isinstance(outcome, Admitted):
            on_admitted()
        return _response(outcome)

    return router


class _MemoryFull(Exception):
    pass


class _Bodies:
    """Reads bodies, of which no more is held in memory than `MOST_HELD_BYTES`."""

    def __init__(self, settings: TriggerSettings) -> None:
        self._most = settings.limits.body_bytes
        self._seconds = settings.limits.body_seconds
        self._held_bytes = 0

    @contextlib.asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[bytes | Literal[Cause.TOO_SLOW, Cause.TOO_LARGE]]:
        """Read a body, and hold it until the context ends, or yield what is wrong with it.

        Raises `_MemoryFull`, and `ClientDisconnect` if the sender breaks off.
        """
        body = bytearray()
        try:
            try:
                async with asyncio.timeout(self._seconds):
                    is_whole = await self._read(request, body)
            except TimeoutError:
                yield Cause.TOO_SLOW
            else:
                yield bytes(body) if is_whole else Cause.TOO_LARGE
        finally:
            self._held_bytes -= len(body)

    async def _read(self, request: Request, body: bytearray) -> bool:
        """Read a body up to the limit, whatever its length is said to be; returns whether that is all of it."""
        said = request.headers.get("content-length", "")
        if said.isascii() and said.isdecimal() and int(said[:20]) > self._most + DROPPED_BYTES:
            return False
        read_bytes = 0
        async for piece in request.stream():
            read_bytes += len(piece)
            if read_bytes <= self._most:
                self._keep(piece, body)
            elif read_bytes > self._most + DROPPED_BYTES:
                break
        return read_bytes <= self._most

    def _keep(self, piece: bytes, body: bytearray) -> None:
        if self._held_bytes + len(piece) > MOST_HELD_BYTES:
            raise _MemoryFull
        self._held_bytes += len(piece)
        body += piece


def _response(outcome: Outcome) -> JSONResponse:
    match outcome:
        case Admitted():
            return JSONResponse({"status": "accepted", "trigger": outcome.identity}, HTTPStatus.ACCEPTED)
        case Ignored():
            return JSONResponse({"status": "ignored", "reason": outcome.reason})
        case Refused():
            # What is left of a body that was not read whole must not be taken for the next request.
            is_cut = outcome.cause in (Cause.TOO_LARGE, Cause.TOO_SLOW)
            headers = {"Connection": "close"} if is_cut else None
            return JSONResponse({"status": "refused", "reason": outcome.response}, outcome.status, headers)


def _unavailable() -> JSONResponse:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
    return JSONResponse({"status": "refused", "reason": status.phrase}, status, headers)


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host
