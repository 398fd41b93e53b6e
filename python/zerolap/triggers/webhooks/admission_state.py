"""The state that admission needs: accepted deliveries and triggers in the store, rates in memory."""

import contextlib
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from zerolap.records import UnreadableRecord
from zerolap.store import StoredDelivery, StoredTrigger, TriggerRecords
from zerolap.triggers.settings import TriggerLimits
from zerolap.triggers.trigger import (
    PullRequestTrigger,
    Trigger,
    UnmeasuredTrigger,
    read_trigger,
    trigger_json,
)
from zerolap.triggers.webhooks.rates import Rate

MINUTE_SECONDS: Final = 60.0
HOUR_SECONDS: Final = 3600.0
PULL_REQUEST_KINDS: Final = ("pull request", "withdrawn", "needs label again")


@dataclass(frozen=True)
class CurrentTriggers:
    """The triggers of a pull request that are in force: `trigger` has it measured, None if it is not to be measured.

    `is_permitted`: the permission of its actor is confirmed, so that pushes to the same repository are measured too.
    `unmeasured` is the trigger of a commit that has a neutral check.
    """

    trigger: PullRequestTrigger | None = None
    is_permitted: bool = False
    unmeasured: UnmeasuredTrigger | None = None

    @property
    def head(self) -> str | None:
        """The commit that is to be measured."""
        return None if self.trigger is None else self.trigger.head


class AdmissionState:
    """Accepted deliveries, and rates by sender; its methods may be called from any thread."""

    def __init__(
        self, records: TriggerRecords, limits: TriggerLimits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        limits = limits or TriggerLimits()
        self._records = records
        self._clock = clock
        self.repositories = Rate(limits.deliveries_per_minute_per_repository, MINUTE_SECONDS)
        self.actors = Rate(limits.deliveries_per_minute_per_actor, MINUTE_SECONDS)
        self.forging_addresses = Rate(limits.forged_per_minute_per_address, MINUTE_SECONDS)

    def knows(self, delivery: str, digest: str) -> bool:
        """Whether a delivery of that id, or of a body of that digest, was accepted."""
        return self._records.knows(delivery, digest)

    def current(self, subject: str) -> CurrentTriggers:
        """Return the triggers of a pull request that are in force, by the last one that was not refused."""
        for stored in self._records.of_subject(subject, PULL_REQUEST_KINDS):
            try:
                trigger = read_trigger(stored.document)
            except UnreadableRecord:
                # The unreadable trigger may have withdrawn the permission.
                return CurrentTriggers()
            if not isinstance(trigger, PullRequestTrigger):
                return CurrentTriggers()
            if stored.state != "refused":
                return CurrentTriggers(trigger, trigger.needs_permission is None or stored.state == "done")
        return CurrentTriggers()

    def current_at(self, repository: str, head: str) -> CurrentTriggers:
        """Return the triggers in force of the pull request whose check the lab has written at a commit."""
        of_repository = f"{repository.lower()}#"
        subjects = [name for name in self._records.subjects_of_post("check", head) if name.startswith(of_repository)]
        for current in map(self.current, subjects):
            if current.head == head:
                return current
        for stored in (
            stored for subject in subjects for stored in self._records.of_subject(subject, ["not measured"])
        ):
            with contextlib.suppress(UnreadableRecord):
                trigger = read_trigger(stored.document)
                if isinstance(trigger, UnmeasuredTrigger) and trigger.head == head:
                    return CurrentTriggers(unmeasured=trigger)
        return CurrentTriggers()

    def of_last_hour(self, actor: str, kind: str) -> int:
        """Return how many triggers of a kind a person has caused in the last hour."""
        return self._records.count_of_actor(actor.lower(), [kind], self._clock() - HOUR_SECONDS)

    def accept(self, trigger: Trigger, delivery: str, digest: str) -> str | None:
        """Record a trigger together with its delivery; returns its id, None if either is already recorded."""
        now = self._clock()
        stored = stored_trigger(trigger, f"webhook {delivery}", now)
        of_delivery = StoredDelivery(delivery, trigger.repository, digest, now)
        return stored.id if self._records.add(stored, of_delivery) else None


def stored_trigger(trigger: Trigger, origin: str, created: float) -> StoredTrigger:
    """Return the row of a waiting trigger; equal origins have equal ids, so that it is recorded once."""
    return StoredTrigger(
        id=f"t-{hashlib.sha256(origin.encode()).hexdigest()[:24]}",
        repository=trigger.repository,
        subject=trigger.subject,
        kind=trigger.kind,
        document=trigger_json(trigger),
        actor=None if trigger.actor is None else trigger.actor.lower(),
        delivery=trigger.delivery,
        created=created,
    )
