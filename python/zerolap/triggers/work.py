"""From triggers to requests: what is compared with what, by which cases, on which platforms."""

import asyncio
import itertools
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import structlog

from zerolap.build import CommandFiles, changes_between, parse_variant
from zerolap.cases import core_suite, load_cases, select
from zerolap.events import LabEvent, trigger_event
from zerolap.github import GitHub, GitHubRefused, GitHubUnavailable
from zerolap.lab import Options, SubmissionOptions, comparison_request, on_platforms
from zerolap.records import (
    Case,
    Changes,
    EnvironmentMissing,
    Priority,
    Request,
    RequestedServer,
    UnreadableRecord,
    UsageError,
    ZerolapError,
)
from zerolap.store import NotConductor, Store, StoredAcknowledgement, StoredTrigger, TriggerState
from zerolap.triggers.affected import affected_cases
from zerolap.triggers.comment_commands import Acknowledge, Cancel, InvalidCommand, Run
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.names import BRANCHES, COMMIT, TAGS, commit_of_ref
from zerolap.triggers.settings import Measuring, RepositorySettings, TriggerSettings, WatchSettings
from zerolap.triggers.trigger import (
    AskedTrigger,
    CommandTrigger,
    PullRequestTrigger,
    PushTrigger,
    RelabelTrigger,
    RequiredPermission,
    Scope,
    TagTrigger,
    Trigger,
    UnmeasuredTrigger,
    WithdrawalTrigger,
    asked_by,
    read_trigger,
)
from zerolap.triggers.versions import tag_before
from zerolap.triggers.webhooks.admission import logged
from zerolap.triggers.webhooks.admission_state import PULL_REQUEST_KINDS, stored_trigger

RETRY_SECONDS: Final = 10.0
PATIENCE_SECONDS: Final = 3600.0
"""A trigger is tried for so long while its repository or GitHub cannot be reached."""
MOST_TRIES: Final = 5
"""A trigger is given up after the process was killed so often during it, for example for lack of memory."""
REASON_CHARACTERS: Final = 200
MOST_COMMITS_OF_PUSH: Final = 100
"""A push of more commits is compared as a whole though each commit is to be measured, such as a branch's first."""
COMPARING: Final = (PullRequestTrigger, PushTrigger, TagTrigger, AskedTrigger)
"""The triggers that lead to comparisons, unless they can affect no case."""
ON_REQUEST: Final = "/run "
"""In the topic of a request, between the subject of a pull request and the cases of a command."""
PERMISSIONS: Final[tuple[RequiredPermission, ...]] = get_args(RequiredPermission)

log = structlog.get_logger("zerolap.triggers")


class NotPermitted(Exception):
    """A trigger is refused: its actor has no permission, or the trigger is out of date."""


class SplitIntoCommits(Exception):
    """A push is measured commit by commit: each has a trigger of its own now."""


class NothingToCompare(Exception):
    """A push is compared with nothing; the reason is recorded."""


class TooManyTries(ZerolapError):
    """The process was killed too often during the work on a trigger."""


@dataclass(frozen=True)
class ComparisonPlan:
    """Two commits to compare, and how.

    `patterns` name the cases instead of the settings; a newer comparison of the same `topic` supersedes this one.
    """

    mirror: Mirror
    base: str
    head: str
    measuring: Measuring
    topic: str
    cause: str
    scope: Scope = "affected"
    priority: Priority = "pull"
    patterns: tuple[str, ...] = ()


