"""Before cases are timed: what else the machine does, and waiting until it does less."""

import time
from collections.abc import Callable

from zerolap.host import Neighbours, watch_neighbours
from zerolap.records import Event, Note
from zerolap.sandbox import Cancellation

QUIET_OTHERS = 0.3
"""Processors that others may use, and the share that the host may take, on a machine that counts as quiet."""
QUIET_STEAL = 0.05
POLL_SECONDS = 2.0
CONSEQUENCE = "timed values scatter, so that more starts are needed, and throughput may stay undecided"


def wait_for_quiet(wait_seconds: float, listen: Callable[[Event], None], cancellation: Cancellation) -> None:
    """Report what disturbs this machine, and wait until nothing does, but no longer than that.

    Raises `Interrupted` once the work is cancelled.
    """
    neighbours = watch_neighbours()
    if _is_quiet(neighbours):
        return
    if wait_seconds <= 0:
        listen(Note(text=f"{neighbours.text}: {CONSEQUENCE}; --wait 5m waits for a quiet machine"))
        return
    listen(Note(text=f"{neighbours.text}: waiting up to {wait_seconds:.0f} s until the machine is quiet"))
    end = time.monotonic() + wait_seconds
    while not _is_quiet(neighbours) and time.monotonic() < end:
        cancellation.require_going_on()
        time.sleep(min(POLL_SECONDS, max(0.0, end - time.monotonic())))
        neighbours = watch_neighbours()
    if not _is_quiet(neighbours):
        listen(Note(text=f"the machine did not become quiet: {neighbours.text}; {CONSEQUENCE}"))


def _is_quiet(neighbours: Neighbours) -> bool:
    return neighbours.noise.others <= QUIET_OTHERS and neighbours.noise.steal <= QUIET_STEAL
