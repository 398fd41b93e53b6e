"""Cancels a request's work, at any moment and from any thread."""

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Final, Protocol, TypeVar

from zerolap.records import Interrupted, TrialFailed, ZerolapError
from zerolap.uninterrupted import uninterrupted


class Stoppable(Protocol):
    """A process that a cancellation ends."""

    def kill(self) -> None:
        """Kill it without waiting for its end."""

    def stop(self) -> None:
        """Kill it and wait for its end; raises `subprocess.TimeoutExpired`."""


LONGEST_SECONDS: Final = 366 * 86_400.0
"""A timer ends at once, in an error, for what the clock cannot hold."""
StoppableT = TypeVar("StoppableT", bound=Stoppable)


class Cancellation:
    """Ends a request's work: kills its processes and prevents new ones; can be used from any thread.

    A process belongs to the current cancellation of the thread that launches it. A new thread has no current
    cancellation: it enters `current`, or runs in a copy of its parent thread's context.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._running: set[Stoppable] = set()
        # Reentrant, so that a signal handler can cancel while its thread launches a process.
        self._lock = threading.RLock()

    def cancel(self) -> None:
        """Kill all processes of the work and wait for their end; may be called several times.

        A signal that stops the program meanwhile takes effect afterwards: it would leave processes running, for whose
        end others wait.
        """
        with uninterrupted():
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
        """Whether the work was cancelled."""
        return self._cancelled.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep for that time, or until the work is cancelled; return whether it is."""
        return self._cancelled.wait(seconds)

    def require_going_on(self) -> None:
        """Raise the `error` if the work is cancelled."""
        if self.is_cancelled:
            raise self.error()

    def error(self) -> ZerolapError:
        """Return the error of work that was cancelled."""
        return Interrupted("interrupted")

    @contextlib.contextmanager
    def current(self) -> Iterator["Cancellation"]:
        """Make this the owner of the processes that the thread launches within the context."""
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)

    def own(self, start: Callable[[], StoppableT]) -> StoppableT:
        """Start a process and own it until `disown`; raises the `error` if the work is or gets cancelled."""
        with self._lock:
            self.require_going_on()
            process = start()
            self._running.add(process)
        if self.is_cancelled:
            process.stop()
            raise self.error()
        return process

    def disown(self, process: Stoppable) -> None:
        """Forget a process that has ended."""
        with self._lock:
            self._running.discard(process)


class OwnedWork(Cancellation):
    """A part of the work of several owners, in whose contexts it was not launched: it ends with each of them."""

    def kill(self) -> None:
        """Kill its processes."""
        self.cancel()

    stop = kill


class _TimeLimit(Cancellation):
    """Ends a part of the work of an owner: once its time is over, or with the owner."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.is_over = False

    def end(self) -> None:
        self.is_over = True
        self.cancel()

    def kill(self) -> None:
        self.cancel()

    stop = kill

    def error(self) -> ZerolapError:
        if not self.is_over:
            return super().error()
        hint = "--trial-limit permits more; a server that answers in parts, or seldom, takes long"
        return TrialFailed(f"the trial took more than its limit of {self.seconds:g} s", hint)


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Kill the processes that the thread launches within the context once that time is over.

    Raises `TrialFailed` then, whatever the work itself raises after that.
    """
    owner, limit = current_cancellation(), _TimeLimit(seconds)
    owner.own(lambda: limit)
    timer = threading.Timer(min(seconds, LONGEST_SECONDS), limit.end)
    timer.daemon = True
    timer.start()
    _current.set(limit)
    try:
        yield
    except Exception as fault:
        if limit.is_over:
            raise limit.error() from fault
        raise
    finally:
        timer.cancel()
        owner.disown(limit)
        # A generator that is not used up may be ended in another thread.
        if _current.get() is limit:
            _current.set(owner)
    if limit.is_over:
        raise limit.error()


_DEFAULT = Cancellation()
_current: ContextVar[Cancellation] = ContextVar("current_cancellation", default=_DEFAULT)


def current_cancellation() -> Cancellation:
    """Return the owner of processes that the calling thread launches: the innermost `current`, or the default."""
    return _current.get()
