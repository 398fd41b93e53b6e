"""A regression on a branch is told once, and once that it is gone: as an issue, to another program, in Slack."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from github_description import NotInstalled, description_path
from github_state import TOKEN
from made_records import PLATFORM, a_case, a_comparison, a_work, changed
from played_github import PlayedGitHub
from simulated_fleet import made_up_cases
from structlog.testing import capture_logs
from toy_server import ToySource
from waiting import PATIENCE_SECONDS

from zerolap.build import resolve
from zerolap.documents import FalseAlarmRecord
from zerolap.github import GitHub, Patience, TokenFile
from zerolap.lab import Options, comparison_request, on_platforms
from zerolap.records import Comparison, RequestedServer, RequestState
from zerolap.store import Store
from zerolap.triggers import outbox
from zerolap.triggers.mirror import Mirror
from zerolap.triggers.notifying import Notifier
from zerolap.triggers.outbox import Outbox
from zerolap.triggers.progress import ProgressReader
from zerolap.triggers.settings import TriggerSettings, checked_settings
from zerolap.triggers.trigger import PushTrigger
from zerolap.triggers.webhooks.admission_state import stored_trigger

REPOSITORY = "redis/redis"
SUBJECT = f"{REPOSITORY}@main"
PATH_OF_SLACK = "/services/a-secret"


@dataclass
class Listener:
    """An HTTP server that takes notices; it answers with the first of `statuses`, or 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    notices: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def at(self, path: str) -> list[dict[str, Any]]:
        """Return the documents that were taken at a path."""
        return [document for place, document in self.notices if place == path]


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status = listener.statuses.pop(0) if listener.statuses else 200
            if status == 200:
                listener.notices.append((self.path, document))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    listener.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield listener
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


class Known(ProgressReader):
    """What is known of pushes whose comparisons are made up."""

    made_up: dict[str, Comparison]

    def comparison(self, identity: str) -> Comparison:
        return self.made_up[identity]


class Branch:
    """A branch whose pushes are measured as the test says."""

    def __init__(self, directory: Path, remote: ToySource, github: PlayedGitHub, listener: Listener) -> None:
        self.directory, self.remote, self.github, self.listener = directory, remote, github, listener
        self.store = Store.open(str(directory / "store"))
        self.token = directory / "token"
        slack = directory / "slack"
        for path, content in ((self.token, TOKEN), (slack, listener.url + PATH_OF_SLACK)):
            path.write_text(content)
            path.chmod(0o600)
        notify = {"issue": True, "url": f"{listener.url}/hook", "slack_url_file": str(slack)}
        repository = {"name": REPOSITORY, "clone_url": str(remote.path), "branches": ["main"], "notify": notify}
        self.settings: TriggerSettings = checked_settings({"repository": [repository]}, directory)
        self.made_up: dict[str, Comparison] = {}
        self.before = remote.first

    def push(
        self,
        *platforms: dict[str, float],
        state: RequestState = "done",
        schedule: str = "",
        since: str | None = None,
    ) -> str:
        """Push a commit whose comparisons, with the last one or `since`, have cases with these changes; returns it."""
        before = since or self.before
        commit = self.remote.commit(f"commit {time.time_ns()}")
        pushed = PushTrigger(repository=REPOSITORY, branch="main", before=before, after=commit, schedule=schedule)
        new = stored_trigger(pushed, commit, 1)
        self.store.triggers.add(new)
        base, head = (RequestedServer(source=resolve(revision, self.remote.path)) for revision in (before, commit))
        asked = comparison_request(base, head, made_up_cases(1), Options(engines=["counted"]))
        names = [f"platform-{number}" for number in range(len(platforms))]
        requests = on_platforms(asked, names, self.store.blobs)
        self.store.submit(requests)
        for request, changes in zip(requests, platforms, strict=True):
            cases = [a_case(case, a_work(_word(change), change)) for case, change in changes.items()]
            self.made_up[request.id] = a_comparison(
                cases, id=request.id, platform=changed(PLATFORM, name=request.platform)
            )
            self.store.fleet.set_state(request.id, state, "it does not build" if state == "failed" else "")
        self.store.triggers.end(new.id, "done", "", requests)
        Mirror.below(self.directory / "mirrors", str(self.remote.path)).fetch([commit])
        self.before = commit
        return commit

    def look(self, subject: str = SUBJECT) -> bool:
        """Look at the branch as the lab does after a start; returns whether nothing more is to come."""
        return asyncio.run(self._look(subject))

    async def _look(self, subject: str) -> bool:
        patience = Patience(request_seconds=PATIENCE_SECONDS, total_seconds=0.1, first_wait_seconds=0.01)
        async with GitHub(self.github.url, TokenFile(self.token), patience=patience) as client:
            progress_reader = Known(self.store, self.settings, self.directory / "mirrors", FalseAlarmRecord(self.store))
            progress_reader.made_up = self.made_up
            looked = await Notifier(
                self.store, self.settings, progress_reader, Outbox(self.store.triggers), client
            ).report(subject)
            return looked.is_over

    def issues(self) -> list[tuple[str, str]]:
        """Return the state and the title of all issues."""
        with self.github.lock:
            return [(issue["state"], issue["title"]) for issue in self.github.repositories[REPOSITORY].issues.values()]

    def told(self) -> list[tuple[str, str]]:
        """Return what another program was told: the event and the commit."""
        return [(notice["event"], notice["head"]) for notice in self.listener.at("/hook")]


