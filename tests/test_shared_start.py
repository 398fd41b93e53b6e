"""Starts that several cases share: the same servers, emptied in between; what fails or ends leaves none behind."""

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from zerolap.build import Program, resolve
from zerolap.engines import Place, Simulated, cases_per_start
from zerolap.engines.shared_start import SharedStart, may_share, share_start, shared_servers
from zerolap.engines.timed import StartOutcome, TimedStart, time_start
from zerolap.host import Pinning
from zerolap.lab import Lab, Options, Worker, compare, comparison_request
from zerolap.records import (
    STANDALONE,
    Amounts,
    Block,
    Case,
    Comparison,
    Event,
    InRegime,
    Interrupted,
    RequestedServer,
    ServerSpec,
    TrialFailed,
    TrialsJob,
    WrittenClient,
)
from zerolap.sandbox import Cancellation, limited
from zerolap.server import RunningServer
from zerolap.store import Store

SERVERS = {side: ServerSpec(build="b-1", topology=STANDALONE) for side in ("base", "head")}


@pytest.fixture
def cancellation() -> Iterator[Cancellation]:
    with Cancellation().current() as current:
        yield current


@pytest.fixture
def shared(cancellation: Cancellation) -> Iterator[SharedStart]:
    with shared_servers(cancellation, None) as start:
        yield start


class Starts:
    """Carries out starts of cases in turn, on one pair of servers where these may be shared."""

    def __init__(self, cases: dict[str, Case], program: Program, pinning: Pinning, directory: Path) -> None:
        self.cases = cases
        self._program = program
        self._pinning = pinning
        self._directory = directory
        self._number = 0

    def start(self, case: str, shared: SharedStart, seed: int = 1) -> StartOutcome:
        self._number += 1
        directory = self._directory / str(self._number)
        directory.mkdir()
        return time_start(
            TimedStart(
                case=self.cases[case],
                servers=SERVERS,
                programs=dict.fromkeys(SERVERS, self._program),
                seed=seed,
                directory=directory,
                pinning=self._pinning,
                amounts=Amounts(pairs=2),
                shared=shared,
            )
        )


@pytest.fixture
def starts(cases: dict[str, Case], redis_server: Path, pinning: Pinning, tmp_path: Path) -> Starts:
    return Starts(cases, Program(redis_server), pinning, tmp_path)


def servers_of(shared: SharedStart) -> list[RunningServer]:
    return [node.server for deployment in shared.deployments.values() for node in deployment.nodes]


def position(started: StartOutcome) -> int | None:
    [found] = {one.start_position for one in started.measurements.values()}
    return found


def test_cases_take_turns_on_the_same_servers(starts: Starts, shared: SharedStart) -> None:
    first = starts.start("good", shared)
    processes = [server.process for server in servers_of(shared)]
    assert len(processes) == 2
    second = starts.start("good", shared)
    assert [server.process for server in servers_of(shared)] == processes
    assert (position(first), position(second)) == (0, 1)
    for started in (first, second):
        # Keys of the case before would be found by the check of the keyspace.
        keys = [
            check for one in started.measurements.values() for check in one.validity.checks if check.check == "keys"
        ]
        assert all(check.ok for check in keys)
        assert all(one.metrics["cpu_ns_per_op"] > 0 for one in started.measurements.values())


def test_another_block_has_servers_of_its_own(starts: Starts, shared: SharedStart) -> None:
    starts.start("good", shared)
    before = servers_of(shared)
    assert position(starts.start("good", shared, seed=2)) == 0
    assert not any(server.alive for server in before)


def test_nothing_is_left_at_the_end(starts: Starts, cancellation: Cancellation) -> None:
    with shared_servers(cancellation, None) as shared:
        starts.start("good", shared)
        servers = servers_of(shared)
        assert all(server.alive for server in servers)
    assert not any(server.alive for server in servers)


def test_a_case_that_fails_takes_its_servers_along(starts: Starts, shared: SharedStart) -> None:
    starts.start("good", shared)
    servers = servers_of(shared)
    starts.cases["bad"] = starts.cases["good"].model_copy(update={"name": "bad", "setup": ["NOSUCHCOMMAND"]})
    with pytest.raises(TrialFailed):
        starts.start("bad", shared)
    assert not any(server.alive for server in servers)
    assert position(starts.start("good", shared)) == 0


def test_a_server_that_died_is_not_used_again(starts: Starts, shared: SharedStart) -> None:
    starts.start("good", shared)
    with pytest.raises(TrialFailed):
        servers_of(shared)[0].command("SHUTDOWN", "NOSAVE")
    assert position(starts.start("good", shared)) == 0


def test_a_cancellation_ends_the_servers_between_cases(starts: Starts, cancellation: Cancellation) -> None:
    with contextlib.ExitStack() as stack:
        shared = stack.enter_context(shared_servers(cancellation, None))
        starts.start("good", shared)
        servers = servers_of(shared)
        cancellation.cancel()
        assert not any(server.alive for server in servers)
        ended = stack.pop_all()
    with pytest.raises(Interrupted):
        ended.close()


