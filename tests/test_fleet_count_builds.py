"""Count builds on a fleet: agents make them too, and count calls in them; nothing is measured before they are there."""

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Zerolap
from simulated_fleet import PLATFORM, SimulatedFleet, made_up_cases
from toy_server import CASES, CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import wait_until

from zerolap.build import resolve
from zerolap.engines.simulated import Simulated
from zerolap.lab import Options, comparison_request, on_platforms
from zerolap.records import (
    BASE,
    HEAD,
    BuildJob,
    CallCounts,
    CallGraph,
    Request,
    RequestedServer,
    TrialsJob,
    UsageError,
)
from zerolap.store import Store

NO_INLINING = "no-inlining"


def requested(toy: ToySource, revision: str) -> RequestedServer:
    return RequestedServer(source=resolve(revision, toy.path))


def submitted(store: Store, base: RequestedServer, head: RequestedServer) -> Request:
    """Submit a comparison with count builds, and return it."""
    options = Options(engines=["counted"], seed=1, count_build=True)
    [request] = on_platforms(comparison_request(base, head, made_up_cases(1), options), [PLATFORM], store.blobs)
    store.submit([request])
    return request


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_agents_build_each_server_twice_before_anything_is_counted(store: Store, toy: ToySource) -> None:
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    counted: list[TrialsJob] = []
    fleet = SimulatedFleet(store, toy.path, engine=Simulated(on_trial=lambda job, _block: counted.append(job)))
    request = submitted(store, requested(toy, toy.first), requested(toy, head))

    async def scenario(running: SimulatedFleet) -> None:
        assert await running.ended(request) == ["done"]

    fleet.run(scenario)
    jobs = [attempt.job for attempt in store.fleet.attempts(request.id)]
    builds = [job for job in jobs if isinstance(job, BuildJob)]
    assert Counter(NO_INLINING in job.variant for job in builds) == {False: 2, True: 2}
    # An agent begins with what is trusted: of the head's two builds nothing is used for those of the base.
    of_base = {job.spec.digest for job in builds if job.source.name == toy.first}
    assert {job.objects_of for job in builds} <= {None, *of_base}
    digests = {job.spec.digest for job in builds if NO_INLINING in job.variant}
    first = [job for job in counted if job.blocks[0].number == 0]
    assert first
    assert all(set(job.count_builds) == {BASE, HEAD} for job in first)
    assert {digest for job in first for digest in job.count_builds.values()} == digests
    assert all(not job.count_builds for job in counted if job.blocks[0].number > 0)


def test_a_program_has_no_count_build_on_a_fleet_either(store: Store, redis_server: Path) -> None:
    program = RequestedServer(source=resolve(str(redis_server), None))
    with pytest.raises(UsageError, match="it has no count build"):
        submitted(store, program, program)


class ServedLab:
    """A lab on this machine that serves its store, with the agent that it has without a configuration."""

    def __init__(self, zerolap: Zerolap) -> None:
        self.zerolap = zerolap
        self._lab = zerolap.start("serve", "--listen", "127.0.0.1:0", "--store", zerolap.store)

    def stop(self) -> None:
        """End the conductor."""
        self._lab.send_signal(signal.SIGTERM)
        self._lab.communicate()


@pytest.fixture
def served(zerolap: Zerolap, toy: ToySource) -> Iterator[ServedLab]:
    lab = ServedLab(zerolap)
    asked = ("history", "toy-get", "--repo", toy.path, "--cases", CASES, "--store", zerolap.store)
    try:
        # It knows its platform once the agent has reported.
        wait_until(lambda: zerolap(*asked, "--range", f"{toy.first}..{toy.first}", "--platform", "local").code == 0)
        yield lab
    finally:
        lab.stop()


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
@pytest.mark.parametrize("program", ["gcc", "clang"])
def test_an_agent_counts_the_calls_of_a_count_build(program: str, served: ServedLab, toy: ToySource) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"not installed: {program}")
    zerolap = served.zerolap
    head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    asked = ["toy-get", "--variant", program, "--count-build", "--repo", toy.path, "--cases", CASES, "--seed", "1"]
    where = ["--engine", "counted", "--quick", "--platform", "local", "--store", zerolap.store, "--json", "-"]
    ended = zerolap("compare", toy.first, head, *asked, *where)
    assert ended.code == 0, ended.err
    document = ended.document()
    assert document["cases"][0]["work"] == "regression"
    with Store.open_to_read(str(zerolap.store)) as results:
        for side in ("base", "head"):
            (graph,) = results.work.graphs_of_result(document["id"], side)
            assert graph.call_counts is not None
            of_server = CallGraph.model_validate_json(results.blobs.get(graph.graph))
            of_count_build = CallCounts.model_validate_json(results.blobs.get(graph.call_counts))
            assert "mix_word" not in {function.name for function in of_server.functions}
            assert "mix_word" in {function.name for function in of_count_build.functions}
