"""Triggers: the work that deliveries, polling and schedules lead to, with the person who caused it."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from zerolap.records import Priority, Record, read_stored
from zerolap.triggers.comment_commands import Command
from zerolap.triggers.names import CommitName, Login, RefName, RepositoryName
from zerolap.triggers.setting_types import Engine

Scope: TypeAlias = Literal["affected", "all"]
"""The cases that a change can affect, or all cases."""
RequiredPermission: TypeAlias = Literal["admin", "maintain", "write", "triage"]
"""A permission in a repository that the settings can require, the highest first."""
PrintableWord: TypeAlias = Annotated[str, Field(pattern=r"^[!-~]{1,255}$")]


class _Trigger(Record):
    """`delivery` is the id of its webhook delivery, None for polls and schedules."""

    repository: RepositoryName
    delivery: str | None = None


class _OfPullRequest(_Trigger):
    number: Annotated[int, Field(ge=1, lt=1 << 31)]
    actor: Login

    @property
    def subject(self) -> str:
        """The subject, such as `redis/redis#12`."""
        return pull_request_subject(self.repository, self.number)


class PullRequestTrigger(_OfPullRequest):
    """A pull request is to be measured at `head`, its commit at the time of the event.

    It supersedes what runs for the pull request. If `needs_permission` is not none, nothing may be done before GitHub
    has confirmed that `actor` has that permission. `base_ref` is the base branch, `base_sha` its commit at that time.
    `is_opened`: it was opened with its labels, each of which has an event too.
    """

    kind: Literal["pull request"] = "pull request"
    head: CommitName
    base_ref: RefName
    base_sha: CommitName
    head_repository: RepositoryName | None
    is_fork: bool
    label: str
    scope: Scope
    needs_permission: RequiredPermission | None = None
    is_opened: bool = False


class WithdrawalTrigger(_OfPullRequest):
    """The label was removed, or the pull request was closed at `head`: running work is to be cancelled."""

    kind: Literal["withdrawn"] = "withdrawn"
    cause: Literal["label removed", "closed"]
    head: CommitName | None = None


class RelabelTrigger(_OfPullRequest):
    """Commits were pushed to a labelled pull request of a fork: running work is cancelled, a new label is needed."""

    kind: Literal["needs label again"] = "needs label again"
    head: CommitName
    label: str


class UnmeasuredTrigger(_Trigger):
    """A commit gets a neutral check, and nothing is measured.

    It is the head of the pull request `number`, which has no label, or that of a group of the merge queue.
    """

    kind: Literal["not measured"] = "not measured"
    head: CommitName
    number: Annotated[int, Field(ge=1, lt=1 << 31)] | None
    actor: Login | None = None

    @property
    def subject(self) -> str:
        """What it is about: the pull request, or the group, such as `redis/redis#queue:0123456789ab`."""
        if self.number is None:
            return f"{self.repository.lower()}#queue:{self.head[:12]}"
        return pull_request_subject(self.repository, self.number)


class CommandTrigger(_OfPullRequest):
    """A command in a comment, whose number at GitHub is `comment`, or by a label, which has none. It names no commit.

    It is about the commit of the last permitted `PullRequestTrigger` of its subject, and never about a later one.
    """

    kind: Literal["command"] = "command"
    comment: Annotated[int, Field(ge=1, lt=1 << 63)] | None
    command: Command
    needs_permission: RequiredPermission | None = None


class PushTrigger(_Trigger):
    """Commits were pushed to a branch; `before` is none for a new branch.

    `schedule` names the schedule by which the branch is measured, empty where it was pushed or polled.
    """

    kind: Literal["push"] = "push"
    branch: RefName
    before: CommitName | None
    after: CommitName
    actor: Login | None = None
    scope: Scope = "affected"
    schedule: Annotated[str, Field(pattern=r"^[a-z0-9: -]{0,100}$")] = ""

    @property
    def subject(self) -> str:
        """What it is about, such as `redis/redis@unstable`; work of a schedule is a subject of its own."""
        subject = branch_subject(self.repository, self.branch)
        return f"{subject}:{self.schedule}" if self.schedule else subject


class TagTrigger(_Trigger):
    """A tag was made or moved; `commit` is the commit that it points to, or its tag object.

    It is compared with `previous`, by default the tag before it in the order of versions.
    """

    kind: Literal["tag"] = "tag"
    tag: RefName
    commit: CommitName
    previous: RefName | None = None
    actor: Login | None = None

    @property
    def subject(self) -> str:
        """What it is about, such as `redis/redis@tag:7.4.0`; no branch has a name with a colon."""
        return f"{self.repository.lower()}@tag:{self.tag}"


class AskedComparison(Record):
    """What the HTTP API is asked to compare. What is left out is as the settings of the repository say."""

    repository: Annotated[
        RepositoryName, Field(description="A repository that the settings of the lab name.", examples=["redis/redis"])
    ]
    base: Annotated[
        RefName, Field(description="The hash of a commit, in full, or a tag or branch.", examples=["7.4.0"])
    ]
    head: Annotated[RefName, Field(description="What is compared with the base, named alike.", examples=["unstable"])]
    cases: Annotated[
        tuple[PrintableWord, ...], Field(max_length=100, description="Names or globs of cases.", examples=[["hset*"]])
    ] = ()
    engines: Annotated[
        tuple[Engine, ...] | None,
        Field(min_length=1, max_length=3, description="What measures.", examples=[["counted", "timed"]]),
    ] = None
    budget_seconds: Annotated[
        float | None, Field(gt=0, le=86_400, description="Time to spend on trials, builds excluded.", examples=[480])
    ] = None
    platforms: Annotated[
        tuple[PrintableWord, ...],
        Field(max_length=50, description="Names of platforms.", examples=[["arm"]]),
    ] = ()
    priority: Annotated[
        Priority, Field(description="What goes first: release, which needs the scope admin, pull, backfill.")
    ] = "pull"
    topic: Annotated[
        str,
        Field(
            pattern=r"^([A-Za-z0-9][A-Za-z0-9._/-]{0,99})?$",
            description="What it is about; a newer one of the same topic, repository and actor supersedes this one.",
            examples=["nightly"],
        ),
    ] = ""


class AskedTrigger(AskedComparison):
    """Two revisions are to be compared as they are, because the HTTP API was asked to with a token of `actor`."""

    kind: Literal["asked"] = "asked"
    delivery: None = None
    actor: Login

    @property
    def subject(self) -> str:
        """What it is about, such as `redis/redis:ci/nightly`; no name of a repository has a colon."""
        place = f"{self.repository.lower()}:{self.actor.lower()}"
        return f"{place}/{self.topic}" if self.topic else place


Trigger: TypeAlias = Annotated[
    PullRequestTrigger
    | WithdrawalTrigger
    | RelabelTrigger
    | UnmeasuredTrigger
    | CommandTrigger
    | PushTrigger
    | TagTrigger
    | AskedTrigger,
    Field(discriminator="kind"),
]

_TRIGGER: TypeAdapter[Trigger] = TypeAdapter(Trigger)


def read_trigger(document: str) -> Trigger:
    """Return the trigger in a JSON document that the store holds; raises `UnreadableRecord`."""
    return read_stored(_TRIGGER, document, "a trigger")


def trigger_json(trigger: Trigger) -> str:
    """Return a trigger as JSON."""
    return trigger.model_dump_json()


def pull_request_subject(repository: str, number: int) -> str:
    """Return the subject of a pull request, in lower case: GitHub ignores case in names of repositories."""
    return f"{repository.lower()}#{number}"


def is_branch_or_tag(subject: str) -> bool:
    """Whether a subject is a branch or a tag, not a pull request: no name of a repository has an @."""
    return "@" in subject


def branch_subject(repository: str, branch: str) -> str:
    """Return the subject of a branch."""
    return f"{repository.lower()}@{branch}"


def asked_by(actor: str) -> str:
    """Return the cause of requests that an actor makes by the HTTP API."""
    return f"asked by {actor.lower()}"
