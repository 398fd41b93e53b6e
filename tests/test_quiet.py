"""What disturbs this machine is reported before cases are timed, and waited for as long as asked."""

import contextlib
import sys
import time
from pathlib import Path

import pytest
from busy_processes import ENDLESS, busy_processes

from zerolap.host import neighbours, watch_neighbours
from zerolap.lab.quiet import wait_for_quiet
from zerolap.records import Event, Note
from zerolap.sandbox import Cancellation

NAME = "busy-neighbour"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Python under another name."""
    python = tmp_path / NAME
    python.symlink_to(Path(sys.executable).resolve())
    return python


def endless(program: Path) -> contextlib.AbstractContextManager[None]:
    """Two processes: the share of one, beside the tests, depends on how many processors there are."""
    return busy_processes(2, [program, "-c", ENDLESS])


def notes_of(wait_seconds: float) -> list[str]:
    events: list[Event] = []
    wait_for_quiet(wait_seconds, events.append, Cancellation())
    return [event.text for event in events if isinstance(event, Note)]


def test_what_keeps_processors_busy_is_named(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much of a processor is left to a process is up to the others: here all that used any are named."""
    monkeypatch.setattr(neighbours, "BUSY_SHARE", 1e-9)
    monkeypatch.setattr(neighbours, "NAMED", 10**9)
    with endless(program):
        watched = watch_neighbours(1.0)
    assert watched.noise.others > 0
    assert NAME in [name for name, _ in watched.busiest]
    assert "other processes use" in watched.text


def test_without_waiting_a_note_states_what_disturbs(program: Path) -> None:
    with endless(program):
        [note] = notes_of(0)
    assert "other processes use" in note
    assert "--wait" in note


def test_waiting_ends_at_its_limit_with_a_note(program: Path) -> None:
    with endless(program):
        began = time.monotonic()
        first, last = notes_of(0.5)
        assert time.monotonic() - began >= 0.5
    assert "waiting up to" in first
    assert last.startswith("the machine did not become quiet")
