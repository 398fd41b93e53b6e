"""Publishes the attempts at jobs on the bus, and again what the bus has lost."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from zerolap.fleet.delivery import MAX_DELIVERIES, Dispatcher, JobMessage
from zerolap.fleet.losses import Losses
from zerolap.fleet.messages import OfferedJob, message_json, subject_of
from zerolap.fleet.open_work import ATTEMPTS_PER_JOB, MANY_PUBLICATIONS, OpenWork
from zerolap.fleet.setup.attempt_tokens import Tokens
from zerolap.fleet.turns import Turns, aged_priority, new_attempt
from zerolap.records import LoadJob, Priority
from zerolap.store import Attempt

SELDOM_SECONDS: Final = 60.0
"""Jobs that were lost `MANY_PUBLICATIONS` times are published no more often than this."""
MOST_STARTS: Final = 10
"""The number of starts without an end after which the request of a job fails: each may have ended the process or the
machine.
"""


@dataclass(frozen=True)
class _Publication:
    """With what priority an attempt was published last, and when by the monotonic clock."""

    priority: Priority
    time: float


class Publisher:
    """Records attempts and publishes them, and gives up those that no agent comes to an end with."""

    def __init__(
        self, work: OpenWork, dispatcher: Dispatcher, tokens: Tokens, turns: Turns, review_seconds: float
    ) -> None:
        self._work = work
        self._dispatcher = dispatcher
        self._tokens = tokens
        self._turns = turns
        self._unrecorded: list[Attempt] = []
        self._unpublished: set[str] = set()
        self._losses = Losses(review_seconds)
        self._published: dict[str, _Publication] = {}

    def recall(self, attempts: Iterable[Attempt]) -> None:
        """Take over the open attempts of an earlier conductor."""
        self._unpublished = {attempt.id for attempt in attempts if not attempt.publications}

    async def feed(self) -> None:
        """Give out jobs, where agents have room for them: by priority, and in turn over requests."""
        chosen = self._turns.choose(self._work.executions.values(), self._work.intake.attempts.values())
        # Counted as given out from now on: where the store is away, they are recorded by the next call.
        self._work.intake.open(chosen)
        self._unrecorded = [one for one in [*self._unrecorded, *chosen] if one.id in self._work.intake.attempts]
        if recording := list(self._unrecorded):
            await asyncio.to_thread(self._work.store.fleet.add_attempts, recording)
            self._unpublished |= {attempt.id for attempt in recording}
            self._unrecorded = self._unrecorded[len(recording) :]
        unpublished = [
            self._work.intake.attempts[one] for one in self._unpublished if one in self._work.intake.attempts
        ]
        if unpublished:
            await self._publish(unpublished)
        self._unpublished.clear()

    def give_load(self, attempt: Attempt, address: str, certificate: str) -> str:
        """Have an agent put load on the servers of an attempt, and return the secret by which it connects to `address`.

        The attempt at it is recorded and published by the next step.
        """
        platform = self._work.roster.load_of(attempt.platform, attempt.job)
        before = self._work.intake.load_of(attempt)
        job = LoadJob(request=attempt.job.request, attempt=attempt.id, address=address, certificate=certificate)
        if platform is not None and (before is None or before.job != job):
            if before is not None:
                self._work.intake.end_load(before)
            load = new_attempt(attempt.request, platform, job)
            self._work.intake.open([load])
            self._unrecorded.append(load)
            self._work.wake.set()
        return self._load_secret(job)

    def _load_secret(self, job: LoadJob) -> str:
        # Not the token of an attempt, which would grant its files; another one for each port that waits for load.
        return self._tokens.token_for(f"load-{job.id}")

    async def _publish(self, attempts: Sequence[Attempt]) -> None:
        """Publish attempts, but for those that are too large; what the bus does not take is published by a review."""
        largest_bytes = self._dispatcher.largest_bytes()
        messages = []
        attempts = [attempt for attempt in attempts if self._work.is_readable(attempt)]
        for attempt in attempts:
            if attempt.starts >= MOST_STARTS:
                reason = f"a job was begun {attempt.starts} times, and what executed it ended each time"
                self._work.fail(attempt.request, f"{subject_of(attempt.job)}: {reason}")
                self._work.wake.set()
        for attempt in self._work.intake.published(one for one in attempts if one.starts < MOST_STARTS):
            job = attempt.job
            token = self._tokens.token_for(attempt.id)
            if isinstance(job, LoadJob):
                token = self._load_secret(job)
            load_host = self._work.roster.load_of(attempt.platform, job) or ""
            offered = OfferedJob(attempt=attempt.id, token=token, job=job, load_host=load_host)
            content = message_json(offered)
            if len(content) > largest_bytes:
                reason = f"the job has {len(content):,} bytes, and the bus takes {largest_bytes:,}"
                await self._give_up_for_good(attempt, reason)
                continue
            priority = self._priority_of(attempt)
            self._published[attempt.id] = _Publication(priority, time.monotonic())
            message = f"{attempt.id}.{attempt.publications}"
            messages.append(JobMessage(attempt.platform, priority, attempt.request, message, content))
        await self._dispatcher.publish(messages)

    async def publish_again(self) -> None:
        """Publish again what the bus has lost and what has risen in priority, and end what it has given up."""
        machines = self._work.roster.machines()
        queues = await self._dispatcher.set_up({name: max(1, count) for name, count in machines.items()})
        for content in await self._dispatcher.exhausted():
            await self._give_up_exhausted(content)
        kept = await self._dispatcher.waiting()
        unpublished = self._unpublished | {unrecorded.id for unrecorded in self._unrecorded}
        attempts = self._work.intake.attempts
        published = [attempt for attempt in attempts.values() if attempt.id not in unpublished]
        held = {attempt.id for attempt in published if self._work.intake.is_held(attempt)}
        lost = self._losses.among(published, held, kept, queues)
        await self._publish([attempt for attempt in lost if self._is_due(attempt)])
        self._losses.made_good(queues)
        await self._publish([attempt for attempt in published if self._has_risen(attempt)])
        self._published = {identity: how for identity, how in self._published.items() if identity in attempts}

    def _is_due(self, lost: Attempt) -> bool:
        before = self._published.get(lost.id)
        is_long_ago = before is None or time.monotonic() - before.time >= SELDOM_SECONDS
        return lost.publications < MANY_PUBLICATIONS or is_long_ago

    def _priority_of(self, attempt: Attempt) -> Priority:
        execution = self._work.executions.get(attempt.request)
        return "pull" if execution is None else aged_priority(execution)

    def _has_risen(self, attempt: Attempt) -> bool:
        """Whether an attempt that waits on the bus is of a higher priority now than when it was published."""
        execution = self._work.executions.get(attempt.request)
        if execution is None or attempt.state != "ready":
            return False
        before = self._published.get(attempt.id)
        published_as = execution.request.priority if before is None else before.priority
        return aged_priority(execution) != published_as

    async def _give_up_exhausted(self, content: bytes) -> None:
        try:
            offered = OfferedJob.model_validate_json(content)
        except ValidationError:
            return
        attempt = self._work.intake.attempts.get(offered.attempt)
        if attempt is None:
            return
        if attempt.state != "claimed" or attempt.delivery < MAX_DELIVERIES:
            # Agents gave it back because the conductor did not answer.
            await self._publish([attempt] if self._is_due(attempt) else [])
            return
        # No agent came to its end with it.
        await self._give_up_for_good(attempt, "it was delivered again and again, and no agent ended it")

    async def _give_up_for_good(self, attempt: Attempt, reason: str) -> None:
        """Give up an attempt whose job is not to be tried again."""
        execution = self._work.executions.get(attempt.request)
        if execution is not None:
            execution.given_up[attempt.job_id] = ATTEMPTS_PER_JOB - 1
            execution.tried_since[attempt.job_id] = 0.0
        await self._work.intake.give_up(attempt, reason)