def test_the_limit_of_a_case_ends_servers_that_it_did_not_start(starts: Starts, shared: SharedStart) -> None:
    starts.start("good", shared)
    servers = servers_of(shared)

    def go_on() -> None:
        with limited(0.05):
            while all(server.alive for server in servers):
                starts.start("good", shared)

    with pytest.raises(TrialFailed, match="limit"):
        go_on()
    assert not any(server.alive for server in servers)


def job(case: Case, block: int = 0, servers: dict[str, ServerSpec] | None = None, **more: object) -> TrialsJob:
    return TrialsJob(
        request="r",
        case=case,
        servers=servers or SERVERS,
        engine="timed",
        blocks=(Block(number=block, seed=block),),
        **more,  # type: ignore[arg-type]
    )


def test_jobs_of_a_block_share_a_start_where_nothing_but_keys_is_left_behind(cases: dict[str, Case]) -> None:
    good = cases["good"]
    other = good.model_copy(update={"name": "other"})
    assert share_start(job(good), job(other))
    assert not share_start(job(good), job(other, block=1))
    assert not share_start(job(good, amounts=Amounts(as_built=True)), job(other))
    with_config = {side: one.model_copy(update={"config": {"hz": "50"}}) for side, one in SERVERS.items()}
    assert not share_start(job(good), job(other, servers=with_config))
    kept = {side: one.model_copy(update={"config": {"appendonly": "yes"}}) for side, one in SERVERS.items()}
    assert not may_share(job(good, servers=kept))
    assert not may_share(job(good, amounts=Amounts(alone=True)))
    assert not may_share(job(good.model_copy(update={"setup": ["config set hz 50"]})))
    assert may_share(job(good.model_copy(update={"setup": ["SET a b"]})))
    # A server that had two million requests is no new one for the next case.
    warm = InRegime(name="warm", of="good", warm_requests=2_000_000)
    assert not may_share(job(good.model_copy(update={"regime": warm})))


class Noting(Simulated):
    """Notes which servers each job could share, by block and case."""

    def __init__(self) -> None:
        super().__init__(scatter=0.001)
        self.seen: list[tuple[int, str, SharedStart | None]] = []

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        self.seen += [(block.number, job.case.name, place.shared) for block in job.blocks]
        yield from super().carry_out(job, place)


def compared(store: Store, redis_server: Path, number: int, timed: Noting) -> Comparison:
    server = RequestedServer(source=resolve(str(redis_server), None))
    client = WrittenClient(commands=["GET __key__"]).client
    chosen = [Case(name=f"case-{place}", group="made up", client=client) for place in range(number)]
    request = comparison_request(server, server, chosen, Options(engines=["timed"], seed=1))
    return compare(request, Lab(store, worker=Worker({"timed": timed})))


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Noting:
    # What else the machine does is all the same to simulated engines.
    monkeypatch.setattr("zerolap.lab.local.wait_for_quiet", lambda *_: None)
    return Noting()


def groups_of(timed: Noting) -> dict[int, list[list[str]]]:
    """The cases of each start by block, in turn."""
    found: dict[int, list[list[str]]] = {}
    for (block, servers), of_start in itertools.groupby(timed.seen, key=lambda one: (one[0], id(one[2]))):
        assert servers
        found.setdefault(block, []).append([case for _, case, _ in of_start])
    return found


def test_three_of_twelve_cases_share_a_start_and_not_always_the_same(
    store: Store, redis_server: Path, timed: Noting
) -> None:
    comparison = compared(store, redis_server, 12, timed)
    assert {case.time for case in comparison.cases} == {"same"}
    groups = groups_of(timed)
    assert all(sorted(map(len, of_block)) == [3, 3, 3, 3] for of_block in groups.values())
    names = sorted(case.case for case in comparison.cases)
    assert all(sorted(itertools.chain(*of_block)) == names for of_block in groups.values())
    assert len({str(of_block) for of_block in groups.values()}) == len(groups)
    # What a case follows changes too.
    before = {pair for of_block in groups.values() for of_start in of_block for pair in itertools.pairwise(of_start)}
    assert len(before) > 2 * len(names)


def test_few_cases_have_a_start_each(store: Store, redis_server: Path, timed: Noting) -> None:
    compared(store, redis_server, 3, timed)
    assert {shared for _, _, shared in timed.seen} == {None}
    assert [cases_per_start(number) for number in (1, 7, 8, 12, 100)] == [1, 1, 2, 3, 3]


def test_a_case_that_fails_is_the_only_one_of_its_start_that_does(
    store: Store, redis_server: Path, timed: Noting
) -> None:
    def fail(job: TrialsJob, _: Block) -> None:
        if job.case.name == "case-5":
            raise TrialFailed("it does not work")

    timed.on_trial = fail
    comparison = compared(store, redis_server, 12, timed)
    assert {case.case for case in comparison.cases if case.failure} == {"case-5"}
    assert {case.time for case in comparison.cases if not case.failure} == {"same"}
