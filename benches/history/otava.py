"""The peer: apache-otava 0.8 at its defaults, in an environment of its own below `.bench/`."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from benches.figures import DIRECTORY

REQUIREMENT: Final = "apache-otava==0.8.0"
NAME: Final = "apache-otava 0.8.0"
# Otava divides by levels: positive ones, far from 0, make of a step what it is, and nothing depends on the constant.
_PROGRAM: Final = """
import json, sys, time
from otava.analysis import compute_change_points
answers, seconds = [], 0.0
for series in json.load(sys.stdin):
    begun = time.process_time()
    points, _ = compute_change_points(series)
    seconds += time.process_time() - begun
    answers.append([[int(p.index), float(p.stats.mean_2 - p.stats.mean_1)] for p in points])
json.dump({"answers": answers, "seconds": seconds}, sys.stdout)
"""


@dataclass(frozen=True)
class OtavaAnswers:
    """The change points of each series, with their sizes, and the seconds that they took, without starting."""

    changes: list[list[tuple[int, float]]]
    seconds: float


@cache
def unavailable() -> str:
    """Install the peer; return why it cannot be, or nothing."""
    python = _python()
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
    installed = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", REQUIREMENT], capture_output=True, text=True, check=False
    )
    return "" if installed.returncode == 0 else f"{NAME} cannot be installed: {installed.stderr.strip()[-300:]}"


def answers(series: Sequence[Sequence[float]]) -> OtavaAnswers | None:
    """Return the peer's change points of series; none where it is not available."""
    if unavailable():
        return None
    done = subprocess.run(
        [_python(), "-c", _PROGRAM],
        input=json.dumps(list(map(list, series))),
        capture_output=True,
        text=True,
        check=True,
    )
    document = json.loads(done.stdout)
    changes = [[(index, size) for index, size in each] for each in document["answers"]]
    return OtavaAnswers(changes, document["seconds"])


def notes() -> list[str]:
    """Return what a figure says of its peer."""
    return [unavailable()] if unavailable() else []


def _python() -> Path:
    return DIRECTORY / "otava" / "bin" / "python"