def _word(change: float) -> str:
    return "same" if abs(change) < 0.005 else "regression" if change > 0 else "improvement"


@pytest.fixture
def branch(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Branch]:
    monkeypatch.setenv("NO_PROXY", "*")
    # Whatever was not taken is sent again by the next look.
    monkeypatch.setattr(outbox, "FIRST_RETRY_SECONDS", 0.0)
    try:
        description_path()
    except NotInstalled as reason:
        pytest.skip(str(reason))
    with PlayedGitHub.started() as github, listening() as listener:
        github.add_repository(REPOSITORY)
        yield Branch(tmp_path, ToySource(tmp_path / "remote"), github, listener)
    assert github.violations == []


def test_a_regression_is_told_once_everywhere(branch: Branch) -> None:
    branch.push({"xadd": 0.0})
    commit = branch.push({"xadd": 0.1})
    with capture_logs() as logs:
        assert branch.look()
        assert branch.look()
    [(state, title)] = branch.issues()
    assert (state, "10 % more work" in title, commit[:12] in title) == ("open", True, True)
    assert branch.told() == [("opened", commit)]
    [message] = branch.listener.at(PATH_OF_SLACK)
    assert commit[:12] in json.dumps(message)
    reported = [(entry["channel"], entry["commit"]) for entry in logs if entry["event"] == "a regression is reported"]
    assert reported == [(channel, commit) for channel in ("issue", "url", "slack", "log")]
    assert not [entry for entry in logs if entry["log_level"] in ("warning", "error")]
    assert "a-secret" not in repr(logs)


def test_that_it_is_gone_is_told_once_with_the_commit_that_took_it_away(branch: Branch) -> None:
    commit = branch.push({"xadd": 0.1, "get": 0.0})
    assert branch.look()
    branch.push({"xadd": 0.0, "get": 0.0})
    assert branch.look()
    assert branch.told() == [("opened", commit)]
    repair = branch.push({"xadd": -0.1, "get": 0.0})
    # Before anybody looks, further commits come.
    branch.push({"xadd": 0.0, "get": 0.0})
    with capture_logs() as logs:
        assert branch.look()
        assert branch.look()
    gone = [(entry["channel"], entry["commit"]) for entry in logs if entry["event"] == "a regression is gone"]
    assert gone == [(channel, repair) for channel in ("issue", "url", "slack", "log")]
    assert [state for state, _ in branch.issues()] == ["closed"]
    assert branch.told() == [("opened", commit), ("closed", repair)]
    assert len(branch.listener.at(PATH_OF_SLACK)) == 2
    [number] = branch.github.repositories[REPOSITORY].issues
    [closing] = branch.github.bodies(REPOSITORY, number)
    assert repair[:12] in closing


def test_a_regression_that_is_half_repaired_is_not_gone(branch: Branch) -> None:
    commit = branch.push({"xadd": 0.1})
    branch.push({"xadd": -0.04})
    assert branch.look()
    assert branch.told() == [("opened", commit)]
    rest = branch.push({"xadd": -0.053})
    assert branch.look()
    assert branch.told() == [("opened", commit), ("closed", rest)]


def test_two_regressions_are_two_and_end_each_by_itself(branch: Branch) -> None:
    first = branch.push({"xadd": 0.1, "get": 0.0})
    second = branch.push({"xadd": 0.0, "get": 0.2})
    assert branch.look()
    assert branch.told() == [("opened", first), ("opened", second)]
    repair = branch.push({"xadd": -0.0909, "get": 0.0})
    assert branch.look()
    assert branch.told()[2:] == [("closed", repair)]
    assert sorted(state for state, _ in branch.issues()) == ["closed", "open"]


def test_a_regression_on_one_platform_is_gone_when_that_platform_says_so(branch: Branch) -> None:
    commit = branch.push({"xadd": 0.0}, {"xadd": 0.1})
    branch.push({"xadd": -0.1}, {"xadd": 0.0})
    assert branch.look()
    assert branch.told() == [("opened", commit)]


