"""What disturbs this machine is reported before cases are timed, and waited for as long as asked."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator

from zerolap.host import watch_neighbours
from zerolap.lab.quiet import wait_for_quiet
from zerolap.records import Event, Note
from zerolap.sandbox import Cancellation

ENDLESS = "while True: pass"


@contextlib.contextmanager
def endless() -> Iterator[None]:
    """Two processes: the share of one, beside the tests, depends on how many processors there are."""
    processes = [subprocess.Popen([sys.executable, "-c", ENDLESS]) for _ in range(2)]
    try:
        # They begin to count once they run.
        time.sleep(0.5)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def notes_of(wait_seconds: float) -> list[str]:
    events: list[Event] = []
    wait_for_quiet(wait_seconds, events.append, Cancellation())
    return [event.text for event in events if isinstance(event, Note)]


def test_what_keeps_processors_busy_is_named() -> None:
    with endless():
        neighbours = watch_neighbours()
    assert neighbours.noise.others > 0
    assert any(name.startswith("python") for name, _ in neighbours.busiest)
    assert "other processes use" in neighbours.text


def test_without_waiting_a_note_states_what_disturbs() -> None:
    with endless():
        [note] = notes_of(0)
    assert "other processes use" in note
    assert "--wait" in note


def test_waiting_ends_at_its_limit_with_a_note() -> None:
    with endless():
        began = time.monotonic()
        first, last = notes_of(0.5)
        assert time.monotonic() - began >= 0.5
    assert "waiting up to" in first
    assert last.startswith("the machine did not become quiet")
