"""Whose job is given out next: by priority, in turn over requests, where agents have room for it."""

import secrets
import time
from collections import Counter
from collections.abc import Collection
from typing import Final

from zerolap.fleet.fleet_execution import FleetExecution
from zerolap.fleet.roster import Roster
from zerolap.records import PRIORITIES, BuildJob, GivenJob, Priority, TrialsJob
from zerolap.store import Attempt

JOBS_PER_AGENT: Final = 2
"""How many jobs are published for each agent: few, so that later requests do not wait long."""
AGEING_SECONDS: Final = 6 * 3600.0
"""The age at which a request gets the next higher priority; at twice that age it gets the one above."""


def aged_priority(execution: FleetExecution) -> Priority:
    """Return the priority of a request now: it rises with time, so that newer requests do not hold it up for ever."""
    levels = int(max(0.0, time.time() - execution.submitted) / AGEING_SECONDS)
    return PRIORITIES[max(0, PRIORITIES.index(execution.request.priority) - levels)]


class Turns:
    """Chooses jobs for the agents that are there; `turn` of an execution is when it was served."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._count = 0

    def choose(self, executions: Collection[FleetExecution], attempts: Collection[Attempt]) -> list[Attempt]:
        """Return attempts at the next jobs of requests; `attempts` are those that have not ended."""
        if not any(execution.planned for execution in executions):
            return []
        builds = [(attempt.platform, attempt.job) for attempt in attempts if attempt.kind == "build"]
        building = {(platform, job.spec.digest) for platform, job in builds if isinstance(job, BuildJob)}
        room = self.room(attempts)
        chosen: list[Attempt] = []
        while (following := self._next(executions, room, building)) is not None:
            execution, job = following
            execution.give(job)
            platform = self.platform_of(execution, job)
            if isinstance(job, BuildJob):
                building.add((platform, job.spec.digest))
            for needed in self._needed(platform, _engine_of(job)):
                room[needed] -= 1
            self._count += 1
            execution.turn = self._count
            chosen.append(new_attempt(execution.id, platform, job))
        return chosen

    def room(self, attempts: Collection[Attempt]) -> dict[str, int]:
        """Return how many further jobs the agents of each platform have room for.

        A job is not given to one agent to wait for the load of another: both have to be free for it.
        """
        room = {
            platform: machines * (1 if platform in self._roster.loads else JOBS_PER_AGENT)
            for platform, machines in self._roster.machines().items()
        }
        # Load is counted with the job that it belongs to.
        given = Counter((attempt.platform, attempt.engine) for attempt in attempts if attempt.kind != "load")
        for (platform, engine), count in given.items():
            for needed in self._needed(platform, engine):
                room[needed] = room.get(needed, 0) - count
        return room

    def _needed(self, platform: str, engine: str | None) -> list[str]:
        """Return the platforms of the agents that a job on a platform needs, with its engine if it has trials."""
        load = self._roster.load_for(platform, engine)
        return [platform] if load is None else [platform, load]

    def _next(
        self, executions: Collection[FleetExecution], room: dict[str, int], building: set[tuple[str, str]]
    ) -> tuple[FleetExecution, BuildJob | TrialsJob] | None:
        """Return the request that is given the next job: of the first priority, that one served longest ago."""
        if all(left <= 0 for left in room.values()):
            return None
        by_turn = sorted(
            (execution for execution in executions if execution.planned),
            key=lambda execution: (PRIORITIES.index(aged_priority(execution)), execution.turn),
        )
        for execution in by_turn:
            job = self._first_with_room(execution, room, building)
            if job is not None:
                return execution, job
        return None

    def _first_with_room(
        self, execution: FleetExecution, room: dict[str, int], building: set[tuple[str, str]]
    ) -> BuildJob | TrialsJob | None:
        """Return the first planned job of a request for which agents are free and which is not being built already."""
        here, builder = execution.platform, self._roster.builder_of(execution.platform)
        if room.get(here, 0) <= 0 and room.get(builder, 0) <= 0:
            return None
        for job in execution.planned.values():
            platform = self.platform_of(execution, job)
            is_built = isinstance(job, BuildJob) and (platform, job.spec.digest) in building
            if not is_built and all(room.get(needed, 0) > 0 for needed in self._needed(platform, _engine_of(job))):
                return job
        return None

    def platform_of(self, execution: FleetExecution, job: BuildJob | TrialsJob) -> str:
        """Return the platform whose agents carry out a job."""
        platform = execution.platform
        return self._roster.builder_of(platform) if isinstance(job, BuildJob) else platform


def _engine_of(job: BuildJob | TrialsJob) -> str | None:
    return job.engine if isinstance(job, TrialsJob) else None


def new_attempt(request: str, platform: str, job: GivenJob) -> Attempt:
    """Return a new attempt at a job."""
    return Attempt(f"a-{secrets.token_hex(12)}", request, platform, job, created=time.time())
