"""Starts that several cases share: the same servers, emptied in between; what fails or ends leaves none behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zerolap.build import Program
from zerolap.engines.shared_start import SharedStart, may_share, share_start, shared_servers
from zerolap.engines.timed import StartOutcome, TimedStart, time_start
from zerolap.host import Pinning
from zerolap.records import STANDALONE, Amounts, Block, Case, InRegime, Interrupted, ServerSpec, TrialFailed, TrialsJob
from zerolap.sandbox import Cancellation, limited
from zerolap.server import RunningServer

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
    with pytest.raises(Interrupted), shared_servers(cancellation, None) as shared:
        starts.start("good", shared)
        servers = servers_of(shared)
        cancellation.cancel()
        assert not any(server.alive for server in servers)


def test_the_limit_of_a_case_ends_servers_that_it_did_not_start(starts: Starts, shared: SharedStart) -> None:
    starts.start("good", shared)
    servers = servers_of(shared)
    with pytest.raises(TrialFailed, match="limit"), limited(0.05):
        while all(server.alive for server in servers):
            starts.start("good", shared)
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
