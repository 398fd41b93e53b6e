"""The trigger that an event leads to: pure, from a payload, the settings and the pull request's earlier triggers."""

from dataclasses import dataclass
from typing import Any

from zerolap.triggers.comment_commands import Acknowledge, command_in
from zerolap.triggers.names import BRANCHES, HEAD, TAGS, is_same_name
from zerolap.triggers.settings import RepositorySettings
from zerolap.triggers.trigger import (
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
)
from zerolap.triggers.webhooks.admission_state import CurrentTriggers
from zerolap.triggers.webhooks.outcomes import Cause, ignored, refused
from zerolap.triggers.webhooks.payloads import (
    AnyEvent,
    CheckRunEvent,
    CheckSuiteEvent,
    CreateEvent,
    Event,
    IssueCommentEvent,
    MergeGroupEvent,
    PingEvent,
    PullRequestEvent,
    PushEvent,
    Sender,
    is_zero,
)


@dataclass(frozen=True)
class _Received:
    """What an event came with: the id of its delivery, and what its meaning depends on, as `meaning_of` takes it."""

    delivery: str
    repository: RepositorySettings
    current: CurrentTriggers
    own_app: int | None

    def origin(self, event: Event) -> dict[str, Any]:
        """Return the fields that the triggers of all events have."""
        return {"repository": self.repository.name, "delivery": self.delivery, "actor": event.sender.login}


def meaning_of(
    event: AnyEvent, delivery: str, repository: RepositorySettings, current: CurrentTriggers, own_app: int | None = None
) -> Trigger:
    """Return the trigger of an event; raises `NotAdmitted` if it has none, or the sender is not permitted.

    `current` are those of the pull request of the event; `own_app` is the id of the lab's own App.
    """
    received = _Received(delivery, repository, current, own_app)
    match event:
        case PullRequestEvent():
            return _of_pull_request(event, received)
        case PushEvent():
            return _of_push(event, received)
        case IssueCommentEvent():
            return _of_comment(event, received)
        case CheckRunEvent() | CheckSuiteEvent():
            return _of_check(event, received)
        case MergeGroupEvent():
            return _of_merge_group(event, received)
        case CreateEvent():
            raise ignored(Cause.EVENT, "the push event of the branch or tag has its commit")
        case PingEvent():
            raise ignored(Cause.EVENT, "the webhook reaches the lab")


def _of_pull_request(event: PullRequestEvent, received: _Received) -> Trigger:
    action = event.action
    if action == "labeled" and received.repository.is_accept_label(event.label_name):
        return _accepted(event, received)
    measuring = (received.repository.measuring_label(label.name) for label in event.pull_request.labels)
    labels = [label for label in measuring if label is not None]
    if action in ("labeled", "unlabeled"):
        return _of_label(event, received, is_labelled=bool(labels))
    if action == "closed" and (labels or received.current.head is not None):
        return _withdrawn(event, received)
    is_retargeted = action == "edited" and event.changes.base is not None
    if action not in ("opened", "reopened", "synchronize", "closed") and not is_retargeted:
        raise ignored(Cause.ACTION, "the change does not concern measuring")
    if not labels:
        return _unmeasured(event, received)
    if is_retargeted and event.pull_request.is_fork and received.current.head != event.pull_request.head.sha:
        raise ignored(Cause.LABEL, "the label was not set for this commit")
    if action == "synchronize" and event.pull_request.is_fork:
        return _needs_label_again(event, received, labels[0])
    return _measured(event, received, _widest(labels, received.repository))


def _of_label(event: PullRequestEvent, received: _Received, *, is_labelled: bool) -> Trigger:
    """Return the trigger of a set or removed label; `is_labelled`: the pull request has a measuring label."""
    label = received.repository.measuring_label(event.label_name)
    if label is None:
        raise ignored(Cause.LABEL, "the label is not one that has pull requests measured")
    if event.action == "labeled":
        return _measured(event, received, label)
    if is_labelled:
        raise ignored(Cause.LABEL, "another label still has the pull request measured")
    return _withdrawn(event, received)


def _measured(event: PullRequestEvent, received: _Received, label: str) -> Trigger:
    """Return the trigger to measure the head in the payload, which is the head at the time of the event."""
    pull_request = event.pull_request
    if pull_request.state != "open":
        raise ignored(Cause.ACTION, "the pull request is closed")
    if _is_measured_already(event, label, received.current):
        raise ignored(Cause.SEEN, "the commit is measured for this label already")
    # A permitted person has set the label. Pushing to the repository needs write access at GitHub, and another base is
    # a commit of the repository.
    is_permitted = received.current.is_permitted and (
        event.action == "synchronize" or (event.action == "edited" and received.current.head == pull_request.head.sha)
    )
    permission = None if is_permitted else _permission_to_ask_for(event.sender, received.repository)
    head_repository = pull_request.head.repo
    return PullRequestTrigger(
        **received.origin(event),
        number=event.number,
        head=pull_request.head.sha,
        base_ref=pull_request.base.ref,
        base_sha=pull_request.base.sha,
        head_repository=None if head_repository is None else head_repository.full_name,
        is_fork=pull_request.is_fork,
        label=label,
        scope=received.repository.labels[label],
        needs_permission=permission,
        is_opened=event.action == "opened",
    )


