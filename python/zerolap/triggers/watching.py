"""Polls watched remotes for new commits on their branches, and for new tags."""

import asyncio
import contextvars
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

import structlog

from zerolap.records import EnvironmentMissing
from zerolap.store import Store, StoredTrigger
from zerolap.triggers.mirror import Mirror, RemoteUnreachable
from zerolap.triggers.names import BRANCHES, TAGS
from zerolap.triggers.settings import WatchSettings
from zerolap.triggers.trigger import PushTrigger, TagTrigger, Trigger, read_trigger
from zerolap.triggers.webhooks.admission_state import stored_trigger

LONGEST_PAUSE_SECONDS: Final = 3600.0
NO_COMMIT: Final = "0" * 40
NAMED_REFS: Final = 10
"""In the log, of those that a watch follows."""

log = structlog.get_logger("zerolap.watch")


class Watcher:
    """Follows one remote; `mirrors` is a directory for clones, `on_new` is called once triggers are recorded.

    The remote is polled in `threads`, or in the default threads of asyncio. `has_looked` is set after the first poll;
    `trouble` is the reason if the last poll failed.
    """

    def __init__(
        self,
        watch: WatchSettings,
        store: Store,
        mirrors: Path,
        on_new: Callable[[], object],
        threads: Executor | None = None,
    ) -> None:
        self._watch = watch
        self._threads = threads
        self._store = store
        self._mirror = Mirror.below(mirrors, watch.remote)
        self._on_new = on_new
        self.has_looked = False
        self.trouble: EnvironmentMissing | None = None
        self._absent: set[str] = set()

    async def run(self) -> None:
        """Poll until cancelled, at growing intervals while the remote cannot be reached."""
        pause_seconds = self._watch.every_seconds
        while True:
            try:
                # As in `asyncio.to_thread`: the context has the `Cancellation` that owns git processes.
                looking = contextvars.copy_context().run
                if await asyncio.get_running_loop().run_in_executor(self._threads, looking, self.look):
                    self._on_new()
                self.has_looked, self.trouble = True, None
                pause_seconds = self._watch.every_seconds
            except EnvironmentMissing as fault:
                self.trouble = fault
                pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)
                log.warning("asked again later", remote=self._mirror.shown, reason=fault.message)
            await asyncio.sleep(pause_seconds)

    def look(self) -> int:
        """Poll once, and return how many triggers were recorded; raises `RemoteUnreachable`.

        The first poll records the branches and tags that exist, and triggers nothing.
        """
        commits = self._followed(self._mirror.refs())
        watched = self._store.triggers.watched(self._watch.remote)
        before, asked = self._followed(watched), self._kinds & watched.keys()
        triggers = list(self._triggers(before, commits, asked))
        changed = {ref: commit for ref, commit in commits.items() if before.get(ref) != commit}
        changed |= dict.fromkeys(self._kinds - asked, NO_COMMIT)
        if changed:
            self._store.triggers.saw(self._watch.remote, changed, triggers)
        if gone := sorted(before.keys() - commits.keys()):
            self._store.triggers.lost_refs(self._watch.remote, gone)
        if not self.has_looked:
            names = sorted(ref.removeprefix(BRANCHES).removeprefix(TAGS) for ref in commits)[:NAMED_REFS]
            log.info("following", remote=self._mirror.shown, refs=len(commits), names=names)
        self._log_absent(commits)
        for stored in triggers:
            log.info(
                "new",
                remote=self._mirror.shown,
                subject=stored.subject,
                trigger=stored.id,
                **_commits_of(read_trigger(stored.document)),
            )
        return len(triggers)

    def _log_absent(self, commits: Mapping[str, str]) -> None:
        """Log the branches of the settings that the remote does not have, or has no more; they may come (again)."""
        absent = {branch for branch in self._watch.named_branches if f"{BRANCHES}{branch}" not in commits}
        for branch in sorted(absent - self._absent):
            log.warning("there is no such branch", reason=f"{self._mirror.shown} has no branch {branch}")
        self._absent = absent

    def _followed(self, commits: Mapping[str, str]) -> dict[str, str]:
        """Return the refs that this watch follows: another watch may follow other refs of the remote."""
        return {
            ref: commit for ref, commit in commits.items() if ref not in (BRANCHES, TAGS) and self._watch.follows(ref)
        }

    @property
    def _kinds(self) -> set[str]:
        """The prefixes of the followed refs; a prefix is recorded as a ref once the remote was polled for it."""
        return {*([BRANCHES] if self._watch.branches else []), *([TAGS] if self._watch.tags else [])}

    def _triggers(
        self, before: Mapping[str, str], commits: Mapping[str, str], asked: set[str]
    ) -> Iterator[StoredTrigger]:
        """Yield a trigger for each new or changed ref whose prefix was polled before, even without a ref then."""
        repository = self._watch.repository
        known = asked | {prefix for prefix in (BRANCHES, TAGS) for ref in before if ref.startswith(prefix)}
        for ref, commit in sorted(commits.items()):
            if before.get(ref) == commit or not ref.startswith(tuple(known)):
                continue
            new: PushTrigger | TagTrigger
            if ref.startswith(BRANCHES):
                branch = ref.removeprefix(BRANCHES)
                for older, newer in self._pairs(before.get(ref), commit):
                    new = PushTrigger(repository=repository, branch=branch, before=older, after=newer)
                    yield self._stored(new, f"{ref} {older} {newer}")
            else:
                new = TagTrigger(repository=repository, tag=ref.removeprefix(TAGS), commit=commit)
                yield self._stored(new, f"{ref} {before.get(ref)} {commit}")

    def _stored(self, trigger: PushTrigger | TagTrigger, change: str) -> StoredTrigger:
        # With the time, as a branch can return to a commit that it had before.
        return stored_trigger(trigger, f"poll {self._watch.remote} {change} {time.time_ns()}", time.time())

    def _pairs(self, before: str | None, commit: str) -> list[tuple[str | None, str]]:
        """Return the pairs of commits to compare for a branch that moved from `before` to `commit`."""
        if before is None or not self._watch.each_commit:
            return [(before, commit)]
        try:
            self._mirror.fetch([commit])
            goes_on = self._mirror.can_have(before) and self._mirror.is_ancestor(before, commit)
        except RemoteUnreachable as fault:
            # The trigger fetches the commit again; other branches must not wait for it.
            log.warning("commits are not known", remote=self._mirror.shown, commit=commit, reason=fault.message)
            goes_on = False
        if not goes_on:
            return [(before, commit)]
        return list(itertools.pairwise([before, *self._mirror.commits_between(before, commit)]))


def _commits_of(trigger: Trigger) -> dict[str, str]:
    """Return the commits of a trigger, for the log."""
    match trigger:
        case PushTrigger(before=before, after=after):
            return {"commit": after, "before": before or ""}
        case TagTrigger(commit=commit):
            return {"commit": commit}
        case _:
            return {}
