"""A repository of many commits of a real server, with planted steps and a planted drift among harmless commits.

They are made on the demo's release: `ZEROLAP_BENCH_COMMITS` is how many, `COMMITS` by default.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benches.truth.edited import DATE, IDENTITY, RELEASE, Edited
from benches.truth.harmless import append, harmless_edits, replace

COMMITS: Final = 62
COMMITS_VARIABLE: Final = "ZEROLAP_BENCH_COMMITS"
REQUEST_BEGINS: Final = "void call(client *c, int flags) {\n"
GET_BEGINS: Final = "int getGenericCommand(client *c) {\n"
XADD_REPLIES: Final = "    sds replyid = createStreamIDString(&id);\n"
DRIFT_INSTRUCTIONS: Final = 4
"""Of each commit of the drift: about a tenth of a percent of the cheapest requests."""
TURNS_OF_STEP: Final = 20
NOT_CUMULATIVE: Final = ("functions of", "unused functions in all")
"""Edits that do not follow others."""


@dataclass(frozen=True)
class PlantedRepository:
    """The repository, its commits from the first to the last, and those of the steps and the drift by their ids."""

    path: Path
    commits: tuple[str, ...]
    steps: dict[str, str]
    drift: tuple[str, ...]

    @property
    def range(self) -> str:
        """All commits."""
        return f"{self.commits[0]}..{self.commits[-1]}"


def planted_repository(path: Path) -> PlantedRepository:
    """Make the repository; the same commits each time. Raises `Unavailable` without the demo's."""
    demo = Edited.demo().repository
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    _git("clone", "--quiet", str(demo), str(path))
    _git("-C", str(path), "checkout", "--quiet", RELEASE)
    commits, steps, drift = [_head(path)], dict[str, str](), list[str]()
    for kind, name, edit in _edits(int(os.environ.get(COMMITS_VARIABLE, COMMITS))):
        edit(path / "src")
        _git("-C", str(path), "add", "--all")
        _git(*IDENTITY, "-C", str(path), "commit", "--quiet", "--message", name)
        commits.append(_head(path))
        if kind == "step":
            steps[commits[-1]] = name
        elif kind == "drift":
            drift.append(commits[-1])
    return PlantedRepository(path, tuple(commits), steps, tuple(drift))


def _edits(commits: int) -> Iterator[tuple[str, str, Callable[[Path], None]]]:
    """Yield kind, subject and edit of each commit: of eight, three are harmless, two are docs, three drift."""
    harmless = iter((name, edit) for name, edit in harmless_edits().items() if not name.startswith(NOT_CUMULATIVE))
    for number in range(1, commits + 1):
        if number == commits // 3:
            yield "step", "xadd-auto-id", _format_twice
        elif number == 2 * commits // 3:
            yield "step", "get-100B", _loop_in_get
        elif number % 8 in (1, 4, 6):
            yield "drift", f"Drift {number}", _drift
        elif number % 8 in (0, 3, 5) and (planned := next(harmless, None)) is not None:
            yield "harmless", *planned
        else:
            yield "docs", f"Remark {number}", partial(_remark, number)


def _drift(source: Path) -> None:
    replace("server.c", REQUEST_BEGINS, REQUEST_BEGINS + '    __asm__ volatile("nop");\n' * DRIFT_INSTRUCTIONS, source)


def _loop_in_get(source: Path) -> None:
    replace(
        "t_string.c",
        GET_BEGINS,
        f"{GET_BEGINS}    for (volatile int turn = 0; turn < {TURNS_OF_STEP}; turn++);\n",
        source,
    )


def _format_twice(source: Path) -> None:
    """Format the id of an entry once more than needed; the text is thrown away."""
    replace("t_stream.c", XADD_REPLIES, f"    sdsfree(createStreamIDString(&id));\n{XADD_REPLIES}", source)


def _remark(number: int, source: Path) -> None:
    append("../00-RELEASENOTES", f"\nRemark {number}.\n", source)


def _head(path: Path) -> str:
    shown = subprocess.run(["git", "-C", str(path), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return shown.stdout.strip()


def _git(*arguments: str) -> None:
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    subprocess.run(["git", *arguments], check=True, env=os.environ | dates)
