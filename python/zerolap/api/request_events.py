"""`/api/v1/requests/ID/events`: how it stands with a request, stated as it happens by server-sent events."""

import asyncio
import contextlib
import functools
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from zerolap.api.authorization import WITH_TOKEN, Authorization
from zerolap.api.pages import NOTHING_LOADED, RETRY_SECONDS
from zerolap.api.problems import USUAL, Problem, described, too_many
from zerolap.queries import RequestStatus, asked_in_short, status_of
from zerolap.records import UsageError, ZerolapError
from zerolap.store import Store
from zerolap.triggers.webhooks import network_of

IDENTITY: Final = re.compile(r"[ckrw]-[0-9a-f-]{1,64}")
MOST_LISTENERS: Final = 64
"""Half of the slots that requests of unknown clients have."""
MOST_OF_ADDRESS: Final = 8
"""A quarter of the slots that the requests of an address have."""
ASKED_AFTER_SECONDS: Final = 1.0
"""The store is asked so often for each request that is followed, however many listen to it."""
HEARTBEAT_SECONDS: Final = 15.0
CHECKED_AFTER_SECONDS: Final = 10.0
"""Before what is sent so long after the last check, it is checked whether the listener may still read."""
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
        if followed.task is None:
            followed.task = asyncio.create_task(self._follow(identity, followed))
        # A timeout would end the task also while it waits for its client, outside of this.
        end = time.monotonic() + LONGEST_SECONDS
        try:
            while time.monotonic() < end:
                changed, status = followed.changed, followed.status
                yield status
                if status.has_ended or followed.task is None:
                    return
                while time.monotonic() < end and not await _is_set(changed, stopping):
                    if stopping is not None and stopping.is_set():
                        return
                    yield None
        finally:
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


class _Slots:
    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    @contextlib.contextmanager
    def taken(self, address: str) -> Iterator[None]:
        """Take a slot, and give it back in the end; raises `Problem` where there is none, in all or for an address."""
        if self._taken[address] >= MOST_OF_ADDRESS:
            raise too_many("too many of this address follow requests", RETRY_SECONDS)
        if self._taken.total() >= MOST_LISTENERS:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many follow requests at once", "", headers)
        self._taken[address] += 1
        try:
            yield
        finally:
            self._taken[address] -= 1
            if not self._taken[address]:
                del self._taken[address]


class _Stream(StreamingResponse):
    """A stream that has a slot until it ends, also where its client goes away before it begins."""

    def __init__(self, content: AsyncIterator[str], slot: contextlib.ExitStack) -> None:
        super().__init__(content, media_type="text/event-stream", headers=HEADERS)
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._slot:
            await super().__call__(scope, receive, send)


def request_events_router(store: Store, authorization: Authorization, *, is_public: bool) -> APIRouter:
    """Return the route; unless reports are public, it takes a token.

    Streams end with the process: once the event `stopping` in the state of the application is set, if it has one.
    """
    router = APIRouter(
        prefix="/api/v1",
        tags=["pages"],
        responses=described(*USUAL, HTTPStatus.NOT_FOUND),
    )
    requests, slots = FollowedRequests(store), _Slots()

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
        """Each event `status` has the JSON of `/api/v1/pages/request`.

        The stream ends with the request, and once its session or token has ended.
        """
        if not is_public:
            await authorization.require_reader(request)
        if IDENTITY.fullmatch(identity) is None:
            raise Problem(HTTPStatus.NOT_FOUND, "this is no id of a request")
        address = network_of("" if request.client is None else request.client.host)
        with contextlib.ExitStack() as slot:
            slot.enter_context(slots.taken(address))
            try:
                first = await requests.status(identity)
            except UsageError as fault:
                raise Problem(HTTPStatus.NOT_FOUND, fault.message, fault.hint) from fault
            statuses = requests.statuses(identity, first, getattr(request.app.state, "stopping", None))
            if not is_public:
                statuses = _permitted(statuses, functools.partial(authorization.is_reader, request))
            return _Stream(_written(statuses), slot.pop_all())

    return router


async def _permitted(
    statuses: AsyncGenerator[RequestStatus | None, None], may_read: Callable[[], Awaitable[bool]]
) -> AsyncGenerator[RequestStatus | None, None]:
    """Yield what is to be sent as long as the listener may read it."""
    checked = time.monotonic()
    async with contextlib.aclosing(statuses):
        async for status in statuses:
            if time.monotonic() - checked >= CHECKED_AFTER_SECONDS:
                try:
                    is_permitted = await may_read()
                except ZerolapError:
                    # The store does not answer: the page asks again by itself.
                    return
                if not is_permitted:
                    return
                checked = time.monotonic()
            yield status


async def _written(statuses: AsyncGenerator[RequestStatus | None, None]) -> AsyncIterator[str]:
    async with contextlib.aclosing(statuses):
        async for status in statuses:
            yield ": still there\n\n" if status is None else f"event: status\ndata: {status.model_dump_json()}\n\n"
