"""Reports each regression on a branch once, and its end once: as an issue, to other programs, in Slack."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import structlog

from zerolap.github import GitHub
from zerolap.judge import CaseRegression, PushChange, changes_in, regressed_in, repaired_by
from zerolap.records import Comparison, UnreadableRecord, ZerolapError, revision_of
from zerolap.report.pull_request import (
    closed_notice,
    closing_text,
    issue_body,
    issue_title,
    opened_notice,
    slack_closed,
    slack_opened,
)
from zerolap.sheets import BranchRegression, CommitRange, Done, PlatformOutcome, headline_of, plain
from zerolap.store import Post, Store, StoredTrigger
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.outbox import Message, Outbox
from zerolap.triggers.progress import ProgressReader
from zerolap.triggers.settings import Notification, TriggerSettings
from zerolap.triggers.trigger import PushTrigger, TagTrigger, branch_subject, read_trigger

OPENED: Final = "opened"
CLOSED: Final = "closed"
LOG: Final = "log"
"""The channel that reports every regression, and decides for the others whether it was reported."""
LOGGED: Final = "logged"
ELSEWHERE: Final = "elsewhere"
EVENTS: Final = {OPENED: "a regression is reported", CLOSED: "a regression is gone"}
KINDS: Final = ("push", "tag")
SEND_SECONDS: Final = 30.0
MOST_PUSHES: Final = 300
"""A regression is no longer closed after so many pushes to its branch."""
ENDED: Final = ("done", "failed", "cancelled", "superseded")

log = structlog.get_logger("zerolap.notifying")


class NoticeFault(ZerolapError):
    """A webhook or Slack did not accept a notice."""


@dataclass(frozen=True)
class Push:
    """A push or a tag whose comparisons have ended.

    `comparisons` are the ids of its comparisons, `failures` the reasons why platforms have none.
    """

    stored: StoredTrigger
    trigger: PushTrigger | TagTrigger
    comparisons: Sequence[str]
    failures: Sequence[str] = ()

    @property
    def commit(self) -> str:
        """What was pushed, or tagged."""
        return self.trigger.after if isinstance(self.trigger, PushTrigger) else self.trigger.commit

    @property
    def ref(self) -> str:
        """The branch or the tag."""
        return self.trigger.branch if isinstance(self.trigger, PushTrigger) else self.trigger.tag


@dataclass(frozen=True)
class BranchReport:
    """The pushes of a branch whose comparisons have ended, the oldest first; `is_over`: all are reported."""

    ended: Sequence[Push]
    is_over: bool


@dataclass
class Notifier:
    """Reports the results of pushes. The store contains what was reported, by the commit that introduced it."""

    store: Store
    settings: TriggerSettings
    progress_reader: ProgressReader
    outbox: Outbox
    github: GitHub | None = None
    _changes: dict[str, tuple[PushChange, ...]] = field(default_factory=dict)
    _measured: dict[str, Push] = field(default_factory=dict)
    _unreadable: set[str] = field(default_factory=set)

    def finished(self, subject: str) -> list[Push]:
        """Return the pushes of a branch, or of a tag, that are measured or have failed, the oldest first; blocks.

        Pushes that were superseded or cancelled are left out, as are those that can affect no case.
        """
        history = reversed(self.store.triggers.of_subject(subject, KINDS, MOST_PUSHES))
        pushes = (self._measured.get(stored.id) or self._finished(stored) for stored in history)
        return [push for push in pushes if push is not None]

    def _finished(self, stored: StoredTrigger) -> Push | None:
        if not self._is_readable(stored):
            return None
        trigger = read_trigger(stored.document)
        states = self.store.fleet.states(stored.requests)
        has_ended = set(states.values()) <= {"done", "failed"} if states else stored.state == "failed"
        if not has_ended or not isinstance(trigger, PushTrigger | TagTrigger):
            return None
        done = [identity for identity in stored.requests if states[identity] == "done"]
        push = Push(stored, trigger, done, self._failures(stored, states))
        if done and not push.failures:
            # A failed comparison can be retried; a finished one does not change.
            self._measured[stored.id] = push
        return push

    def _is_readable(self, stored: StoredTrigger) -> bool:
        """Whether a row can be read. A row that cannot is logged once and not reported; others of its branch are."""
        try:
            read_trigger(stored.document)
            _ = stored.requests
        except UnreadableRecord as fault:
            if stored.id not in self._unreadable:
                self._unreadable.add(stored.id)
                log.warning("not reported", trigger=stored.id, subject=stored.subject, reason=fault.message)
            return False
        return True

    def comparisons(self, push: Push) -> list[Comparison]:
        """Return the comparisons of a push; blocks."""
        return [self.progress_reader.comparison(identity) for identity in push.comparisons]

    def _changes_of(self, push: Push) -> list[PushChange]:
        """Return the changes of a push; blocks. They are cached instead of the comparisons, which are large."""
        for identity in push.comparisons:
            if identity not in self._changes:
                self._changes[identity] = changes_in(self.progress_reader.comparison(identity))
        return [change for identity in push.comparisons for change in self._changes[identity]]

    def _failures(self, stored: StoredTrigger, states: Mapping[str, str]) -> list[str]:
        """Return why platforms have no comparison, or why the trigger has failed."""
        if not states:
            return [stored.reason]
        failed = [self.store.fleet.in_short(identity) for identity, state in states.items() if state == "failed"]
        return [f"{request.platform}: {request.reason}" for request in failed if request is not None]

    def is_over(self, subject: str) -> bool:
        """Whether everything about a branch or tag has ended; blocks."""
        newest = self.store.triggers.of_subject(subject, KINDS, MOST_PUSHES)
        if any(stored.state in ("waiting", "working") for stored in newest):
            return False
        requests = [identity for stored in newest if self._is_readable(stored) for identity in stored.requests]
        return set(self.store.fleet.states(requests).values()) <= set(ENDED)

    async def report(self, subject: str) -> BranchReport:
        """Report new regressions of a branch, and those that are gone."""
        is_over = await asyncio.to_thread(self.is_over, subject)
        ended = await asyncio.to_thread(self.finished, subject)
        # Not tags: the changes of releases do not follow from each other.
        pushes = [push for push in ended if isinstance(push.trigger, PushTrigger)]
        changes = await asyncio.to_thread(lambda: [self._changes_of(push) for push in pushes])
        reported = True
        for index, push in enumerate(pushes):
            regressed = regressed_in(changes[index])
            if not regressed or await asyncio.to_thread(self._is_reported_elsewhere, push, regressed):
                continue
            repair = repaired_by(regressed, changes[index:])
            reported &= await self._open(push, is_repaired=repair is not None)
            if repair is not None:
                reported &= await self._close(push, pushes[index + repair])
        return BranchReport(ended, is_over and reported)

    def _is_reported_elsewhere(self, push: Push, regressed: Sequence[CaseRegression]) -> bool:
        """Whether all regressions of a push were reported for another subject that has the same branch.

        A schedule and the pushes to its branch can detect the same regression. The decision is made before the first
        report, and is recorded.
        """
        subject, elsewhere = push.stored.subject, _key(push, ELSEWHERE)
        written = self.outbox.keys(subject, "issue")
        if elsewhere in written or _key(push, LOG) in written:
            return elsewhere in written
        reported: set[CaseRegression] = set()
        for other in self._same_branch(push):
            for pushed in self.finished(other):
                post = self.outbox.post(other, "issue", _key(pushed, LOG))
                if post.digest == OPENED and self._have_common_commits(push, pushed):
                    reported |= set(regressed_in(self._changes_of(pushed)))
        if not reported.issuperset(regressed):
            return False
        log.info("a regression is reported already", subject=subject, commit=push.commit)
        self.outbox.record(Message(subject, "issue", elsewhere, ELSEWHERE))
        return True

    def _have_common_commits(self, push: Push, other: Push) -> bool:
        """Whether two pushes have commits in common, so that they can contain the same regression."""
        measured = self.settings.measured(push.trigger.repository)
        if measured is None:
            return False
        mirror = Mirror.below(self.progress_reader.mirrors, measured.remote)
        commits = self.progress_reader.commits(push.stored, push.trigger)
        others = self.progress_reader.commits(other.stored, other.trigger)
        pairs = ((commits.base, others.head), (others.base, commits.head))
        return all(base != head and mirror.is_ancestor(base, head) for base, head in pairs)

    def _same_branch(self, push: Push) -> list[str]:
        branch = branch_subject(push.trigger.repository, push.ref)
        subjects = self.store.triggers.subjects("push", 0.0)
        same = (subject for subject in subjects if subject == branch or subject.startswith(f"{branch}:"))
        return [subject for subject in same if subject != push.stored.subject]

    async def _open(self, push: Push, *, is_repaired: bool) -> bool:
        regression = await asyncio.to_thread(self._regression, push)
        is_reported = (await self._post(push, LOG)).digest != ""
        sent = True
        for channel in self._channels(push):
            post = await self._post(push, channel)
            if is_reported and is_repaired and post.posted is None and not post.failures:
                # The channel was configured after the regression was repaired.
                continue
            if post.digest:
                continue
            writing = functools.partial(self._opening, channel, push, regression)
            if await self._send(push, channel, OPENED, writing):
                _log(OPENED, push.stored.subject, push.commit, channel)
            else:
                sent = False
        return sent

    async def _close(self, push: Push, repaired: Push) -> bool:
        commits = await asyncio.to_thread(self.progress_reader.commits, repaired.stored, repaired.trigger)
        sent = True
        for channel in self._channels(push):
            post = await self._post(push, channel)
            if post.digest == OPENED:
                writing = functools.partial(self._closing, channel, repaired, commits)
                if await self._send(push, channel, CLOSED, writing):
                    _log(CLOSED, push.stored.subject, repaired.commit, channel)
                else:
                    sent = False
        return sent

    async def _post(self, push: Push, channel: str) -> Post:
        return await asyncio.to_thread(self.outbox.post, push.stored.subject, "issue", _key(push, channel))

    async def _send(self, push: Push, channel: str, what: str, writing: Callable[[Post], Awaitable[str]]) -> bool:
        key = _key(push, channel)
        message = Message(push.stored.subject, "issue", key, what, is_for_github=channel == "issue")
        return await self.outbox.write(message, writing)

    async def _opening(self, channel: str, push: Push, regression: BranchRegression, _post: Post) -> str:
        notify = self._notification(push)
        if channel == "issue" and self.github is not None:
            marker = f"regression:{push.commit}"
            title, body = issue_title(regression), issue_body(regression)
            issue = await self.github.create_issue(push.trigger.repository, marker, title, body)
            return str(issue.number)
        if channel == "url":
            return await _send(str(notify.url), opened_notice(regression).model_dump(mode="json", by_alias=True))
        if channel == "slack":
            return await _send(_secret(notify), slack_opened(regression))
        return LOGGED

    async def _closing(self, channel: str, repaired: Push, commits: CommitRange, post: Post) -> str:
        notify, branch, subject = self._notification(repaired), repaired.ref, self._message(repaired)
        if channel == "issue" and self.github is not None and post.external_id is not None:
            number = int(post.external_id)
            await self.github.close_issue(repaired.trigger.repository, number, closing_text(commits, subject))
            return post.external_id
        if channel == "url":
            notice = closed_notice(commits, branch, subject)
            return await _send(str(notify.url), notice.model_dump(mode="json", by_alias=True))
        if channel == "slack":
            return await _send(_secret(notify), slack_closed(commits, branch, subject))
        return LOGGED

    def _channels(self, push: Push) -> list[str]:
        """Return the channels for regressions; the log is always one of them."""
        notify = self._notification(push)
        wanted = {
            "issue": notify.issue and self.github is not None,
            "url": notify.url is not None,
            "slack": notify.slack_url is not None,
        }
        return [*(channel for channel, is_wanted in wanted.items() if is_wanted), LOG]

    def _notification(self, push: Push) -> Notification:
        measured = self.settings.measured(push.trigger.repository)
        return Notification() if measured is None else measured.notify

    def _regression(self, push: Push) -> BranchRegression:
        commits = self.progress_reader.commits(push.stored, push.trigger)
        platforms = self.progress_reader.platforms(push.stored)
        return BranchRegression(commits, push.ref, self._message(push), platforms)

    def _message(self, push: Push) -> str:
        if not push.stored.requests:
            return ""
        head = revision_of(self.store.request(push.stored.requests[0]).request.servers["head"].source)
        return "" if head is None else head.subject


def _log(what: str, subject: str, commit: str, channel: str) -> None:
    """Log a notice with the commit that introduced, or repaired, a regression."""
    log.info(EVENTS[what], subject=subject, commit=commit, channel=channel)


def _key(push: Push, channel: str) -> str:
    return f"{push.commit} {channel}"


def headline(push: Push, comparisons: Sequence[Comparison]) -> str:
    """Return the outcome of a push in a sentence of plain text."""
    if not comparisons:
        return f"not measured: {plain('; '.join(push.failures))}"
    platforms = [PlatformOutcome(comparison.platform.name, Done(), comparison) for comparison in comparisons]
    text = headline_of(platforms).plain
    return "; ".join([text, *(plain(failure) for failure in push.failures)])


def improved_cases(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of the cases that a push made better on any platform, and worse on none."""
    improved = {case.case for comparison in comparisons for case in comparison.cases if case.verdict == "improvement"}
    return sorted(improved - set(regressed_cases(comparisons)))


def regressed_cases(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of the cases that a push made worse on any platform."""
    changes = (change for comparison in comparisons for change in changes_in(comparison))
    return sorted({regressed.case for regressed in regressed_in(changes)})


async def _send(url: str, document: dict[str, Any]) -> str:
    """Post a document; raises `NoticeFault` with a message that contains no secret."""
    try:
        async with httpx.AsyncClient(timeout=SEND_SECONDS, trust_env=False) as client:
            answer = await client.post(url, json=document)
    except httpx.HTTPError as fault:
        raise NoticeFault(f"a notice was not accepted: {type(fault).__name__}") from None
    if not answer.is_success:
        raise NoticeFault(f"a notice was not accepted: status {answer.status_code}")
    return "sent"


def _secret(notify: Notification) -> str:
    return "" if notify.slack_url is None else notify.slack_url.get_secret_value()
