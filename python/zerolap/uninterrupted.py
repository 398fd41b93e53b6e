"""Delays signals that stop the program until the end of what has to be done as a whole, such as a write."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay signals that stop the program until the context ends; then their handlers are called.

    An exception from a handler within a transaction can leave the connection open and the write lock held, so that the
    program could no longer store its results.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: handler for number in STOPPING if callable(handler := signal.getsignal(number))}
    received: list[tuple[int, FrameType | None]] = []
    try:
        for number in handlers:
            signal.signal(number, lambda *signal_and_frame: received.append(signal_and_frame))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for first, frame in received[:1]:
            handlers[signal.Signals(first)](first, frame)
