"""From triggers to submissions: what pushes are compared with, and that one repository does not hold up another."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import PATIENCE_SECONDS

from zerolap.build import changes_between
from zerolap.records import Changes, Source, UsageError
from zerolap.store import FleetPlatform, Store, StoredTrigger
from zerolap.triggers import running as running_module
from zerolap.triggers import work as work_module
from zerolap.triggers.false_alarms import FalseAlarmRecord
from zerolap.triggers.github import GitHub, TokenFile
from zerolap.triggers.notifying import Looked, Notifier
from zerolap.triggers.progress import Standings
from zerolap.triggers.reporting import Reporter
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import TriggerSettings, checked_settings
from zerolap.triggers.texts.outcome import PullRequestState
from zerolap.triggers.trigger import PushTrigger
from zerolap.triggers.webhooks.memory import stored_trigger
from zerolap.triggers.work import TriggerWork

HERE = "here"
HELD_UP, FREE = "redis/redis", "valkey-io/valkey"
HOSTILE, HARMLESS = "redis/redis", "valkey-io/valkey"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "store")) as opened:
        opened.fleet.set_platforms([FleetPlatform(HERE, HERE, "{}")])
        yield opened


@pytest.fixture
def source(compiler: None, tmp_path: Path) -> ToySource:
    return ToySource(tmp_path / "remote")


def entry(name: str, remote: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "clone_url": str(remote), "branches": ["main"], "cases_directory": str(CASES), **fields}


def pushed(store: Store, repository: str, before: str, after: str) -> StoredTrigger:
    push = PushTrigger(repository=repository, branch="main", before=before, after=after)
    stored = stored_trigger(push, f"{repository} {before} {after}", 1.0)
    store.triggers.add(stored)
    return stored


def test_a_branch_that_went_back_is_compared_with_what_it_was(store: Store, source: ToySource, tmp_path: Path) -> None:
    dropped = source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    settings = checked_settings({"repository": [entry(HELD_UP, source.path)]}, tmp_path)
    work = TriggerWork(store, settings, tmp_path / "mirrors", None)
    back = pushed(store, HELD_UP, dropped, source.first)
    asyncio.run(work.work_on(back))
    ended = store.triggers.with_id(back.id)
    assert ended is not None
    [submission] = ended.submissions
    servers = store.fleet.submitted(submission).submission.servers
    revisions = [servers[side].source.revision for side in ("base", "head")]
    assert [one and one.commit for one in revisions] == [dropped, source.first]


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
    assert [(one.state, one.reason) for one in ended if one] == [("failed", "internal error: ValueError"), ("done", "")]
    [logged] = [entry for entry in entries if entry["event"] == "failed"]
    assert logged["exc_info"]


def test_a_branch_that_cannot_be_reported_holds_up_no_other(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile, harmless = (pushed(store, name, "a" * 40, "b" * 40) for name in (HOSTILE, HARMLESS))
    for trigger in (hostile, harmless):
        store.triggers.set_state(trigger.id, "done", "", [])
    asked: list[str] = []

    async def look(_notifier: Notifier, subject: str) -> Looked:
        asked.append(subject)
        if subject == hostile.subject:
            raise ValueError("nobody has foreseen it")
        return Looked([], is_over=asked.count(subject) > 1)

    monkeypatch.setattr(Notifier, "look", look)
    settings = checked_settings({"repository": []}, tmp_path)
    asyncio.run(run_until(Triggers(store, settings, tmp_path / "mirrors"), lambda: asked.count(harmless.subject) > 1))
    assert asked == [hostile.subject, harmless.subject, harmless.subject]


def test_a_pull_request_that_cannot_be_reported_holds_up_no_other(store: Store, tmp_path: Path) -> None:
    asked: list[str] = []

    class Hostile(Standings):
        def pull_request(self, subject: str, earlier_head: str = "") -> PullRequestState | None:
            asked.append(subject)
            if subject == "a":
                raise ValueError("nobody has foreseen it")
            return super().pull_request(subject, earlier_head)

    settings = TriggerSettings()
    standings = Hostile(store, settings, tmp_path / "mirrors", FalseAlarmRecord(store))

    async def report() -> None:
        async with GitHub("http://127.0.0.1:9", TokenFile(tmp_path / "token")) as github:
            reporter = Reporter(store, settings, standings, github)
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