class TriggerWork:
    """Works on triggers; `mirrors` is a directory for clones of their repositories.

    `on_event` is called in the event loop with the event of each trigger that has ended.
    """

    def __init__(
        self,
        store: Store,
        settings: TriggerSettings,
        mirrors: Path,
        github: GitHub | None,
        on_event: Callable[[LabEvent], None] = lambda _event: None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._mirrors = mirrors
        self._github = github
        self._on_event = on_event
        self._not_before: dict[str, float] = {}

    async def waiting(self) -> dict[str, list[StoredTrigger]]:
        """Return the triggers that can be worked on now, by repository, the oldest first."""
        by_repository: dict[str, list[StoredTrigger]] = {}
        for stored in await asyncio.to_thread(self._store.triggers.in_state, "waiting"):
            if time.monotonic() >= self._not_before.get(stored.id, 0.0):
                by_repository.setdefault(stored.repository.lower(), []).append(stored)
        return by_repository

    async def work_on(self, stored: StoredTrigger) -> bool:
        """Work on a trigger; returns false if it has to wait."""
        with structlog.contextvars.bound_contextvars(trigger=stored.id, subject=stored.subject):
            try:
                await self._begin(stored)
                trigger = read_trigger(stored.document)
                await asyncio.to_thread(self._require_newest, stored, trigger)
                requests = await self._requests(stored, trigger)
            except SplitIntoCommits as parts:
                log.info("split", reason=str(parts))
                await self._end(stored, "done", str(parts))
            except NothingToCompare as reason:
                log.info("nothing to compare", reason=str(reason))
                await self._end(stored, "done", str(reason))
            except NotPermitted as reason:
                log.info("refused", reason=str(reason))
                await self._end(stored, "refused", str(reason))
            except NotConductor:
                # The conductor that has taken over works on the trigger.
                raise
            except (EnvironmentMissing, GitHubUnavailable) as fault:
                if await self._wait(stored, fault):
                    return False
                log.error("failed", reason=fault.message)
                await self._end(stored, "failed", fault.message)
            except ZerolapError as fault:
                reason_text = f"{fault.message} (hint: {fault.hint})" if fault.hint else fault.message
                log.error("failed", reason=reason_text)
                await self._end(stored, "failed", reason_text)
            except asyncio.CancelledError:
                # An orderly stop does not count as a try.
                self._store.triggers.put_back(stored.id)
                raise
            except Exception as fault:
                # Any error fails this trigger alone: its repository and documents may be hostile.
                reason_text = f"internal error: {type(fault).__name__}: {logged(str(fault), REASON_CHARACTERS)}"
                log.exception("failed", reason=reason_text)
                await self._end(stored, "failed", reason_text)
            else:
                is_unaffected = isinstance(trigger, COMPARING) and not requests
                reason_text = "nothing that is measured can be affected" if is_unaffected else ""
                log.info("worked on", requests=[request.id for request in requests], reason=reason_text)
                await self._end(stored, "done", reason_text, requests)
            self._not_before.pop(stored.id, None)
            return True

    async def _begin(self, stored: StoredTrigger) -> None:
        """Count a try before the work, which may kill the process; raises `TooManyTries`."""
        if await asyncio.to_thread(self._store.triggers.begin, stored.id) > MOST_TRIES:
            raise TooManyTries(f"given up: the process of the lab was killed {MOST_TRIES} times during the work on it")

    async def _wait(self, stored: StoredTrigger, fault: EnvironmentMissing | GitHubUnavailable) -> bool:
        """Have a trigger tried again later; returns false if it has waited for `PATIENCE_SECONDS`."""
        age_seconds = time.time() - stored.created
        if age_seconds > PATIENCE_SECONDS:
            return False
        asked_seconds = fault.retry_after_seconds if isinstance(fault, GitHubUnavailable) else 0.0
        # At growing intervals, as a remote that hangs occupies a thread each time.
        wait_seconds = max(RETRY_SECONDS, asked_seconds, age_seconds / 4)
        self._not_before[stored.id] = time.monotonic() + wait_seconds
        await asyncio.to_thread(self._store.triggers.put_back, stored.id)
        log.warning("tried again later", reason=fault.message, wait_seconds=round(wait_seconds))
        return True

    def _require_newest(self, stored: StoredTrigger, trigger: Trigger) -> None:
        """Raise `NotPermitted` for a trigger that waited while a newer trigger of its subject was carried out."""
        measuring = self._settings.measured(trigger.repository)
        if isinstance(trigger, PushTrigger) and _is_of_each_commit(trigger, measuring):
            return
        kinds = PULL_REQUEST_KINDS if stored.kind in PULL_REQUEST_KINDS else (stored.kind,)
        if isinstance(trigger, CommandTrigger) or (isinstance(trigger, AskedTrigger) and not trigger.topic):
            return
        for newer in self._store.triggers.of_subject(stored.subject, kinds):
            if newer.id == stored.id:
                return
            if newer.state == "done":
                raise NotPermitted("a newer one was carried out before it could be")

    async def _end(
        self, stored: StoredTrigger, state: TriggerState, reason: str, requests: Sequence[Request] = ()
    ) -> None:
        """Record the end of a trigger together with its requests: a kill leaves both or neither."""
        if await asyncio.to_thread(self._store.triggers.end, stored.id, state, reason, requests):
            ids = [request.id for request in requests]
            self._on_event(trigger_event(stored.ended(state, reason, ids)))

    async def _requests(self, stored: StoredTrigger, trigger: Trigger) -> list[Request]:
        """Carry out a trigger, and return the requests that it leads to, which are not recorded yet.

        It can be repeated after a kill.
        """
        plan: ComparisonPlan | None = None
        match trigger:
            case PullRequestTrigger():
                await self._require_permission(trigger.repository, trigger.actor, trigger.needs_permission)
                await self._write_check_again(trigger.subject, trigger.head)
                plan = await asyncio.to_thread(self._plan_pull_request, trigger, ())
            case WithdrawalTrigger() | RelabelTrigger():
                await asyncio.to_thread(self._cancel, trigger.subject, trigger.kind)
            case CommandTrigger():
                return await self._command(stored, trigger)
            case UnmeasuredTrigger():
                await self._write_check_again(trigger.subject, trigger.head)
            case PushTrigger():
                await asyncio.to_thread(self._split, stored, trigger)
                plan = await asyncio.to_thread(self._plan_push, trigger)
            case TagTrigger():
                plan = await asyncio.to_thread(self._plan_tag, trigger)
            case AskedTrigger():
                plan = await asyncio.to_thread(self._plan_asked, trigger)
        return [] if plan is None else await asyncio.to_thread(self._requests_of, plan, stored.id)

    async def _write_check_again(self, subject: str, head: str) -> None:
        """Have a check written although it has not changed: after *Re-run*, GitHub waits for it."""
        await asyncio.to_thread(self._store.triggers.write_again, subject, "check", head)

    async def _require_permission(self, repository: str, actor: str, needed: RequiredPermission | None) -> None:
        """Raise `NotPermitted` if a person does not have a permission at GitHub."""
        if needed is None:
            return
        if self._github is None:
            raise NotPermitted("GitHub cannot be asked who is permitted: there is no token")
        try:
            has = await self._github.permission(repository, actor)
        except GitHubRefused as refused:
            raise NotPermitted(f"GitHub does not report the permission of {actor}: {refused.message}") from refused
        if has not in PERMISSIONS[: PERMISSIONS.index(needed) + 1]:
            raise NotPermitted(f"{actor} has the permission {has}, and {needed} is needed")

    # Pull requests.

    def _plan_pull_request(self, trigger: PullRequestTrigger, patterns: tuple[str, ...]) -> ComparisonPlan:
        repository = self._repository(trigger.repository)
        mirror = Mirror.below(self._mirrors, repository.remote)
        base = _base_of(trigger, mirror)
        topic = f"{trigger.subject}{ON_REQUEST}{' '.join(patterns)}" if patterns else trigger.subject
        self._supersede_on_request(trigger)
        cause = f"{trigger.subject} by {trigger.actor}"
        return ComparisonPlan(mirror, base, trigger.head, repository, topic, cause, trigger.scope, patterns=patterns)

    def _supersede_on_request(self, trigger: PullRequestTrigger) -> None:
        """Supersede the requests that commands have made for earlier heads."""
        for asked in self._store.fleet.open_requests_on(f"{trigger.subject}{ON_REQUEST}"):
            if "head" not in asked.sides or asked.sides["head"].commit != trigger.head:
                self._store.fleet.set_state(asked.id, "superseded", f"by {trigger.head}")

    def _cancel(self, subject: str, reason: str) -> None:
        """Cancel the open requests of a pull request, also those of commands, and its waiting triggers."""
        for stored in self._store.triggers.of_subject(subject, ["pull request"]):
            # Only triggers that were tried: those that have not been tried are newer than the cancellation.
            if stored.state == "waiting" and stored.id in self._not_before:
                self._store.triggers.end(stored.id, "refused", reason)
        for asked in self._store.fleet.open_requests_on(subject):
            if asked.topic == subject or asked.topic.startswith(f"{subject}{ON_REQUEST}"):
                self._store.fleet.set_state(asked.id, "cancelled", reason)

    async def _command(self, stored: StoredTrigger, trigger: CommandTrigger) -> list[Request]:
        await self._require_permission(trigger.repository, trigger.actor, trigger.needs_permission)
        measured = await asyncio.to_thread(self._last_permitted, trigger.subject)
        requests: list[Request] = []
        if measured is None and not isinstance(trigger.command, InvalidCommand):
            await self._reply(trigger, "This pull request has not been measured: set the label first.")
            return []
        match trigger.command:
            case InvalidCommand(reply=reply):
                await self._reply(trigger, reply)
                return []
            case Cancel():
                await asyncio.to_thread(self._cancel, trigger.subject, f"by {trigger.actor}")
            case Acknowledge(reason=reason) if measured is not None:
                accepted = StoredAcknowledgement(
                    trigger.subject, trigger.repository, measured.head, None, trigger.actor, reason
                )
                await asyncio.to_thread(self._store.triggers.acknowledge, accepted)
            case Run(patterns=patterns) if measured is not None:
                try:
                    plan = await asyncio.to_thread(self._plan_pull_request, measured, patterns)
                    requests = await asyncio.to_thread(self._requests_of, plan, stored.id)
                except UsageError as fault:
                    # No case has one of the names.
                    await self._reply(trigger, f"{_plain(fault.message)}.")
                    return []
        await self._react(trigger)
        return requests

    def _last_permitted(self, subject: str) -> PullRequestTrigger | None:
        """Return the trigger that the current measurement of a pull request is based on; None without one."""
        for stored in self._store.triggers.of_subject(subject, PULL_REQUEST_KINDS):
            try:
                trigger = read_trigger(stored.document)
            except UnreadableRecord:
                # The unreadable trigger may have withdrawn the permission.
                return None
            if not isinstance(trigger, PullRequestTrigger):
                return None
            if stored.state == "done":
                return trigger
        return None

    async def _react(self, trigger: CommandTrigger) -> None:
        """React to the comment to confirm the command; a failure of the reaction is only logged."""
        if self._github is not None and trigger.comment is not None:
            try:
                await self._github.add_reaction(trigger.repository, trigger.comment, "+1")
            except (GitHubRefused, GitHubUnavailable) as fault:
                log.warning("no reaction to a command", reason=fault.message)

    async def _reply(self, trigger: CommandTrigger, text: str) -> None:
        if self._github is not None:
            marker = f"zerolap:reply:{trigger.comment or trigger.delivery}"
            await self._github.keep_comment(trigger.repository, trigger.number, marker, text, None)

    # Branches and tags.

    def _split(self, stored: StoredTrigger, trigger: PushTrigger) -> None:
        """Record a trigger for each commit of a push, where each is to be measured; raises `SplitIntoCommits` then.

        A branch that was rewritten, or got more than `MOST_COMMITS_OF_PUSH` at once, is compared as a whole. So is a
        push after which another came already: what is reported of a branch goes by the order of triggers.
        """
        measuring, mirror = self._measuring(trigger.repository)
        if trigger.before is None or not _is_of_each_commit(trigger, measuring):
            return
        mirror.fetch([trigger.after])
        if not mirror.can_have(trigger.before) or not mirror.is_ancestor(trigger.before, trigger.after):
            return
        commits = mirror.commits_between(trigger.before, trigger.after)
        if not 1 < len(commits) <= MOST_COMMITS_OF_PUSH:
            return
        parts = [
            stored_trigger(
                trigger.model_copy(update={"before": before, "after": after}),
                f"{stored.id} {before} {after}",
                time.time(),
            )
            for before, after in itertools.pairwise([trigger.before, *commits])
        ]
        [newest] = self._store.triggers.of_subject(trigger.subject, [stored.kind], limit=1)
        if newest.id not in {stored.id, *(part.id for part in parts)}:
            return
        for part in parts:
            self._store.triggers.add(part)
        raise SplitIntoCommits(f"each of its {len(commits)} commits is compared with the one before it")

    def _plan_push(self, trigger: PushTrigger) -> ComparisonPlan:
        measuring, mirror = self._measuring(trigger.repository)
        is_alone = _is_of_each_commit(trigger, measuring)
        before = trigger.before if is_alone else self._last_measured(trigger) or trigger.before
        mirror.fetch([trigger.after])
        if before is not None and not mirror.can_have(before):
            before = None
        base = _base_of_push(before, trigger.after, mirror)
        priority: Priority = "backfill" if trigger.schedule else "pull"
        cause = f"{trigger.subject} at {trigger.after[:12]}"
        # With its own topic, a request that is submitted again after a kill supersedes only itself.
        topic = f"{trigger.subject} {trigger.after}" if is_alone else trigger.subject
        return ComparisonPlan(mirror, base, trigger.after, measuring, topic, cause, trigger.scope, priority)

    def _last_measured(self, trigger: PushTrigger) -> str | None:
        """Return the commit of the branch that was measured last, which is the base after superseded pushes."""
        for stored in self._store.triggers.of_subject(trigger.subject, ["push"]):
            try:
                earlier, requests = read_trigger(stored.document), stored.requests
            except UnreadableRecord:
                continue
            if not isinstance(earlier, PushTrigger) or stored.state != "done":
                continue
            states = set(self._store.fleet.states(requests).values())
            # One platform may have failed; a push that can affect no case has no states.
            if not states or ("done" in states and states <= {"done", "failed"}):
                return earlier.after
        return None

    def _plan_tag(self, trigger: TagTrigger) -> ComparisonPlan:
        measuring, mirror = self._measuring(trigger.repository)
        refs = mirror.refs()
        tags = [name.removeprefix(TAGS) for name in refs if name.startswith(TAGS)]
        previous = trigger.previous or tag_before(trigger.tag, tags, measuring.tags)
        base = None if previous is None else refs.get(f"{TAGS}{previous}")
        if base is None:
            raise NotPermitted(f"there is no tag before {trigger.tag} to compare it with")
        head = refs.get(f"{TAGS}{trigger.tag}", trigger.commit)
        mirror.fetch([base, head], [f"{TAGS}*"])
        cause = f"{trigger.subject} after {previous}"
        return ComparisonPlan(mirror, base, head, measuring, trigger.subject, cause, "all", "release")

    # Requests of the HTTP API.

    def _plan_asked(self, trigger: AskedTrigger) -> ComparisonPlan:
        measuring, mirror = self._measuring(trigger.repository)
        refs = mirror.refs()
        base, head = (_commit_of(name, refs, mirror) for name in (trigger.base, trigger.head))
        mirror.fetch([base, head], [f"{TAGS}*"])
        asked: dict[str, object] = {"engines": trigger.engines, "budget_seconds": trigger.budget_seconds}
        asked["platforms"] = trigger.platforms or None
        own = measuring.model_copy(update={name: value for name, value in asked.items() if value is not None})
        topic, cause = trigger.subject if trigger.topic else "", asked_by(trigger.actor)
        return ComparisonPlan(mirror, base, head, own, topic, cause, "all", trigger.priority, patterns=trigger.cases)

    # Submitting.

    def _repository(self, name: str) -> RepositorySettings:
        repository = self._settings.repository(name)
        if repository is None:
            raise NotPermitted(f"{name} is not one of the permitted repositories any more")
        return repository

    def _measuring(self, name: str) -> tuple[RepositorySettings | WatchSettings, Mirror]:
        measured = self._settings.measured(name)
        if measured is None:
            raise NotPermitted(f"{name} is neither a permitted repository nor a watched one any more")
        return measured, Mirror.below(self._mirrors, measured.remote)

    def _requests_of(self, plan: ComparisonPlan, origin: str) -> list[Request]:
        """Return a request for each platform that is to measure; none if no case is affected.

        `origin` is the id of the trigger; the ids of the requests are derived from it.
        """
        mirror, measuring = plan.mirror, plan.measuring
        base, head = mirror.source(plan.base), mirror.source(plan.head)
        cases = cases_of(measuring, plan.patterns)
        changes = changes_between(base, head)
        if plan.scope == "affected" and not plan.patterns and isinstance(changes, Changes):
            cases = affected_cases(cases, changes, CommandFiles((base, head)))
        if not cases:
            return []
        platforms = self._platforms(measuring)
        variant = parse_variant(measuring.variant).name
        options = Options(engines=measuring.engines, budget_seconds=measuring.budget_seconds, regimes=measuring.regimes)
        request = comparison_request(
            RequestedServer(source=base, variant=variant),
            RequestedServer(source=head, variant=variant),
            cases,
            options,
            _command_line(plan),
        )
        submitting = SubmissionOptions(plan.priority, plan.topic, plan.cause)
        return on_platforms(request, platforms, self._store.blobs, submitting, origin)

    def _platforms(self, measuring: Measuring) -> Sequence[str]:
        """Return the platforms that are to measure; raises `EnvironmentMissing` if one is not served."""
        served = [platform.name for platform in self._store.fleet.platforms()]
        absent = [name for name in measuring.platforms if name not in served]
        if absent or not served:
            fault = f"not served: the platform {absent[0]}" if absent else "no platform is served"
            raise EnvironmentMissing(fault, hint="zerolap fleet status")
        return measuring.platforms or served


def _is_of_each_commit(trigger: PushTrigger, measuring: Measuring | None) -> bool:
    """Whether a push is measured commit by commit; a schedule measures a branch as it is."""
    return measuring is not None and measuring.each_commit and not trigger.schedule


def cases_of(measuring: Measuring, patterns: Sequence[str] = ()) -> list[Case]:
    """Return the cases that patterns, or else the settings, select; raises `UsageError` if there are none."""
    place = measuring.cases_directory
    cases = core_suite() if place is None else load_cases(Path(place))
    return select(cases, patterns or measuring.cases)


def _base_of(trigger: PullRequestTrigger, mirror: Mirror) -> str:
    """Return the merge base of a pull request's head and its base branch as it is now; raises `UsageError`.

    Both are fetched. Where the branch is gone, or has the head since it was merged, its commit at the time of the event
    takes its place.
    """
    branch = mirror.refs().get(f"{BRANCHES}{trigger.base_ref}")
    for tip in dict.fromkeys(commit for commit in (branch, trigger.base_sha) if commit is not None):
        mirror.fetch([trigger.head, tip], [f"refs/pull/{trigger.number}/head"])
        base = mirror.merge_base(trigger.head, tip)
        if base is None:
            raise UsageError(f"{trigger.head} has no commit in common with {trigger.base_ref}")
        if base != trigger.head:
            return base
    raise UsageError(f"{trigger.head} has no commit that {trigger.base_ref} does not have")


def _base_of_push(before: str | None, after: str, mirror: Mirror) -> str:
    """Return the commit that a branch is compared with which was at `before`; raises `NothingToCompare`.

    Where the branch was rewritten, its commits are new from the merge base on. Where all of them are, as after a squash
    to a new root, or where it was reset to an older commit, it is compared with what was there.
    """
    if before == after:
        raise NothingToCompare(f"{after} was measured already")
    if before is not None:
        base = mirror.merge_base(before, after)
        return before if base is None or base == after else base
    parent = mirror.parent(after)
    if parent is None:
        raise NothingToCompare(f"{after} has no parent, and the remote has nothing that was there before")
    return parent


def _commit_of(name: str, refs: Mapping[str, str], mirror: Mirror) -> str:
    """Return the commit that is named by its hash, a tag or a branch; raises `UsageError`."""
    if COMMIT.fullmatch(name):
        return name
    commit = commit_of_ref(name, refs, mirror.shown)
    if commit is None:
        raise UsageError(
            f"{mirror.shown} has neither a tag nor a branch {name}", hint="give one of them, or a hash in full"
        )
    return commit


def _command_line(plan: ComparisonPlan) -> str:
    """Return the command that repeats a comparison in a clone of the repository."""
    named = plan.patterns or plan.measuring.cases
    words = ["zerolap", "compare", plan.base, plan.head, *map(shlex.quote, named), "--repo", "."]
    if plan.measuring.engines is not None:
        words += ["--engine", ",".join(plan.measuring.engines)]
    if plan.measuring.variant != "default":
        words += ["--variant", shlex.quote(plan.measuring.variant)]
    return " ".join(words)


def _plain(text: str) -> str:
    return re.sub(r"[^\w .,:'\"*?-]", " ", text)
