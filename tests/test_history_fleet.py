"""Histories of a platform that a conductor serves: measured by its agents, and shown from the store by its name."""

import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Ended, Zerolap
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import BUILD_PATIENCE_SECONDS, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("valgrind")]

SERVED = "local"
COUNTED = ("--engine", "counted")


class ServedRange:
    """A repository of four commits and a lab that serves the store of its history."""

    def __init__(self, zerolap: Zerolap) -> None:
        self.zerolap = zerolap
        self._lab = zerolap.start("serve", "--listen", "127.0.0.1:0", "--store", zerolap.store)
        source = ToySource(zerolap.directory / "source")
        self.repository = source.path
        (source.path / "README").write_text("What it is for.\n")
        source.commit("documented")
        source.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
        source.commit("checksum | twice")
        commands = source.path / "src" / "commands.c"
        working = commands.read_text()
        commands.write_text(working + "\n#error not yet\n")
        source.commit("broken")
        commands.write_text(working)
        source.commit("repaired")

    def __call__(self, *arguments: str | Path) -> Ended:
        common = ("--repo", self.repository, "--cases", CASES, "--store", self.zerolap.store, "toy-get")
        return self.zerolap("history", *common, *arguments)

    def stop(self) -> None:
        """End the conductor."""
        self._lab.send_signal(signal.SIGTERM)
        self._lab.communicate()

    def requests(self) -> Counter[tuple[str, str]]:
        """Return how many requests there are of each state on each platform."""
        with closing(sqlite3.connect(self.zerolap.store / "zerolap.db")) as connection:
            return Counter(map(tuple, connection.execute("select platform, state from request")))


@pytest.fixture
def served(zerolap: Zerolap, compiler: None) -> Iterator[ServedRange]:
    there = ServedRange(zerolap)
    try:
        wait_until(lambda: there("--range", "HEAD~4..HEAD", "--platform", SERVED).code == 0)
        yield there
    finally:
        there.stop()


def test_nothing_is_asked_of_a_fleet_that_no_conductor_serves_any_more(served: ServedRange) -> None:
    served.stop()
    ended = served("--measure", "HEAD~1..HEAD", *COUNTED, "--platform", SERVED)
    ended.fails_with(3, "no conductor works on the store", "hint: start one: zerolap serve")
    assert served.requests() == {}


def test_a_platform_of_a_fleet_measures_a_range(served: ServedRange) -> None:
    measuring = ("--measure", "HEAD~4..HEAD", *COUNTED, "--platform", SERVED, "--json", "-")
    ended = served(*measuring)
    assert ended.code == 0, ended.err
    document = ended.document()
    assert document["platform"]["name"] == SERVED
    nodes = [commit["node"] for commit in document["commits"]]
    assert nodes[0] == nodes[1] != nodes[2] == nodes[4]
    assert "does not build" in document["commits"][3]["failure"]
    [series] = [one for one in document["series"] if one["metric"] == "instructions_per_op"]
    [step] = series["changes"]
    assert step["position"] == 2
    assert "`checksum_value`" in step["reasons"][0]
    asked = served.requests()
    assert {platform for platform, _ in asked} == {SERVED}

    again = served(*measuring).document()
    assert again["series"] == document["series"]
    assert served.requests() == asked

    report = served.zerolap(
        *("history", "report", "toy-get", "--repo", served.repository, "--cases", CASES),
        *("--store", served.zerolap.store, "--range", "HEAD~4..HEAD", "--platform", SERVED, "--fail-on", "work"),
    )
    assert report.code == 1
    assert "checksum | twice" in report.out


def test_an_interrupted_command_leaves_one_request_and_no_build_ahead(served: ServedRange) -> None:
    common = ("--repo", served.repository, "--cases", CASES, "--store", served.zerolap.store, "toy-get")
    child = served.zerolap.start("history", *common, "--measure", "HEAD~4..HEAD", *COUNTED, "--platform", SERVED)
    wait_until(lambda: served.requests().total() >= 2 or child.poll() is not None, seconds=BUILD_PATIENCE_SECONDS)
    child.send_signal(signal.SIGINT)
    child.communicate()
    still_open = sum(served.requests()[SERVED, state] for state in ("waiting", "running"))
    assert still_open <= 1


@pytest.mark.parametrize("requests", [1, 2])
def test_a_command_that_was_killed_leaves_its_request_to_the_next_one(served: ServedRange, requests: int) -> None:
    measuring = ("--measure", "HEAD~2..HEAD~2", *COUNTED, "--platform", SERVED)
    common = ("--repo", served.repository, "--cases", CASES, "--store", served.zerolap.store, "toy-get")
    child = served.zerolap.start("history", *common, *measuring)
    wait_until(
        lambda: served.requests().total() >= requests or child.poll() is not None, seconds=BUILD_PATIENCE_SECONDS
    )
    child.kill()
    child.communicate()
    ended = served(*measuring, "--json", "-")
    assert ended.code == 0, ended.err
    assert ended.document()["series"]
    # One to build, and one to count.
    assert served.requests() == {(SERVED, "done"): 2}
