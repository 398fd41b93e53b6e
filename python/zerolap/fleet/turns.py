"""Whose job is given out next: by priority, in turn over submissions, where agents have room for it."""

import itertools
import secrets
import time
from collections.abc import Collection
from typing import Final

from zerolap.fleet.delivery import PRIORITIES
from zerolap.fleet.ongoing import AnyJob, Ongoing
from zerolap.fleet.roster import Roster
from zerolap.records import BuildJob, GivenJob, LoadJob
from zerolap.store import Attempt

JOBS_PER_AGENT: Final = 2
"""So many jobs wait for each agent or are with it: few, so that what is submitted later need not wait for them."""


class Turns:
    """Chooses jobs for the agents that are there; remembers which submission was served when."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._served: dict[str, int] = {}
        self._count = 0

    def forget(self, identity: str) -> None:
        """Forget a submission that has ended."""
        self._served.pop(identity, None)

    def choose(self, submissions: Collection[Ongoing], attempts: Collection[Attempt]) -> list[Attempt]:
        """Return attempts at the next jobs of submissions; `attempts` are those that have not ended."""
        building = {(one.platform, one.job.spec.digest) for one in attempts if isinstance(one.job, BuildJob)}
        room = self._room(attempts)
        chosen: list[Attempt] = []
        while (ongoing := self._next(submissions, room, building)) is not None:
            job = ongoing.give()
            platform = self._platform_of(ongoing, job)
            if isinstance(job, BuildJob):
                building.add((platform, job.spec.digest))
            for needed in self._needed(platform, job):
                room[needed] -= 1
            self._count += 1
            self._served[ongoing.identity] = self._count
            chosen.append(new_attempt(ongoing.identity, platform, job))
        return chosen

    def _room(self, attempts: Collection[Attempt]) -> dict[str, int]:
        """Return how many further jobs the agents of each platform have room for.

        A job is not given to one agent to wait for the load of another: both have to be free for it.
        """
        room = {
            platform: machines * (1 if platform in self._roster.loads else JOBS_PER_AGENT)
            for platform, machines in self._roster.machines().items()
        }
        for attempt in attempts:
            for needed in self._needed(attempt.platform, attempt.job):
                room[needed] = room.get(needed, 0) - 1
        return room

    def _needed(self, platform: str, job: GivenJob) -> list[str]:
        """Return the platforms of the agents that a job on a platform needs."""
        if isinstance(job, LoadJob):
            # It is counted with the job that it belongs to.
            return []
        load = self._roster.load_of(platform, job)
        return [platform] if load is None else [platform, load]

    def _next(
        self, submissions: Collection[Ongoing], room: dict[str, int], building: set[tuple[str, str]]
    ) -> Ongoing | None:
        """Return the submission that is given the next job: of the first priority, that one served longest ago."""
        ready = [ongoing for ongoing in submissions if self._has_room(ongoing, room, building)]
        return min(
            ready,
            key=lambda ongoing: (
                PRIORITIES.index(ongoing.submission.priority),
                self._served.get(ongoing.identity, 0),
            ),
            default=None,
        )

    def _has_room(self, ongoing: Ongoing, room: dict[str, int], building: set[tuple[str, str]]) -> bool:
        """Whether agents are free for the first job of a submission, and the same builder does not build it already."""
        for job in itertools.islice(ongoing.planned.values(), 1):
            platform = self._platform_of(ongoing, job)
            needed = self._needed(platform, job)
            is_built = isinstance(job, BuildJob) and (platform, job.spec.digest) in building
            return not is_built and all(room.get(platform, 0) > 0 for platform in needed)
        return False

    def _platform_of(self, ongoing: Ongoing, job: AnyJob) -> str:
        platform = ongoing.submission.platform
        return self._roster.builder_of(platform) if isinstance(job, BuildJob) else platform


def new_attempt(submission: str, platform: str, job: GivenJob) -> Attempt:
    """Return a new attempt at a job."""
    return Attempt(f"a-{secrets.token_hex(12)}", submission, platform, job, created=time.time())
