"""From triggers to submissions: what pushes are compared with, and that one repository does not hold up another."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from github_description import NotInstalled, description_path
from github_state import TOKEN
from played_github import PlayedGitHub
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import PATIENCE_SECONDS

from zerolap.records import UsageError
from zerolap.store import FleetPlatform, Store, StoredTrigger
from zerolap.triggers.github import GitHub, TokenFile
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import checked_settings
from zerolap.triggers.trigger import CommandTrigger, Permission, PushTrigger
from zerolap.triggers.webhooks.commands import Cancel
from zerolap.triggers.webhooks.memory import stored_trigger
from zerolap.triggers.work import TriggerWork

HERE = "here"
HELD_UP, FREE = "redis/redis", "valkey-io/valkey"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "store")) as opened:
        opened.fleet.set_platforms([FleetPlatform(HERE, HERE, "{}")])
        yield opened


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


@pytest.mark.parametrize(
    ("role", "needed", "state"),
    [("maintain", "maintain", "done"), ("write", "maintain", "refused"), ("triage", "triage", "done")],
)
def test_who_has_the_role_that_is_needed_is_permitted(
    store: Store, tmp_path: Path, github: PlayedGitHub, role: str, needed: Permission, state: str
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


def test_a_platform_that_is_not_served_is_refused(tmp_path: Path) -> None:
    settings = checked_settings({"repository": [entry(HELD_UP, "/nowhere", platforms=["arm", "x68"])]}, tmp_path)
    with pytest.raises(UsageError, match="x68") as raised:
        settings.require_served(["arm", "x86"])
    assert "arm, x86" in (raised.value.hint or "")
    settings.require_served(["arm", "x68"])
