"""Writes comments, checks, issues and notices: each state once, with pauses, retries and a budget for GitHub.

What was written last is recorded in the store, so that a restart neither writes a state twice nor loses it.
Replies to commands are not written here: a reply is a part of the work on its trigger, and is tried again with it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from zerolap.allowance import Allowance
from zerolap.github import GitHubUnavailable
from zerolap.records import ZerolapError
from zerolap.store import Post, PostKind, TriggerRecords

FIRST_UPDATE_SECONDS: Final = 60.0
LONGEST_UPDATE_SECONDS: Final = 600.0
"""The pause between two writes of a state that is not final: it grows from the first to the longest."""
FIRST_RETRY_SECONDS: Final = 60.0
LONGEST_RETRY_SECONDS: Final = 3600.0
GROWTH: Final = 1.5
WRITES_PER_HOUR: Final = 400.0
"""GitHub permits 500 an hour, of which the rest is for replies to commands."""
WRITES_AT_ONCE: Final = 40.0
"""GitHub permits 80 a minute."""
WRITES_FOR_FINAL: Final = 20.0
"""The part of `WRITES_AT_ONCE` that is reserved for final states."""

log = structlog.get_logger("zerolap.outbox")


def write_budget(clock: Callable[[], float] = time.monotonic) -> Allowance:
    """Return the limit on writes to GitHub, for all subjects together."""
    return Allowance(WRITES_AT_ONCE, WRITES_PER_HOUR / 3600, clock)


@dataclass(frozen=True)
class Message:
    """A state of a subject that is to be written: `digest` is that of its content.

    `key` distinguishes messages of one kind about one subject. A message that is not final is written more and more
    rarely; one that is not for GitHub takes nothing from the budget.
    """

    subject: str
    kind: PostKind
    key: str
    digest: str
    is_final: bool = True
    is_for_github: bool = True


@dataclass
class Outbox:
    """Writes a message unless it is written already, its pause is not over, or the budget permits none now."""

    records: TriggerRecords
    budget: Allowance = field(default_factory=write_budget)
    clock: Callable[[], float] = time.time

    def post(self, subject: str, kind: PostKind, key: str) -> Post:
        """Return what was written last; blocks."""
        return self.records.post(subject, kind, key) or Post(subject, kind, key)

    def keys(self, subject: str, kind: PostKind) -> list[str]:
        """Return the keys of what was written of a kind about a subject, in their order; blocks."""
        return [post.key for post in self.records.posts(subject) if post.kind == kind]

    def record(self, message: Message) -> None:
        """Record a message as written although nothing was sent; blocks."""
        post = Post(message.subject, message.kind, message.key, digest=message.digest, posted=self.clock())
        self.records.set_post(post)

    async def write(self, message: Message, writing: Callable[[Post], Awaitable[str]]) -> bool:
        """Write a message unless it is written already or has to wait; returns whether it is written.

        `writing` gets what was written last, and returns the id of what it has written. Where it raises `ZerolapError`,
        the message is tried again after a pause, which grows with each failure in a row. A message that is asked for
        again (`TriggerRecords.write_again`) while it is being written is not written.
        """
        post = await asyncio.to_thread(self.post, message.subject, message.kind, message.key)
        if post.digest == message.digest:
            return True
        now = self.clock()
        if now < post.not_before or (not message.is_final and now < _next_update(post)):
            return False
        if message.is_for_github and not self.budget.take(reserve=0.0 if message.is_final else WRITES_FOR_FINAL):
            return False
        updates = 0 if message.is_final else post.updates + 1
        try:
            written = replace(
                post,
                external_id=await writing(post),
                digest=message.digest,
                posted=now,
                not_before=0.0,
                updates=updates,
                failures=0,
            )
        except ZerolapError as fault:
            asked_seconds = fault.retry_after_seconds if isinstance(fault, GitHubUnavailable) else 0.0
            wait_seconds = max(asked_seconds, _grown(FIRST_RETRY_SECONDS, post.failures, LONGEST_RETRY_SECONDS))
            log.warning(
                "written later",
                subject=message.subject,
                kind=message.kind,
                reason=fault.message,
                wait_seconds=round(wait_seconds),
            )
            written = replace(post, not_before=now + wait_seconds, failures=post.failures + 1)
        is_recorded = await asyncio.to_thread(self.records.set_written, written, post.digest)
        return is_recorded and written.digest == message.digest


def _next_update(post: Post) -> float:
    if post.posted is None:
        return 0.0
    return post.posted + _grown(FIRST_UPDATE_SECONDS, post.updates - 1, LONGEST_UPDATE_SECONDS)


def _grown(first_seconds: float, times: int, longest_seconds: float) -> float:
    # Beyond 30 times it is the longest anyway, and the power could overflow.
    return min(longest_seconds, first_seconds * GROWTH ** max(0, min(times, 30)))
