"""Runs the program as a user would, for the benches."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER = "redis-server"
DEMO_REPOSITORY = Path(".demo/redis")
STORE = Path(".bench/store")


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


def compare(*arguments: str) -> Comparison:
    """Run `zerolap compare`."""
    zerolap = Path(sys.executable).with_name("zerolap")
    began = time.monotonic()
    command = [str(zerolap), "compare", *arguments, "--store", str(STORE), "--json", "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return Comparison(json.loads(done.stdout), time.monotonic() - began)
