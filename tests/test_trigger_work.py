"""From triggers to requests: what pushes are compared with, and that one repository does not hold up another."""

import asyncio
import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from github_description import NotInstalled, description_path
from github_state import TOKEN
from played_github import PlayedGitHub
from structlog.testing import capture_logs
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import PATIENCE_SECONDS
from webhook_payloads import label_trigger

from zerolap.build import changes_between
from zerolap.documents import FalseAlarmRecord
from zerolap.github import GitHub, TokenFile
from zerolap.records import Changes, Source, UsageError, revision_of
from zerolap.sheets import PullRequestState
from zerolap.store import FleetPlatform, Store, StoredTrigger
from zerolap.triggers import running as running_module, work as work_module
from zerolap.triggers.comment_commands import Cancel
from zerolap.triggers.notifying import BranchReport, Notifier
from zerolap.triggers.outbox import Outbox
from zerolap.triggers.progress import ProgressReader
from zerolap.triggers.reporting import Reporter
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import TriggerSettings, checked_settings
from zerolap.triggers.trigger import (
    CommandTrigger,
    PushTrigger,
    RequiredPermission,
    WithdrawalTrigger,
)
from zerolap.triggers.watching import Watcher
from zerolap.triggers.webhooks.admission_state import stored_trigger
from zerolap.triggers.work import TriggerWork

HERE = "here"
NUMBERS = itertools.count()
HELD_UP, FREE = "redis/redis", "valkey-io/valkey"
HOSTILE, HARMLESS = "redis/redis", "valkey-io/valkey"


@pytest.fixture
def store(store: Store) -> Store:
    store.fleet.set_platforms([FleetPlatform(HERE, HERE, "{}")])
    return store


@pytest.fixture
def source(compiler: None, tmp_path: Path) -> ToySource:
    return ToySource(tmp_path / "remote")


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlayedGitHub]:
    monkeypatch.setenv("NO_PROXY", "*")
    try:
        description_path()
    except NotInstalled as reason:
        pytest.skip(str(reason))
    with PlayedGitHub.started() as started:
        yield started
    assert started.violations == []


def entry(name: str, remote: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "clone_url": str(remote), "branches": ["main"], "cases_directory": str(CASES), **fields}


def pushed(store: Store, repository: str, before: str, after: str, schedule: str = "") -> StoredTrigger:
    push = PushTrigger(repository=repository, branch="main", before=before, after=after, schedule=schedule)
    stored = stored_trigger(push, f"push {next(NUMBERS)}", time.time())
    store.triggers.add(stored)
    return stored


@dataclass
class Lab:
    """A lab with one repository, whose triggers are worked on one by one."""

    store: Store
    source: ToySource
    work: TriggerWork

    def push(self, before: str, after: str, schedule: str = "") -> StoredTrigger:
        """Work on a push, and return what became of it."""
        stored = pushed(self.store, HELD_UP, before, after, schedule)
        assert asyncio.run(self.work.work_on(stored))
        return self.ended(stored)

    def pull_request(self, head: str, base_sha: str) -> StoredTrigger:
        """Work on a label of a pull request to the branch `unstable`, and return what became of it."""
        own = {"repository": HELD_UP, "head_repository": HELD_UP, "is_fork": False}
        trigger = label_trigger(head=head, base_sha=base_sha, **own)
        stored = stored_trigger(trigger, f"label {next(NUMBERS)}", time.time())
        self.store.triggers.add(stored)
        assert asyncio.run(self.work.work_on(stored))
        return self.ended(stored)

    def ended(self, stored: StoredTrigger) -> StoredTrigger:
        """Return a trigger as it is now."""
        found = self.store.triggers.with_id(stored.id)
        assert found is not None
        return found

    def compared(self, ended: StoredTrigger) -> list[tuple[str, str]]:
        """Return the commits that a trigger has led to comparisons of, which are done then."""
        pairs = []
        for request in ended.requests:
            servers = self.store.request(request).request.servers
            base, head = (revision_of(servers[side].source) for side in ("base", "head"))
            assert base is not None
            assert head is not None
            pairs.append((base.commit, head.commit))
            self.store.fleet.set_state(request, "done")
        return pairs


@pytest.fixture
def lab(store: Store, source: ToySource, tmp_path: Path) -> Lab:
    settings = checked_settings({"repository": [entry(HELD_UP, source.path)]}, tmp_path)
    return Lab(store, source, TriggerWork(store, settings, tmp_path / "mirrors", None))


def test_a_branch_that_went_back_is_compared_with_what_it_was(lab: Lab) -> None:
    dropped = lab.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    assert lab.compared(lab.push(dropped, lab.source.first)) == [(dropped, lab.source.first)]


