"""Builds of a history beside what is counted: the likely next commit is built while one is counted."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Zerolap
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, WORK_BEGINS, ToySource
from waiting import BUILD_PATIENCE_SECONDS, wait_until

from zerolap import open_store
from zerolap.build import Builds, commits_of
from zerolap.build.placement import Relinking
from zerolap.cases import load_cases
from zerolap.history import Filling, FillOptions, HistoryRange, measurers
from zerolap.history.history_range import OF_FLEET, failures_of
from zerolap.history.measurers import NOT_NEEDED, BuildAhead, FleetMeasurer, LocalMeasurer
from zerolap.host import read_processors
from zerolap.lab import Lab, Options, run_request
from zerolap.records import (
    ANCHOR,
    BASE,
    HEAD,
    Build,
    Comparison,
    EnvironmentMissing,
    Interrupted,
    Request,
    RequestedServer,
    RunReport,
)
from zerolap.store import RequestInShort

RANGE = "HEAD~4..HEAD"
ALWAYS_AHEAD = """
from zerolap.history import measurers
measurers.ENOUGH_PROCESSORS = 1
from zerolap.cli import main
main()
"""
ENDLESS = ("sleep", str(1_000_000 + os.getpid()))
"""What a build that does not end runs, in this process of the tests alone."""
FIRST, TWICE, BROKEN, REPAIRED, SLOWER = range(5)
BROKEN_LINE = "\n#error not yet\n"


def slower(instructions: int) -> str:
    """Return the beginning of the work command with so many instructions more."""
    return WORK_BEGINS + f'\n    __asm__ volatile(".rept {instructions}\\n nop\\n.endr");'


@pytest.fixture
def source(zerolap: Zerolap, compiler: None) -> ToySource:
    """A repository of five commits, one of which does not build."""
    made = ToySource(zerolap.directory / "source")
    made.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    made.replace("commands.c", WORK_BEGINS, slower(4))
    made.commit("checksum | twice")
    commands = made.path / "src" / "commands.c"
    working = commands.read_text()
    commands.write_text(working + BROKEN_LINE)
    made.commit("broken")
    commands.write_text(working)
    made.commit("repaired")
    made.replace("commands.c", slower(4), slower(8))
    made.commit("slower")
    return made


@dataclass(frozen=True)
class Followed(LocalMeasurer):
    """Measures here, and notes what is built ahead and what is counted."""

    ahead: list[str] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)

    def building_ahead(self, request: Request) -> AbstractContextManager[BuildAhead]:
        self.ahead.append(request.servers[HEAD].source.name)
        return super().building_ahead(request)

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        self.counted.append(request.servers[HEAD].source.name)
        return super().run_unless(is_known, request)


def asked_of(made: ToySource, *names: str) -> HistoryRange:
    cases = [case for case in load_cases(CASES) if case.name in names]
    return HistoryRange(made.path, RANGE, commits_of(made.path, RANGE), cases)


def request_of(asked: HistoryRange, position: int) -> Request:
    server = RequestedServer(source=asked.commits[position].source)
    return run_request(server, asked.cases, Options(engines=["counted"], seed=0)).model_copy(
        update={"topic": asked.topic(position)}
    )


@pytest.mark.slow
@pytest.mark.parametrize("retry", [False, True])
def test_the_commit_that_is_counted_next_is_built_beside_the_one_before(
    retry: bool, source: ToySource, zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurers, "ENOUGH_PROCESSORS", 1)
    asked = asked_of(source, "toy-work")
    with open_store(zerolap.store) as store:
        followed = Followed(Lab(store))
        outcome = Filling(asked, FillOptions(engines=("counted",), retry=retry), Lab(store), followed).fill()
    assert list(outcome.failures) == [BROKEN]
    assert followed.counted[0] not in followed.ahead
    # The broken commit is built once, ahead, and beside the one after it nothing is.
    name = asked.commits[BROKEN].source.name
    assert followed.ahead.count(name) + followed.counted.count(name) == 1
    assert len(set(followed.counted[1:]) - set(followed.ahead)) == 1


def test_a_build_beside_counting_is_there_at_the_end_of_the_block(
    source: ToySource, zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurers, "ENOUGH_PROCESSORS", 1)
    asked = asked_of(source, "toy-get")
    commits = [asked.commits[position].revision.commit for position in (FIRST, BROKEN)]
    with open_store(zerolap.store) as store:
        for position in (FIRST, BROKEN):
            with LocalMeasurer(Lab(store)).building_ahead(request_of(asked, position)) as ahead:
                pass
            assert (ahead.failure is not None) == (position == BROKEN)
        assert [build.commit for build in store.history.builds(commits, None)] == commits[:1]
        assert "does not build" in failures_of(asked, store)[BROKEN]


@pytest.fixture
def endless(source: ToySource) -> None:
    """The last commit's build does not end."""
    source.replace("Makefile", "\t$(CC) -g -o $@ $(OBJECTS)", "\t" + " ".join(ENDLESS))
    source.commit("endless")


