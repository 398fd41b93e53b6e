"""Watched remotes are asked for new commits on their branches, and for new tags."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import structlog

from zerolap.records import EnvironmentMissing
from zerolap.store import Store, StoredTrigger
from zerolap.triggers.memory import stored_trigger
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.names import BRANCHES, TAGS
from zerolap.triggers.settings import WatchSettings
from zerolap.triggers.trigger import PushTrigger, TagTrigger

LONGEST_PAUSE_SECONDS: Final = 3600.0

log = structlog.get_logger("zerolap.watch")


class Watcher:
    """Follows one remote; `mirrors` is a directory for clones, `on_new` is called once triggers are recorded."""

    def __init__(self, watch: WatchSettings, store: Store, mirrors: Path, on_new: Callable[[], object]) -> None:
        self._watch = watch
        self._store = store
        self._mirror = Mirror.below(mirrors, watch.remote)
        self._on_new = on_new

    async def run(self) -> None:
        """Ask again and again, more rarely while the remote cannot be reached."""
        pause_seconds = self._watch.every_seconds
        while True:
            try:
                if await asyncio.to_thread(self.look):
                    self._on_new()
                pause_seconds = self._watch.every_seconds
            except EnvironmentMissing as fault:
                pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)
                log.warning("asked again later", remote=self._mirror.shown, reason=fault.message)
            await asyncio.sleep(pause_seconds)

    def look(self) -> int:
        """Ask once, and return how many triggers were recorded; raises `RemoteUnreachable`.

        What the remote has when it is asked for the first time is where following begins.
        """
        commits = {ref: commit for ref, commit in self._mirror.refs().items() if self._is_watched(ref)}
        before = self._store.triggers.watched(self._watch.remote)
        triggers = list(self._triggers(before, commits)) if before else []
        changed = {ref: commit for ref, commit in commits.items() if before.get(ref) != commit}
        if changed:
            self._store.triggers.saw(self._watch.remote, changed, triggers)
        if gone := sorted(before.keys() - commits.keys()):
            self._store.triggers.lost_refs(self._watch.remote, gone)
        for trigger in triggers:
            log.info("new", remote=self._mirror.shown, subject=trigger.subject)
        return len(triggers)

    def _triggers(self, before: Mapping[str, str], commits: Mapping[str, str]) -> Iterator[StoredTrigger]:
        repository = self._watch.repository
        for ref, commit in sorted(commits.items()):
            if before.get(ref) == commit:
                continue
            new: PushTrigger | TagTrigger
            if ref.startswith(BRANCHES):
                branch = ref.removeprefix(BRANCHES)
                new = PushTrigger(repository=repository, branch=branch, before=before.get(ref), after=commit)
            else:
                new = TagTrigger(repository=repository, tag=ref.removeprefix(TAGS), commit=commit)
            # A branch may come back to a commit that it has had before.
            origin = f"poll {self._watch.remote} {ref} {before.get(ref)} {commit} {time.time_ns()}"
            yield stored_trigger(new, origin, time.time())

    def _is_watched(self, ref: str) -> bool:
        is_branch = ref.startswith(BRANCHES)
        globs = self._watch.branches if is_branch else self._watch.tags
        name = ref.removeprefix(BRANCHES if is_branch else TAGS)
        return any(fnmatchcase(name, glob) for glob in globs)