def new_root(source: ToySource) -> str:
    """Replace the branch by a single commit without a parent, and return it."""
    source.git("checkout", "--quiet", "--orphan", "squashed")
    source.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    return source.commit("squashed")


def test_a_branch_of_a_new_root_is_compared_with_what_it_was(lab: Lab) -> None:
    root = new_root(lab.source)
    assert lab.compared(lab.push(lab.source.first, root)) == [(lab.source.first, root)]


def test_each_commit_of_a_new_root_is_compared_with_what_the_branch_was(lab_of_each_commit: Lab) -> None:
    root = new_root(lab_of_each_commit.source)
    pushed_root = lab_of_each_commit.push(lab_of_each_commit.source.first, root)
    assert lab_of_each_commit.compared(pushed_root) == [(lab_of_each_commit.source.first, root)]


def test_a_new_root_after_what_nobody_has_any_more_says_so(lab: Lab) -> None:
    ended = lab.push("a" * 40, new_root(lab.source))
    assert (ended.state, ended.requests) == ("done", ())
    assert "has no parent" in ended.reason


@pytest.fixture
def lab_of_each_commit(store: Store, source: ToySource, tmp_path: Path) -> Lab:
    settings = checked_settings({"repository": [entry(HELD_UP, source.path, each_commit=True)]}, tmp_path)
    return Lab(store, source, TriggerWork(store, settings, tmp_path / "mirrors", None))


def three_commits(source: ToySource) -> list[str]:
    """Make three commits, and return them after the one before."""
    commits = [source.first]
    for number in range(3):
        with (source.path / "src" / "commands.c").open("a") as commands:
            commands.write(f"/* {number} */\n")
        commits.append(source.commit(f"change {number}"))
    return commits


def test_a_push_is_measured_commit_by_commit_where_that_is_set(lab_of_each_commit: Lab) -> None:
    lab = lab_of_each_commit
    commits = three_commits(lab.source)
    whole = lab.push(commits[0], commits[-1])
    assert (whole.state, whole.requests) == ("done", ())
    assert whole.reason == "each of its 3 commits is compared with the one before it"
    lab.store.triggers.put_back(whole.id)
    assert asyncio.run(lab.work.work_on(whole)), "after a kill they are recorded once all the same"
    [waiting] = asyncio.run(lab.work.waiting()).values()
    assert [asyncio.run(lab.work.work_on(stored)) for stored in waiting] == [True] * 3
    assert [lab.compared(lab.ended(stored)) for stored in waiting] == [[pair] for pair in itertools.pairwise(commits)]


def test_what_is_asked_for_again_has_another_seed(lab: Lab) -> None:
    head = lab.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    lab.source.git("branch", "unstable", lab.source.first)
    labels = [lab.pull_request(head, lab.source.first) for _ in range(2)]
    asked = [lab.store.request(request).request for label in labels for request in label.requests]
    assert len(asked) == len({request.settings.seed for request in asked}) == 2


@pytest.mark.slow
def test_a_schedule_without_new_commits_measures_nothing_again(lab: Lab) -> None:
    head = lab.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    assert lab.compared(lab.push(lab.source.first, head, "nightly")) == [(lab.source.first, head)]
    for _ in range(2):
        again = lab.push(lab.source.first, head, "nightly")
        assert (again.state, again.requests) == ("done", ())
    lab.source.replace("commands.c", CHECKSUM_TWICE, CHECKSUM_ONCE)
    newest = lab.source.commit("repair")
    assert lab.compared(lab.push(head, newest, "nightly")) == [(head, newest)]


def test_what_had_to_wait_does_not_supersede_what_is_newer(lab: Lab) -> None:
    absent = pushed(lab.store, HELD_UP, lab.source.first, "a" * 40)
    assert not asyncio.run(lab.work.work_on(absent))
    head = lab.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    newer = lab.push(lab.source.first, head)
    assert asyncio.run(lab.work.work_on(absent))
    assert (lab.ended(absent).state, lab.ended(newer).state) == ("refused", "done")
    assert lab.store.fleet.open_requests() == list(newer.requests)


@pytest.mark.slow
def test_the_base_is_the_merge_base_with_the_branch_as_it_is_now(lab: Lab) -> None:
    """The branch went on since the event, and the pull request was made on top of its newer commit."""
    newer = lab.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    lab.source.git("branch", "--force", "unstable", newer)
    lab.source.replace("commands.c", CHECKSUM_TWICE, CHECKSUM_ONCE)
    head = lab.source.commit("a pull request")
    assert lab.compared(lab.pull_request(head, lab.source.first)) == [(newer, head)]
    # Where the head is merged, or the branch is gone, what the branch was at the event is left.
    for arranged in (["branch", "--force", "unstable", head], ["branch", "-D", "unstable"]):
        lab.source.git(*arranged)
        assert lab.compared(lab.pull_request(head, newer)) == [(newer, head)]


