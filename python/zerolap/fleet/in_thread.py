"""Work that blocks, in a thread, with what it yields in the event loop."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator

from zerolap.records import Event, JobFinished
from zerolap.sandbox import Cancellation


class EventsInThread:
    """The events of an iterator that works in a thread; what it raises is raised by `next`.

    If they are left before their end, the work is cancelled.
    """

    def __init__(self, events: Callable[[], Iterator[Event]], cancellation: Cancellation) -> None:
        self._events = events
        self._cancellation = cancellation
        self._happened: asyncio.Queue[Event | BaseException | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._next: Event | BaseException | None = None
        self._has_next = False

    async def next(self) -> Event | None:
        """Return the next event; none at the end."""
        if not self._has_next:
            self._next = await self._happened.get()
        self._has_next = False
        if isinstance(self._next, BaseException):
            raise self._next
        return self._next

    async def end_within(self, seconds: float) -> JobFinished | None:
        """Return the event that a job has finished, if that is the next one and comes within the time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                self._next = await self._happened.get()
                self._has_next = True
        if not self._has_next or not isinstance(self._next, JobFinished):
            return None
        self._has_next = False
        return self._next

    async def __aenter__(self) -> "EventsInThread":
        self._thread = self._loop.run_in_executor(None, self._work)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            await asyncio.to_thread(self._cancellation.cancel)
        await asyncio.wait({self._thread})

    def _work(self) -> None:
        try:
            for event in self._events():
                self._put(event)
            self._put(None)
        except BaseException as fault:  # noqa: BLE001 - raised again in the event loop
            self._put(fault)

    def _put(self, item: Event | BaseException | None) -> None:
        self._loop.call_soon_threadsafe(self._happened.put_nowait, item)
