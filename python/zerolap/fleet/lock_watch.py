"""Whether this process still is the conductor of its store: the lock is looked at again and again."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from zerolap.store import NotConductor, Store

ANSWER_SECONDS: Final = 10.0
"""A database that does not reply for this time may have given the lock to another process."""


class LockWatch:
    """Looks every `poll_seconds` whether the lock is held that was taken by `Store.conduct`."""

    def __init__(self, store: Store, poll_seconds: float) -> None:
        self._store = store
        self._poll_seconds = poll_seconds
        self._is_lost = False
        self._waiting: list[asyncio.Future[None]] = []
        self._is_wanted = asyncio.Event()
        # A thread of its own: those that all share may be waiting for the same database.
        self._thread = ThreadPoolExecutor(1, "conductor-lock")

    async def confirm(self) -> None:
        """Return once the lock was seen to be held after this call; raises `NotConductor` if it is lost."""
        if self._is_lost:
            raise NotConductor("the lock of the store is lost")
        seen = asyncio.get_running_loop().create_future()
        self._waiting.append(seen)
        self._is_wanted.set()
        await seen

    async def run(self) -> None:
        """Look until cancelled; raises `NotConductor` once the lock is lost. To be called once."""
        waiting: list[asyncio.Future[None]] = []
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._poll_seconds):
                        await self._is_wanted.wait()
                self._is_wanted.clear()
                waiting, self._waiting = self._waiting, []
                reason = await self._reason_of_loss()
                if reason is not None:
                    raise NotConductor(f"the lock of the store is lost: {reason}", hint="start it again: it stands by")
                for seen in waiting:
                    if not seen.done():
                        seen.set_result(None)
        finally:
            self._is_lost = True
            self._thread.shutdown(wait=False)
            for seen in [*waiting, *self._waiting]:
                if not seen.done():
                    seen.set_exception(NotConductor("the lock of the store is lost"))

    async def _reason_of_loss(self) -> str | None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                loop = asyncio.get_running_loop()
                is_lost = await loop.run_in_executor(self._thread, self._store.has_lost_lock)
        except TimeoutError:
            return f"its database has not answered for {ANSWER_SECONDS:g} s"
        return "its session with the database has ended" if is_lost else None
