"""Keeps the comment of a pull request, and the check or status of its commits, equal to what the store has."""

import asyncio
import hashlib
import time
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from zerolap.github import (
    CheckContent,
    GitHub,
    GitHubForbidden,
    LineAnnotation,
    StatusContent,
    hidden_marker,
)
from zerolap.report.pull_request import (
    MOST_COMMENT_BYTES,
    CheckOutput,
    CommitStatus,
    body_markdown,
    check_output,
    commit_status,
    unmeasured_output,
)
from zerolap.sheets import PullRequestState
from zerolap.store import Post, Store
from zerolap.triggers.failed_subjects import FailedSubjects
from zerolap.triggers.outbox import Message, Outbox
from zerolap.triggers.progress import ProgressReader
from zerolap.triggers.settings import TriggerSettings
from zerolap.triggers.trigger import UnmeasuredTrigger, WithdrawalTrigger, read_trigger

COMMENT_MARKER: Final = "pull-request"
CHECK_NAME: Final = "zerolap"
RECENT_SECONDS: Final = 14 * 86_400.0
"""Triggers of this time are reported again when the lab starts."""
REPORTED_KINDS: Final = ("pull request", "not measured")
UNMEASURED_KINDS: Final = ("not measured", "withdrawn")

log = structlog.get_logger("zerolap.reporting")


@dataclass(frozen=True)
class HeadCheck:
    """The check of a commit or, without a GitHub App, its status."""

    subject: str
    repository: str
    head: str
    external_id: str
    output: CheckOutput
    status: CommitStatus
    is_final: bool = True
    details_url: str = ""


@dataclass(frozen=True)
class PullRequestReport:
    """The state of a pull request, and the comment and check that follow from it."""

    state: PullRequestState
    body: str
    check: HeadCheck


