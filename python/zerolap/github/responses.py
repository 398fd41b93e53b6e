"""The fields of GitHub's answers that are used; other fields are ignored, and values that are too long are refused."""

from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter

from zerolap.github.checks import AnnotationLocation
from zerolap.records import Record

Identifier: TypeAlias = Annotated[int, Field(ge=1, lt=1 << 63)]
Name: TypeAlias = Annotated[str, Field(max_length=1024)]
Commit: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
Text: TypeAlias = Annotated[str, Field(max_length=1 << 18)]
"""Of a comment or an issue; GitHub takes 65,536 characters."""
Permission: TypeAlias = Literal["admin", "maintain", "write", "triage", "read", "none"]
COUNTED_AS: Final[dict[Permission, Permission]] = {"maintain": "write", "triage": "read"}
"""The permission that GitHub reports for a role that has no permission of its own name."""


class ResponsePart(Record):
    """A part of an answer."""

    model_config = ConfigDict(extra="ignore")


class User(ResponsePart):
    """A person, an organisation or an app."""

    login: Name


class Comment(ResponsePart):
    """A comment on an issue or a pull request; `user` is None when the account was deleted."""

    id: Identifier
    body: Text = ""
    user: User | None
    created_at: datetime
    html_url: Name


class Repository(ResponsePart):
    """A repository; `full_name` is `owner/name`."""

    id: Identifier
    full_name: Name


class PullRequestBranch(ResponsePart):
    """A branch of a pull request: its last commit, and its repository, None if that was deleted."""

    ref: Name
    sha: Commit
    repo: Repository | None


class PullRequest(ResponsePart):
    """A pull request: `head` is the proposed branch, `base` the branch that it is to be merged into."""

    number: Identifier
    state: Literal["open", "closed"]
    user: User | None
    head: PullRequestBranch
    base: PullRequestBranch

    @property
    def is_fork(self) -> bool:
        """Whether the commits come from another repository; also where that was deleted."""
        return self.head.repo is None or self.base.repo is None or self.head.repo.id != self.base.repo.id


class Issue(ResponsePart):
    """An issue; `pull_request` is set where the number is that of a pull request."""

    number: Identifier
    state: Literal["open", "closed"]
    body: Text | None
    html_url: Name
    pull_request: ResponsePart | None = None


class RecordedOutput(ResponsePart):
    """What is recorded for a check."""

    annotations_count: Annotated[int, Field(ge=0)]


class CheckRun(ResponsePart):
    """A check run."""

    id: Identifier
    external_id: Name | None
    output: RecordedOutput


class CheckAnnotation(ResponsePart):
    """An annotation that a check run has."""

    path: Annotated[str, Field(max_length=1 << 12)]
    start_line: int
    end_line: int
    title: Name | None

    @property
    def location(self) -> AnnotationLocation:
        """What identifies the annotation."""
        return AnnotationLocation(self.path, self.start_line, self.end_line, self.title or "")


class CheckRuns(ResponsePart):
    """The check runs of a commit."""

    check_runs: Annotated[tuple[CheckRun, ...], Field(max_length=100)]


class PermissionOfUser(ResponsePart):
    """What a person may do in a repository: `permission` is admin, write, read or none.

    `role_name` is more precise; it can also be the name of a role that an organization has defined.
    """

    permission: Permission
    role_name: Name = ""

    @property
    def role(self) -> Permission:
        """The role, where it is one of GitHub's own."""
        own = (role for role, counted in COUNTED_AS.items() if (role, counted) == (self.role_name, self.permission))
        return next(own, self.permission)


class App(ResponsePart):
    """A GitHub App."""

    slug: Name


class Installation(ResponsePart):
    """An installation of a GitHub App for an account."""

    id: Identifier


class InstallationToken(ResponsePart):
    """The token of an installation."""

    token: Annotated[str, Field(max_length=4096, repr=False)]
    expires_at: datetime


Comments: TypeAlias = Annotated[tuple[Comment, ...], Field(max_length=100)]
COMMENTS: TypeAdapter[tuple[Comment, ...]] = TypeAdapter(Comments)
Annotations: TypeAlias = Annotated[tuple[CheckAnnotation, ...], Field(max_length=100)]
ANNOTATIONS: TypeAdapter[tuple[CheckAnnotation, ...]] = TypeAdapter(Annotations)
Issues: TypeAlias = Annotated[tuple[Issue, ...], Field(max_length=100)]
ISSUES: TypeAdapter[tuple[Issue, ...]] = TypeAdapter(Issues)
