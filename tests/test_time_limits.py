"""Whatever takes long is ended: a trial of a server that answers in parts, and a request that holds agents."""

import subprocess
import threading
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Zerolap
from simulated_fleet import PACE, HeldTrials, SimulatedFleet, made_up_cases
from toy_server import CASES, SOURCE
from waiting import PATIENCE_SECONDS

from zerolap.engines.simulated import Simulated
from zerolap.lab import SubmissionOptions
from zerolap.records import Interrupted, TrialFailed
from zerolap.sandbox import Cancellation, Process, launch, limited
from zerolap.store import Store

WRITTEN_AT_ONCE = "write(client->descriptor, client->output + sent, client->output_length - sent);"
DRIPPING = "dripping() ? drip(client->descriptor, client->output + sent) : "
DRIP = """
#include <stdlib.h>
#include <unistd.h>
static int dripping(void) { static int answers; return ++answers > 40; }
static long drip(int descriptor, char *byte) { usleep(400000); return write(descriptor, byte, 1); }
"""
"""Each answer but the first comes a byte at a time."""
SLEEP = "/bin/sleep"
LIMIT = "the trial took more than its limit of 3 s"


@pytest.fixture(scope="module")
def dripping_server(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server that answers while it starts, and in parts from then on."""
    tree = tmp_path_factory.mktemp("dripping")
    for file in (SOURCE / "src").iterdir():
        (tree / file.name).write_text(file.read_text())
    source = (tree / "server.c").read_text()
    assert WRITTEN_AT_ONCE in source
    (tree / "server.c").write_text(DRIP + source.replace(WRITTEN_AT_ONCE, DRIPPING + WRITTEN_AT_ONCE))
    subprocess.run(["make", "-s", "OPTIMIZATION=-O2"], cwd=tree, check=True)
    return tree / "toy-server"


@pytest.mark.parametrize("engine", ["counted", "timed", "sampled"])
def test_a_trial_of_a_server_that_drips_fails_alone_at_its_limit(
    zerolap: Zerolap, dripping_server: Path, engine: str
) -> None:
    measured = ("--engine", engine, "--trial-limit", "3s", "--cases", CASES, "--json", "-")
    ended = zerolap("run", "toy-get", "--server", dripping_server, *measured)
    assert ended.code == 4, ended
    [case] = ended.document()["cases"]
    assert LIMIT in case["failure"]
    zerolap.leaves_nothing()


def test_a_check_of_a_server_that_drips_ends_at_its_limit(zerolap: Zerolap, dripping_server: Path) -> None:
    checked = zerolap("suites", "check", CASES, "--command", "GET", "--server", dripping_server, "--trial-limit", "3s")
    assert checked.out.count(LIMIT) == 1, checked
    zerolap.leaves_nothing()


@pytest.mark.parametrize("verb", ["run", "compare", "resume", "bisect", "history", "history table", "profile"])
def test_a_verb_that_measures_permits_longer_trials(zerolap: Zerolap, verb: str) -> None:
    assert "--trial-limit TIME" in zerolap(*verb.split(), "--help").out


def test_a_profile_of_a_server_that_drips_ends_at_its_limit(zerolap: Zerolap, dripping_server: Path) -> None:
    profiled = zerolap("profile", dripping_server, "toy-get", "--cases", CASES, "--trial-limit", "3s")
    profiled.fails_with(4, LIMIT)


def sleeping() -> AbstractContextManager[Process]:
    return launch([SLEEP, "1000"], environment={})


def test_a_limit_that_no_clock_holds_is_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = list[threading.ExceptHookArgs]()
    monkeypatch.setattr(threading, "excepthook", faults.append)
    before = set(threading.enumerate())
    with limited(1e12), launch([SLEEP, "0"], environment={}) as process:
        assert process.wait(PATIENCE_SECONDS) == 0
        [timer] = set(threading.enumerate()) - before
    timer.join(PATIENCE_SECONDS)
    assert not faults


def test_processes_of_a_part_end_with_its_time_and_those_of_the_owner_go_on() -> None:
    with Cancellation().current() as owner:
        with (
            pytest.raises(TrialFailed, match=r"limit of 0\.2 s"),
            limited(0.2),
            launch([SLEEP, "1000"], environment={}) as slow,
        ):
            slow.wait(PATIENCE_SECONDS)
        assert not owner.is_cancelled
        with launch([SLEEP, "0"], environment={}) as other:
            assert other.wait(PATIENCE_SECONDS) == 0


def test_a_part_ends_with_its_owner() -> None:
    with Cancellation().current() as owner:
        threading.Timer(0.2, owner.cancel).start()
        with pytest.raises(Interrupted), limited(PATIENCE_SECONDS), sleeping() as slow:
            slow.wait(PATIENCE_SECONDS)


def test_a_pull_request_holds_agents_no_longer_than_it_may(redis_server: Path, tmp_path: Path) -> None:
    held = HeldTrials()
    with Store.open(str(tmp_path / "store")) as store:
        pace = replace(PACE, pull_seconds=2 * PACE.review_seconds)
        fleet = SimulatedFleet(store, redis_server, Simulated(on_trial=held), pace=pace)

        async def scenario(fleet: SimulatedFleet) -> None:
            request = fleet.submit(made_up_cases(2))
            try:
                assert await fleet.ended(request) == ["failed"]
            finally:
                held.release()
            assert "it took agents more than" in store.request(request.id).reason
            # Agents are free for what comes next.
            backfill = SubmissionOptions(priority="backfill")
            assert await fleet.ended(fleet.submit(made_up_cases(1), submitting=backfill)) == ["done"]

        fleet.run(scenario)


def test_the_time_of_agents_is_limited_for_pull_requests_alone(redis_server: Path, tmp_path: Path) -> None:
    held = HeldTrials()
    with Store.open(str(tmp_path / "store")) as store:
        pace = replace(PACE, pull_seconds=PACE.review_seconds)
        fleet = SimulatedFleet(store, redis_server, Simulated(on_trial=held), pace=pace)

        async def scenario(fleet: SimulatedFleet) -> None:
            backfill = fleet.submit(made_up_cases(1), submitting=SubmissionOptions(priority="backfill"))
            assert fleet.conductor is not None
            began = time.monotonic()
            await fleet.until(lambda: time.monotonic() - began > 10 * pace.review_seconds)
            held.release()
            assert await fleet.ended(backfill) == ["done"]

        fleet.run(scenario)
