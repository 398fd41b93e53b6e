"""From a trigger to its requests exactly once: processes that are killed at each step, and begun again."""

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_client import ASKED, Asking
from free_ports import free_port
from http_server import is_listening
from stored_comparison import stored_token
from structlog.testing import capture_logs
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import wait_until

from zerolap.records import Request
from zerolap.store import FleetPlatform, Store, StoredTrigger
from zerolap.triggers import work as work_module
from zerolap.triggers.settings import checked_settings
from zerolap.triggers.trigger import AskedTrigger
from zerolap.triggers.webhooks.admission_state import stored_trigger
from zerolap.triggers.work import MOST_TRIES, TriggerWork

PLANTED_KILL = Path(__file__).with_name("planted_kill.py")
REPOSITORY = "toy/server"
PLATFORMS = ("arm", "x86")
BEGUN = "zerolap.store.triggers:TriggerRecords.begin:after"
RECORDED = "zerolap.store.recorded_requests:submit:after"
ENDED = "zerolap.store.triggers:TriggerRecords.end:after"
STEPS = {
    "once its try is counted": BEGUN,
    "once its commits are fetched": "zerolap.triggers.mirror:Mirror.fetch:after",
    "once a source is packed": "zerolap.store.blobs:Blobs.put_file:after",
    "before it is recorded": "zerolap.store.triggers:TriggerRecords.end:before",
    "within the transaction": RECORDED,
    "once it has ended": ENDED,
}


@pytest.fixture
def store(store: Store) -> Store:
    store.fleet.set_platforms([FleetPlatform(name, name) for name in PLATFORMS])
    return store


@pytest.fixture
def settings(tmp_path: Path, toy: ToySource) -> Path:
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    toy.git("tag", "--force", "v1", toy.first)
    toy.git("branch", "--force", "work", head)
    path = tmp_path / "triggers.toml"
    path.write_text(
        f'[[repository]]\nname = "{REPOSITORY}"\nclone_url = "{toy.path}"\n'
        f'cases_directory = "{CASES}"\ncases = ["toy-get"]\nengines = ["counted"]\nregimes = "none"\n'
    )
    return path


def asked(store: Store, key: str = "a key") -> StoredTrigger:
    trigger = AskedTrigger(repository=REPOSITORY, base="v1", head="work", actor="ci")
    stored = stored_trigger(trigger, key, time.time())
    store.triggers.add(stored)
    return stored


def run(point: str, *arguments: Any) -> int:
    return subprocess.run([sys.executable, PLANTED_KILL, point, *map(str, arguments)], check=False).returncode


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_trigger_leads_to_one_request_for_each_platform(
    step: str, store: Store, settings: Path, tmp_path: Path
) -> None:
    stored = asked(store)
    assert run(STEPS[step], "work", tmp_path / "store", settings) == -signal.SIGKILL
    assert run("never", "work", tmp_path / "store", settings) == 0
    ended = store.triggers.with_id(stored.id)
    assert ended is not None
    assert (ended.state, ended.reason) == ("done", "")
    opened = store.fleet.open_requests()
    assert tuple(store.request(identity).request.platform for identity in opened) == PLATFORMS
    assert ended.requests == tuple(opened)


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
@pytest.mark.parametrize("point", [RECORDED, ENDED])
def test_a_request_that_is_repeated_after_a_kill_is_carried_out_once(
    point: str, settings: Path, tmp_path: Path
) -> None:
    place, port = tmp_path / "served", free_port()
    with Store.open(str(place)) as opened:
        ci = Asking(f"http://127.0.0.1:{port}", stored_token(opened, "ci", "submit"))
    serve = ["serve", "--triggers", settings, "--listen", f"127.0.0.1:{port}", "--store", place]
    ids = []
    for planted in (point, "never"):
        process = subprocess.Popen([sys.executable, PLANTED_KILL, planted, *map(str, serve)], cwd=tmp_path)
        try:
            wait_until(lambda: is_listening(port))
            # The process may be killed before it has answered.
            with contextlib.suppress(httpx.TransportError):
                ids.append(ci.post("/comparisons", ASKED, Idempotency_Key="build-7").json()["id"])
            if planted == point:
                assert process.wait() == -signal.SIGKILL
            else:
                wait_until(lambda: ci.get(f"/triggers/{ids[-1]}").json()["state"] == "done")
        finally:
            process.terminate()
            process.wait()
    assert len(set(ids)) == 1
    with Store.open(str(place)) as opened:
        assert len(opened.fleet.newest_requests()) == 1


@pytest.mark.slow
def test_a_trigger_that_has_the_process_killed_is_given_up(store: Store, settings: Path, tmp_path: Path) -> None:
    stored, harmless = asked(store), asked(store, "another key")
    for _ in range(MOST_TRIES - 1):
        store.triggers.begin(stored.id)
    assert run(BEGUN, "work", tmp_path / "store", settings) == -signal.SIGKILL
    assert run("never", "work", tmp_path / "store", settings) == 0
    given_up = store.triggers.with_id(stored.id)
    assert given_up is not None
    assert given_up.state == "failed"
    assert "killed 5 times" in given_up.reason
    ended = store.triggers.with_id(harmless.id)
    assert ended is not None
    assert ended.state == "done"


def test_a_stop_in_order_is_no_try(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = asked(store)
    work = TriggerWork(store, checked_settings({"repository": []}, tmp_path), tmp_path / "mirrors", None)

    async def stopped() -> None:
        has_begun = asyncio.Event()

        async def endless(*_: object) -> list[Request]:
            has_begun.set()
            await asyncio.Event().wait()
            return []

        monkeypatch.setattr(work, "_requests", endless)
        task = asyncio.create_task(work.work_on(stored))
        await has_begun.wait()
        assert [waiting.tries for waiting in store.triggers.in_state("waiting")] == [1]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(stopped())
    assert [waiting.tries for waiting in store.triggers.in_state("waiting")] == [0]


def test_an_internal_error_is_stored_and_logged_with_its_reason(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_text: str) -> None:
        raise RecursionError("too deep:\x1b[2J" + "x" * 1000)

    stored = asked(store)
    monkeypatch.setattr(work_module, "read_trigger", failing)
    work = TriggerWork(store, checked_settings({"repository": []}, tmp_path), tmp_path / "mirrors", None)
    with capture_logs() as logs:
        asyncio.run(work.work_on(stored))
    [failed] = store.triggers.in_state("failed")
    assert failed.reason.startswith("internal error: RecursionError: too deep:?[2Jxxx")
    assert len(failed.reason) < 300
    assert [entry["reason"] for entry in logs if entry["event"] == "failed"] == [failed.reason]
