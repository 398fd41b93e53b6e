"""The parts of GitHub's webhook payloads that are used; other fields are ignored, wrong shapes are refused.

The payloads are described at https://docs.github.com/en/webhooks/webhook-events-and-payloads.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from zerolap.triggers.names import CommitName, FullRef, Login, NameAtHost, RefName, RepositoryName

LONGEST_COMMENT: Final = 262_144
"""The limit of GitHub, in bytes."""
MOST_LABELS: Final = 1_000

Number: TypeAlias = Annotated[int, Field(strict=True, ge=1, lt=1 << 31)]
Identity: TypeAlias = Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
Action: TypeAlias = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=64)]


class PayloadPart(BaseModel):
    """A part of a payload."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PayloadRepository(PayloadPart):
    """A repository; `id` stays the same when it is renamed."""

    id: Identity
    full_name: RepositoryName


class Sender(PayloadPart):
    """Who caused the event; GitHub's applications have the type `Bot`."""

    login: Login
    type: Annotated[str, StringConstraints(strict=True, max_length=32)]

    @property
    def is_bot(self) -> bool:
        """Whether it is an application and not a person."""
        return self.type == "Bot" or self.login.endswith("[bot]")


class Label(PayloadPart):
    """A label; `id` stays the same when it is renamed."""

    id: Identity
    name: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200)]


class Side(PayloadPart):
    """The head or the base of a pull request; `repo` is none where the fork was deleted."""

    ref: NameAtHost
    sha: CommitName
    repo: PayloadRepository | None


class BaseSide(Side):
    """The base of a pull request, whose branch is asked for."""

    ref: RefName
    repo: PayloadRepository


class PayloadPullRequest(PayloadPart):
    """A pull request as it was when the event happened."""

    number: Number
    state: Literal["open", "closed"]
    labels: Annotated[tuple[Label, ...], Field(max_length=MOST_LABELS)]
    head: Side
    base: BaseSide

    @property
    def is_fork(self) -> bool:
        """Whether its commits are in another repository, which may belong to anybody."""
        return self.head.repo is None or self.head.repo.id != self.base.repo.id


class Event(PayloadPart):
    """The fields that are used of every payload."""

    repository: PayloadRepository
    sender: Sender


class OldBase(PayloadPart):
    """Present where the base of a pull request was changed; its content is not used."""


class EditChanges(PayloadPart):
    """The changes of an edit of a pull request."""

    base: OldBase | None = None


class PullRequestEvent(Event):
    """Something happened to a pull request; `label` is the one that was set or removed, `changes` come with an edit."""

    action: Action
    number: Number
    pull_request: PayloadPullRequest
    label: Label | None = None
    changes: EditChanges = EditChanges()

    @model_validator(mode="after")
    def _is_of_one_piece(self) -> "PullRequestEvent":
        if self.action in ("labeled", "unlabeled") and self.label is None:
            raise ValueError("no label in the event of a label")
        if self.number != self.pull_request.number:
            raise ValueError("two numbers of one pull request")
        if self.repository.id != self.pull_request.base.repo.id:
            raise ValueError("the base of the pull request is in another repository")
        return self

    @property
    def label_name(self) -> str:
        """The current name of the label that was set or removed, even if the event has an older name."""
        if self.label is None:
            return ""
        return next((label.name for label in self.pull_request.labels if label.id == self.label.id), self.label.name)


class Commit(PayloadPart):
    """A commit of a push."""

    id: CommitName


class PushEvent(Event):
    """A branch or a tag was pushed; `before` or `after` has only zeros where it was created or deleted."""

    ref: FullRef
    before: CommitName
    after: CommitName
    deleted: Flag
    head_commit: Commit | None = None

    @model_validator(mode="after")
    def _is_of_one_piece(self) -> "PushEvent":
        if self.deleted != is_zero(self.after):
            raise ValueError("a deleted ref points to no commit, and any other ref to one")
        return self


class CreateEvent(Event):
    """A branch or a tag was created; a separate push event has the commit."""

    ref: NameAtHost
    ref_type: Literal["branch", "tag"]


class PullRequestLink(PayloadPart):
    """Present where an issue is a pull request."""


class Application(PayloadPart):
    """The application by which a comment was made."""

    id: Identity


class PayloadIssue(PayloadPart):
    """An issue or pull request."""

    number: Number
    pull_request: PullRequestLink | None = None


class PayloadComment(PayloadPart):
    """A comment."""

    id: Identity
    body: Annotated[str, StringConstraints(strict=True, max_length=LONGEST_COMMENT)]
    user: Sender
    performed_via_github_app: Application | None = None


class IssueCommentEvent(Event):
    """Something happened to a comment on an issue or pull request."""

    action: Action
    issue: PayloadIssue
    comment: PayloadComment


class CheckedCommit(PayloadPart):
    """A check run or check suite: the commit that it is of, and the application that made it."""

    head_sha: CommitName
    app: Application | None = None


class CheckRunEvent(Event):
    """Something happened to a check run, such as a person pressing "Re-run"."""

    action: Action
    check: CheckedCommit = Field(alias="check_run")


class CheckSuiteEvent(Event):
    """Something happened to all check runs of an application at a commit."""

    action: Action
    check: CheckedCommit = Field(alias="check_suite")


class MergeGroup(PayloadPart):
    """A group of pull requests in a merge queue."""

    head_sha: CommitName


class MergeGroupEvent(Event):
    """A merge queue asks for the checks of a group, or has dissolved it."""

    action: Action
    merge_group: MergeGroup


class PingEvent(PayloadPart):
    """GitHub tests a webhook; that of an organization has no repository."""

    hook_id: Identity
    repository: PayloadRepository | None = None
    sender: Sender | None = None


AnyEvent: TypeAlias = (
    PullRequestEvent
    | PushEvent
    | CreateEvent
    | IssueCommentEvent
    | CheckRunEvent
    | CheckSuiteEvent
    | MergeGroupEvent
    | PingEvent
)

EVENTS: Final[Mapping[str, type[AnyEvent]]] = {
    "pull_request": PullRequestEvent,
    "push": PushEvent,
    "create": CreateEvent,
    "issue_comment": IssueCommentEvent,
    "check_run": CheckRunEvent,
    "check_suite": CheckSuiteEvent,
    "merge_group": MergeGroupEvent,
    "ping": PingEvent,
}
"""The payloads by the names of their events, as in the header `X-GitHub-Event`."""


def is_zero(commit: str) -> bool:
    """Whether a commit of a push has only zeros, which means no commit."""
    return not commit.strip("0")
