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
from zerolap.demonstration.made_up_sweeps import MadeUpEmulatedSweep, MadeUpSweep, record_sweep
from zerolap.history import open_changes
from zerolap.store import AcceptedChange, Store

NEWEST_COMPARED: Final = 5
"""So many of the last commits are compared with the one before them."""
NEWEST_PUSHED: Final = 20
"""Of so many there are triggers."""
PULL_HEAD: Final = 158


@dataclass(frozen=True)
class MadeUpStore:
    """Writes everything into a store; equal data for equal seeds and moments."""

    store: Store
    server: MadeUpServer

    def fill(self) -> None:
        """Write it all."""
        self.store.notice = NOT_MEASURED
        self._record_platforms()
        trials = MadeUpTrials(self.store)
        fleet = MadeUpFleet(self.server, self.store, trials)
        fleet.record_agents()
        for report in self.reports:
            report.record(self.store, trials)
        self._record_open(fleet)
        self._record_triggers()
        self._record_history()
        for sweep in self._sweeps():
            record_sweep(sweep.report, self.server.source(sweep.position), sweep.ended, self.store)

    def _sweeps(self) -> list[MadeUpSweep | MadeUpEmulatedSweep]:
        """Return the sweeps of snapshots, the oldest first."""
        newest, sizes = max(RELEASES), [GIB, 2 * GIB, 4 * GIB, 8 * GIB]
        ended = self._began(newest, X86) + timedelta(hours=3)
        return [
            MadeUpSweep(self.server, newest, X86, ended, sizes),
            MadeUpSweep(self.server, newest, ARM, ended + timedelta(minutes=20), sizes),
            MadeUpEmulatedSweep(self.server, newest, X86, ended + timedelta(minutes=40), [size // 8 for size in sizes]),
            MadeUpSweep(self.server, newest, X86, ended + timedelta(hours=1), sizes[:3], ("never", "always")),
        ]

    @cached_property
    def reports(self) -> list[MadeUpReport]:
        """The comparisons and runs that have ended, the oldest first."""
        reports = [self._release(head, base, machine) for base, head in self._releases() for machine in MACHINES]
        reports += [self._commit(change, machine) for change in self._compared_commits() for machine in MACHINES]
        reports += [self._run(55, X86), self._run(150, X86), self._run(150, ARM)]
        reports += [self._pull_request(machine) for machine in MACHINES]
        return sorted(reports, key=lambda report: report.began)

    def _releases(self) -> list[tuple[int, int]]:
        places = sorted(RELEASES)
        return [(places[0], places[1]), (places[1], places[4])]

    def _compared_commits(self) -> list[int]:
        return sorted({change.position for change in PLANTED} | set(range(COMMITS - NEWEST_COMPARED, COMMITS)))

    def _began(self, position: int, machine: Machine) -> datetime:
        latest = self.server.moment - timedelta(hours=2)
        wait = timedelta(hours=1 if machine == X86 else 1.4)
        return min(self.server.commits[position].time + wait, latest)

    def _commit(self, position: int, machine: Machine) -> MadeUpReport:
        triggers = MadeUpTriggers(self.server, self.store)
        return MadeUpReport(
            self.server,
            position - 1,
            position,
            machine,
            self._began(position, machine),
            agent=_agent(machine),
            has_fault=position == COMMITS - 1 and machine == ARM,
            trigger=triggers.trigger_id("push", position),
        )

    def _release(self, head: int, base: int, machine: Machine) -> MadeUpReport:
        return MadeUpReport(
            self.server,
            base,
            head,
            machine,
            self._began(head, machine) + timedelta(hours=1),
            agent=_agent(machine),
            is_detailed=head == max(RELEASES) and machine == X86,
            unsteady="zrange-100-withscores" if head == sorted(RELEASES)[1] and machine == ARM else "",
            priority="release",
            topic=f"{GITHUB_REPOSITORY}@tag:{RELEASES[head]}",
            trigger=MadeUpTriggers(self.server, self.store).trigger_id("tag", head),
        )

    def _run(self, position: int, machine: Machine) -> MadeUpReport:
        began = self._began(position, machine) + timedelta(hours=6)
        return MadeUpReport(
            self.server,
            None,
            position,
            machine,
            began,
            agent=_agent(machine),
            is_detailed=True,
            has_fault=position == 150 and machine == X86,
            trigger="command line",
        )

    def _pull_request(self, machine: Machine) -> MadeUpReport:
        return MadeUpReport(
            self.server,
            145,
            146,
            machine,
            self.server.moment - timedelta(hours=2.5 if machine == X86 else 2.2),
            agent=_agent(machine),
            cases=("geosearch-100km", "zadd", "zrange-100-withscores"),
            is_detailed=True,
            priority="pull",
            topic=f"{GITHUB_REPOSITORY}#{PULL_REQUEST}",
            trigger=MadeUpTriggers(self.server, self.store).trigger_id("pull request", PULL_REQUEST),
        )

    def _record_platforms(self) -> None:
        for machine in MACHINES:
            for since in self.server.states(machine):
                platform = self.server.platform(machine, since)
                self.store.record_platform(platform)
                self.store.dated.platform_state(platform.fingerprint, platform.facts_digest, instant(since))

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
            head - 1,
            head,
            machine,
            self.server.moment - timedelta(minutes=minutes_ago) + ASKED_BEFORE,
            agent=_agent(machine),
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
            caused = by_cause.get(triggers.trigger_id("tag", head), [])
            triggers.tag(head, RELEASES[base], hours(head), caused)
        for position in range(COMMITS - NEWEST_PUSHED, COMMITS):
            triggers.push(position, hours(position), by_cause.get(triggers.trigger_id("push", position), []))
        caused = by_cause[triggers.trigger_id("pull request", PULL_REQUEST)]
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


def _agent(machine: Machine) -> str:
    return "arm-agent-a" if machine == ARM else "x86-agent-a"