@dataclass
class Reporter:
    """Writes the state of pull requests to GitHub until it is up to date there."""

    store: Store
    settings: TriggerSettings
    progress_reader: ProgressReader
    github: GitHub
    outbox: Outbox
    _unfinished: set[str] = field(default_factory=set)
    _noted: set[str] = field(default_factory=set)
    _shown: dict[str, int] = field(default_factory=dict)
    _concluded: set[tuple[str, str]] = field(default_factory=set)
    _failed: FailedSubjects = field(default_factory=FailedSubjects)

    def recall(self) -> None:
        """Have the subjects of recent triggers reported; blocks."""
        since = time.time() - RECENT_SECONDS
        for kind in REPORTED_KINDS:
            self._unfinished |= set(self.store.triggers.subjects(kind, since))

    def note(self, subject: str) -> None:
        """Have a pull request reported again."""
        self._unfinished.add(subject)
        self._noted.add(subject)

    async def report(self) -> None:
        """Write the changes of all pull requests that are not finished."""
        changes = self.store.changes
        for subject in sorted(subject for subject in self._unfinished if subject not in self._failed):
            if self._shown.get(subject) == changes:
                continue
            with structlog.contextvars.bound_contextvars(subject=subject), self._failed.on_failure(subject):
                self._noted.discard(subject)
                self._shown.pop(subject, None)
                # A change that is noted during the write may not be part of what was read for it.
                is_final, is_shown = await self._report(subject)
                if is_shown:
                    self._shown[subject] = changes
                if is_final and is_shown and subject not in self._noted:
                    self._unfinished.discard(subject)
                    self._shown.pop(subject, None)

    async def _report(self, subject: str) -> tuple[bool, bool]:
        """Write the state of a pull request; returns whether the state is final, and whether all of it is written."""
        report = await asyncio.to_thread(self._report_of, subject)
        unmeasured = await asyncio.to_thread(self._unmeasured, subject)
        if report is None:
            return True, unmeasured is None or await self._write_check(unmeasured)
        newest = self._report_of_state(subject, report.state.at_newest_head).check
        self._concluded.discard((subject, newest.head))
        written = [await self._write_comment(subject, report), await self._write_check(newest)]
        if unmeasured is not None and unmeasured.head not in (newest.head, report.check.head):
            written.append(await self._write_check(unmeasured))
        for earlier_head in await asyncio.to_thread(self._earlier_heads, subject, newest.head):
            earlier = await asyncio.to_thread(self._report_of, subject, earlier_head)
            if earlier is None or (earlier.check.is_final and await self._write_check(earlier.check)):
                self._concluded.add((subject, earlier_head))
            else:
                written.append(False)
        return report.check.is_final, all(written)

    def _earlier_heads(self, subject: str, head: str) -> list[str]:
        """Return the earlier heads of the pull request whose checks may still be in progress."""
        heads = [earlier for earlier in self.outbox.keys(subject, "check") if earlier != head]
        return [earlier for earlier in heads if (subject, earlier) not in self._concluded]

    # The content.

    def _report_of(self, subject: str, earlier_head: str = "") -> PullRequestReport | None:
        """Return the current report on a pull request; None if it is not measured."""
        state = self.progress_reader.pull_request(subject, earlier_head)
        return None if state is None else self._report_of_state(subject, state)

    def _report_of_state(self, subject: str, state: PullRequestState) -> PullRequestReport:
        repository, head = state.commits.repository, state.commits.head
        measured = self.settings.measured(repository)
        fail_on = "regression" if measured is None else measured.fail_on
        output, status = check_output(state, fail_on), commit_status(state, fail_on)
        if output.conclusion == "cancelled" and self._checks_unlabelled(repository):
            # A cancelled check would block a pull request for which the check is required.
            output, status = replace(output, conclusion="neutral"), replace(status, state="success")
        check = HeadCheck(
            subject,
            repository,
            head,
            f"{repository}#{state.number}@{head}",
            output,
            status,
            is_final=not any(platform.is_ongoing for platform in state.platforms),
            details_url=next((platform.report_url for platform in state.platforms if platform.report_url), ""),
        )
        return PullRequestReport(
            state, body_markdown(state, MOST_COMMENT_BYTES - len(hidden_marker(COMMENT_MARKER)) - 1), check
        )

    def _unmeasured(self, subject: str) -> HeadCheck | None:
        """Return the neutral check of the newest commit that is not measured; None if it gets no check."""
        newest = self.store.triggers.of_subject(subject, UNMEASURED_KINDS, limit=1)
        trigger = read_trigger(newest[0].document) if newest else None
        if isinstance(trigger, UnmeasuredTrigger):
            is_shown = trigger.number is None or self._checks_unlabelled(trigger.repository)
        else:
            is_shown = isinstance(trigger, WithdrawalTrigger) and self._checks_unlabelled(trigger.repository)
        if not is_shown or not isinstance(trigger, UnmeasuredTrigger | WithdrawalTrigger) or trigger.head is None:
            return None
        is_queued = isinstance(trigger, UnmeasuredTrigger) and trigger.number is None
        external_id = f"{subject}@{trigger.head}"
        output, status = unmeasured_output(self._labels(trigger.repository), is_queued=is_queued)
        return HeadCheck(subject, trigger.repository, trigger.head, external_id, output, status)

    def _checks_unlabelled(self, repository: str) -> bool:
        settings = self.settings.repository(repository)
        return settings is not None and settings.check_unlabelled

    def _labels(self, repository: str) -> list[str]:
        settings = self.settings.repository(repository)
        return [] if settings is None else list(settings.labels)

    # Writing.

    async def _write_comment(self, subject: str, report: PullRequestReport) -> bool:
        """Write the comment; returns whether it is up to date."""
        state = report.state

        async def write(post: Post) -> str:
            known = None if post.external_id is None else int(post.external_id)
            repository = state.commits.repository
            return str(await self.github.keep_comment(repository, state.number, COMMENT_MARKER, report.body, known))

        message = Message(subject, "comment", "", _digest(report.body), report.check.is_final)
        return await self.outbox.write(message, write)

    async def _write_check(self, check: HeadCheck) -> bool:
        """Write the check of a head, or its commit status; returns whether it is up to date."""
        message = Message(check.subject, "check", check.head, _digest(repr(check.output)), check.is_final)
        return await self.outbox.write(message, lambda post: self._check(check, post))

    async def _check(self, check: HeadCheck, post: Post) -> str:
        """Write the check run or, without a GitHub App, the commit status; returns its id."""
        if post.external_id != "status":
            repository, head, run = check.repository, check.head, _check_run(check)
            try:
                known = None if post.external_id is None else int(post.external_id)
                # The check may have been created just before the process was killed.
                known = known or await self.github.find_check(repository, head, CHECK_NAME, check.external_id)
                if known is None:
                    return str(await self.github.create_check(repository, head, CHECK_NAME, check.external_id, run))
                await self.github.update_check(repository, known, run)
                return str(known)
            except GitHubForbidden:
                log.info("commit statuses are set instead of checks, which only applications of GitHub can make")
        status = StatusContent(check.status.state, CHECK_NAME, check.status.description, check.details_url)
        await self.github.set_status(check.repository, check.head, status)
        return "status"


def _check_run(check: HeadCheck) -> CheckContent:
    output = check.output
    return CheckContent(
        status=output.status,
        title=output.title,
        summary=output.summary,
        conclusion=output.conclusion,
        details_url=check.details_url,
        annotations=tuple(
            LineAnnotation(note.path, note.start_line, note.end_line, note.annotation_level, note.message, note.title)
            for note in output.annotations
        ),
    )


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