def test_a_pull_request_with_a_deep_path_fails_alone(lab: Lab) -> None:
    deep = lab.pull_request(lab.source.with_path("n/" * 1200 + "file"), lab.source.first)
    assert deep.state == "failed"
    assert "longer than 1,024 bytes of a path" in deep.reason
    assert deep.requests == ()
    head = lab.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    assert lab.compared(lab.pull_request(head, lab.source.first)) == [(lab.source.first, head)]


def test_what_waits_is_tried_in_its_turn_and_holds_up_its_repository_alone(lab: Lab) -> None:
    first, second = (pushed(lab.store, HELD_UP, lab.source.first, digit * 40) for digit in "ab")
    other = pushed(lab.store, FREE, lab.source.first, "c" * 40)
    assert asyncio.run(lab.work.waiting()) == {HELD_UP: [first, second], FREE: [other]}
    assert not asyncio.run(lab.work.work_on(first))
    assert asyncio.run(lab.work.waiting()) == {HELD_UP: [second], FREE: [other]}


def test_a_withdrawn_pull_request_that_had_to_wait_is_not_measured(lab: Lab) -> None:
    of_pull: dict[str, Any] = {"repository": HELD_UP, "number": 7, "actor": "alice"}
    labelled = label_trigger(**of_pull, base_sha=lab.source.first)
    waiting, withdrawn = (
        stored_trigger(one, one.kind, time.time()) for one in (labelled, WithdrawalTrigger(**of_pull, cause="closed"))
    )
    lab.store.triggers.add(waiting)
    assert not asyncio.run(lab.work.work_on(waiting))
    lab.store.triggers.add(withdrawn)
    assert asyncio.run(lab.work.work_on(withdrawn))
    assert lab.ended(waiting).state == "refused"
    assert lab.store.triggers.in_state("waiting") == []


