"""A job that ends the process that executes it is not begun for ever, and keeps nothing else from being done."""

import multiprocessing
import os
from functools import partial
from pathlib import Path

import pytest
from simulated_fleet import SimulatedFleet, made_up_cases
from waiting import PATIENCE_SECONDS

from zerolap.engines.simulated import Simulated
from zerolap.fleet.publisher import MOST_STARTS
from zerolap.records import Block, TrialsJob
from zerolap.store import Store

# Each starts several processes.
pytestmark = pytest.mark.slow

DEADLY = "case-of-death"
MOST_PROCESSES = MOST_STARTS + 3


def end_process(begun: Path, job: TrialsJob, _block: Block) -> None:
    if job.case.name == DEADLY:
        with begun.open("a") as file:
            file.write(f"{job.id}\n")
        os._exit(9)


def serve(location: Path, server: Path, begun: Path, identities: list[str]) -> None:
    """Carry out what is submitted until all of it has ended, or a job ends the process."""
    with Store.open(str(location)) as store:
        fleet = SimulatedFleet(store, server, Simulated(on_trial=partial(end_process, begun)), agents=1)

        async def scenario(fleet: SimulatedFleet) -> None:
            await fleet.until(lambda: set(store.fleet.states(identities).values()) <= {"done", "failed"})

        fleet.run(scenario)


def test_a_job_that_ends_the_process_fails_its_request_and_others_go_on(redis_server: Path, tmp_path: Path) -> None:
    location, begun = tmp_path / "store", tmp_path / "begun"
    with Store.open(str(location)) as store:
        fleet = SimulatedFleet(store, redis_server)
        [deadly] = [case.model_copy(update={"name": DEADLY}) for case in made_up_cases(1)]
        failing, sound = fleet.submit([deadly]), fleet.submit(made_up_cases(2))
        arguments = (location, redis_server, begun, [failing.id, sound.id])
        for _ in range(MOST_PROCESSES):
            process = multiprocessing.get_context("spawn").Process(target=serve, args=arguments)
            process.start()
            process.join(PATIENCE_SECONDS)
            if process.exitcode == 0:
                break
            assert process.exitcode == 9
        ended = store.request(failing.id)
        assert (ended.state, store.request(sound.id).state) == ("failed", "done")
        assert f"begun {MOST_STARTS} times" in ended.reason
        assert len(begun.read_text().splitlines()) == MOST_STARTS
