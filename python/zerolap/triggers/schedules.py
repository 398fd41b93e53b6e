"""Schedules: a branch is compared with its commit at the previous run, releases with each other."""

import asyncio
import contextvars
import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, get_args

import structlog

from zerolap.records import EnvironmentMissing
from zerolap.store import Store, StoredTrigger
from zerolap.triggers.mirror import Mirror, RemoteUnreachable
from zerolap.triggers.names import BRANCHES, TAGS
from zerolap.triggers.settings import PREVIOUS, ScheduleSettings, TriggerSettings, Weekday
from zerolap.triggers.trigger import PushTrigger, TagTrigger
from zerolap.triggers.versions import version_of
from zerolap.triggers.webhooks.admission_state import stored_trigger

LOOK_SECONDS: Final = 20.0
LATE: Final = timedelta(hours=12)
"""Work that was due while the lab was not running is started up to this much later."""

log = structlog.get_logger("zerolap.schedule")


class Schedules:
    """Records what is due; `mirrors` is a directory for clones, `on_new` is called once triggers are recorded.

    Remotes are polled in `threads`, or in the default threads of asyncio.
    """

    def __init__(
        self,
        settings: TriggerSettings,
        store: Store,
        mirrors: Path,
        on_new: Callable[[], object],
        threads: Executor | None = None,
    ) -> None:
        self._settings = settings
        self._threads = threads
        self._store = store
        self._mirrors = mirrors
        self._on_new = on_new
        self._recorded: set[tuple[int, datetime]] = set()

    async def run(self) -> None:
        """Record what is due until cancelled."""
        while True:
            try:
                # As in `asyncio.to_thread`: the context has the `Cancellation` that owns git processes.
                looking = contextvars.copy_context().run
                now = datetime.now(UTC)
                if await asyncio.get_running_loop().run_in_executor(self._threads, looking, self.look, now):
                    self._on_new()
            except EnvironmentMissing as fault:
                log.warning("schedule is tried again later", reason=fault.message)
            await asyncio.sleep(LOOK_SECONDS)

    def look(self, now: datetime) -> int:
        """Record what is due and return the number of new triggers; unreachable remotes stay due."""
        count = 0
        for number, schedule in enumerate(self._settings.schedules):
            due = last_due(schedule, now)
            if now - due > LATE or (number, due) in self._recorded:
                continue
            try:
                triggers = list(self._due(schedule, due))
            except RemoteUnreachable as fault:
                log.warning("schedule is tried again later", repository=schedule.repository, reason=fault.message)
                continue
            count += sum(self._store.triggers.add(trigger) for trigger in triggers)
            self._recorded.add((number, due))
        return count

    def _due(self, schedule: ScheduleSettings, due: datetime) -> Iterator[StoredTrigger]:
        repository = self._settings.repository(schedule.repository)
        if repository is None:
            return
        refs = Mirror.below(self._mirrors, repository.remote).refs()
        if schedule.against != PREVIOUS:
            yield from _releases(schedule, refs)
            return
        branch = schedule.branch or ""
        commit = refs.get(f"{BRANCHES}{branch}")
        if commit is None:
            log.warning("there is no such branch", repository=repository.name, branch=branch)
            return
        name = "nightly" if schedule.weekday is None else f"each {schedule.weekday}"
        pushed = PushTrigger(
            repository=repository.name, branch=branch, before=None, after=commit, scope=schedule.scope, schedule=name
        )
        yield stored_trigger(pushed, f"schedule {repository.name} {branch} {name} {due.isoformat()}", time.time())


def _releases(schedule: ScheduleSettings, refs: dict[str, str]) -> Iterator[StoredTrigger]:
    """Yield a trigger for each release and the release before it; each pair is recorded and measured once."""
    names = [name.removeprefix(TAGS) for name in refs if name.startswith(TAGS)]
    releases = sorted((name for name in names if fnmatchcase(name, schedule.against)), key=version_of)
    for previous, tag in itertools.pairwise(releases):
        commit = refs[f"{TAGS}{tag}"]
        release = TagTrigger(repository=schedule.repository, tag=tag, commit=commit, previous=previous)
        yield stored_trigger(release, f"releases {schedule.repository} {previous} {tag} {commit}", time.time())


def last_due(schedule: ScheduleSettings, now: datetime) -> datetime:
    """Return the last time that a schedule was due, in UTC."""
    due = datetime.combine(now.date(), schedule.at, UTC)
    if schedule.weekday is not None:
        due -= timedelta(days=(due.weekday() - get_args(Weekday).index(schedule.weekday)) % 7)
    if due > now:
        due -= timedelta(days=1 if schedule.weekday is None else 7)
    return due
