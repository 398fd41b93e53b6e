"""Signals that stop the program wait for the end of a write."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals that stop the program wait until the block has ended; their handlers are called then.

    An exception that a handler raises within a transaction can leave its connection open, and with it the write lock:
    the program could no longer store what it measured.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: handler for number in STOPPING if callable(handler := signal.getsignal(number))}
    arrived: list[tuple[int, FrameType | None]] = []
    try:
        for number in handlers:
            signal.signal(number, lambda *signal_and_frame: arrived.append(signal_and_frame))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for first, frame in arrived[:1]:
            handlers[signal.Signals(first)](first, frame)
