"""Builds of a history beside what is counted: the likely next commit is built while one is counted."""

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from command_line import Zerolap
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, WORK_BEGINS, ToySource
from waiting import wait_until

from zerolap import open_store
from zerolap.build import commits_of
from zerolap.cases import load_cases
from zerolap.history import Asked, Filling, FillOptions, measurers
from zerolap.history.asked import failures_of
from zerolap.history.measurers import LocalMeasurer
from zerolap.host import read_processors
from zerolap.lab import Lab, Options, run_request
from zerolap.records import HEAD, Build, Interrupted, Request, RequestedServer, RunReport

RANGE = "HEAD~4..HEAD"
FIRST, TWICE, BROKEN, REPAIRED, SLOWER = range(5)
BROKEN_LINE = "\n#error not yet\n"


@pytest.fixture
def source(zerolap: Zerolap, compiler: None) -> ToySource:
    """A repository of five commits, one of which does not build."""
    made = ToySource(zerolap.directory / "source")
    made.replace("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE)
    made.commit("checksum | twice")
    commands = made.path / "src" / "commands.c"
    working = commands.read_text()
    commands.write_text(working + BROKEN_LINE)
    made.commit("broken")
    commands.write_text(working)
    made.commit("repaired")
    made.replace("commands.c", WORK_BEGINS, WORK_BEGINS + '\n    __asm__ volatile(".rept 8\\n nop\\n.endr");')
    made.commit("slower")
    return made


@dataclass(frozen=True)
class Followed(LocalMeasurer):
    """Measures here, and notes what is built ahead and what is counted."""

    ahead: list[str] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)

    def building_ahead(self, request: Request) -> AbstractContextManager[None]:
        self.ahead.append(request.servers[HEAD].source.name)
        return super().building_ahead(request)

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        self.counted.append(request.servers[HEAD].source.name)
        return super().run_unless(is_known, request)


def asked_of(made: ToySource, *names: str) -> Asked:
    cases = [case for case in load_cases(CASES) if case.name in names]
    return Asked(made.path, RANGE, commits_of(made.path, RANGE), cases)


def request_of(asked: Asked, position: int) -> Request:
    server = RequestedServer(source=asked.commits[position].source)
    return run_request(server, asked.cases, Options(engines=["counted"], seed=0)).model_copy(
        update={"topic": asked.topic(position)}
    )


@pytest.mark.slow
def test_the_commit_that_is_counted_next_is_built_beside_the_one_before(
    source: ToySource, zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurers, "ENOUGH_PROCESSORS", 1)
    asked = asked_of(source, "toy-work")
    with open_store(zerolap.store) as store:
        followed = Followed(Lab(store))
        outcome = Filling(asked, FillOptions(engines=("counted",)), Lab(store), followed).fill()
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
            with LocalMeasurer(Lab(store)).building_ahead(request_of(asked, position)):
                pass
        assert [build.commit for build in store.history.builds(commits, None)] == commits[:1]
        assert "does not build" in failures_of(asked, store)[BROKEN]


def test_a_build_beside_counting_ends_with_it(
    source: ToySource, zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurers, "ENOUGH_PROCESSORS", 1)
    source.replace("Makefile", "\t$(CC) -g -o $@ $(OBJECTS)", "\tsleep 987654")
    source.commit("endless")
    asked = asked_of(source, "toy-get")
    with open_store(zerolap.store) as store, pytest.raises(Interrupted):
        interrupt_once_it_builds(LocalMeasurer(Lab(store)), request_of(asked, SLOWER))
    assert not is_running("sleep", "987654")


def interrupt_once_it_builds(measurer: LocalMeasurer, request: Request) -> None:
    with measurer.building_ahead(request):
        wait_until(lambda: is_running("sleep", "987654"))
        raise Interrupted("interrupted")


def is_running(*arguments: str) -> bool:
    wanted = b"".join(argument.encode() + b"\0" for argument in arguments)
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            commands.append((process / "cmdline").read_bytes())
    return wanted in commands


@pytest.mark.parametrize("processors", [1, 3])
def test_with_few_processors_nothing_is_built_beside_counting(
    source: ToySource, zerolap: Zerolap, monkeypatch: pytest.MonkeyPatch, processors: int
) -> None:
    monkeypatch.setattr(measurers, "read_processors", lambda: replace(read_processors(), processors=range(processors)))
    asked = asked_of(source, "toy-get")
    with open_store(zerolap.store) as store:
        with LocalMeasurer(Lab(store)).building_ahead(request_of(asked, FIRST)):
            pass
        assert store.history.builds([asked.commits[FIRST].revision.commit], None) == []
