"""Progress on standard error: a bar with the time left on a terminal, lines elsewhere."""

from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from zerolap import writer
from zerolap.records import Activity, Event, Note, Progress as Advance


class Bar:
    """Displays events and disappears at the end of its context; a quiet bar displays nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        console = writer.console(to_error=True)
        self._quiet = quiet
        self._lines = not console.is_terminal
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._activity: Activity | None = None
        self._quarters = 0
        self._expected = 0

    def __call__(self, event: Event) -> None:
        """Display an event."""
        if self._quiet:
            return
        match event:
            case Note(text=text):
                writer.note(f"warning: {text}")
            case Advance(activity="building"):
                self._activity = "building"
                self._start(f"building {event.subject}")
            case Advance():
                if self._activity != event.activity:
                    self._activity = event.activity
                    self._start(f"{event.activity} {event.cases} {'case' if event.cases == 1 else 'cases'}")
                self._advance(event)

    def _advance(self, event: Advance) -> None:
        if self._task is not None:
            self._progress.update(self._task, completed=event.done, total=event.expected)
        if not self._lines or not event.expected:
            return
        quarters = event.done * 4 // event.expected
        # More trials may turn out to be needed; the shown share then decreases.
        if quarters != self._quarters and (quarters > self._quarters or event.expected > self._expected):
            writer.note(f"{event.done} of {event.expected} trials")
            self._quarters = quarters
        self._expected = event.expected

    def _start(self, description: str) -> None:
        self._quarters = self._expected = 0
        if self._lines:
            writer.note(description)
            return
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(description, total=None)
        self._progress.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Stopping a bar that was never drawn prints an empty line.
        if self._task is not None:
            self._progress.stop()