def test_what_came_back_is_told_again(branch: Branch) -> None:
    changes = (0.1, -0.0909, 0.1)
    commits = [branch.push({"xadd": change}) for change in changes]
    assert branch.look()
    assert branch.told() == [("opened", commits[0]), ("closed", commits[1]), ("opened", commits[2])]


@pytest.mark.slow
def test_what_a_schedule_sees_again_is_not_told_again(branch: Branch) -> None:
    nightly = f"{SUBJECT}:nightly"
    first = branch.before
    commit = branch.push({"xadd": 0.1})
    assert branch.look()
    branch.push({"xadd": 0.1}, schedule="nightly", since=first)
    assert branch.look(nightly)
    branch.push({"xadd": -0.0909})
    assert branch.look()
    assert branch.look(nightly)
    assert [event for event, _ in branch.told()] == ["opened", "closed"]
    assert branch.told()[0] == ("opened", commit)
    before = branch.before
    of_schedule = branch.push({"xadd": 0.1, "get": 0.1}, schedule="nightly")
    assert branch.look(nightly)
    assert branch.told()[2:] == [("opened", of_schedule)]
    branch.push({"get": 0.1}, since=before)
    assert branch.look()
    assert len(branch.told()) == 3


def test_another_regression_of_the_same_case_is_told_while_the_first_is_open(branch: Branch) -> None:
    first = branch.push({"xadd": 0.1})
    assert branch.look()
    second = branch.push({"xadd": 0.1}, schedule="nightly")
    assert branch.look(f"{SUBJECT}:nightly")
    assert branch.told() == [("opened", first), ("opened", second)]


def test_a_channel_that_is_set_up_later_hears_only_of_what_is_open(branch: Branch) -> None:
    [repository] = branch.settings.repositories
    all_channels = repository.notify
    without = repository.model_copy(update={"notify": all_channels.model_copy(update={"url": None})})
    settings = branch.settings
    branch.settings = settings.model_copy(update={"repositories": (without,)})
    branch.push({"xadd": 0.1, "get": 0.0})
    still_open = branch.push({"get": 0.1})
    branch.push({"xadd": -0.0909})
    assert branch.look()
    assert len(branch.listener.at(PATH_OF_SLACK)) == 3
    branch.settings = settings
    assert branch.look()
    assert branch.told() == [("opened", still_open)]


@pytest.mark.parametrize("kind", ["error", "closes", "retry_later"])
def test_an_issue_is_opened_when_github_is_back(branch: Branch, kind: Any) -> None:
    commit = branch.push({"xadd": 0.1})
    branch.github.misbehave(kind, count=1000, seconds=0)
    assert not branch.look()
    assert branch.issues() == []
    # The others do not wait for it.
    assert branch.told() == [("opened", commit)]
    branch.github.misbehaviours.clear()
    _let_time_go_on(branch)
    assert branch.look()
    assert len(branch.issues()) == 1
    assert branch.told() == [("opened", commit)]


def test_an_issue_whose_answer_was_lost_is_not_opened_twice(branch: Branch) -> None:
    branch.push({"xadd": 0.1})
    branch.github.misbehave("closes_afterwards", method="POST", path="/issues")
    branch.github.misbehave("error", count=1000, method="GET", path="/issues")
    branch.look()
    branch.github.misbehaviours.clear()
    _let_time_go_on(branch)
    assert branch.look()
    assert len(branch.issues()) == 1


@pytest.mark.parametrize("statuses", [[500, 503], [404, 410], [302, 302]])
def test_what_another_program_does_not_take_is_sent_again(branch: Branch, statuses: list[int]) -> None:
    commit = branch.push({"xadd": 0.1})
    branch.listener.statuses += statuses
    with capture_logs() as logs:
        assert not branch.look()
        assert branch.look()
    assert branch.told() == [("opened", commit)]
    assert len(branch.listener.at(PATH_OF_SLACK)) == 1
    assert len(branch.issues()) == 1
    assert len([entry for entry in logs if entry["event"] == "written later"]) == 2
    assert "a-secret" not in repr(logs)


def test_a_platform_that_fails_does_not_hide_what_the_others_say(branch: Branch) -> None:
    branch.push({"xadd": 0.0}, state="failed")
    commit = branch.push({"xadd": 0.1})
    assert branch.look()
    assert branch.told() == [("opened", commit)]


def test_nothing_is_told_of_what_is_superseded(branch: Branch) -> None:
    branch.push({"xadd": 0.1}, state="superseded")
    assert branch.look()
    assert branch.told() == []
    assert branch.issues() == []


def _let_time_go_on(branch: Branch) -> None:
    """Have what may be written only later be written now."""
    for post in branch.store.triggers.posts(SUBJECT):
        branch.store.triggers.set_post(type(post)(**{**post.__dict__, "not_before": 0.0}))
