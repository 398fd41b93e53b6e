"""What all parts of a conductor work on: its requests, the attempts at their jobs, and who is told of what happens."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from zerolap.events import LabEvent
from zerolap.fleet.fleet_execution import FleetExecution
from zerolap.fleet.intake import Intake
from zerolap.fleet.roster import Roster
from zerolap.records import UnreadableRecord
from zerolap.store import Attempt, Store

ATTEMPTS_PER_JOB: Final = 3
"""How often a job is given up before it has failed; it also has to be some minutes old."""
MANY_PUBLICATIONS: Final = 50
"""The number of losses after which a job is published seldom: agents may take it from the queue without reading it."""


@dataclass(frozen=True)
class OpenWork:
    """The requests that a conductor works on, by id; `wake` is set where its next step has something to do."""

    store: Store
    roster: Roster
    intake: Intake
    on_event: Callable[[LabEvent], None]
    executions: dict[str, FleetExecution] = field(default_factory=dict)
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def fail(self, identity: str, reason: str, hint: str = "") -> None:
        """Have a request ended that cannot go on."""
        execution = self.executions.get(identity)
        if execution is not None:
            execution.failure = f"{reason} (hint: {hint})" if hint else reason

    def report(self, events: Iterable[LabEvent]) -> None:
        """Report what has happened, once it is recorded."""
        for event in events:
            self.on_event(event)

    def is_readable(self, attempt: Attempt) -> bool:
        """Whether the job of an attempt can be read; its request fails if not."""
        try:
            return attempt.job is not None
        except UnreadableRecord as fault:
            self.fail(attempt.request, fault.message)
            self.wake.set()
            return False