@pytest.mark.usefixtures("endless")
def test_a_build_beside_counting_ends_with_it(source: ToySource, zerolap: Zerolap) -> None:
    asked = asked_of(source, "toy-get")
    with open_store(zerolap.store) as store, pytest.raises(Interrupted):
        interrupt_once_it_builds(LocalMeasurer(Lab(store)), request_of(asked, SLOWER))
    wait_until(lambda: not is_running(*ENDLESS))


def interrupt_once_it_builds(measurer: LocalMeasurer, request: Request) -> None:
    with measurer.building_ahead(request):
        wait_until(lambda: is_running(*ENDLESS), seconds=BUILD_PATIENCE_SECONDS)
        raise Interrupted("interrupted")


@pytest.mark.slow
@pytest.mark.usefixtures("endless", "valgrind")
def test_who_waits_for_a_build_beside_counting_can_end_it(source: ToySource, zerolap: Zerolap) -> None:
    asked = ["--repo", source.path, "--cases", CASES, "--store", zerolap.store, "--measure", "HEAD~1..HEAD"]
    command = [sys.executable, "-c", ALWAYS_AHEAD, "history", "toy-get", *asked, "--engine", "counted"]
    history = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: is_running(*ENDLESS), seconds=BUILD_PATIENCE_SECONDS)
    wait_until(lambda: counted_trials(zerolap.store) == 1, seconds=BUILD_PATIENCE_SECONDS)
    history.send_signal(signal.SIGINT)
    _, error = history.communicate()
    assert history.returncode == Interrupted.exit_code, error
    wait_until(lambda: not is_running(*ENDLESS))


def counted_trials(store: Path) -> int:
    with closing(sqlite3.connect(store / "zerolap.db")) as connection:
        return int(connection.execute("select count(*) from trial").fetchone()[0])


def is_running(*arguments: str) -> bool:
    wanted = b"".join(argument.encode() + b"\0" for argument in arguments)
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            commands.append((process / "cmdline").read_bytes())
    return wanted in commands


@pytest.mark.parametrize(("processors", "is_enough"), [(1, False), (3, False), (4, True)])
def test_with_few_processors_nothing_is_built_beside_counting(
    zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch, processors: int, is_enough: bool
) -> None:
    monkeypatch.setattr(measurers, "read_processors", lambda: replace(read_processors(), processors=range(processors)))
    with open_store(zerolap.store) as store:
        assert LocalMeasurer(Lab(store)).builds_ahead == is_enough


# Builds that a fleet is asked for ahead

PLATFORM = "arm"


@pytest.fixture
def fleet(zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch) -> Iterator[FleetMeasurer]:
    """Asks a fleet whose conductor never works on anything."""
    with open_store(zerolap.store) as store:
        monkeypatch.setattr(type(store), "has_conductor", lambda _: True)
        yield FleetMeasurer(PLATFORM, Lab(store))


def asked_ahead(fleet: FleetMeasurer, request: Request) -> RequestInShort:
    """Return the build of a run that was asked for ahead."""
    with fleet.building_ahead(request):
        pass
    [building] = fleet.lab.store.fleet.open_requests_on(f"{request.topic}{OF_FLEET}build")
    return building


def test_builds_ahead_that_nobody_waits_for_are_cancelled(source: ToySource, fleet: FleetMeasurer) -> None:
    asked = asked_of(source, "toy-get")
    identities = [asked_ahead(fleet, request_of(asked, position)).id for position in (FIRST, TWICE)]
    fleet.lab.store.fleet.set_state(identities[0], "done", "")
    fleet.end_builds_ahead()
    outcomes = [fleet.lab.store.fleet.in_short(identity) for identity in identities]
    assert [None if short is None else short.state for short in outcomes] == ["done", "cancelled"]
    assert outcomes[1] is not None
    assert outcomes[1].reason == NOT_NEEDED


