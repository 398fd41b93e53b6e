"""Runs the program as a user would, for the benches."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.figures import DIRECTORY

SERVER = "redis-server"
DEMO_REPOSITORY = Path(".demo/redis")
TRIAL_FAILED = 4
"""Exit code of a comparison that has a result, though a trial of it failed."""


@dataclass(frozen=True)
class Comparison:
    """One comparison's document and how long its command took, in seconds."""

    document: dict[str, Any]
    seconds: float

    def verdicts(self, metric: str) -> dict[str, dict[str, Any]]:
        """Return the verdicts on a metric by case."""
        return {
            case["case"]: verdict
            for case in self.document["cases"]
            for verdict in case["verdicts"]
            if verdict["metric"] == metric
        }

    def timed_changes(self) -> list[dict[str, Any]]:
        """Return the timed verdicts on any metric that say that something changed."""
        return [
            {"case": case["case"], **verdict}
            for case in self.document["cases"]
            for verdict in case["verdicts"]
            if verdict["engine"] == "timed" and verdict["verdict"] in ("regression", "improvement")
        ]


def empty_store(name: str) -> Path:
    """Return a store without results: what it knew of the machine would be known to the next comparison."""
    store = DIRECTORY / name
    shutil.rmtree(store, ignore_errors=True)
    return store


def compare(*arguments: str, store: Path) -> Comparison:
    """Run `zerolap compare`; raises `subprocess.CalledProcessError` if there is no result at all."""
    zerolap = Path(sys.executable).with_name("zerolap")
    began = time.monotonic()
    command = [str(zerolap), "compare", *arguments, "--store", str(store), "--json", "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, TRIAL_FAILED):
        raise subprocess.CalledProcessError(done.returncode, command)
    return Comparison(json.loads(done.stdout), time.monotonic() - began)
