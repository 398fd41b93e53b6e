"""Histories as `zerolap history` keeps them: made-up series over commits, with steps, a drift and releases."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zerolap.history import open_changes
from zerolap.records import (
    History,
    HistoryChange,
    HistoryCommit,
    HistoryLedger,
    HistoryPoint,
    HistorySeries,
    Platform,
    PlatformEvent,
)
from zerolap.store import Store

X86 = Platform(name="x86", fingerprint="1" * 16, cpu="AMD EPYC", cores=8, kernel="6.1.0")
ARM = Platform(name="arm", fingerprint="2" * 16, cpu="Neoverse-N1", cores=8, kernel="6.1.0")
REPOSITORY = "/srv/redis"
INSTRUCTIONS = "instructions_per_op"
CPU_TIME = "cpu_ns_per_op"
GROUPS: Mapping[str, Sequence[str]] = {
    "hash": ("HGET", "HSET"),
    "sorted-set": ("ZADD", "ZRANGE"),
    "string": ("GET", "SET"),
}


def commit_id(position: int) -> str:
    """Return the id of a commit of a made-up range."""
    return f"{position + 1:04x}".ljust(40, "a")


@dataclass(frozen=True)
class Step:
    """A step of a case at a position, as a relative change."""

    case: str
    position: int
    change: float
    reasons: tuple[str, ...] = ("zslInsert executes 120 more instructions, called as often as before",)
    accepted: str | None = None


@dataclass(frozen=True)
class Drift:
    """A drift of a case between two positions, as a relative change, for the worse."""

    case: str
    after: int
    position: int
    change: float
    accepted: str | None = None


@dataclass(frozen=True)
class MadeUp:
    """What a history is made of; commits of `same` have the program of the one before, those of `failed` none.

    The last `unmeasured` commits have no points. A release is at every multiple of `releases_every`; `pre_releases` are
    the tags of release candidates by position.
    """

    steps: Sequence[Step] = ()
    drifts: Sequence[Drift] = ()
    platform_events: tuple[PlatformEvent, ...] = ()
    commits: int = 40
    platform: Platform = X86
    range: str = "v1.0..HEAD"
    variant: str = "default"
    cases: Mapping[str, Sequence[str]] = field(default_factory=lambda: GROUPS)
    metrics: Sequence[str] = (INSTRUCTIONS, CPU_TIME)
    same: frozenset[int] = frozenset({3, 4, 11})
    failed: frozenset[int] = frozenset({7})
    unmeasured: int = 2
    releases_every: int = 10
    pre_releases: Mapping[int, str] = field(default_factory=dict)
    created: str = "2026-11-20T21:00:00Z"
    subject: str = "Change something in the server (#{position})"

    @property
    def document(self) -> History:
        """The history."""
        return History(
            created=self.created,
            command_line="zerolap history",
            repository=REPOSITORY,
            range=self.range,
            variant=self.variant,
            config={},
            platform=self.platform,
            platform_events=self.platform_events,
            commits=tuple(self._commit(position) for position in range(self.commits)),
            series=tuple(
                self._series(f"{command.lower()}-100B", group, metric)
                for group, commands in self.cases.items()
                for command in commands
                for metric in self.metrics
            ),
        )

    def _commit(self, position: int) -> HistoryCommit:
        is_release = position % self.releases_every == 0
        is_built = position not in self.failed and position < self.commits - self.unmeasured
        return HistoryCommit(
            commit=commit_id(position),
            time=f"2026-{1 + position // 28 % 12:02}-{1 + position % 28:02}T{position % 24:02}:00:00Z",
            subject=self.subject.format(position=position),
            author=f"Author {position}",
            tags=(f"v{1 + position // self.releases_every}.0",) if is_release else (),
            pre_release=self.pre_releases.get(position, ""),
            node=position - sum(same <= position for same in self.same) if is_built else None,
            failure="make failed: server.c:12: error: expected ';'" if position in self.failed else None,
        )

    def _series(self, case: str, group: str, metric: str) -> HistorySeries:
        is_timed = metric == CPU_TIME
        steps = {step.position: step for step in self.steps if step.case == case}
        noise = random.Random(f"{case}{metric}")
        level, first, points = 0.0, 4000.0, list[HistoryPoint]()
        for position in range(self.commits - self.unmeasured):
            if position in self.failed:
                continue
            is_same = position in self.same
            if position and not is_same:
                level += math.log1p(steps[position].change) if position in steps else noise.gauss(0, 0.0004)
            width = 0.006 if is_timed and position else 0.0
            points.append(
                HistoryPoint(
                    position=position,
                    level=level,
                    low=level - width,
                    high=level + width,
                    value=None if is_timed else first * math.exp(level),
                    same_code=is_same,
                )
            )
        changes = (
            *(self._change(step, metric) for step in steps.values()),
            *(_drift(drift, metric) for drift in self.drifts if drift.case == case),
        )
        return HistorySeries(
            case=case,
            group=group,
            metric=metric,
            engine="timed" if is_timed else "counted",
            topology="standalone",
            points=tuple(points),
            changes=changes,
            ledger=HistoryLedger(
                since=0, total=math.expm1(level), low=level, high=level, reported=0.0, unreported=0.001, slope=0.0001
            ),
        )

    def _change(self, step: Step, metric: str) -> HistoryChange:
        after = step.position - 1
        while after in self.failed:
            after -= 1
        return HistoryChange(
            id=f"{commit_id(step.position)[:12]}:{step.case}:{metric}",
            kind="step",
            after=after,
            position=step.position,
            change=step.change,
            low=step.change - 0.002,
            high=step.change + 0.002,
            reasons=step.reasons,
            accepted=step.accepted,
        )


def _drift(drift: Drift, metric: str) -> HistoryChange:
    return HistoryChange(
        id=f"{commit_id(drift.position)[:12]}:{drift.case}:{metric}",
        kind="drift",
        after=drift.after,
        position=drift.position,
        change=drift.change,
        low=drift.change - 0.002,
        high=drift.change + 0.002,
        reasons=("lookupKey executes 2 more instructions",),
        accepted=drift.accepted,
    )


def keep(store: Store, made_up: MadeUp) -> None:
    """Keep a made-up history in a store."""
    history = made_up.document
    commands = {f"{command.lower()}-100B": (command,) for commands in made_up.cases.values() for command in commands}
    store.published_histories.keep(history, open_changes(history), commands)


SLOWER_ZADD = Step("zadd-100B", 20, 0.042)
FASTER_GET = Step("get-100B", 26, -0.031, ("lookupKey is called 1 time for each request, not 2",))
SLOWLY_SLOWER_HGET = Drift("hget-100B", 12, 28, 0.024)
ACCEPTED_SET = Step("set-100B", 15, 0.02, accepted="needed for safety")
HOSTILE = "<img src=x onerror=alert(1)>"


def keep_two_platforms(store: Store) -> None:
    """Keep histories of two platforms: ZADD is slower on both, and HSET on arm alone."""
    common = (SLOWER_ZADD, FASTER_GET, ACCEPTED_SET)
    keep(store, MadeUp(common))
    keep(store, MadeUp((*common, Step("hset-100B", 30, 0.08)), platform=ARM, created="2026-11-20T22:00:00Z"))
