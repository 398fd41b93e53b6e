"""The sampled engine: where a server's time goes, by thread and function, in passes of their own.

A pass is a start. The passes of all sides take turns, in another order each time, and those of a comparison have the
placements of timed starts: by how much passes of one side differ shows what of a change could be chance.
"""

import contextlib
import time
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from zerolap import _core
from zerolap.build import BuiltServer, Program
from zerolap.engines.engine import Deadline, EngineTrial, Place, named_failure
from zerolap.engines.pairing import choose_requests
from zerolap.engines.perf import missing_for_sampling, read_stacks, recording, sampling_event
from zerolap.engines.side import set_up
from zerolap.engines.slices import Slice, SliceWork
from zerolap.engines.timed_checks import request_checks
from zerolap.records import (
    Block,
    Case,
    Check,
    EnvironmentMissing,
    Event,
    Measurement,
    Placement,
    Side,
    TrialFailed,
    TrialsJob,
    Validity,
)
from zerolap.server import named_death

METHOD = 3
"""The version of the method, raised when the same server would get other stacks."""
PASSES = 4
"""The passes of each side; fewer do not show how much passes differ."""
WARM_UP_SECONDS = 0.1
SAMPLED_SECONDS = 0.5
SLICES_AT_ONCE = 5
"""How many times longer a slice is than a timed one: the engine need not take turns as often."""
FEWEST_SAMPLES = 150
MOST_LOST = 0.02


class Sampled:
    """Takes the passes of all sides in turns."""

    def missing(self) -> str | None:
        """Return why nothing can be sampled here, or none."""
        missing = missing_for_sampling()
        return None if missing is None else missing.reason

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Carry out the passes in turns; one that cannot be recorded costs the case its stacks and no more."""
        if any(server.topology.nodes > 1 for server in job.servers.values()):
            raise TrialFailed("stacks are taken of one server; the topology has several")
        for trial, placement in _in_turns(job, place):
            with named_failure(job.servers, trial.side, trial.block):
                yield trial.done(_pass(trial, place).model_copy(update={"placement": placement}))


def _in_turns(job: TrialsJob, place: Place) -> Iterator[tuple[EngineTrial, Placement | None]]:
    """Yield the passes that are yet to be carried out, the sides of every second block in reverse order.

    Ends early once the job's time is over.
    """
    deadline, pinning = Deadline(job, place), place.pinning(job)
    for block in job.blocks:
        if deadline.is_over:
            return
        missing = [side for side in job.servers if place.measured(block, side) is None]
        programs, placement = _programs(job, block, place) if missing else ({}, None)
        for side in missing if block.number % 2 == 0 else reversed(missing):
            with place.trial_directory() as directory:
                yield EngineTrial.of(job, block, side, programs[side], directory, pinning), placement


def _programs(job: TrialsJob, block: Block, place: Place) -> tuple[dict[Side, Program], Placement | None]:
    """Return the programs of a block: of a comparison, those that timed starts of its number have too."""
    if len(job.servers) == 1:
        return {side: place.program(server) for side, server in job.servers.items()}, None
    return place.placed_programs(job, block)


def _pass(trial: EngineTrial, place: Place) -> Measurement:
    try:
        built = place.builds.get(trial.server.build)
        measurement, stacks = sample(trial, built)
    except EnvironmentMissing as fault:
        # The recording had no place to go.
        raise TrialFailed(fault.message, fault.hint) from fault
    texts = place.builds.source_lines(trial.server.build, _core.source_lines(stacks))
    return measurement.model_copy(update={"stacks": place.blobs.put(_core.with_line_texts(stacks, texts))})


class _Counts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    samples: int
    lost: int


def sample(trial: EngineTrial, built: BuiltServer) -> tuple[Measurement, bytes]:
    """Carry out one pass; return its measurement and its stacks as JSON (`zerolap.stacks/1`).

    The trial's program may be a placement of the build, which has its debug information in the build's own program.

    The trial's directory has to be the only place that its binary is run from: it is read again for names. Raises
    `TrialFailed` if the server, the load generator or perf fails.
    """
    began = time.monotonic()
    data = trial.directory / "perf.data"
    with contextlib.ExitStack() as stack:
        side, checks = set_up(stack, trial)
        with named_death(*side.servers):
            requests = choose_requests([side], trial.case).requests
            work = SliceWork(requests if trial.case.state == "drains" else requests * SLICES_AT_ONCE, 0)
            # perf is ready before the end of the warm-up.
            recorder = stack.enter_context(recording(side.processes[0], sampling_event(), data))
            side.run_for(WARM_UP_SECONDS, work)
            side.refill = recorder.unseen(side.refill)
            recorder.begin()
            slices = side.run_for(SAMPLED_SECONDS, work)
            recorder.end()
        program = trial.program
        visible = [trial.directory, program.path, *program.visible]
        stacks = read_stacks(data, built.record.source_root, visible, built.program.path)
    return _evaluate(trial.case, slices, stacks, checks, time.monotonic() - began), stacks


def _evaluate(case: Case, slices: list[Slice], stacks: bytes, filled: list[Check], seconds: float) -> Measurement:
    counts = _Counts.model_validate_json(stacks)
    requests = sum(one.result.requests for one in slices)
    checks = [
        *filled,
        *request_checks(case, slices, requests),
        Check.at_least("stack_samples", float(counts.samples), FEWEST_SAMPLES),
        Check.at_most("lost_samples", counts.lost / max(counts.samples + counts.lost, 1), MOST_LOST),
    ]
    cpu_ns = sum(one.cpu.total_ns for one in slices)
    seconds_at_work = sum(one.seconds for one in slices)
    metrics = {"cpu_ns_per_op": cpu_ns / requests, "ops_per_sec": requests / seconds_at_work}
    return Measurement(metrics=metrics, validity=Validity.of(checks), seconds=seconds, method=METHOD)
