"""The end of a request's work, at any moment and from any thread."""

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Protocol, TypeVar

from zerolap.records import Interrupted


class Stoppable(Protocol):
    """What a cancellation ends: a process of the lab."""

    def kill(self) -> None:
        """End it without waiting."""

    def stop(self) -> None:
        """End it and wait for its end; raises `subprocess.TimeoutExpired`."""


StoppableT = TypeVar("StoppableT", bound=Stoppable)


class Cancellation:
    """Ends a request's work: kills its processes and lets none start any more; can be used from any thread.

    `launch` makes the calling thread's current one the owner of what it starts. A new thread has none of its own: it
    enters `current` itself, or runs in a copy of the context of the thread that started it.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._running: set[Stoppable] = set()
        # Reentrant, so that a signal's handler can cancel while its thread launches a process.
        self._lock = threading.RLock()

    def cancel(self) -> None:
        """Kill all processes launched under it and wait for their end; once is as good as often."""
        self._cancelled.set()
        with self._lock:
            running = list(self._running)
        for process in running:
            process.kill()
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.stop()

    @property
    def is_cancelled(self) -> bool:
        """Whether the work is to end."""
        return self._cancelled.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep for so long, or until it is cancelled; return whether it is."""
        return self._cancelled.wait(seconds)

    def require_going_on(self) -> None:
        """Raise `Interrupted` if it is cancelled."""
        if self.is_cancelled:
            raise Interrupted("interrupted")

    @contextlib.contextmanager
    def current(self) -> Iterator["Cancellation"]:
        """Make it the owner of what this thread launches within the context."""
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)

    def own(self, start: Callable[[], StoppableT]) -> StoppableT:
        """Start a process and own it until `disown`; raises `Interrupted` if it is cancelled, before or meanwhile."""
        with self._lock:
            self.require_going_on()
            process = start()
            self._running.add(process)
        if self.is_cancelled:
            process.stop()
            raise Interrupted("interrupted")
        return process

    def disown(self, process: Stoppable) -> None:
        """Forget a process that has ended."""
        with self._lock:
            self._running.discard(process)


_DEFAULT = Cancellation()
_current: ContextVar[Cancellation] = ContextVar("current_cancellation", default=_DEFAULT)


def current_cancellation() -> Cancellation:
    """Return the owner of what the calling thread launches: the one that was entered last, or else the process's."""
    return _current.get()
