"""The made-up fleet: its agents, what they run, what waits and what was lost, and the triggers of it all."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from zerolap import __version__
from zerolap.demonstration.made_up_reports import MadeUpReport, MadeUpTrials
from zerolap.demonstration.made_up_server import (
    ARM,
    BRANCH,
    GITHUB_REPOSITORY,
    MACHINES,
    X86,
    Machine,
    MadeUpServer,
)
from zerolap.fleet import Hello
from zerolap.records import AttemptState, JobFailed, RequestState
from zerolap.store import Attempt, FleetPlatform, KnownAgent, Outcome, Store, StoredDelivery, StoredTrigger
from zerolap.triggers import (
    Acknowledge,
    CommandTrigger,
    PullRequestTrigger,
    PushTrigger,
    TagTrigger,
    Trigger,
    trigger_json,
)

LAB: Final = "made-up-lab"
REPORT_SECONDS: Final = 10.0
HOUR: Final = 3600.0
WORKING: Final = ("arm-agent-a", "arm-agent-b", "x86-agent-a")
"""Agents that report as long as the demonstration is served."""
SILENT: Final = "x86-agent-c"
AGENTS: Final[dict[str, Machine]] = {
    "arm-agent-a": ARM,
    "arm-agent-b": ARM,
    "x86-agent-a": X86,
    "x86-agent-b": X86,
    "x86-agent-c": X86,
}
RUNNING_MINUTES: Final = 7
PULL_REQUEST: Final = 12
MAINTAINER: Final = "made-up-maintainer"
CONTRIBUTOR: Final = "made-up-contributor"


@dataclass(frozen=True)
class MadeUpFleet:
    """Agents of both machines, and the requests that are open or have failed."""

    server: MadeUpServer
    store: Store
    trials: MadeUpTrials

    def record_agents(self) -> None:
        """Record the platforms of the fleet and its agents, of which one drains, one is gone and one is refused."""
        self.store.fleet.set_platforms([FleetPlatform(name, builder=name) for name in MACHINES])
        now = self.server.moment.timestamp()
        self.store.fleet.saw_agents(
            [
                KnownAgent(
                    name,
                    LAB,
                    machine,
                    self._report(machine),
                    now - 3 * HOUR if name == SILENT else now,
                    refusal="its kernel is not the one that the platform names: 6.1.0-9-amd64"
                    if name == "x86-agent-b"
                    else None,
                )
                for name, machine in AGENTS.items()
            ]
        )
        self.store.fleet.drain("arm-agent-a")

    def _report(self, machine: Machine) -> str:
        platform = self.server.platform(machine, self.server.moment)
        hello = Hello(
            kind="bench",
            zerolap=__version__,
            platform=platform,
            architecture=platform.facts["architecture"],
            memory_bytes=int(platform.facts["memory_gib"]) << 30,
        )
        return hello.model_dump_json()

    def record_running(self, report: MadeUpReport, agent: str) -> None:
        """Record a request of which an agent measures the second job, and the others wait."""
        execution = report.begin(self.store)
        jobs = report.jobs(execution)
        now = self.server.moment.timestamp()
        began = report.began.timestamp()
        states: tuple[AttemptState, ...] = ("done", "claimed")
        placed = [
            replace(
                report.attempt(job, place),
                state=states[place] if place < len(states) else "ready",
                agent=agent if place < len(states) else None,
                created=report.asked.timestamp(),
                claimed=(began, now - 60 * RUNNING_MINUTES)[place] if place < len(states) else None,
                ended=now - 60 * RUNNING_MINUTES - 5 if place == 0 else None,
                starts=1 if place < len(states) else 0,
            )
            for place, job in enumerate(jobs)
        ]
        self.store.fleet.add_attempts(placed)
        events = self.trials.carry_out(jobs[0], report)
        self.store.fleet.take_in([], [Outcome(placed[0], event) for event in events])
        self.store.dated.request(report.id, report.asked.timestamp(), None)

    def record_waiting(self, report: MadeUpReport, reason: str) -> None:
        """Record a request that waits since it was asked for."""
        self.store.submit([report.request])
        self.store.fleet.set_state(report.id, "waiting", reason)
        self.store.dated.request(report.id, report.asked.timestamp(), None)

    def record_ended(self, report: MadeUpReport, state: RequestState, reason: str) -> None:
        """Record a request that has ended without a result."""
        self.store.submit([report.request])
        self.store.fleet.set_state(report.id, state, reason)
        asked = report.asked.timestamp()
        self.store.dated.request(report.id, asked, asked + 1500)

    def record_lost(self, report: MadeUpReport, reason: str) -> None:
        """Record a request whose jobs were given up after agents were lost, or failed."""
        jobs = report.jobs(report.begin(self.store))[:2]
        asked = report.asked.timestamp()
        ended = asked + 2 * HOUR
        given = [
            Attempt(
                id=self.server.identity("a", "lost", report.id, place),
                request=report.id,
                platform=report.machine,
                given=job,
                state="given up" if place == 0 else "failed",
                agent=SILENT,
                delivery=3,
                publications=3,
                starts=3,
                created=asked,
                claimed=ended - HOUR,
                ended=ended,
                reason="given up: three agents were lost while they carried it out"
                if place == 0
                else "the server exited with 139",
            )
            for place, job in enumerate(jobs)
        ]
        self.store.fleet.add_attempts(given)
        version = report.server.version(report.head)
        log = f"# {version} crashed by signal: 11, si_code: 1\n--- STACK TRACE\nzslUpdateScore+0x41\n"
        failed = JobFailed(job=given[1].job_id, reason="the server exited with 139", details=log, side="head", block=0)
        self.store.fleet.take_in([], [Outcome(given[1], failed)])
        self.store.fleet.set_state(report.id, "failed", reason)
        self.store.dated.request(report.id, asked, ended)


@dataclass(frozen=True)
class MadeUpTriggers:
    """Webhook deliveries and what came of them."""

    server: MadeUpServer
    store: Store

    def _record(
        self,
        identity: str,
        trigger: Trigger,
        hours: float,
        requests: Sequence[str] = (),
        reason: str = "",
        *,
        is_refused: bool = False,
    ) -> None:
        created = self.server.moment.timestamp() - HOUR * hours
        delivery = None
        if trigger.delivery is not None:
            delivery = StoredDelivery(
                trigger.delivery, trigger.repository, self.server.digits("body", identity), received=created
            )
        actor = trigger.actor
        stored = StoredTrigger(
            id=identity,
            repository=trigger.repository,
            subject=trigger.subject,
            kind=trigger.kind,
            document=trigger_json(trigger),
            actor=None if actor is None else actor.lower(),
            created=created,
            delivery=None if delivery is None else delivery.id,
            state="refused" if is_refused else "done",
            reason=reason,
            request_ids=json.dumps(list(requests)),
        )
        self.store.triggers.add(stored, delivery)

    def _delivery(self, *subject: object) -> str:
        digits = self.server.digits("delivery", *subject)
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"

    def pull_request(self, number: int, head: int, base: int, hours: float, requests: Sequence[str]) -> None:
        """Record a labelled pull request and what it led to."""
        commits = self.server.commits
        trigger = PullRequestTrigger(
            repository=GITHUB_REPOSITORY,
            delivery=self._delivery("pull request", number),
            number=number,
            actor=CONTRIBUTOR,
            head=commits[head].commit,
            base_ref=BRANCH,
            base_sha=commits[base].commit,
            head_repository=f"{CONTRIBUTOR}/server",
            is_fork=True,
            label="performance",
            scope="affected",
        )
        self._record(self.server.identity("t", "pull request", number), trigger, hours, requests)

    def push(self, position: int, hours: float, requests: Sequence[str]) -> None:
        """Record a push to the main branch."""
        commits = self.server.commits
        trigger = PushTrigger(
            repository=GITHUB_REPOSITORY,
            delivery=self._delivery("push", position),
            branch=BRANCH,
            before=commits[position - 1].commit,
            after=commits[position].commit,
            actor=MAINTAINER,
        )
        reason = "" if requests else "nothing that is measured can be affected"
        self._record(self.server.identity("t", "push", position), trigger, hours, requests, reason)

    def tag(self, position: int, previous: str, hours: float, requests: Sequence[str]) -> None:
        """Record a release."""
        commit = self.server.commits[position]
        trigger = TagTrigger(
            repository=GITHUB_REPOSITORY,
            delivery=self._delivery("tag", position),
            tag=commit.tags[0],
            commit=commit.commit,
            previous=previous,
            actor=MAINTAINER,
        )
        self._record(self.server.identity("t", "tag", position), trigger, hours, requests)

    def refused_command(self, hours: float) -> None:
        """Record a command in a comment of somebody who may not give it."""
        trigger = CommandTrigger(
            repository=GITHUB_REPOSITORY,
            delivery=self._delivery("command"),
            number=PULL_REQUEST,
            actor="made-up-stranger",
            comment=1_000_012,
            command=Acknowledge(reason="it looks fine to me"),
            needs_permission="write",
        )
        reason = "made-up-stranger does not have the permission write"
        self._record(self.server.identity("t", "command"), trigger, hours, reason=reason, is_refused=True)


async def keep_agents_reporting(store: Store) -> None:
    """Have the agents that work report, as real ones do, until cancelled."""
    while True:
        await asyncio.to_thread(store.dated.seen_agents, list(WORKING), time.time())
        await asyncio.sleep(REPORT_SECONDS)
