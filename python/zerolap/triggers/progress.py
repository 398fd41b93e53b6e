"""The progress of pull requests and pushes, read from the store: the content of comments, checks and notices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

from zerolap.build import changes_between
from zerolap.documents import FalseAlarmRecord, read_comparison
from zerolap.records import AttemptState, Comparison, JobKind, UnreadableRecord, UsageError
from zerolap.sheets import (
    Acknowledgement,
    Building,
    Cancelled,
    ChangedLines,
    CommitRange,
    Done,
    Failed,
    PlatformOutcome,
    PlatformState,
    PullRequestState,
    Running,
    Superseded,
    Unaffected,
    Waiting,
    changed_lines,
)
from zerolap.store import RequestInShort, Store, StoredTrigger, TriggerState
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.settings import TriggerSettings
from zerolap.triggers.trigger import (
    PullRequestTrigger,
    PushTrigger,
    RelabelTrigger,
    TagTrigger,
    read_trigger,
)
from zerolap.triggers.webhooks.admission_state import PULL_REQUEST_KINDS
from zerolap.triggers.work import ON_REQUEST

NEEDS_LABEL: Final = "commits were pushed since the label was set; a permitted person has to set it again"
MOST_REMEMBERED: Final = 200
NOT_REFUSED: Final[tuple[TriggerState, ...]] = ("waiting", "working", "done", "failed")

log = structlog.get_logger("zerolap.reporting")


@dataclass
class ProgressReader:
    """Reads the progress of triggers; what can no longer change is cached. Its methods block."""

    store: Store
    settings: TriggerSettings
    mirrors: Path
    alarms: FalseAlarmRecord
    _changed: dict[tuple[str, str], tuple[ChangedLines, ...]] = field(default_factory=dict)
    _comparisons: dict[str, Comparison] = field(default_factory=dict)
    _states: dict[tuple[str, str], PullRequestState | None] = field(default_factory=dict)
    _states_at: int = -1

    def pull_request(self, subject: str, earlier_head: str = "") -> PullRequestState | None:
        """Return the state of a pull request, or of an earlier head of it.

        None if no permitted person has asked for a measurement.
        """
        changes = self.store.changes
        if self._states_at != changes:
            self._states, self._states_at = {}, changes
        key = (subject, earlier_head)
        if key not in self._states:
            self._states[key] = self._pull_request(subject, earlier_head)
        return self._states[key]

    def _pull_request(self, subject: str, earlier_head: str) -> PullRequestState | None:
        measured = self._measured(subject, earlier_head)
        if measured is None:
            return None
        stored, trigger = measured
        platforms = [*self._platforms(stored), *self._on_request(subject, trigger.head)]
        [last] = self.store.triggers.of_subject(subject, PULL_REQUEST_KINDS, limit=1)
        newest = read_trigger(last.document)
        unapproved = newest.head if not earlier_head and isinstance(newest, RelabelTrigger) else trigger.head
        is_stale = unapproved != trigger.head
        return PullRequestState(
            commits=self._range(stored, trigger.head, trigger.base_sha),
            number=trigger.number,
            label=trigger.label,
            command=self._command(stored),
            platforms=tuple(platforms),
            acknowledgements=self._acknowledgements(subject, trigger.head),
            needs_approval=NEEDS_LABEL if is_stale else "",
            unapproved_head=unapproved if is_stale else None,
        )

    def commits(self, stored: StoredTrigger, trigger: PushTrigger | TagTrigger) -> CommitRange:
        """Return the commits that are compared for a push or tag."""
        head = trigger.after if isinstance(trigger, PushTrigger) else trigger.commit
        return self._range(stored, head, head)

    def platforms(self, stored: StoredTrigger) -> tuple[PlatformOutcome, ...]:
        """Return the outcome of a trigger on each platform."""
        return tuple(self._platforms(stored))

    def comparison(self, identity: str) -> Comparison:
        """Return a finished comparison."""
        if identity not in self._comparisons:
            if len(self._comparisons) >= MOST_REMEMBERED:
                self._comparisons.pop(next(iter(self._comparisons)))
            self._comparisons[identity] = read_comparison(self.store, identity)
        return self._comparisons[identity]

    # What is measured.

    def _measured(self, subject: str, head: str) -> tuple[StoredTrigger, PullRequestTrigger] | None:
        """Return the newest permitted trigger of a pull request, for a head if it is given.

        Triggers of persons without permission are left out: anybody could replace the reported measurement by them.
        """
        for stored in self.store.triggers.of_subject(subject, ["pull request"], states=NOT_REFUSED):
            trigger = read_trigger(stored.document)
            if not isinstance(trigger, PullRequestTrigger):
                continue
            # The permission of the actor was confirmed, or need not be confirmed.
            is_permitted = stored.state != "waiting" or trigger.needs_permission is None
            if is_permitted and head in ("", trigger.head):
                return stored, trigger
        return None

    def _platforms(self, stored: StoredTrigger) -> list[PlatformOutcome]:
        if stored.requests:
            return [self._outcome(self._asked(identity)) for identity in stored.requests]
        measured = self.settings.measured(stored.repository)
        served = [platform.name for platform in self.store.fleet.platforms()]
        names = served if measured is None or not measured.platforms else measured.platforms
        state: PlatformState = Waiting("its commits are fetched")
        if stored.state == "failed":
            state = Failed(stored.reason)
        elif stored.state == "done":
            state = Unaffected()
        return [PlatformOutcome(name, state) for name in names]

    def _on_request(self, subject: str, head: str) -> list[PlatformOutcome]:
        """Return the outcomes of cases that commands have named; of equal commands, that of the newest."""
        outcomes: dict[str, PlatformOutcome] = {}
        commands = self.store.triggers.of_subject(subject, ["command"], states=["done"])
        for identity in [identity for command in commands for identity in _readable_requests(command)]:
            asked = self._asked(identity)
            name = f"{asked.platform}: {asked.topic.removeprefix(f'{subject}{ON_REQUEST}')}"
            if "head" in asked.sides and asked.sides["head"].commit == head and name not in outcomes:
                outcomes[name] = self._outcome(asked, name)
        return list(outcomes.values())

    def _asked(self, identity: str) -> RequestInShort:
        asked = self.store.fleet.in_short(identity)
        if asked is None:
            raise UsageError(f"the store holds no request {identity}")
        return asked

    def _outcome(self, request: RequestInShort, name: str = "") -> PlatformOutcome:
        comparison = self.comparison(request.id) if request.state == "done" else None
        public = self.settings.lab.public_url
        address = "" if public is None or comparison is None else f"{str(public).rstrip('/')}/comparisons/{request.id}"
        return PlatformOutcome(
            name or request.platform,
            self._state(request),
            comparison,
            address,
            f"{address}.json" if address else "",
            self.alarms.of(request.platform),
            on_request=bool(name),
        )

    def _state(self, work: RequestInShort) -> PlatformState:
        match work.state:
            case "waiting":
                return Waiting(work.reason.removeprefix("waits for "))
            case "running":
                return _running(self.store.fleet.job_counts([work.id])[work.id])
            case "done":
                return Done()
            case "failed":
                return Failed(work.reason)
            case "cancelled":
                return Cancelled(work.reason.removeprefix("by ") if work.reason.startswith("by ") else "")
            case "superseded":
                return Superseded()
            case "interrupted":
                raise AssertionError(work)  # requests of triggers are cancelled, not interrupted

    def _range(self, stored: StoredTrigger, head: str, base: str) -> CommitRange:
        """Return the compared commits; before requests are submitted, the base is that of the trigger."""
        changed: tuple[ChangedLines, ...] = ()
        if stored.requests:
            sides = self._asked(stored.requests[0]).sides
            commits = [sides[side].commit for side in ("base", "head") if side in sides]
            if len(commits) == 2 and commits[0] is not None and commits[1] is not None:
                base, head = commits[0], commits[1]
                changed = self._changed_lines(stored.repository, base, head)
        return CommitRange(stored.repository, base, head, changed)

    def _changed_lines(self, repository: str, base: str, head: str) -> tuple[ChangedLines, ...]:
        key = (base, head)
        measured = self.settings.measured(repository)
        if key not in self._changed and measured is not None:
            mirror = Mirror.below(self.mirrors, measured.remote)
            try:
                changes = changes_between(mirror.source(base), mirror.source(head))
            except UsageError:
                # The mirror was removed: the comparison is reported without changed lines.
                return ()
            if len(self._changed) >= MOST_REMEMBERED:
                self._changed.pop(next(iter(self._changed)))
            self._changed[key] = changed_lines(changes)
        return self._changed.get(key, ())

    def _command(self, stored: StoredTrigger) -> str:
        """Return the command that repeats a comparison; platforms that have drawn their seeds have none in common."""
        if not stored.requests:
            return ""
        first = self._asked(stored.requests[0])
        if len(stored.requests) == 1 and first.state == "done":
            return self.comparison(first.id).command_line
        return first.command_line

    def _acknowledgements(self, subject: str, head: str) -> tuple[Acknowledgement, ...]:
        return tuple(
            Acknowledgement(
                accepted.actor,
                accepted.reason,
                datetime.fromtimestamp(accepted.created, UTC).isoformat(timespec="seconds"),
                None if accepted.case is None else frozenset({accepted.case}),
            )
            for accepted in self.store.triggers.acknowledgements(subject, head)
        )


def _readable_requests(command: StoredTrigger) -> tuple[str, ...]:
    """Return the requests of a command; none if they cannot be read, so that other commands are reported."""
    try:
        return command.requests
    except UnreadableRecord as fault:
        log.warning("not reported", reason=fault.message)
        return ()


def _running(jobs: Mapping[tuple[JobKind, AttemptState], int]) -> PlatformState:
    if all(kind == "build" for kind, _ in jobs):
        return Building() if jobs else Waiting("an agent is free")
    done = sum(count for (_, state), count in jobs.items() if state in ("done", "failed"))
    return Running(done, sum(jobs.values()))
