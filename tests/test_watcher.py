"""Watched remotes: a commit that cannot be had stops no branch, and a silent remote holds up nothing else."""

import asyncio
import contextlib
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from test_mirror import Remote
from test_trigger_work import silent_server
from waiting import PATIENCE_SECONDS, command_lines

from zerolap.store import Store
from zerolap.triggers import mirror as mirror_module
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import TriggerSettings, checked_settings
from zerolap.triggers.trigger import PushTrigger, read_trigger
from zerolap.triggers.watching import Watcher


def watching(*remotes: str, **fields: Any) -> TriggerSettings:
    return checked_settings(
        {"watch": [{"remote": remote, "name": f"watch-{number}"} | fields for number, remote in enumerate(remotes)]},
        Path(),
    )


def test_a_branch_that_cannot_be_fetched_stops_no_other(compiler: None, store: Store, tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remote")
    remote.git("branch", "broken")
    [watch] = watching(str(remote.path), branches=["*"], each_commit=True).watches
    watcher = Watcher(watch, store, tmp_path / "mirrors", lambda: None)
    assert watcher.look() == 0
    commits = [remote.first, remote.commit("second"), remote.commit("third")]
    # A commit without an author, which no git takes from a remote.
    tree = remote.git("rev-parse", "HEAD^{tree}")
    command = ["git", "-C", str(remote.path), "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    content = f"tree {tree}\nparent {remote.first}\n\nbroken\n".encode()
    broken = subprocess.run(command, input=content, capture_output=True, check=True).stdout.decode().strip()
    (remote.path / ".git" / "refs" / "heads" / "broken").write_text(f"{broken}\n")
    assert watcher.look() == 3
    triggers = [read_trigger(stored.document) for stored in store.triggers.in_state("waiting")]
    pairs = {(one.branch, one.before, one.after) for one in triggers if isinstance(one, PushTrigger)}
    assert pairs == {("broken", remote.first, broken), ("main", *commits[:2]), ("main", *commits[1:])}
    assert watcher.look() == 0


def test_silent_remotes_take_no_thread_of_others_and_end_with_the_lab(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_module, "LIST_SECONDS", 1000.0)

    def are_asked(remotes: list[str]) -> bool:
        lines = [line for line in command_lines().values() if "ls-remote" in line]
        return all(any(remote in line for line in lines) for remote in remotes)

    async def run_with(remotes: list[str]) -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        settings = watching(*remotes, branches=["main"])
        running = asyncio.create_task(Triggers(store, settings, tmp_path / "mirrors").run())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not are_asked(remotes):
                    await asyncio.sleep(0.05)
                await asyncio.to_thread(store.triggers.in_state, "waiting")
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
        assert not any(remote in line for line in command_lines().values() for remote in remotes)

    async def scenario() -> None:
        with silent_server() as remote:
            await run_with([f"{remote}-{number}" for number in range(3)])

    asyncio.run(scenario())
