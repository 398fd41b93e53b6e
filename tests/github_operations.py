"""The operations of GitHub's API that are played, by GitHub's names for them.

Each returns a status and the content of the answer; what is left out of it is filled in by GitHub's description.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from github_state import APP, CommentText, GitHubState, PlayedRepository, Refusal

MOST_CHARACTERS: Final = 65_536
TOKEN_SECONDS: Final = 3600


@dataclass(frozen=True)
class Asked:
    """What an operation gets: `parameters` are those of the path."""

    github: GitHubState
    parameters: dict[str, str]
    query: dict[str, str]
    body: Any
    identity: str

    @property
    def repository(self) -> PlayedRepository:
        """The repository in the path."""
        return self.github.repository(self.parameters)

    def number(self, name: str) -> int:
        """Return a number in the path."""
        return int(self.parameters[name])

    def element(self, elements: dict[int, dict[str, Any]], name: str) -> dict[str, Any]:
        """Return what a number in the path names."""
        if self.number(name) not in elements:
            raise Refusal(404, "Not Found")
        return elements[self.number(name)]

    def permitted(self, is_permitted: bool, message: str = "Resource not accessible by integration") -> None:
        """Refuse what the token does not permit."""
        if not is_permitted:
            raise Refusal(403, message)


def _user(asked: Asked) -> tuple[int, Any]:
    asked.permitted(not asked.identity.endswith("[bot]"))
    return 200, {"login": asked.identity}


def _app(asked: Asked) -> tuple[int, Any]:
    asked.permitted(asked.identity.startswith("app:"))
    return 200, {"slug": APP}


def _installation(asked: Asked) -> tuple[int, Any]:
    asked.permitted(asked.identity.startswith("app:"))
    return 200, {"id": asked.repository.id + 50_000}


def _installation_token(asked: Asked) -> tuple[int, Any]:
    asked.permitted(asked.identity.startswith("app:"))
    github = asked.github
    installed = {repository.id + 50_000: name for name, repository in github.repositories.items()}
    name = installed.get(asked.number("installation_id"))
    if name is None:
        raise Refusal(404, "Not Found")
    if asked.body and asked.body["repositories"] != [name.partition("/")[2]]:
        raise Refusal(422, "There is at least one repository that does not exist or is not accessible")
    token, end = f"ghs_played{github.next_id()}", github.now() + TOKEN_SECONDS
    github.installation_tokens[token] = (name, end)
    return 201, {"token": token, "expires_at": f"{datetime.fromtimestamp(math.floor(end), UTC):%Y-%m-%dT%H:%M:%SZ}"}


def _list_comments(asked: Asked) -> tuple[int, Any]:
    asked.element(asked.repository.issues, "issue_number")
    return 200, asked.github.comments_on(asked.repository.name, asked.number("issue_number"))


def _create_comment(asked: Asked) -> tuple[int, Any]:
    asked.element(asked.repository.issues, "issue_number")
    _check_text(asked.body["body"])
    identifier = asked.github.comment(
        asked.repository.name, asked.number("issue_number"), asked.identity, asked.body["body"]
    )
    return 201, asked.repository.comments[identifier]


def _get_comment(asked: Asked) -> tuple[int, Any]:
    return 200, asked.element(asked.repository.comments, "comment_id")


def _update_comment(asked: Asked) -> tuple[int, Any]:
    comment = asked.element(asked.repository.comments, "comment_id")
    _check_text(asked.body["body"])
    comment["body"] = asked.body["body"]
    asked.repository.comment_texts.append(CommentText(comment["id"], asked.identity, comment["body"]))
    return 200, comment


def _delete_comment(asked: Asked) -> tuple[int, Any]:
    asked.element(asked.repository.comments, "comment_id")
    del asked.repository.comments[asked.number("comment_id")]
    return 204, None


def _react(asked: Asked) -> tuple[int, Any]:
    asked.element(asked.repository.comments, "comment_id")
    reaction = {"comment": asked.number("comment_id"), "content": asked.body["content"], "user": asked.identity}
    is_new = reaction not in asked.repository.reactions
    if is_new:
        asked.repository.reactions.append(reaction)
    return 201 if is_new else 200, {"content": reaction["content"], "user": {"login": asked.identity}}


def _create_check(asked: Asked) -> tuple[int, Any]:
    asked.permitted(asked.identity.endswith("[bot]"), "You must authenticate via a GitHub App.")
    identifier = asked.github.next_id()
    run = {"id": identifier, "status": "queued", "conclusion": None, "details_url": None, "external_id": None}
    asked.repository.checks[identifier] = run
    asked.repository.annotations[identifier] = []
    return 201, _changed_check(asked, run)


def _get_check(asked: Asked) -> tuple[int, Any]:
    return 200, asked.element(asked.repository.checks, "check_run_id")


def _update_check(asked: Asked) -> tuple[int, Any]:
    asked.permitted(asked.identity.endswith("[bot]"), "You must authenticate via a GitHub App.")
    return 200, _changed_check(asked, asked.element(asked.repository.checks, "check_run_id"))


def _changed_check(asked: Asked, run: dict[str, Any]) -> dict[str, Any]:
    body = dict(asked.body)
    output = body.pop("output", None)
    if output is not None:
        annotations = asked.repository.annotations[run["id"]]
        annotations += output.get("annotations", [])
        run["output"] = {"title": output.get("title"), "summary": output["summary"], "text": output.get("text")}
        run["output"] |= {"annotations_count": len(annotations)}
    if "conclusion" in body:
        body["status"] = "completed"
    elif body.get("status") == "completed":
        raise Refusal(422, "Invalid request.", {"resource": "CheckRun", "code": "missing_field", "field": "conclusion"})
    run.update(body)
    return run


def _list_annotations(asked: Asked) -> tuple[int, Any]:
    asked.element(asked.repository.checks, "check_run_id")
    return 200, asked.repository.annotations[asked.number("check_run_id")]


def _list_checks(asked: Asked) -> tuple[int, Any]:
    name = asked.query.get("check_name")
    runs = [
        run
        for run in reversed(asked.repository.checks.values())
        if run["head_sha"] == asked.parameters["ref"] and name in {None, run["name"]}
    ]
    return 200, {"total_count": len(runs), "check_runs": runs}


def _create_status(asked: Asked) -> tuple[int, Any]:
    if len(asked.body.get("description") or "") > 140:
        raise Refusal(422, "Validation Failed", {"resource": "Status", "code": "custom", "field": "description"})
    status = {"sha": asked.parameters["sha"], "creator": {"login": asked.identity}, **asked.body}
    asked.repository.statuses.append(status)
    return 201, status


def _get_pull_request(asked: Asked) -> tuple[int, Any]:
    return 200, asked.element(asked.repository.pull_requests, "pull_number")


def _permission(asked: Asked) -> tuple[int, Any]:
    user = asked.parameters["username"]
    if user not in asked.repository.roles:
        raise Refusal(404, f"{user} is not a user")
    return 200, {**asked.repository.roles[user], "user": {"login": user}}


def _list_issues(asked: Asked) -> tuple[int, Any]:
    state, creator = asked.query.get("state", "open"), asked.query.get("creator")
    return 200, [
        issue
        for issue in reversed(asked.repository.issues.values())
        if state in {"all", issue["state"]} and creator in {None, issue["user"]["login"]}
    ]


def _create_issue(asked: Asked) -> tuple[int, Any]:
    _check_text(asked.body.get("body") or "")
    number = max(asked.repository.issues, default=0) + 1
    asked.repository.issues[number] = {
        "number": number,
        "title": asked.body["title"],
        "body": asked.body.get("body"),
        "state": "open",
        "user": {"login": asked.identity},
        "labels": [{"name": label} for label in asked.body.get("labels", [])],
        "html_url": f"{asked.github.url}/{asked.repository.name}/issues/{number}",
    }
    return 201, asked.repository.issues[number]


def _update_issue(asked: Asked) -> tuple[int, Any]:
    issue = asked.element(asked.repository.issues, "issue_number")
    issue.update(asked.body)
    return 200, issue


def _check_text(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        message = f"Body is too long (maximum is {MOST_CHARACTERS} characters)"
        raise Refusal(422, "Validation Failed", {"resource": "IssueComment", "code": "custom", "message": message})


OPERATIONS: Final[dict[str, Callable[[Asked], tuple[int, Any]]]] = {
    "users/get-authenticated": _user,
    "apps/get-authenticated": _app,
    "apps/get-repo-installation": _installation,
    "apps/create-installation-access-token": _installation_token,
    "issues/list-comments": _list_comments,
    "issues/create-comment": _create_comment,
    "issues/get-comment": _get_comment,
    "issues/update-comment": _update_comment,
    "issues/delete-comment": _delete_comment,
    "reactions/create-for-issue-comment": _react,
    "checks/create": _create_check,
    "checks/get": _get_check,
    "checks/update": _update_check,
    "checks/list-for-ref": _list_checks,
    "checks/list-annotations": _list_annotations,
    "repos/create-commit-status": _create_status,
    "pulls/get": _get_pull_request,
    "repos/get-collaborator-permission-level": _permission,
    "issues/list-for-repo": _list_issues,
    "issues/create": _create_issue,
    "issues/update": _update_issue,
}
PAGED: Final = {
    "issues/list-comments": "",
    "issues/list-for-repo": "",
    "checks/list-for-ref": "check_runs",
    "checks/list-annotations": "",
}
"""Operations with pages, and where the list is in their answers."""
