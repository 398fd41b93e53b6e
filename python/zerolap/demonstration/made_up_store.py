"""Fills a store with made-up data: six months of a server that does not exist, on two machines that do not either."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final

from zerolap.byte_counts import GIB
from zerolap.demonstration.made_up_fleet import PULL_REQUEST, MadeUpFleet, MadeUpTriggers
from zerolap.demonstration.made_up_history import made_up_history
from zerolap.demonstration.made_up_reports import ASKED_BEFORE, MadeUpReport, MadeUpTrials
from zerolap.demonstration.made_up_server import (
    ARM,
    COMMITS,
    GITHUB_REPOSITORY,
    MACHINES,
    NOT_MEASURED,
    PLANTED,
    RELEASES,
    X86,
    Machine,
    MadeUpServer,
    instant,
)
from zerolap.demonstration.made_up_sweeps import MadeUpSweep
from zerolap.history import open_changes
from zerolap.records import EmulatedSweep, ForkKind, HugePages, KernelFiles, SnapshotSweep
from zerolap.store import AcceptedChange, Store

NEWEST_COMPARED: Final = 5
"""So many of the last commits are compared with the one before them."""
NEWEST_PUSHED: Final = 20
"""Of so many there are triggers."""


@dataclass(frozen=True)
class MadeUpStore:
    """Writes everything into a store; equal data for equal seeds and moments."""

    store: Store
    server: MadeUpServer

    def fill(self) -> None:
        """Write it all."""
        self.store.notice = NOT_MEASURED
        for machine in MACHINES:
            for since in self.server.states(machine):
                platform = self.server.platform(machine, since)
                self.store.record_platform(platform)
                self.store.dated.platform_state(platform.fingerprint, platform.facts_digest, instant(since))
        trials = MadeUpTrials(self.store)
        fleet = MadeUpFleet(self.server, self.store, trials)
        fleet.record_agents()
        for report in self.reports:
            report.record(self.store, trials)
        self._record_open(fleet)
        self._record_triggers()
        self._record_history()
        for sweep in self._sweeps():
            sweep.record(self.store, trials)

    def _sweeps(self) -> list[MadeUpSweep]:
        """Return the sweeps of snapshots, the oldest first."""
        newest, sizes = max(RELEASES), (GIB, 2 * GIB, 4 * GIB, 8 * GIB)
        began = self._began(newest, X86) + timedelta(hours=3)
        kernel = KernelFiles(path="linux-source-6.1.tar.xz", patches=("async-fork.patch",))
        huge_pages: dict[str, HugePages] = {f"transparent-huge-pages={pages}": pages for pages in ("never", "always")}
        forks: dict[str, ForkKind] = {f"fork={fork}": fork for fork in ("copy", "async")}
        usual = SnapshotSweep(sizes_bytes=sizes)
        sweeps: list[tuple[Machine, SnapshotSweep | EmulatedSweep]] = [
            (X86, usual),
            (ARM, usual),
            (X86, EmulatedSweep(kernel=kernel, sizes_bytes=sizes, repetitions=3, forks=forks)),
            (X86, SnapshotSweep(sizes_bytes=sizes[:3], huge_pages=huge_pages)),
        ]
        return [
            MadeUpSweep(self.server, machine, began + number * timedelta(minutes=20), newest, sweep)
            for number, (machine, sweep) in enumerate(sweeps)
        ]

    @cached_property
    def reports(self) -> list[MadeUpReport]:
        """The comparisons and runs that have ended, the oldest first."""
        compared = sorted({change.position for change in PLANTED} | set(range(COMMITS - NEWEST_COMPARED, COMMITS)))
        reports = [self._release(head, base, machine) for base, head in self._releases() for machine in MACHINES]
        reports += [self._commit(position, machine) for position in compared for machine in MACHINES]
        reports += [self._run(55, X86), self._run(150, X86), self._run(150, ARM)]
        reports += [self._pull_request(machine) for machine in MACHINES]
        return sorted(reports, key=lambda report: report.began)

    def _releases(self) -> list[tuple[int, int]]:
        places = sorted(RELEASES)
        return [(places[0], places[1]), (places[1], places[4])]

    def _began(self, position: int, machine: Machine) -> datetime:
        latest = self.server.moment - timedelta(hours=2)
        wait = timedelta(hours=1 if machine == X86 else 1.4)
        return min(self.server.commits[position].time + wait, latest)

    def _commit(self, position: int, machine: Machine) -> MadeUpReport:
        return MadeUpReport(
            self.server,
            machine,
            self._began(position, machine),
            position - 1,
            position,
            has_fault=position == COMMITS - 1 and machine == ARM,
            trigger=self.server.identity("t", "push", position),
        )

    def _release(self, head: int, base: int, machine: Machine) -> MadeUpReport:
        return MadeUpReport(
            self.server,
            machine,
            self._began(head, machine) + timedelta(hours=1),
            base,
            head,
            is_detailed=head == max(RELEASES) and machine == X86,
            unsteady="zrange-100-withscores" if head == sorted(RELEASES)[1] and machine == ARM else "",
            priority="release",
            topic=f"{GITHUB_REPOSITORY}@tag:{RELEASES[head]}",
            trigger=self.server.identity("t", "tag", head),
        )

    def _run(self, position: int, machine: Machine) -> MadeUpReport:
        return MadeUpReport(
            self.server,
            machine,
            self._began(position, machine) + timedelta(hours=6),
            None,
            position,
            is_detailed=True,
            has_fault=position == 150 and machine == X86,
            trigger="command line",
        )

    def _pull_request(self, machine: Machine) -> MadeUpReport:
        return MadeUpReport(
            self.server,
            machine,
            self.server.moment - timedelta(hours=2.5 if machine == X86 else 2.2),
            145,
            146,
            cases=("geosearch-100km", "zadd", "zrange-100-withscores"),
            is_detailed=True,
            priority="pull",
            topic=f"{GITHUB_REPOSITORY}#{PULL_REQUEST}",
            trigger=self.server.identity("t", "pull request", PULL_REQUEST),
        )

    def _record_open(self, fleet: MadeUpFleet) -> None:
        fleet.record_ended(self._asked(153, ARM, (), "older", 1825), "superseded", "superseded by a newer commit")
        fleet.record_ended(
            self._asked(154, X86, (), "old", 1585), "cancelled", f"cancelled: {GITHUB_REPOSITORY}#9 was closed"
        )
        lost = self._asked(152, X86, ("rpush-lpop", "zadd"), "lost", 1320)
        fleet.record_lost(lost, "2 jobs have failed: three agents were lost")
        nightly = self._asked(157, ARM, ("rpush-lpop", "zadd", "xadd-auto-id"), "nightly", 17)
        fleet.record_running(nightly, "arm-agent-b")
        fleet.record_running(self._asked(158, X86, ("lrange-100", "sismember"), "lists", 15), "x86-agent-a")
        fleet.record_waiting(self._asked(156, ARM, (), "rebuild", 12), "one request is before it")
        fleet.record_waiting(self._asked(155, X86, ("eval",), "scripts", 4), "all agents of made-up-x86 are busy")

    def _asked(self, head: int, machine: Machine, cases: Sequence[str], topic: str, minutes_ago: float) -> MadeUpReport:
        return MadeUpReport(
            self.server,
            machine,
            self.server.moment - timedelta(minutes=minutes_ago) + ASKED_BEFORE,
            head - 1,
            head,
            cases=tuple(cases),
            priority="pull",
            topic=f"{GITHUB_REPOSITORY}:made-up-maintainer/{topic}",
            trigger="asked by made-up-maintainer",
        )

    def _record_triggers(self) -> None:
        triggers = MadeUpTriggers(self.server, self.store)
        by_cause: dict[str, list[str]] = {}
        for report in self.reports:
            by_cause.setdefault(report.trigger, []).append(report.id)

        def hours(position: int) -> float:
            return (self.server.moment - self.server.commits[position].time).total_seconds() / 3600

        for base, head in self._releases():
            caused = by_cause.get(self.server.identity("t", "tag", head), [])
            triggers.tag(head, RELEASES[base], hours(head), caused)
        for position in range(COMMITS - NEWEST_PUSHED, COMMITS):
            triggers.push(position, hours(position), by_cause.get(self.server.identity("t", "push", position), []))
        caused = by_cause[self.server.identity("t", "pull request", PULL_REQUEST)]
        triggers.pull_request(PULL_REQUEST, 146, 145, 3.0, caused)
        triggers.refused_command(2.0)

    def _record_history(self) -> None:
        commits = self.server.commits
        for change in PLANTED:
            if change.accepted:
                accepted = AcceptedChange(
                    repository="/made-up/server",
                    commit=commits[change.position].commit,
                    reason=change.accepted,
                    case=change.case,
                    created=instant(commits[change.position].time + timedelta(days=2)),
                )
                self.store.history.accept(accepted)
        commands = {case.name: case.verbs for case in self.server.cases}
        for machine in MACHINES:
            history = made_up_history(self.server, machine)
            self.store.published_histories.keep(history, open_changes(history), commands)


def fill_with_made_up_data(store: Store, seed: int = 1, moment: datetime | None = None) -> MadeUpServer:
    """Fill an empty store with made-up data that end at a moment, by default now; return what they follow from."""
    server = MadeUpServer(seed, (moment or datetime.now(UTC)).replace(microsecond=0))
    MadeUpStore(store, server).fill()
    return server
