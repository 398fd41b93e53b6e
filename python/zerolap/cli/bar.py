"""Progress on standard error: a bar with the time left on a terminal, lines elsewhere."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)


class Bar:
    """Shows what the lab does."""

    def __init__(self) -> None:
        console = Console(file=sys.stderr)
        self._lines = not console.is_terminal
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._told = 0
        self._expected = 0

    def note(self, text: str) -> None:
        """Print a warning."""
        print(f"warning: {text}", file=sys.stderr)

    def building(self, name: str) -> None:
        """Tell of a build."""
        self._start(f"building {name}", None)

    def measuring(self, cases: int) -> None:
        """Tell that trials begin."""
        self._start(_cases("measuring", cases), None)

    def timing(self, cases: int) -> None:
        """Tell that timed trials begin."""
        self._start(_cases("timing", cases), None)

    def sampling(self, cases: int) -> None:
        """Tell that sampled passes begin."""
        self._start(_cases("sampling", cases), None)

    def trial_done(self, case: str, done: int, expected: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=expected)
        if not self._lines or not expected:
            return
        quarters = done * 4 // expected
        # More trials may turn out to be needed: then it is further to the end than was told.
        if quarters != self._told and (quarters > self._told or expected > self._expected):
            print(f"{done} of {expected} trials", file=sys.stderr)
            self._told = quarters
        self._expected = expected

    def finished(self) -> None:
        """Take the bar away."""
        self._progress.stop()

    def _start(self, description: str, total: float | None) -> None:
        self._told = self._expected = 0
        if self._lines:
            print(description, file=sys.stderr)
            return
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(description, total=total)
        self._progress.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finished()


def _cases(doing: str, number: int) -> str:
    return f"{doing} {number} {'case' if number == 1 else 'cases'}"
