"""The client of GitHub's API, with a server that plays GitHub by GitHub's own description."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from github_description import Description, NotInstalled, description_path
from github_operations import OPERATIONS
from github_state import APP, LAB, TOKEN
from played_github import Kind, PlayedGitHub
from structlog.testing import capture_logs
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.errors import UsageError
from zerolap.github import (
    AppKey,
    CheckContent,
    ChecksForbidden,
    Clock,
    Credentials,
    GitHub,
    GitHubFault,
    GitHubForbidden,
    GitHubInvalid,
    GitHubMissing,
    GitHubRefused,
    GitHubResponseUnusable,
    GitHubUnauthorised,
    GitHubUnavailable,
    LineAnnotation,
    Patience,
    StatusContent,
    TokenFile,
    hidden_marker,
    http_connection as connection,
)

REPOSITORY = "octo/server"
NUMBER = 7
HEAD, BASE = "a" * 40, "b" * 40
MARKER = "comparison"
APP_ID = "123456"
BOT = f"{APP}[bot]"
LOST_ANSWERS: list[Kind] = ["closes_afterwards", "error_afterwards", "truncated", "hangs_afterwards"]
FAILURES: list[Kind] = [
    "error",
    "gateway_error",
    "closes",
    "hangs",
    "too_many",
    "retry_later",
    "limit_used_up",
    *LOST_ANSWERS,
]

T = TypeVar("T")


@dataclass
class StoppedClock:
    """A clock that goes on only when it is slept by."""

    seconds: float = 1_800_000_000.0
    sleeps: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.seconds += seconds

    def clock(self) -> Clock:
        return Clock(self.now, self.now, self.sleep)


class Lab:
    """A client, and the event loop that it is used in."""

    def __init__(self, github: PlayedGitHub, clock: StoppedClock, credentials: Credentials) -> None:
        self.github = github
        self.clock = clock
        self.credentials = credentials
        self.patience = Patience(request_seconds=PATIENCE_SECONDS, total_seconds=300.0, chance=random.Random(1))

    def meets(self, kind: Kind, **where: Any) -> None:
        """Have a request fail; the time limit of requests is short where no answer comes."""
        if kind.startswith("hangs"):
            # Answers that a slow machine gives later than that are asked for again.
            self.patience = Patience(request_seconds=0.5, total_seconds=1e6)
        self.github.misbehave(kind, **where)

    def does(self, work: Callable[[GitHub], Awaitable[T]]) -> T:
        async def scenario() -> T:
            async with GitHub(
                self.github.url, self.credentials, patience=self.patience, clock=self.clock.clock()
            ) as client:
                return await work(client)

        return asyncio.run(scenario())

    def keeps(self, body: str, known_id: int | None = None) -> int:
        return self.does(lambda client: client.keep_comment(REPOSITORY, NUMBER, MARKER, body, known_id))


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def github(clock: StoppedClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlayedGitHub]:
    monkeypatch.setenv("NO_PROXY", "*")
    try:
        description_path()
    except NotInstalled as reason:
        pytest.skip(str(reason))
    with PlayedGitHub.started(clock.now) as started:
        started.add_repository(REPOSITORY)
        started.add_pull_request(REPOSITORY, NUMBER, HEAD, BASE)
        yield started
    assert started.violations == []


@pytest.fixture
def lab(github: PlayedGitHub, clock: StoppedClock, tmp_path: Path) -> Lab:
    """The lab with a personal token."""
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    return Lab(github, clock, TokenFile(tmp_path / "token"))


@pytest.fixture(scope="module")
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def app(github: PlayedGitHub, clock: StoppedClock, tmp_path: Path, private_key: rsa.RSAPrivateKey) -> Lab:
    """The lab as a GitHub App."""
    public = private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    github.install_app(APP_ID, public.decode())
    (tmp_path / "key.pem").write_bytes(_pem(private_key))
    return Lab(github, clock, AppKey(APP_ID, tmp_path / "key.pem"))


def _pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _text(body: str) -> str:
    return f"{hidden_marker(MARKER)}\n{body}"


# ---- the comment


def test_there_is_one_comment_which_is_updated_in_place(lab: Lab) -> None:
    first = lab.keeps("0 of 12 cases")
    assert [lab.keeps("6 of 12 cases", first), lab.keeps("12 of 12 cases", first)] == [first, first]
    assert lab.github.bodies(REPOSITORY, NUMBER, None) == [_text("12 of 12 cases")]


def test_a_comment_that_is_as_it_is_to_be_is_not_written_again(lab: Lab) -> None:
    kept = lab.keeps("done")
    lab.keeps("done", kept)
    lab.keeps("done")
    assert lab.github.asked("issues/update-comment") == []


def test_the_comment_is_found_again_without_its_id(lab: Lab) -> None:
    first = lab.keeps("6 of 12 cases")
    assert lab.keeps("12 of 12 cases") == first
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


def test_comments_with_different_markers_do_not_touch_each_other(lab: Lab) -> None:
    lab.keeps("a comparison")
    lab.does(lambda client: client.keep_comment(REPOSITORY, NUMBER, f"{MARKER}-2", "another", None))
    lab.keeps("the comparison")
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("the comparison"), "<!-- zerolap comparison-2 -->\nanother"]


def test_what_someone_else_wrote_into_the_comment_is_replaced(lab: Lab) -> None:
    kept = lab.keeps("6 of 12 cases")
    lab.github.edit_comment(REPOSITORY, kept, "all is well, merge it")
    assert lab.keeps("12 of 12 cases", kept) == kept
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


def test_a_deleted_comment_is_written_anew(lab: Lab) -> None:
    deleted = lab.keeps("6 of 12 cases")
    lab.github.delete_comment(REPOSITORY, deleted)
    assert lab.keeps("12 of 12 cases", deleted) != deleted
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


def test_a_comment_of_another_author_with_the_marker_is_never_touched(lab: Lab) -> None:
    forged = lab.github.comment(REPOSITORY, NUMBER, "mallory", _text("no regression"))
    assert lab.keeps("a regression", known_id=forged) != forged
    assert lab.keeps("12 of 12 cases") != forged
    assert lab.github.bodies(REPOSITORY, NUMBER, "mallory") == [_text("no regression")]
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


def test_a_marker_that_is_not_at_the_start_is_a_quotation(lab: Lab) -> None:
    quoting = lab.github.comment(REPOSITORY, NUMBER, LAB, f"see {_text('a regression')}")
    assert lab.keeps("12 of 12 cases") != quoting
    assert len(lab.github.bodies(REPOSITORY, NUMBER)) == 2


def test_the_comment_is_found_behind_many_of_others(lab: Lab) -> None:
    for number in range(130):
        lab.github.comment(REPOSITORY, NUMBER, "reviewer", f"remark {number}")
    kept = lab.keeps("6 of 12 cases")
    for number in range(130):
        lab.github.comment(REPOSITORY, NUMBER, "reviewer", f"further remark {number}")
    assert lab.keeps("12 of 12 cases") == kept

    async def read(client: GitHub) -> list[str]:
        return [comment.body async for comment in client.comments(REPOSITORY, NUMBER)]

    assert lab.does(read) == lab.github.bodies(REPOSITORY, NUMBER, None)
    assert len(lab.github.bodies(REPOSITORY, NUMBER, None)) == 261


def test_of_two_comments_of_processes_that_raced_the_oldest_is_left(lab: Lab) -> None:
    oldest = lab.github.comment(REPOSITORY, NUMBER, LAB, _text("by one process"))
    lab.github.comment(REPOSITORY, NUMBER, LAB, _text("by another"))
    assert lab.keeps("12 of 12 cases") == oldest
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


def test_processes_that_write_at_the_same_time_end_with_one_comment(lab: Lab) -> None:
    async def race(client: GitHub) -> list[int]:
        works = (client.keep_comment(REPOSITORY, NUMBER, MARKER, f"by {name}", None) for name in range(5))
        return list(await asyncio.gather(*works))

    kept = lab.does(race)
    assert len(set(kept)) == 1
    assert len(lab.github.bodies(REPOSITORY, NUMBER)) == 1


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_while_the_comment_is_created_leaves_one_comment(lab: Lab, kind: Kind) -> None:
    lab.meets(kind, method="POST", path="/comments")
    kept = lab.keeps("12 of 12 cases")
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]
    assert list(lab.github.repositories[REPOSITORY].comments) == [kept]


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_while_the_comment_is_updated_leaves_it_updated(lab: Lab, kind: Kind) -> None:
    kept = lab.keeps("6 of 12 cases")
    lab.meets(kind, method="PATCH")
    assert lab.keeps("12 of 12 cases", kept) == kept
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


def test_a_comment_whose_creation_was_given_up_is_found_later(lab: Lab) -> None:
    lab.patience = Patience(total_seconds=0.0)
    lab.github.misbehave("closes_afterwards", method="POST", path="/comments")
    with pytest.raises(GitHubUnavailable):
        lab.keeps("6 of 12 cases")
    lab.keeps("12 of 12 cases")
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


def test_a_comment_that_is_created_by_itself_is_there_once_when_the_answer_is_lost(lab: Lab) -> None:
    lab.github.misbehave("closes_afterwards", method="POST", path="/comments", count=1)
    comment = lab.does(lambda client: client.create_comment(REPOSITORY, NUMBER, "reply-81", "accepted"))
    assert lab.github.bodies(REPOSITORY, NUMBER) == [comment.body] == ["<!-- zerolap reply-81 -->\naccepted"]


def test_a_comment_can_be_reacted_to_and_read(lab: Lab) -> None:
    command = lab.github.comment(REPOSITORY, NUMBER, "maintainer", "/zerolap run geo*")

    async def react(client: GitHub) -> str:
        await client.add_reaction(REPOSITORY, command)
        await client.add_reaction(REPOSITORY, command)
        return (await client.comment(REPOSITORY, command)).body

    assert lab.does(react) == "/zerolap run geo*"
    assert lab.github.repositories[REPOSITORY].reactions == [{"comment": command, "content": "+1", "user": LAB}]


@pytest.mark.parametrize("marker", ["", "a -->", "a b", "a--b", "-a", "a\n"])
def test_a_marker_cannot_end_the_comment_that_hides_it(marker: str) -> None:
    with pytest.raises(ValueError, match="no marker"):
        hidden_marker(marker)


# ---- waiting


def test_as_long_as_github_asks_for_is_waited(lab: Lab) -> None:
    lab.github.misbehave("retry_later", seconds=42)
    lab.github.misbehave("too_many", seconds=17)
    lab.keeps("done")
    assert lab.clock.sleeps == [42.0, 17.0]


def test_the_end_of_the_hours_limit_is_waited_for(lab: Lab) -> None:
    lab.github.misbehave("limit_used_up", seconds=100)
    lab.keeps("done")
    assert lab.clock.sleeps == [101.0]


def test_a_limit_without_an_end_is_waited_out_for_a_minute(lab: Lab) -> None:
    lab.github.misbehave("too_many_unexplained")
    lab.keeps("done")
    assert lab.clock.sleeps == [60.0]


def test_waits_become_longer_and_are_not_the_same_for_all(lab: Lab) -> None:
    lab.github.misbehave("error", count=5)
    lab.does(lambda client: client.pull_request(REPOSITORY, NUMBER))
    for tries, seconds in enumerate(lab.clock.sleeps):
        assert 2**tries / 2 <= seconds <= 2**tries
    assert len(lab.clock.sleeps) == 5
    assert lab.clock.sleeps != [1.0, 2.0, 4.0, 8.0, 16.0]


@pytest.mark.parametrize("kind", ["error", "gateway_error", "closes", "too_many", "truncated"])
def test_patience_ends(lab: Lab, kind: Kind) -> None:
    lab.github.misbehave(kind, count=1000)
    with pytest.raises(GitHubUnavailable) as raised:
        lab.does(lambda client: client.pull_request(REPOSITORY, NUMBER))
    assert (
        sum(lab.clock.sleeps) <= lab.patience.total_seconds < sum(lab.clock.sleeps) + raised.value.retry_after_seconds
    )
    assert "GET /repos/octo/server/pulls/7" in raised.value.message


def test_a_limit_beyond_the_patience_is_not_waited_for_but_reported(lab: Lab) -> None:
    lab.github.misbehave("limit_used_up", seconds=3000)
    with pytest.raises(GitHubUnavailable) as raised:
        lab.keeps("done")
    assert raised.value.retry_after_seconds == 3001
    assert lab.clock.sleeps == []


def test_a_server_that_is_not_there_is_unavailable(lab: Lab) -> None:
    lab.patience = Patience(total_seconds=10)
    lab.github.server.server_close()
    with pytest.raises(GitHubUnavailable, match="no connection"):
        lab.keeps("done")
    assert len(lab.clock.sleeps) > 2


# ---- refusals


def test_what_github_does_not_accept_is_reported_in_its_words(lab: Lab) -> None:
    with pytest.raises(GitHubInvalid, match=r"422 Validation Failed; custom Body is too long") as raised:
        lab.keeps("x" * 70_000)
    assert raised.value.status == 422
    assert lab.clock.sleeps == []


def test_what_the_token_does_not_permit_is_not_tried_again(lab: Lab) -> None:
    lab.github.misbehave("forbidden", method="POST")
    with pytest.raises(GitHubForbidden, match="Resource not accessible"):
        lab.keeps("done")
    assert len(lab.github.asked("")) + len(lab.github.asked("issues/create-comment")) == 1


def test_a_token_that_is_not_valid_is_reported(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("github_pat_expired")
    with pytest.raises(GitHubUnauthorised, match="Bad credentials"):
        lab.keeps("done")
    assert lab.clock.sleeps == []


def test_a_token_that_was_replaced_in_its_file_is_used_from_then_on(lab: Lab, tmp_path: Path) -> None:
    async def replaced(client: GitHub) -> None:
        await client.keep_comment(REPOSITORY, NUMBER, MARKER, "6 of 12 cases", None)
        lab.github.personal_tokens = {"github_pat_next": LAB}
        (tmp_path / "token").write_text("github_pat_next")
        await client.keep_comment(REPOSITORY, NUMBER, MARKER, "12 of 12 cases", None)

    lab.does(replaced)
    assert lab.github.bodies(REPOSITORY, NUMBER) == [_text("12 of 12 cases")]


@pytest.mark.parametrize("content", ["", " \n", "two words", None])
def test_a_file_without_a_token_is_an_error_of_the_user(lab: Lab, tmp_path: Path, content: str | None) -> None:
    (tmp_path / "token").unlink()
    if content is not None:
        (tmp_path / "token").write_text(content)
    with pytest.raises(UsageError, match="token"):
        lab.keeps("done")


@pytest.mark.parametrize(
    "name", ["server", "octo/..", "octo/server/..", "octo/../orgs", "octo/ser ver", "octo/a?b", "/"]
)
def test_a_name_that_is_no_repository_reaches_nothing(lab: Lab, name: str) -> None:
    with pytest.raises(UsageError, match="no repository"):
        lab.does(lambda client: client.pull_request(name, NUMBER))
    assert lab.github.requests == []


def test_a_renamed_repository_is_followed(lab: Lab) -> None:
    kept = lab.keeps("6 of 12 cases")
    lab.github.rename(REPOSITORY, "octo/renamed")
    assert lab.keeps("12 of 12 cases", kept) == kept
    lab.github.comment("octo/renamed", NUMBER, LAB, "<!-- zerolap other -->\nother")
    assert lab.keeps("12 of 12 cases") == kept
    assert lab.github.bodies("octo/renamed", NUMBER)[0] == _text("12 of 12 cases")


def test_no_redirection_leads_to_another_host(lab: Lab) -> None:
    lab.github.misbehave("leads_elsewhere")
    with pytest.raises(GitHubResponseUnusable, match="another host"):
        lab.does(lambda client: client.pull_request(REPOSITORY, NUMBER))


def test_tokens_are_sent_unencrypted_only_on_this_machine(lab: Lab) -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        GitHub("http://github.example", lab.credentials)


def test_an_answer_without_end_is_not_read(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST_ANSWER_BYTES", 10_000)
    lab.github.comment(REPOSITORY, NUMBER, "mallory", "x" * 60_000)
    with pytest.raises(GitHubResponseUnusable, match="more than 10000 bytes"):
        lab.keeps("done")


# ---- checks and statuses


def test_a_check_goes_from_queued_to_its_conclusion(app: Lab) -> None:
    async def checks(client: GitHub) -> int:
        queued = CheckContent("queued", "Waiting", "12 cases")
        identifier = await client.create_check(REPOSITORY, HEAD, "benchmarks", "c-1", queued)
        await client.update_check(REPOSITORY, identifier, CheckContent("in_progress", "Measuring", "6 of 12 cases"))
        done = CheckContent("completed", "1 regression", "XADD", "failure", "https://lab.example/c-1")
        await client.update_check(REPOSITORY, identifier, done)
        assert await client.find_check(REPOSITORY, HEAD, "benchmarks", "c-1") == identifier
        assert await client.find_check(REPOSITORY, HEAD, "benchmarks", "c-2") is None
        return identifier

    check = app.github.repositories[REPOSITORY].checks[app.does(checks)]
    assert (check["head_sha"], check["external_id"], check["conclusion"]) == (HEAD, "c-1", "failure")
    assert (check["status"], check["details_url"], check["output"]["title"]) == (
        "completed",
        "https://lab.example/c-1",
        "1 regression",
    )
    statuses = [
        request.body["status"] for request in app.github.requests if "check-runs" in request.path and request.body
    ]
    assert statuses == ["queued", "in_progress", "completed"]


def _annotated(count: int) -> CheckContent:
    annotations = (
        LineAnnotation("src/t_stream.c", line, line, "warning", f"annotation {line}", "XADD")
        for line in range(1, count + 1)
    )
    return CheckContent("completed", "1 regression", "XADD", "failure", annotations=tuple(annotations))


def _annotations(lab: Lab, check_id: int) -> list[str]:
    return [annotation["message"] for annotation in lab.github.repositories[REPOSITORY].annotations[check_id]]


@pytest.mark.parametrize("count", [0, 1, 50, 51, 120])
def test_annotations_are_sent_in_batches_and_the_conclusion_with_the_last(app: Lab, count: int) -> None:
    check = _annotated(count)
    identifier = app.does(lambda client: client.create_check(REPOSITORY, HEAD, "benchmarks", "c-1", check))
    assert _annotations(app, identifier) == [annotation.message for annotation in check.annotations]
    written = [*app.github.asked("checks/create"), *app.github.asked("checks/update")]
    assert len(written) == max(1, -(-count // 50))
    assert ["conclusion" in request.body for request in written] == [False] * (len(written) - 1) + [True]


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_failure_brings_no_check_or_annotation_twice(app: Lab, kind: Kind, method: str) -> None:
    app.meets(kind, method=method, path="/check-runs")
    check = _annotated(120)
    identifier = app.does(lambda client: client.create_check(REPOSITORY, HEAD, "benchmarks", "c-1", check))
    assert list(app.github.repositories[REPOSITORY].checks) == [identifier]
    assert _annotations(app, identifier) == [annotation.message for annotation in check.annotations]


def test_annotations_of_an_update_that_was_given_up_are_not_sent_again(app: Lab) -> None:
    check = _annotated(120)
    app.github.misbehave("limit_used_up", method="PATCH", seconds=3000)
    with pytest.raises(GitHubUnavailable):
        app.does(lambda client: client.create_check(REPOSITORY, HEAD, "benchmarks", "c-1", check))

    async def finish(client: GitHub) -> int:
        identifier = await client.find_check(REPOSITORY, HEAD, "benchmarks", "c-1")
        assert identifier is not None
        await client.update_check(REPOSITORY, identifier, check)
        await client.update_check(REPOSITORY, identifier, check)
        return identifier

    identifier = app.does(finish)
    assert _annotations(app, identifier) == [annotation.message for annotation in check.annotations]
    assert app.github.repositories[REPOSITORY].checks[identifier]["conclusion"] == "failure"


def test_only_annotations_that_are_not_there_are_added(app: Lab) -> None:
    check = _annotated(3)
    first, second, third = check.annotations
    # Others come before those that are there, and what is said of the same lines may be new.
    again = replace(check, annotations=(third, replace(first, message="again"), second))

    async def add(client: GitHub) -> int:
        identifier = await client.create_check(
            REPOSITORY, HEAD, "benchmarks", "c-1", replace(check, annotations=(first,))
        )
        await client.update_check(REPOSITORY, identifier, again)
        await client.update_check(REPOSITORY, identifier, again)
        return identifier

    assert _annotations(app, app.does(add)) == ["annotation 1", "annotation 3", "annotation 2"]


def test_a_personal_token_falls_back_on_commit_statuses(lab: Lab) -> None:
    async def report(client: GitHub) -> None:
        try:
            await client.create_check(
                REPOSITORY, HEAD, "benchmarks", "c-1", CheckContent("queued", "Waiting", "12 cases")
            )
        except ChecksForbidden:
            status = StatusContent("pending", "zerolap/benchmarks", "é" * 200, "https://lab.example/c-1")
            await client.set_status(REPOSITORY, HEAD, status)

    lab.does(report)
    assert lab.github.repositories[REPOSITORY].checks == {}
    [status] = lab.github.repositories[REPOSITORY].statuses
    assert (status["sha"], status["state"], status["context"]) == (HEAD, "pending", "zerolap/benchmarks")
    assert status["description"] == "é" * 139 + "…"


# ---- pull requests and issues


def test_a_pull_request_is_read(lab: Lab) -> None:
    other = {"user": "someone", "fork": "someone/server", "branch": "faster"}
    lab.github.add_pull_request(REPOSITORY, 8, "c" * 40, BASE, base="7.2", **other)

    async def read(client: GitHub) -> None:
        own, fork = [await client.pull_request(REPOSITORY, number) for number in (NUMBER, 8)]
        assert (own.head.sha, own.base.sha, own.base.ref, own.is_fork) == (HEAD, BASE, "unstable", False)
        assert (fork.head.ref, fork.base.ref, fork.is_fork, fork.state) == ("faster", "7.2", True, "open")
        assert fork.user is not None
        assert fork.head.repo is not None
        assert (fork.user.login, fork.head.repo.full_name) == ("someone", "someone/server")

    lab.does(read)


def test_a_pull_request_whose_fork_was_deleted_is_of_a_fork(lab: Lab) -> None:
    lab.github.repositories[REPOSITORY].pull_requests[NUMBER]["head"]["repo"] = None
    with pytest.MonkeyPatch.context() as patch:
        # GitHub answers so, but does not describe it.
        patch.setattr(lab.github.description, "answer", _with_deleted_fork(lab.github.description))
        assert lab.does(lambda client: client.pull_request(REPOSITORY, NUMBER)).is_fork
    assert len(lab.github.violations) == 1
    lab.github.violations.clear()


def _with_deleted_fork(description: Description) -> Callable[[str, int, Any], Any]:
    filled = description.answer

    def answer(operation: str, status: int, given: Any) -> Any:
        document = filled(operation, status, given)
        document["head"]["repo"] = None
        return document

    return answer


def test_the_permission_of_a_person_is_read(lab: Lab) -> None:
    roles = ["admin", "maintain", "write", "triage", "read"]
    for role in roles:
        lab.github.permit(REPOSITORY, role, role)

    async def read(client: GitHub) -> list[str]:
        return [await client.permission(REPOSITORY, user) for user in (*roles, "x/../admin")]

    assert lab.does(read) == [*roles, "none"]


def test_a_role_of_an_organization_counts_as_what_it_was_made_of(lab: Lab) -> None:
    lab.github.permit(REPOSITORY, "captain", "maintain", "release captain")
    lab.github.permit(REPOSITORY, "mallory", "read", "maintain")

    async def read(client: GitHub) -> list[str]:
        return [await client.permission(REPOSITORY, user) for user in ("captain", "mallory")]

    assert lab.does(read) == ["write", "read"]


@pytest.mark.parametrize("kind", FAILURES)
def test_a_regression_has_one_issue_from_its_opening_to_its_end(lab: Lab, kind: Kind) -> None:
    lab.meets(kind, method="POST", path="/issues")

    async def report(client: GitHub) -> int:
        issue = await client.create_issue(REPOSITORY, "change/c-12", "XADD is slower", "by 4 %", ("regression",))
        assert (await client.create_issue(REPOSITORY, "change/c-12", "XADD is slower", "by 4 %")).number == issue.number
        assert (await client.create_issue(REPOSITORY, "change/c-13", "GET is slower", "by 2 %")).number != issue.number
        await client.close_issue(REPOSITORY, issue.number, "It is as fast as it was.")
        assert await client.find_issue(REPOSITORY, "change/c-12") is None
        return issue.number

    number = lab.does(report)
    issue = lab.github.repositories[REPOSITORY].issues[number]
    assert (issue["state"], issue["state_reason"], issue["labels"]) == ("closed", "completed", [{"name": "regression"}])
    assert [body.endswith("It is as fast as it was.") for body in lab.github.bodies(REPOSITORY, number)] == [True]
    assert len(lab.github.repositories[REPOSITORY].issues) == 3


def test_a_pull_request_with_the_marker_is_no_issue(lab: Lab) -> None:
    lab.github.repositories[REPOSITORY].issues[NUMBER] |= {
        "user": {"login": LAB},
        "body": f"{hidden_marker('change/c-12')}\n",
    }
    assert lab.does(lambda client: client.find_issue(REPOSITORY, "change/c-12")) is None


def test_an_issue_of_another_author_with_the_marker_is_not_the_labs(lab: Lab) -> None:
    forged = {"number": 90, "state": "open", "user": {"login": "mallory"}, "body": f"{hidden_marker('change/c-12')}\n"}
    lab.github.repositories[REPOSITORY].issues[90] = forged
    assert lab.does(lambda client: client.find_issue(REPOSITORY, "change/c-12")) is None


# ---- a GitHub App


def test_an_app_writes_with_its_own_name(app: Lab) -> None:
    kept = app.keeps("6 of 12 cases")
    assert app.keeps("12 of 12 cases") == kept
    assert app.github.bodies(REPOSITORY, NUMBER, BOT) == [_text("12 of 12 cases")]
    assert app.github.asked("apps/create-installation-access-token")[0].body == {"repositories": ["server"]}


def test_the_token_of_an_app_is_kept_until_shortly_before_its_end(app: Lab) -> None:
    async def write(client: GitHub) -> list[int]:
        granted = []
        for seconds in (0, 1800, 1400, 200):
            app.clock.seconds += seconds
            await client.pull_request(REPOSITORY, NUMBER)
            granted.append(len(app.github.asked("apps/create-installation-access-token")))
        return granted

    assert app.does(write) == [1, 1, 1, 2]


def test_a_token_that_was_revoked_is_renewed(app: Lab) -> None:
    async def write(client: GitHub) -> None:
        kept = await client.keep_comment(REPOSITORY, NUMBER, MARKER, "6 of 12 cases", None)
        app.github.revoke_tokens()
        await client.keep_comment(REPOSITORY, NUMBER, MARKER, "12 of 12 cases", kept)

    app.does(write)
    assert app.github.bodies(REPOSITORY, NUMBER, BOT) == [_text("12 of 12 cases")]
    assert app.clock.sleeps == []


def test_many_requests_at_once_share_a_token(app: Lab) -> None:
    async def read(client: GitHub) -> None:
        await asyncio.gather(*(client.pull_request(REPOSITORY, NUMBER) for _ in range(8)))

    app.does(read)
    assert len(app.github.asked("apps/create-installation-access-token")) == 1


def test_an_app_that_is_not_installed_has_no_token(app: Lab) -> None:
    with pytest.raises(GitHubMissing, match="installation"):
        app.does(lambda client: client.pull_request("octo/other", NUMBER))


def test_an_app_with_the_key_of_another_is_refused(app: Lab, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(_pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)))
    with pytest.raises(GitHubUnauthorised):
        app.keeps("done")


@pytest.mark.parametrize("content", [b"", b"no key", _pem(ec.generate_private_key(ec.SECP256R1()))])
def test_a_file_without_an_rsa_key_is_an_error_of_the_user(app: Lab, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key.pem").write_bytes(content)
    with pytest.raises(UsageError, match="key"):
        app.keeps("done")


# ---- tokens stay where they are


@pytest.mark.parametrize("who", ["lab", "app"])
def test_no_token_is_logged_or_in_an_error(
    who: str, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    lab: Lab = request.getfixturevalue(who)
    said: list[str] = [repr(lab.credentials), str(vars(lab.credentials))]
    with capture_logs() as logged:
        kept = lab.keeps("6 of 12 cases")
        for kind in ("error", "closes", "gateway_error", "truncated", "retry_later", "invalid", "forbidden"):
            lab.github.misbehave(kind, count=1000, path="/issues")
            with pytest.raises(GitHubFault) as raised:
                lab.keeps("12 of 12 cases", kept)
            said += ["".join(traceback.format_exception(raised.value)), repr(raised.value), str(vars(raised.value))]
            lab.github.misbehaviours.clear()
        said += [str(vars(lab.credentials)), json.dumps(lab.github.state())]
    said += [str(logged), caplog.text]
    tokens = {TOKEN, *lab.github.installation_tokens, "ghs_", "eyJ", "PRIVATE"}
    assert len(logged) > 20
    assert [token for token in tokens if any(token in text for text in said)] == []


def test_a_token_that_github_repeats_is_not_shown(lab: Lab) -> None:
    lab.github.misbehave("repeats_token")
    with pytest.raises(GitHubRefused, match=r"400 cannot use Bearer \(token\)"):
        lab.does(lambda client: client.pull_request(REPOSITORY, NUMBER))


# ---- the server that plays GitHub


def test_what_github_does_not_describe_is_a_violation(lab: Lab) -> None:
    def violations(method: str, path: str, body: object = None) -> list[str]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(trust_env=False, timeout=PATIENCE_SECONDS) as client:
            response = client.request(method, f"{lab.github.url}{path}", json=body, headers=headers)
        assert response.status_code in {404, 422}
        found, lab.github.violations = lab.github.violations, []
        return found

    at = f"/repos/{REPOSITORY}"
    assert violations("GET", f"{at}/nonsense")
    assert violations("POST", f"{at}/issues/7/comments")
    assert violations("POST", f"{at}/issues/7/comments", {"text": "hello"})
    assert violations("POST", f"{at}/issues/7/comments", {"body": None})
    assert violations("POST", f"{at}/issues/7/comments", {"body": "hello", "colour": "red"})
    assert violations("GET", f"{at}/issues/7/comments?size=5")
    assert violations("GET", f"{at}/issues/seven/comments")
    assert violations("POST", f"{at}/statuses/{HEAD}", {"state": "good"})
    annotation = {"path": "a.c", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "x"}
    output = {"title": "x", "summary": "x", "annotations": [annotation] * 51}
    assert violations("POST", f"{at}/check-runs", {"name": "x", "head_sha": HEAD, "output": output})
    wrong = {**annotation, "annotation_level": "bad"}
    assert violations(
        "POST", f"{at}/check-runs", {"name": "x", "head_sha": HEAD, "output": {**output, "annotations": [wrong]}}
    )


def test_an_answer_that_github_would_not_give_is_a_violation(lab: Lab) -> None:
    lab.github.repositories[REPOSITORY].pull_requests[NUMBER]["state"] = "unknown"
    with pytest.raises(GitHubResponseUnusable, match="unexpected answer: state"):
        lab.does(lambda client: client.pull_request(REPOSITORY, NUMBER))
    assert "unknown" in lab.github.violations[0]
    lab.github.violations.clear()


def test_null_is_accepted_only_where_github_describes_it(github: PlayedGitHub) -> None:
    described = github.description.find("GET", f"/repos/{REPOSITORY}/issues/comments/1")
    assert described is not None
    comment = github.description.answer("issues/get-comment", 200, {"id": 1, "body": "x"})
    assert comment["user"] is None
    assert github.description.faults_of_answer(described[0], 200, comment) == []
    assert github.description.faults_of_answer(described[0], 200, {**comment, "html_url": None}) != []


def test_it_runs_as_a_program(github: PlayedGitHub, tmp_path: Path) -> None:
    """So it is used by the demo: arranged, told to misbehave and looked at over HTTP."""
    file = tmp_path / "address"
    program = Path(__file__).parent / "played_github.py"
    paths = [str(Path(__file__).parent), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    process = subprocess.Popen([sys.executable, program, "--address-file", file], env=environment)
    try:
        wait_until(lambda: file.exists() or process.poll() is not None)
        address = file.read_text().strip()
        with httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE_SECONDS) as client:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            assert client.post("/_arrange", json={"do": "add_repository", "name": REPOSITORY}).is_success
            pull_request = {
                "repository": REPOSITORY,
                "number": 3,
                "head_sha": HEAD,
                "base_sha": BASE,
                "labels": ["run"],
            }
            assert client.post("/_arrange", json={"do": "add_pull_request", **pull_request}).is_success
            assert client.post("/_arrange", json={"do": "server"}).status_code == 404
            assert client.post("/_misbehave", json={"kind": "gateway_error", "method": "GET"}).is_success
            statuses = [client.get(f"/repos/{REPOSITORY}/pulls/3", headers=headers).status_code for _ in range(2)]
            assert statuses == [502, 200]
            state = client.get("/_state").json()
            assert state["repositories"][REPOSITORY]["pull_requests"]["3"]["head"]["sha"] == HEAD
            assert state["violations"] == []
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()


def test_all_that_is_played_is_described(github: PlayedGitHub) -> None:
    assert {operation.name for operation in github.description.operations} == OPERATIONS.keys()
