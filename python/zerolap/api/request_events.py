"""`/api/v1/requests/ID/events`: how it stands with a request, told as it happens by server-sent events."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from zerolap.api.authorization import WITH_TOKEN, Authorization
from zerolap.api.pages import NOTHING_LOADED, RETRY_SECONDS
from zerolap.api.problems import Problem, described
from zerolap.queries import RequestStatus, asked_in_short, status_of
from zerolap.records import UsageError, ZerolapError
from zerolap.store import Store

IDENTITY: Final = re.compile(r"[cr]-[0-9a-f-]{1,64}")
MOST_LISTENERS: Final = 64
"""Half of the places that requests of unknown clients have."""
ASKED_AFTER_SECONDS: Final = 1.0
"""The store is asked so often for each request that is followed, however many listen to it."""
HEARTBEAT_SECONDS: Final = 15.0
LONGEST_SECONDS: Final = 900.0
"""Then the stream ends, and the browser asks for it again, with its token."""
HEADERS: Final = {
    "Content-Security-Policy": NOTHING_LOADED,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


@dataclass
class _Followed:
    """A request that is followed: its last status, and how many listen to it; `event` is replaced at each change."""

    status: RequestStatus
    listeners: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def take(self, status: RequestStatus) -> None:
        self.status = status
        self._notify()

    def end(self) -> None:
        self.task = None
        self._notify()

    def _notify(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class FollowedRequests:
    """The requests that somebody listens to; to be used in one event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followed: dict[str, _Followed] = {}
        self._listeners = 0

    @property
    def is_full(self) -> bool:
        """Whether as many listen as may."""
        return self._listeners >= MOST_LISTENERS

    async def status(self, identity: str) -> RequestStatus:
        """Return how it stands with a request; raises `UsageError` and `ZerolapError`."""
        return await asyncio.to_thread(self._read, identity)

    async def statuses(
        self, identity: str, first: RequestStatus, stopping: asyncio.Event | None = None
    ) -> AsyncGenerator[RequestStatus | None, None]:
        """Yield the status now and whenever it changes, until the request has ended; none as a sign of life.

        Ends also once the process is `stopping`.
        """
        followed = self._followed.setdefault(identity, _Followed(first))
        followed.listeners += 1
        self._listeners += 1
        if followed.task is None:
            followed.task = asyncio.create_task(self._follow(identity, followed))
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                while True:
                    changed, status = followed.changed, followed.status
                    yield status
                    if status.has_ended or followed.task is None:
                        return
                    while not await _is_set(changed, stopping):
                        if stopping is not None and stopping.is_set():
                            return
                        yield None
        except TimeoutError:
            return
        finally:
            self._listeners -= 1
            followed.listeners -= 1
            if followed.listeners == 0:
                self._followed.pop(identity, None)
                if followed.task is not None:
                    followed.task.cancel()

    async def _follow(self, identity: str, followed: _Followed) -> None:
        while not followed.status.has_ended:
            await asyncio.sleep(ASKED_AFTER_SECONDS)
            try:
                status = await self.status(identity)
            except ZerolapError:
                # The request was removed, or the store does not answer: the page asks again by itself.
                break
            if status != followed.status:
                followed.take(status)
        followed.end()

    def _read(self, identity: str) -> RequestStatus:
        asked, unreadable = asked_in_short(self._store, identity)
        return status_of(self._store, identity, asked, unreadable)


async def _is_set(changed: asyncio.Event, stopping: asyncio.Event | None) -> bool:
    """Wait for a change, no longer than until the next sign of life is due or the process is to end."""
    waiting = [asyncio.create_task(event.wait()) for event in (changed, stopping) if event is not None]
    try:
        await asyncio.wait(waiting, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
    return changed.is_set()


def request_events_router(store: Store, authorization: Authorization, *, is_public: bool) -> APIRouter:
    """Return the route; unless reports are public, it takes a token.

    Streams end with the process: once the event `stopping` in the state of the application is set, if it has one.
    """
    router = APIRouter(
        prefix="/api/v1",
        tags=["pages"],
        responses=described(
            HTTPStatus.UNAUTHORIZED,
            HTTPStatus.NOT_FOUND,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            HTTPStatus.SERVICE_UNAVAILABLE,
        ),
    )
    requests = FollowedRequests(store)

    @router.get(
        "/requests/{identity}/events",
        operation_id="follow_request",
        summary="The state of a request as it changes, as server-sent events",
        openapi_extra=WITH_TOKEN,
        response_class=Response,
        responses={
            200: {"description": "Events `status`, each a RequestStatus.", "content": {"text/event-stream": {}}}
        },
    )
    async def events(identity: str, request: Request) -> Response:
        """Each event `status` has the JSON of `/api/v1/pages/request`; the stream ends with the request."""
        if not is_public:
            await authorization.require_reader(request)
        if IDENTITY.fullmatch(identity) is None:
            raise Problem(HTTPStatus.NOT_FOUND, "this is no id of a request")
        if requests.is_full:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many follow requests at once", "", headers)
        try:
            first = await requests.status(identity)
        except UsageError as fault:
            raise Problem(HTTPStatus.NOT_FOUND, fault.message, fault.hint) from fault
        statuses = requests.statuses(identity, first, getattr(request.app.state, "stopping", None))
        return StreamingResponse(_written(statuses), media_type="text/event-stream", headers=HEADERS)

    return router


async def _written(statuses: AsyncGenerator[RequestStatus | None, None]) -> AsyncIterator[str]:
    async with contextlib.aclosing(statuses):
        async for status in statuses:
            yield ": still there\n\n" if status is None else f"event: status\ndata: {status.model_dump_json()}\n\n"
