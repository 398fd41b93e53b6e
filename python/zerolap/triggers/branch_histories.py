"""Histories of branches whose pushes are measured: judged after each push and kept for pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from zerolap.build import commits_of
from zerolap.fleet import machine_named
from zerolap.history import HistoryHeader, HistoryRange, history_of, keep_history, of_built_commits
from zerolap.lab import Lab
from zerolap.records import UnreadableRecord, ZerolapError
from zerolap.store import Store
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.notifying import Push
from zerolap.triggers.settings import RepositorySettings, TriggerSettings, WatchSettings
from zerolap.triggers.trigger import PushTrigger, read_trigger
from zerolap.triggers.work import cases_of

MOST_PUSHES: Final = 500
"""The history of a branch begins with the oldest of so many."""

log = structlog.get_logger("zerolap.triggers")


@dataclass(frozen=True)
class BranchHistories:
    """Judges the history of a branch from what its comparisons have counted and timed; `mirrors` holds the clones."""

    store: Store
    settings: TriggerSettings
    mirrors: Path

    def keep(self, push: Push) -> None:
        """Judge the history of a push's branch on each platform that has measured it, and keep it; blocks.

        What cannot be judged is logged, such as a branch that was rewritten since its first push.
        """
        measuring = self.settings.measured(push.trigger.repository)
        if not isinstance(push.trigger, PushTrigger) or push.trigger.schedule or measuring is None:
            return
        platforms = {of.platform for identity in push.comparisons if (of := self.store.fleet.in_short(identity))}
        for platform in sorted(platforms):
            try:
                self._keep(push.trigger, measuring, platform)
            except (ZerolapError, UnreadableRecord) as fault:
                log.warning("history not kept", subject=push.stored.subject, platform=platform, reason=str(fault))

    def _keep(self, trigger: PushTrigger, measuring: RepositorySettings | WatchSettings, platform: str) -> None:
        mirror = Mirror.below(self.mirrors, measuring.remote)
        machine = machine_named(platform, self.store)
        asked = HistoryRange(
            repository=mirror.directory,
            text=trigger.branch,
            commits=commits_of(mirror.directory, f"{self._first(trigger, mirror)}..{trigger.after}"),
            cases=cases_of(measuring),
            variant=measuring.variant,
            platform=machine.platform,
            builder=machine.builder,
        )
        history = history_of(of_built_commits(asked, self.store), Lab(self.store), HistoryHeader())
        keep_history(history.model_copy(update={"repository": trigger.repository}), asked, self.store)

    def _first(self, trigger: PushTrigger, mirror: Mirror) -> str:
        """Return the oldest commit that a push of the branch was compared with, and that it still has."""
        for earlier in reversed(self._pushes(trigger)):
            before = earlier.before
            if before is not None and mirror.has(before) and mirror.is_ancestor(before, trigger.after):
                return before
        return mirror.parent(trigger.after) or trigger.after

    def _pushes(self, trigger: PushTrigger) -> Sequence[PushTrigger]:
        pushes = []
        for stored in self.store.triggers.of_subject(trigger.subject, ["push"], MOST_PUSHES):
            try:
                earlier = read_trigger(stored.document)
            except UnreadableRecord:
                continue
            if isinstance(earlier, PushTrigger):
                pushes.append(earlier)
        return pushes