def _is_measured_already(event: PullRequestEvent, label: str, current: CurrentTriggers) -> bool:
    """Whether an event adds nothing: a pull request that is opened with its labels has an event for each of them too.

    The events come in any order.
    """
    earlier = current.trigger
    if earlier is None or earlier.head != event.pull_request.head.sha:
        return False
    is_of_opening = event.action == "opened" or (event.action == "labeled" and earlier.is_opened)
    if not is_of_opening:
        return False
    is_by_same_person = is_same_name(earlier.actor, event.sender.login)
    is_as_wide = label == earlier.label or earlier.scope == "all"
    is_same_base = earlier.base_ref == event.pull_request.base.ref
    return is_as_wide and is_same_base and (is_by_same_person or current.is_permitted)


def _needs_label_again(event: PullRequestEvent, received: _Received, label: str) -> Trigger:
    """Return the trigger that cancels the measurement after a push from a fork.

    Raises `NotAdmitted` if the pushed commit itself is measured: the label was set after the push, and its delivery
    came first.
    """
    if received.current.head == event.pull_request.head.sha:
        raise ignored(Cause.SEEN, "the label was set for this commit")
    return RelabelTrigger(
        **received.origin(event),
        number=event.number,
        head=event.pull_request.head.sha,
        label=label,
    )


def _withdrawn(event: PullRequestEvent, received: _Received) -> WithdrawalTrigger:
    return WithdrawalTrigger(
        **received.origin(event),
        number=event.number,
        cause="closed" if event.action == "closed" else "label removed",
        head=event.pull_request.head.sha,
    )


def _unmeasured(event: PullRequestEvent, received: _Received) -> UnmeasuredTrigger:
    if not received.repository.check_unlabelled or event.pull_request.state != "open":
        raise ignored(Cause.LABEL, "the pull request has no label that has it measured")
    return UnmeasuredTrigger(
        **received.origin(event),
        head=event.pull_request.head.sha,
        number=event.number,
    )


def _of_merge_group(event: MergeGroupEvent, received: _Received) -> UnmeasuredTrigger:
    if event.action != "checks_requested":
        raise ignored(Cause.ACTION, "no checks are requested")
    head = event.merge_group.head_sha
    return UnmeasuredTrigger(**received.origin(event), head=head, number=None)


def _of_check(event: CheckRunEvent | CheckSuiteEvent, received: _Received) -> PullRequestTrigger | UnmeasuredTrigger:
    """Return the trigger to repeat a measurement, or to write the check of an unmeasured commit again."""
    if event.action != "rerequested":
        raise ignored(Cause.ACTION, "the check was not requested again")
    if event.check.app is None or event.check.app.id != received.own_app:
        raise ignored(Cause.EVENT, "the check belongs to another application")
    if received.current.unmeasured is not None:
        again = {"delivery": received.delivery, "actor": event.sender.login}
        return received.current.unmeasured.model_copy(update=again)
    if received.current.trigger is None or not received.current.is_permitted:
        raise ignored(Cause.LABEL, "no pull request is measured at this commit")
    permission = _permission_to_ask_for(event.sender, received.repository)
    changed = {"delivery": received.delivery, "actor": event.sender.login, "needs_permission": permission}
    return received.current.trigger.model_copy(update=changed)


def _accepted(event: PullRequestEvent, received: _Received) -> CommandTrigger:
    return CommandTrigger(
        **received.origin(event),
        number=event.number,
        comment=None,
        command=Acknowledge(reason=f"label {event.label_name}"),
        needs_permission=_permission_to_ask_for(event.sender, received.repository),
    )


def _of_push(event: PushEvent, received: _Received) -> Trigger:
    if event.deleted:
        raise ignored(Cause.REF, "the branch or tag was deleted")
    if event.ref.startswith(TAGS):
        tag = event.ref.removeprefix(TAGS)
        if tag == HEAD or not received.repository.measures_tag(tag):
            raise ignored(Cause.REF, "the tag is not one that is measured")
        # `after` of an annotated tag is the tag, and not the commit.
        commit = event.after if event.head_commit is None else event.head_commit.id
        return TagTrigger(**received.origin(event), tag=tag, commit=commit)
    branch = event.ref.removeprefix(BRANCHES)
    if branch == HEAD or not received.repository.measures_branch(branch):
        raise ignored(Cause.REF, "the branch is not one that is measured")
    return PushTrigger(
        **received.origin(event),
        branch=branch,
        before=None if is_zero(event.before) else event.before,
        after=event.after,
    )


def _of_comment(event: IssueCommentEvent, received: _Received) -> Trigger:
    if event.action != "created":
        raise ignored(Cause.ACTION, "only new comments are read")
    application = event.comment.performed_via_github_app
    is_own = application is not None and application.id == received.own_app
    if event.sender.is_bot or event.comment.user.is_bot or is_own:
        raise ignored(Cause.OWN_COMMENT, "comments of applications are not read")
    if event.issue.pull_request is None:
        raise ignored(Cause.NO_COMMAND, "the comment is not on a pull request")
    command = command_in(event.comment.body)
    if command is None:
        raise ignored(Cause.NO_COMMAND, "the comment has no command")
    permission = _permission_to_ask_for(event.sender, received.repository)
    return CommandTrigger(
        **received.origin(event),
        number=event.issue.number,
        comment=event.comment.id,
        command=command,
        needs_permission=permission,
    )


def _permission_to_ask_for(sender: Sender, repository: RepositorySettings) -> RequiredPermission | None:
    """Return the permission to confirm at GitHub; None if the settings name the sender."""
    if repository.is_actor(sender.login):
        return None
    if repository.permission is None or sender.is_bot:
        raise refused(Cause.ACTOR, "the sender is not one of the permitted actors")
    return repository.permission


def _widest(labels: list[str], repository: RepositorySettings) -> str:
    width: dict[Scope, int] = {"affected": 0, "all": 1}
    return max(labels, key=lambda label: width[repository.labels[label]])
