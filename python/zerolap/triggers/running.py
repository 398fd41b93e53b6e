"""The triggers of `zerolap serve` and `zerolap watch`, one loop for each: work, reports, watched remotes, schedules."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from zerolap.documents import FalseAlarmRecord
from zerolap.events import EventSink, LabEvent
from zerolap.github import AppKey, GitHub, Patience, TokenFile
from zerolap.records import Comparison, EnvironmentMissing
from zerolap.sandbox import Cancellation
from zerolap.store import Store, StoredTrigger
from zerolap.triggers.branch_histories import BranchHistories
from zerolap.triggers.failed_subjects import FailedSubjects
from zerolap.triggers.notifying import Notifier, Push
from zerolap.triggers.outbox import Outbox
from zerolap.triggers.progress import ProgressReader
from zerolap.triggers.reporting import Reporter
from zerolap.triggers.schedules import Schedules
from zerolap.triggers.settings import GitHubSettings, TriggerSettings
from zerolap.triggers.trigger import is_branch_or_tag
from zerolap.triggers.watching import Watcher
from zerolap.triggers.work import TriggerWork, cases_of

LOOK_SECONDS: Final = 0.5
LOOK_AGAIN_SECONDS: Final = 10.0
"""The pause between two reports while nothing is recorded; texts that could not be written are tried again then."""
REPOSITORIES_AT_ONCE: Final = 3
"""Fewer than the threads of asyncio on any machine: a fetch can use a thread for ten minutes."""
SUSPECT_TRIES: Final = 2
"""A trigger during which the process was killed so often is worked on alone."""
REMOTES_AT_ONCE: Final = 8
"""Watched remotes have their own threads, so that remotes that do not answer use up no others."""
PATIENCE: Final = Patience(request_seconds=20.0, total_seconds=20.0)
"""Short, as other pull requests wait, and a failed request is repeated later."""

log = structlog.get_logger("zerolap.triggers")


@dataclass
class Triggers:
    """Runs all that the trigger settings describe; `mirrors` is a directory for clones of repositories.

    `events` sends events to the destinations in the settings. Raises `UsageError` for settings that select no cases.
    """

    store: Store
    settings: TriggerSettings
    mirrors: Path
    on_measured: Callable[[Push, Sequence[Comparison]], None] = lambda _push, _comparisons: None

    def __post_init__(self) -> None:
        for measuring in (*self.settings.repositories, *self.settings.watches):
            cases_of(measuring)
        self.on_event: Callable[[LabEvent], None] = lambda _event: None
        """Called in the event loop with the event of each trigger that has ended."""
        self._wake, self._has_worked = asyncio.Event(), asyncio.Event()
        self.github = github_of(self.settings.github)
        self.events = EventSink(self.settings.events)
        self._work = TriggerWork(self.store, self.settings, self.mirrors, self.github, self._emit)
        progress_reader = ProgressReader(self.store, self.settings, self.mirrors, FalseAlarmRecord(self.store))
        outbox = Outbox(self.store.triggers)
        self._reporter = None
        if self.github is not None:
            self._reporter = Reporter(self.store, self.settings, progress_reader, self.github, outbox)
        self._notifier = Notifier(self.store, self.settings, progress_reader, outbox, self.github)
        self._histories = BranchHistories(self.store, self.settings, self.mirrors)
        self._cancellation = Cancellation()
        self._threads = ThreadPoolExecutor(REMOTES_AT_ONCE, "remotes")
        self._watchers = [
            Watcher(watch, self.store, self.mirrors, self.wake, self._threads) for watch in self.settings.watches
        ]
        self._branches: set[str] = set()
        self._noted: set[str] = set()
        self._shown: set[str] = set()
        self._unjudged: dict[str, Push] = {}
        """The newest measured push of each branch whose history was not judged since."""
        self._failed = FailedSubjects()
        self._at_work: dict[str, asyncio.Task[None]] = {}
        self._reported_changes, self._reported = -1, 0.0

    def _emit(self, event: LabEvent) -> None:
        self.on_event(event)
        self.events.emit(event)

    def wake(self) -> None:
        """Have new triggers worked on at once; to be called in the event loop."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled; running git processes are ended then."""
        with self._cancellation.current():
            try:
                await self._run()
            finally:
                self._threads.shutdown(wait=False, cancel_futures=True)
                self._cancellation.cancel()

    async def _run(self) -> None:
        await asyncio.to_thread(self._recall)
        self.mirrors.mkdir(parents=True, exist_ok=True)
        async with self.github or contextlib.nullcontext(), asyncio.TaskGroup() as group:
            group.create_task(self.events.run())
            group.create_task(_always(lambda: self._work_off(group), self._wake))
            group.create_task(_always(self._report, self._has_worked))
            group.create_task(_always(self._judge, asyncio.Event()))
            if self.settings.schedules:
                group.create_task(Schedules(self.settings, self.store, self.mirrors, self.wake, self._threads).run())
            for watcher in self._watchers:
                group.create_task(watcher.run())

    async def until_idle(self) -> None:
        """Wait until every remote was polled, and all its triggers are measured and reported.

        Raises `EnvironmentMissing` if a remote cannot be reached.
        """
        while not all(watcher.has_looked for watcher in self._watchers):
            await asyncio.sleep(LOOK_SECONDS)
            for watcher in self._watchers:
                if watcher.trouble is not None:
                    raise watcher.trouble
        is_idle = False
        while not is_idle:
            await asyncio.sleep(LOOK_SECONDS)
            # Read first: a trigger that no longer waits is being worked on, or noted.
            waiting = await asyncio.to_thread(self.store.triggers.in_state, "waiting")
            unreported = [subject for subject in self._branches if subject not in self._failed]
            is_idle = not (waiting or self._at_work or unreported or self._unjudged)

    def _recall(self) -> None:
        if self._reporter is not None:
            self._reporter.recall()
        for kind in ("push", "tag"):
            self._branches |= set(self.store.triggers.subjects(kind, 0.0))
        for subject in self._branches:
            with self._failed.on_failure(subject):
                self._shown |= {push.stored.id for push in self._notifier.finished(subject)}

    async def _work_off(self, group: asyncio.TaskGroup) -> None:
        """Work on waiting triggers, repositories in parallel: a slow remote delays only its own repository."""
        # Read before the waiting triggers: work on these repositories may end in between.
        busy = set(self._at_work)
        by_repository = await self._work.waiting()
        suspect = next((name for name, waiting in by_repository.items() if waiting[0].tries >= SUSPECT_TRIES), None)
        if suspect is not None:
            # Alone: if the process is killed again, other triggers must not count this as their try.
            by_repository = {} if self._at_work else {suspect: by_repository[suspect][:1]}
        for repository, waiting in by_repository.items():
            if repository not in busy and len(self._at_work) < REPOSITORIES_AT_ONCE:
                self._at_work[repository] = group.create_task(self._work_off_repository(repository, waiting))

    async def _work_off_repository(self, repository: str, waiting: Sequence[StoredTrigger]) -> None:
        try:
            for stored in waiting:
                has_ended = await self._work.work_on(stored)
                self._note(stored.subject)
                if not has_ended:
                    # The other triggers of the repository need the same remote.
                    return
            self.wake()
        except EnvironmentMissing as fault:
            log.error("waiting", trouble=fault.message)
        finally:
            del self._at_work[repository]

    def _note(self, subject: str) -> None:
        if not is_branch_or_tag(subject):
            if self._reporter is not None:
                self._reporter.note(subject)
        else:
            self._branches.add(subject)
            self._noted.add(subject)
        # What was recorded of it may have been seen already, before it was noted.
        self._reported_changes = -1
        self._has_worked.set()

    async def _report(self) -> None:
        changes, now = self.store.changes, time.monotonic()
        if changes == self._reported_changes and now < self._reported + LOOK_AGAIN_SECONDS:
            return
        self._reported_changes, self._reported = changes, now
        if self._reporter is not None:
            await self._reporter.report()
        for subject in sorted(subject for subject in self._branches if subject not in self._failed):
            with self._failed.on_failure(subject):
                await self._report_branch(subject)

    async def _report_branch(self, subject: str) -> None:
        self._noted.discard(subject)
        report = await self._notifier.report(subject)
        for push in report.ended:
            if push.stored.id not in self._shown:
                self._shown.add(push.stored.id)
                self.on_measured(push, await asyncio.to_thread(self._notifier.comparisons, push))
                self._unjudged[subject] = push
        if report.is_over and subject not in self._noted:
            self._branches.discard(subject)

    async def _judge(self) -> None:
        """Judge the histories of branches after their newest pushes, one after the other."""
        for subject, push in list(self._unjudged.items()):
            with FailedSubjects().on_failure(subject):
                await asyncio.to_thread(self._histories.keep, push)
            if self._unjudged[subject] is push:
                del self._unjudged[subject]


async def _always(step: Callable[[], Awaitable[None]], wake: asyncio.Event) -> None:
    """Repeat a step; the pause between two steps ends early when the event is set."""
    while True:
        wake.clear()
        try:
            await step()
        except EnvironmentMissing as fault:
            log.error("waiting", trouble=fault.message)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await wake.wait()


def mirrors_of(store: Store) -> Path:
    """Return the directory for clones of repositories, beside the builds of a store."""
    return store.builds_directory.with_name("mirrors")


def github_of(settings: GitHubSettings) -> GitHub | None:
    """Return the client for the settings; None if they have neither a token nor an App."""
    if settings.token is not None:
        return GitHub(str(settings.api_url), TokenFile(settings.token), patience=PATIENCE)
    if settings.app_id is not None and settings.private_key is not None:
        return GitHub(str(settings.api_url), AppKey(str(settings.app_id), settings.private_key), patience=PATIENCE)
    return None
