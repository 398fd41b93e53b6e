"""A short run of the chaos bench: real builds and servers, each kind of fault at least once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nats_server import required_program
from postgresql_server import programs, server_user

from benches.chaos_faults import DECK
from zerolap.sandbox import available

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
REQUESTS, FAULTS = 6, len(DECK)


@pytest.fixture(scope="module")
def program() -> Path:
    if programs() is None or server_user() is None:
        pytest.skip("no PostgreSQL server is installed")
    if (missing := available()) is not None:
        pytest.skip(f"no sandbox: {missing}")
    return required_program()


def test_nothing_is_lost_nothing_comes_twice_nothing_stays_behind(
    program: Path, redis_server: Path, compiler: None, tmp_path: Path
) -> None:
    asked = ["--faults", str(FAULTS), "--requests", str(REQUESTS), "--seed", "7"]
    path = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        # The kernel ends it with the tests, also where they are killed.
        ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "benches.chaos", *asked],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    written = tmp_path / ".bench" / "chaos.json"
    assert written.exists(), done.stdout
    figures: dict[str, Any] = json.loads(written.read_text())["figures"]
    for name in ("lost", "twice", "orphans"):
        assert figures[name]["samples"] == [], done.stdout
    complete, requests = figures["requests_complete"]["samples"]
    assert complete == requests >= REQUESTS, done.stdout
    assert figures["faults"]["value"] == FAULTS
    assert done.returncode == 0, done.stdout
