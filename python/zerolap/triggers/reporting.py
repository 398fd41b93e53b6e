"""Reporting back to GitHub: the comment, the check or status of a commit, always as they follow from the store."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from zerolap.records import ZerolapError
from zerolap.store import Post, Store
from zerolap.store.triggers import PostKind
from zerolap.triggers.github import (
    Annotation,
    Check,
    ChecksForbidden,
    CommitStatus,
    GitHub,
    GitHubRefused,
    GitHubUnavailable,
    hidden_marker,
)
from zerolap.triggers.progress import Standings
from zerolap.triggers.put_off import PutOff
from zerolap.triggers.settings import TriggerSettings
from zerolap.triggers.texts.check import CheckOutput, check_output, commit_status
from zerolap.triggers.texts.check import CommitStatus as HeadStatus
from zerolap.triggers.texts.comment import MOST_BYTES, body_markdown
from zerolap.triggers.texts.outcome import PullRequestState

COMMENT_MARKER: Final = "pull-request"
CHECK_NAME: Final = "zerolap"
PROGRESS_SECONDS: Final = 20.0
"""So often a comment is written again while nothing but progress is new."""
REFUSED_SECONDS: Final = 600.0
RECENT_SECONDS: Final = 14 * 86_400.0
"""Pull requests that were triggered within this time are looked at when the lab starts."""

log = structlog.get_logger("zerolap.reporting")


@dataclass
class Reporter:
    """Writes how it stands with pull requests until that is what GitHub shows.

    What was written, and where, is in the store: after a restart nothing is written twice, and nothing is forgotten.
    """

    store: Store
    settings: TriggerSettings
    standings: Standings
    github: GitHub
    _unfinished: set[str] = field(default_factory=set)
    _noted: set[str] = field(default_factory=set)
    _concluded: set[tuple[str, str]] = field(default_factory=set)
    _put_off: PutOff = field(default_factory=PutOff)

    def recall(self) -> None:
        """Take up what was triggered lately; blocks."""
        since = time.time() - RECENT_SECONDS
        self._unfinished |= set(self.store.triggers.subjects("pull request", since))

    def note(self, subject: str) -> None:
        """Look at a pull request again."""
        self._unfinished.add(subject)
        self._noted.add(subject)

    async def report(self) -> None:
        """Write what is new of all pull requests that are not finished."""
        for subject in sorted(subject for subject in self._unfinished if subject not in self._put_off):
            with structlog.contextvars.bound_contextvars(subject=subject), self._put_off.on_failure(subject):
                self._noted.discard(subject)
                # What is noted while it is written may not be in what was read before.
                if await self._report(subject) and subject not in self._noted:
                    self._unfinished.discard(subject)

    async def _report(self, subject: str) -> bool:
        """Write how it stands with a pull request; returns whether nothing more is to come."""
        texts = await asyncio.to_thread(self._texts, subject)
        if texts is None:
            return True
        state = texts.state
        newest = self._texts_of(state.at_newest_head)
        head = newest.state.commits.head
        self._concluded.discard((subject, head))
        written = [
            await self._write(
                _Text(subject, "comment", texts.body, texts.is_final),
                lambda post: self._comment(state, texts.body, post),
            ),
            await self._conclude(subject, newest),
        ]
        for earlier_head in await asyncio.to_thread(self._earlier_heads, subject, head):
            earlier = await asyncio.to_thread(self._texts, subject, earlier_head)
            if earlier is None or (earlier.is_final and await self._conclude(subject, earlier)):
                self._concluded.add((subject, earlier_head))
            else:
                written.append(False)
        return texts.is_final and all(written)

    def _earlier_heads(self, subject: str, head: str) -> list[str]:
        """Return the heads that the pull request had before, whose checks may still tell of work that goes on."""
        heads = [post.key for post in self.store.triggers.posts(subject) if post.kind == "check" and post.key != head]
        return [earlier for earlier in heads if (subject, earlier) not in self._concluded]

    async def _conclude(self, subject: str, texts: "_Texts") -> bool:
        """Write the check of a head, or its commit status; returns whether it is there."""
        text = _Text(subject, "check", repr(texts.check), texts.is_final, texts.state.commits.head)
        return await self._write(text, lambda post: self._check(texts, post))

    def _texts(self, subject: str, earlier_head: str = "") -> "_Texts | None":
        """Return what is to be shown of a pull request now; none if it is not measured."""
        state = self.standings.pull_request(subject, earlier_head)
        return None if state is None else self._texts_of(state)

    def _texts_of(self, state: PullRequestState) -> "_Texts":
        measured = self.settings.measured(state.commits.repository)
        fail_on = "regression" if measured is None else measured.fail_on
        body = body_markdown(state, MOST_BYTES - len(hidden_marker(COMMENT_MARKER)) - 1)
        return _Texts(state, body, check_output(state, fail_on), commit_status(state, fail_on))

    async def _comment(self, state: PullRequestState, body: str, post: Post) -> str:
        known = None if post.external_id is None else int(post.external_id)
        repository = state.commits.repository
        return str(await self.github.keep_comment(repository, state.number, COMMENT_MARKER, body, known))

    async def _check(self, texts: "_Texts", post: Post) -> str:
        """Write the check run, or the commit status where the lab is no application; returns what it is known by."""
        state, output, status = texts.state, texts.check, texts.status
        repository, head = state.commits.repository, state.commits.head
        if post.external_id != "status":
            try:
                check = _check_of(output, state)
                if post.external_id is None:
                    external = f"{repository}#{state.number}@{head}"
                    return str(await self.github.create_check(repository, head, CHECK_NAME, external, check))
                await self.github.update_check(repository, int(post.external_id), check)
                return post.external_id
            except ChecksForbidden:
                log.info("commit statuses are set instead of checks, which only applications of GitHub can make")
        url = _first_url(state)
        await self.github.set_status(repository, head, CommitStatus(status.state, CHECK_NAME, status.description, url))
        return "status"

    async def _write(self, text: "_Text", writing: Callable[[Post], Awaitable[str]]) -> bool:
        """Have a text written unless it is there or has to wait; returns whether it is there."""
        records = self.store.triggers
        digest = hashlib.sha256(text.content.encode()).hexdigest()
        post = await asyncio.to_thread(records.post, text.subject, text.kind, text.key)
        post = post or Post(text.subject, text.kind, text.key)
        if post.digest == digest:
            return True
        now = time.time()
        is_progress = not text.is_final and post.posted is not None and now - post.posted < PROGRESS_SECONDS
        if now < post.not_before or is_progress:
            return False
        try:
            written = replace(post, external_id=await writing(post), digest=digest, posted=now, not_before=0.0)
        except GitHubUnavailable as fault:
            log.warning("written later", kind=text.kind, reason=fault.message)
            written = replace(post, not_before=now + fault.retry_after_seconds)
        except GitHubRefused as refused:
            log.error("GitHub refuses it", kind=text.kind, reason=refused.message)
            written = replace(post, not_before=now + REFUSED_SECONDS)
        except ZerolapError as fault:
            log.error("not written", kind=text.kind, reason=fault.message)
            written = replace(post, not_before=now + REFUSED_SECONDS)
        await asyncio.to_thread(records.set_post, written)
        return written.digest == digest


@dataclass(frozen=True)
class _Texts:
    """How it stands with a pull request, and what follows from it."""

    state: PullRequestState
    body: str
    check: CheckOutput
    status: HeadStatus

    @property
    def is_final(self) -> bool:
        """Whether nothing goes on any more."""
        return not any(platform.is_ongoing for platform in self.state.platforms)


@dataclass(frozen=True)
class _Text:
    """What is to be shown of a subject; `key` tells apart what there are several of."""

    subject: str
    kind: PostKind
    content: str
    is_final: bool
    key: str = ""


def _check_of(output: CheckOutput, state: PullRequestState) -> Check:
    return Check(
        status=output.status,
        title=output.title,
        summary=output.summary,
        conclusion=output.conclusion,
        details_url=_first_url(state),
        annotations=tuple(
            Annotation(one.path, one.start_line, one.end_line, one.annotation_level, one.message, one.title)
            for one in output.annotations
        ),
    )


def _first_url(state: PullRequestState) -> str:
    return next((platform.report_url for platform in state.platforms if platform.report_url), "")