def test_a_build_of_another_command_is_left_to_it(source: ToySource, fleet: FleetMeasurer) -> None:
    request = request_of(asked_of(source, "toy-get"), FIRST)
    building = asked_ahead(fleet, request)
    other = FleetMeasurer(PLATFORM, fleet.lab)
    assert asked_ahead(other, request).id == building.id
    other.end_builds_ahead()
    short = fleet.lab.store.fleet.in_short(building.id)
    assert short is not None
    assert short.state == "waiting"


@pytest.mark.parametrize(("reason", "is_asked_anew"), [(NOT_NEEDED, True), ("by zerolap fleet cancel", False)])
def test_a_build_that_another_command_cancels_is_asked_for_anew(
    source: ToySource, fleet: FleetMeasurer, monkeypatch: pytest.MonkeyPatch, reason: str, is_asked_anew: bool
) -> None:
    request = request_of(asked_of(source, "toy-get"), FIRST)
    building = asked_ahead(FleetMeasurer(PLATFORM, fleet.lab), request)
    requests = fleet.lab.store.fleet
    states = iter([("cancelled", reason), ("failed", "the second one")])
    sleep = time.sleep

    def end(seconds: float) -> None:
        if seconds != measurers.POLL_SECONDS:
            sleep(seconds)
            return
        [still_open] = requests.open_requests_on(building.topic)
        requests.set_state(still_open.id, *next(states))

    monkeypatch.setattr(time, "sleep", end)
    with pytest.raises(EnvironmentMissing, match="the second one" if is_asked_anew else reason):
        fleet.run_unless(lambda _: True, request)


@dataclass(frozen=True)
class InterruptedMeasurer(LocalMeasurer):
    """Is interrupted by the first run; `ended` notes that builds ahead were ended."""

    ended: list[bool] = field(default_factory=list)

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        raise Interrupted("interrupted")

    def end_builds_ahead(self) -> None:
        self.ended.append(True)


def test_builds_ahead_end_with_an_interrupted_history(source: ToySource, zerolap: Zerolap) -> None:
    asked = asked_of(source, "toy-get")
    with open_store(zerolap.store) as store:
        measurer = InterruptedMeasurer(Lab(store))
        with pytest.raises(Interrupted) as stopped:
            Filling(asked, FillOptions(engines=("counted",)), Lab(store), measurer).fill()
    assert measurer.ended == [True]
    assert stopped.value.hint == "the same command goes on"


# What is measured together


@dataclass(frozen=True)
class NothingTimed(LocalMeasurer):
    """Builds and counts here, and notes which commits it was to time together; none has any starts."""

    together: list[dict[str, str]] = field(default_factory=list)

    def compare(self, request: Request) -> Comparison:
        self.together.append({side: server.source.name for side, server in request.servers.items()})
        comparison: Any = SimpleNamespace(summary=SimpleNamespace(machine_seconds=0.0))
        return comparison


@pytest.mark.slow
@pytest.mark.parametrize("has_one_layout", [False, True])
def test_an_anchor_that_spoils_the_contrast_of_the_others_is_left_out(
    source: ToySource, zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch, has_one_layout: bool
) -> None:
    """An anchor is measured alone where it cannot be relinked, and where three servers have left no starts."""
    asked = asked_of(source, "toy-work")
    with open_store(zerolap.store) as store:
        lab = Lab(store)
        measurer = NothingTimed(lab)
        filling = Filling(asked, FillOptions(), lab, measurer)
        if has_one_layout:
            monkeypatch.setattr(Builds, "relinking", lambda *_: Relinking(failure="it has one layout"))
        filling.fill()
        names = [commit.source.name for commit in asked.commits]
        of_three = {ANCHOR: names[FIRST], BASE: names[TWICE], HEAD: names[SLOWER]}
        apart = [{BASE: names[FIRST], HEAD: names[SLOWER]}, {BASE: names[TWICE], HEAD: names[SLOWER]}]
        done = [sides for sides in measurer.together if sides[HEAD] == names[SLOWER]]
        assert done == (apart if has_one_layout else [of_three, *apart])
