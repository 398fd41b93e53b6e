"""Calls of GitHub's REST API: comments, checks, statuses, permissions and issues."""

import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, TypeVar
from urllib.parse import quote

from zerolap.errors import UsageError
from zerolap.github.app_credentials import Credentials
from zerolap.github.checks import CheckContent, StatusContent
from zerolap.github.github_errors import ChecksForbidden, GitHubForbidden, GitHubMissing, GitHubResponseUnusable
from zerolap.github.http_connection import Call, GitHubConnection, Reply
from zerolap.github.pace import Clock, Patience
from zerolap.github.responses import (
    ANNOTATIONS,
    COMMENTS,
    ISSUES,
    CheckAnnotation,
    CheckRun,
    CheckRuns,
    Comment,
    Issue,
    Permission,
    PermissionOfUser,
    PullRequest,
    ResponsePart,
)

PUBLIC_API: Final = "https://api.github.com"
PAGE_SIZE: Final = 100
PAGES: Final = 100
TRIES_TO_KEEP: Final = 3

REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
MARKER: Final = re.compile(r"[A-Za-z0-9]+([.:/_-][A-Za-z0-9]+)*")

AnswerT = TypeVar("AnswerT", bound=ResponsePart)
T = TypeVar("T")


def hidden_marker(marker: str) -> str:
    """Return the first line of a text of the lab, which Markdown does not show.

    A marker consists of words of letters and digits joined by single `.`, `:`, `/`, `_` or `-`, so that it cannot end
    the comment of HTML that it is in.
    """
    if not MARKER.fullmatch(marker):
        raise ValueError(f"{marker!r} is no marker")
    return f"<!-- zerolap {marker} -->"