@contextlib.contextmanager
def silent_server() -> Iterator[str]:
    """A git server that accepts connections and never answers; yields its address."""
    connections: list[socket.socket] = []

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connections.append(listener.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield f"git://127.0.0.1:{listener.getsockname()[1]}/repository"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection in connections:
                connection.close()


def test_a_repository_that_does_not_answer_holds_up_no_other(store: Store, source: ToySource, tmp_path: Path) -> None:
    document = source.path / "NEWS.md"
    document.write_text("news\n")
    head = source.commit("a document")

    async def until_done(remote: str) -> None:
        settings = checked_settings({"repository": [entry(HELD_UP, remote), entry(FREE, source.path)]}, tmp_path)
        held_up, free = (pushed(store, name, source.first, head) for name in (HELD_UP, FREE))
        running = asyncio.create_task(Triggers(store, settings, tmp_path / "mirrors").run())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while free.id in [one.id for one in store.triggers.in_state("waiting")]:
                    await asyncio.sleep(0.05)
            assert [one.id for one in store.triggers.in_state("waiting")] == [held_up.id]
        finally:
            running.cancel()
            await asyncio.wait([running])

    async def scenario() -> None:
        with silent_server() as remote:
            await until_done(remote)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("role", "needed", "state"),
    [("maintain", "maintain", "done"), ("write", "maintain", "refused"), ("triage", "triage", "done")],
)
def test_who_has_the_role_that_is_needed_is_permitted(
    store: Store, tmp_path: Path, github: PlayedGitHub, role: str, needed: RequiredPermission, state: str
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    settings = checked_settings({"repository": [entry(HELD_UP, "/nowhere")]}, tmp_path)
    asked = CommandTrigger(
        repository=HELD_UP, number=12, actor="colleague", comment=1, command=Cancel(), needs_permission=needed
    )

    async def work() -> None:
        async with GitHub(github.url, TokenFile(tmp_path / "token")) as client:
            await TriggerWork(store, settings, tmp_path / "mirrors", client).work_on(waiting)

    waiting = stored_trigger(asked, "a comment", 1.0)
    store.triggers.add(waiting)
    github.add_repository(HELD_UP)
    github.add_pull_request(HELD_UP, 12, "a" * 40, "b" * 40)
    github.permit(HELD_UP, "colleague", role)
    asyncio.run(work())
    ended = store.triggers.with_id(waiting.id)
    assert ended is not None
    assert ended.state == state


def test_a_trigger_that_nobody_has_foreseen_fails_alone(
    store: Store, source: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    settings = checked_settings({"repository": [entry(name, source.path) for name in (HOSTILE, HARMLESS)]}, tmp_path)
    hostile, harmless = (pushed(store, name, source.first, head) for name in (HOSTILE, HARMLESS))
    has_failed = threading.Event()

    def fails_once(base: Source, head: Source) -> Changes | None:
        if has_failed.is_set():
            return changes_between(base, head)
        has_failed.set()
        raise ValueError("nobody has foreseen it")

    monkeypatch.setattr(work_module, "changes_between", fails_once)
    monkeypatch.setattr(running_module, "REPOSITORIES_AT_ONCE", 1)
    triggers = Triggers(store, settings, tmp_path / "mirrors")
    with capture_logs() as entries:
        asyncio.run(run_until(triggers, lambda: not store.triggers.in_state("waiting")))
    ended = [store.triggers.with_id(trigger.id) for trigger in (hostile, harmless)]
    assert [(one.state, one.reason) for one in ended if one] == [
        ("failed", "internal error: ValueError: nobody has foreseen it"),
        ("done", ""),
    ]
    [logged] = [entry for entry in entries if entry["event"] == "failed"]
    assert logged["exc_info"]


@pytest.mark.slow
def test_a_branch_that_cannot_be_reported_holds_up_no_other(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile, harmless = (pushed(store, name, "a" * 40, "b" * 40) for name in (HOSTILE, HARMLESS))
    for trigger in (hostile, harmless):
        store.triggers.end(trigger.id, "done", "", [])
    asked: list[str] = []

    async def look(_notifier: Notifier, subject: str) -> BranchReport:
        asked.append(subject)
        if subject == hostile.subject:
            raise ValueError("nobody has foreseen it")
        return BranchReport([], is_over=asked.count(subject) > 1)

    monkeypatch.setattr(Notifier, "report", look)
    settings = checked_settings({"repository": []}, tmp_path)
    asyncio.run(run_until(Triggers(store, settings, tmp_path / "mirrors"), lambda: asked.count(harmless.subject) > 1))
    assert asked == [hostile.subject, harmless.subject, harmless.subject]


def test_a_pull_request_that_cannot_be_reported_holds_up_no_other(store: Store, tmp_path: Path) -> None:
    asked: list[str] = []

    class Hostile(ProgressReader):
        def pull_request(self, subject: str, earlier_head: str = "") -> PullRequestState | None:
            asked.append(subject)
            if subject == "a":
                raise ValueError("nobody has foreseen it")
            return super().pull_request(subject, earlier_head)

    settings = TriggerSettings()
    progress_reader = Hostile(store, settings, tmp_path / "mirrors", FalseAlarmRecord(store))

    async def report() -> None:
        async with GitHub("http://127.0.0.1:9", TokenFile(tmp_path / "token")) as github:
            reporter = Reporter(store, settings, progress_reader, github, Outbox(store.triggers))
            for _ in range(2):
                reporter.note("a")
                reporter.note("b")
                await reporter.report()

    asyncio.run(report())
    assert asked == ["a", "b", "b"]


async def run_until(triggers: Triggers, condition: Callable[[], bool]) -> None:
    """Run the triggers until a condition holds; what ends them before is raised."""
    running = asyncio.create_task(triggers.run())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not running.done() and not condition():
                await asyncio.sleep(0.05)
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


def test_a_platform_that_is_not_served_is_refused(tmp_path: Path) -> None:
    settings = checked_settings({"repository": [entry(HELD_UP, "/nowhere", platforms=["arm", "x68"])]}, tmp_path)
    with pytest.raises(UsageError, match="x68") as raised:
        settings.require_served(["arm", "x86"])
    assert "arm, x86" in (raised.value.hint or "")
    settings.require_served(["arm", "x68"])


def test_the_first_tag_of_a_watched_remote_is_new(store: Store, source: ToySource, tmp_path: Path) -> None:
    watch = {"remote": str(source.path), "name": "toy", "tags": ["v*"], "branches": ["release-*"]}
    [settings] = checked_settings({"watch": [watch]}, tmp_path).watches
    watcher = Watcher(settings, store, tmp_path / "mirrors", lambda: None)
    assert [watcher.look(), watcher.look()] == [0, 0]
    source.git("tag", "v1")
    source.git("branch", "release-1")
    assert [watcher.look(), watcher.look()] == [2, 0]
    assert [one.subject for one in store.triggers.in_state("waiting")] == [
        "watched/toy@release-1",
        "watched/toy@tag:v1",
    ]


def test_a_push_that_another_one_followed_is_measured_as_a_whole(lab_of_each_commit: Lab) -> None:
    lab = lab_of_each_commit
    commits = three_commits(lab.source)
    earlier = pushed(lab.store, HELD_UP, commits[0], commits[2])
    pushed(lab.store, HELD_UP, commits[2], commits[3])
    assert asyncio.run(lab.work.work_on(earlier))
    assert lab.compared(lab.ended(earlier)) == [(commits[0], commits[2])]
