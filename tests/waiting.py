"""Waiting for what comes at some time: the patience only bounds a hang, however slow or busy the machine is."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 120
BUILD_PATIENCE_SECONDS = 300
"""Of what builds servers, or counts their instructions, beside other tests that do."""


def wait_until(
    condition: Callable[[], object], doing: Callable[[], object] = lambda: None, seconds: float = PATIENCE_SECONDS
) -> None:
    """Wait until a condition holds, and call `doing` between looks; fail when patience is at its end."""
    end = time.monotonic() + seconds
    while not condition():
        doing()
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def run_bounded(test: Coroutine[Any, Any, None]) -> None:
    """Run a test to its end; fail when patience is at its end."""
    asyncio.run(asyncio.wait_for(test, 2 * PATIENCE_SECONDS))


async def until(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until a condition holds; fail when patience is at its end."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def is_stopped(process: int) -> bool:
    """Whether a process has stopped after SIGSTOP: its threads do one by one, on a busy machine some time later."""
    return all(_has_stopped(task / "stat") for task in Path(f"/proc/{process}/task").iterdir())


def _has_stopped(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        # The thread has ended.
        return True


def command_lines() -> dict[int, str]:
    """Return the command lines of all processes by number, with a blank after each word."""
    lines = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines[int(path.parent.name)] = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return lines