class GitHub:
    """GitHub's REST API, for the few calls that the lab needs.

    A repository is named `owner/name`. All methods raise `GitHubUnavailable` when GitHub cannot be used for longer
    than the patience, subclasses of `GitHubRefused`, and `GitHubResponseUnusable`.
    """

    def __init__(
        self,
        api_url: str,
        credentials: Credentials,
        *,
        patience: Patience | None = None,
        clock: Clock | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._credentials = credentials
        self._connection = GitHubConnection(api_url, patience or Patience(), clock or Clock(), trust)

    @property
    def errors(self) -> Mapping[str, int]:
        """Requests without success since the start, by the status of the answer; `none` without an answer."""
        return self._connection.errors

    async def __aenter__(self) -> "GitHub":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connections."""
        await self._connection.close()

    # ---- comments

    async def comments(self, repository: str, number: int) -> AsyncIterator[Comment]:
        """Yield the comments on an issue or a pull request, the oldest first."""
        call = Call("GET", _in(repository, f"/issues/{number}/comments"), {"per_page": PAGE_SIZE})
        async for comments in self._pages(repository, call, COMMENTS.validate_json):
            for comment in comments:
                yield comment

    async def comment(self, repository: str, comment_id: int) -> Comment:
        """Return a comment; raises `GitHubMissing` if it is gone."""
        return await self._ask(repository, Call("GET", _in(repository, f"/issues/comments/{comment_id}")), Comment)

    async def create_comment(self, repository: str, number: int, marker: str, body: str) -> Comment:
        """Write a comment that begins with a marker, by which it is found if GitHub's answer is lost.

        The lab must have no other comment with this marker on the issue; for `keep_comment` it may.
        """

        async def created() -> Comment | None:
            return next(iter(await self._own_comments(repository, number, marker)), None)

        call = Call("POST", _in(repository, f"/issues/{number}/comments"), body={"body": _marked(marker, body)})
        return await self._ask(repository, call, Comment, created)

    async def update_comment(self, repository: str, comment_id: int, body: str) -> Comment:
        """Replace the whole text of a comment."""
        call = Call("PATCH", _in(repository, f"/issues/comments/{comment_id}"), body={"body": body})
        return await self._ask(repository, call, Comment)

    async def delete_comment(self, repository: str, comment_id: int) -> None:
        """Remove a comment; does nothing if it was removed already."""
        call = Call("DELETE", _in(repository, f"/issues/comments/{comment_id}"))
        await self._do_unless_gone(repository, call)

    async def keep_comment(self, repository: str, number: int, marker: str, body: str, known_id: int | None) -> int:
        """Set the text of the lab's comment with a marker, and return the id of the comment.

        That is the comment with `known_id`, else the oldest comment of the lab that begins with the marker, else a new
        comment; further comments of the lab with the marker are removed. Edits by others are overwritten. Comments of
        other authors are not changed, even with the marker.
        """
        text = _marked(marker, body)
        if known_id is not None and await self._rewrite(repository, known_id, text):
            return known_id
        for _ in range(TRIES_TO_KEEP):
            own = await self._own_comments(repository, number, marker)
            if not own:
                created = await self.create_comment(repository, number, marker, body)
                # Another process may have created a comment at the same time: both keep the oldest.
                own = await self._own_comments(repository, number, marker) or [created]
            oldest, *others = own
            for other in others:
                await self.delete_comment(repository, other.id)
            if oldest.body == text or await self._rewrite(repository, oldest.id, text):
                return oldest.id
        raise GitHubMissing(f"{repository}#{number}: the comment {marker} is deleted whenever it is written", 404)

    async def _rewrite(self, repository: str, comment_id: int, text: str) -> bool:
        """Set the text of a comment; returns false if it was removed or has another author."""
        try:
            comment = await self.comment(repository, comment_id)
            if not await self._is_own(repository, comment):
                return False
            if comment.body != text:
                await self.update_comment(repository, comment_id, text)
        except GitHubMissing:
            return False
        return True

    async def _own_comments(self, repository: str, number: int, marker: str) -> list[Comment]:
        """Return the lab's own comments that begin with a marker, the oldest first."""
        start = hidden_marker(marker)
        return [
            comment
            async for comment in self.comments(repository, number)
            if comment.body.startswith(start) and await self._is_own(repository, comment)
        ]

    async def _is_own(self, repository: str, comment: Comment) -> bool:
        own = await self._credentials.login(self._connection, repository)
        return comment.user is not None and comment.user.login.casefold() == own.casefold()

    async def add_reaction(self, repository: str, comment_id: int, content: str = "+1") -> None:
        """React to a comment; a repeated reaction has no effect."""
        path = _in(repository, f"/issues/comments/{comment_id}/reactions")
        await self._ask(repository, Call("POST", path, body={"content": content}), ResponsePart)

    # ---- checks and statuses

    async def create_check(
        self, repository: str, head_sha: str, name: str, external_id: str, check: CheckContent
    ) -> int:
        """Start a check run and return its id; `external_id` is unique among those of the commit.

        Raises `ChecksForbidden` for a token that is not of a GitHub App: use `set_status` then.
        """

        async def created() -> CheckRun | None:
            return await self._check(repository, head_sha, name, external_id)

        document, sent = check.document(0)
        body = {"name": name, "head_sha": head_sha, "external_id": external_id, **document}
        try:
            run = await self._ask(
                repository, Call("POST", _in(repository, "/check-runs"), body=body), CheckRun, created
            )
        except GitHubForbidden as forbidden:
            raise ChecksForbidden(forbidden.message, forbidden.status) from forbidden
        if sent < len(check.annotations):
            await self.update_check(repository, run.id, check)
        return run.id

    async def find_check(self, repository: str, head_sha: str, name: str, external_id: str) -> int | None:
        """Return the id of the check run with an external id, None if there is none."""
        run = await self._check(repository, head_sha, name, external_id)
        return None if run is None else run.id

    async def update_check(self, repository: str, check_id: int, check: CheckContent) -> None:
        """Replace what a check run shows, and add the annotations that it does not have yet, 50 with each request.

        Raises `ChecksForbidden` for a token that is not of a GitHub App.
        """
        path = _in(repository, f"/check-runs/{check_id}")

        async def run_with(annotations: int) -> CheckRun | None:
            run = await self._ask(repository, Call("GET", path), CheckRun)
            return run if run.output.annotations_count >= annotations else None

        try:
            there = await self._annotations(repository, check_id) if check.annotations else []
            added = check.without({annotation.location for annotation in there})
            start, is_written = 0, False
            while not is_written or start < len(added.annotations):
                document, end = added.document(start)
                # If only the answer was lost, sending the batch again would duplicate it.
                done = None if end == start else lambda end=end: run_with(len(there) + end)
                await self._ask(repository, Call("PATCH", path, body=document), CheckRun, done)
                start, is_written = end, True
        except GitHubForbidden as forbidden:
            raise ChecksForbidden(forbidden.message, forbidden.status) from forbidden

    async def _annotations(self, repository: str, check_id: int) -> list[CheckAnnotation]:
        call = Call("GET", _in(repository, f"/check-runs/{check_id}/annotations"), {"per_page": PAGE_SIZE})
        pages = self._pages(repository, call, ANNOTATIONS.validate_json)
        return [annotation async for annotations in pages for annotation in annotations]

    async def _check(self, repository: str, head_sha: str, name: str, external_id: str) -> CheckRun | None:
        path = _in(repository, f"/commits/{quote(head_sha, safe='')}/check-runs")
        call = Call("GET", path, {"check_name": name, "filter": "all", "per_page": PAGE_SIZE})
        async for runs in self._pages(repository, call, CheckRuns.model_validate_json):
            for run in runs.check_runs:
                if run.external_id == external_id:
                    return run
        return None

    async def set_status(self, repository: str, sha: str, status: StatusContent) -> None:
        """Set the status of a commit for a context."""
        path = _in(repository, f"/statuses/{quote(sha, safe='')}")
        await self._ask(repository, Call("POST", path, body=status.document()), ResponsePart)

    # ---- pull requests

    async def pull_request(self, repository: str, number: int) -> PullRequest:
        """Return a pull request as it is now."""
        return await self._ask(repository, Call("GET", _in(repository, f"/pulls/{number}")), PullRequest)

    async def permission(self, repository: str, user: str) -> Permission:
        """Return what a person may do in a repository; `none` for a person that GitHub does not know."""
        path = _in(repository, f"/collaborators/{quote(user, safe='')}/permission")
        try:
            answer = await self._ask(repository, Call("GET", path), PermissionOfUser)
        except GitHubMissing:
            return "none"
        return answer.role

    # ---- issues

    async def find_issue(self, repository: str, marker: str) -> Issue | None:
        """Return the lab's own open issue that begins with a marker, the newest of several; None if there is none."""
        start = hidden_marker(marker)
        creator = await self._credentials.login(self._connection, repository)
        query: dict[str, str | int] = {"creator": creator, "state": "open", "per_page": PAGE_SIZE}
        async for issues in self._pages(
            repository, Call("GET", _in(repository, "/issues"), query), ISSUES.validate_json
        ):
            for issue in issues:
                if issue.pull_request is None and (issue.body or "").startswith(start):
                    return issue
        return None

    async def create_issue(
        self, repository: str, marker: str, title: str, body: str, labels: tuple[str, ...] = ()
    ) -> Issue:
        """Open an issue whose text begins with a marker; returns the open issue with that marker if there is one."""

        async def created() -> Issue | None:
            return await self.find_issue(repository, marker)

        if (issue := await created()) is not None:
            return issue
        document = {"title": title, "body": _marked(marker, body), "labels": list(labels)}
        return await self._ask(repository, Call("POST", _in(repository, "/issues"), body=document), Issue, created)

    async def close_issue(self, repository: str, number: int, comment: str) -> None:
        """Close an issue, with a comment that gives the reason."""
        await self.keep_comment(repository, number, "closed", comment, None)
        document = {"state": "closed", "state_reason": "completed"}
        await self._ask(repository, Call("PATCH", _in(repository, f"/issues/{number}"), body=document), ResponsePart)

    # ---- requests

    async def _ask(
        self,
        repository: str,
        call: Call,
        answer: type[AnswerT],
        already_done: Callable[[], Awaitable[AnswerT | None]] | None = None,
    ) -> AnswerT:
        def read(reply: Reply) -> AnswerT:
            return answer.model_validate_json(reply.content)

        bearer = self._credentials.bearer(self._connection, repository)
        return await self._connection.send(call, bearer, read, already_done)

    async def _do_unless_gone(self, repository: str, call: Call) -> None:
        bearer = self._credentials.bearer(self._connection, repository)
        try:
            await self._connection.send(call, bearer, lambda _: None)
        except GitHubMissing:
            return

    async def _pages(self, repository: str, call: Call, content: Callable[[bytes], T]) -> AsyncIterator[T]:
        def read(reply: Reply) -> tuple[T, str | None]:
            return content(reply.content), reply.next_page

        bearer = self._credentials.bearer(self._connection, repository)
        for _ in range(PAGES):
            page, next_page = await self._connection.send(call, bearer, read)
            yield page
            if next_page is None:
                return
            call = Call("GET", next_page)
        raise GitHubResponseUnusable(f"{call}: more than {PAGES} pages")


def _in(repository: str, path: str) -> str:
    if not REPOSITORY.fullmatch(repository):
        raise UsageError(f"{repository!r} is no repository of GitHub", hint="name it OWNER/NAME")
    return f"/repos/{repository}{path}"


def _marked(marker: str, body: str) -> str:
    return f"{hidden_marker(marker)}\n{body}"
