"""The sampled engine: where a server's time goes, by thread and function, in a pass of its own."""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from zerolap.cases import Case
from zerolap.engines import checks
from zerolap.engines.pairing import choose_requests
from zerolap.engines.perf import missing_for_sampling, read_stacks, recording, sampling_event
from zerolap.engines.side import ServerProgram, SideSetup, set_up
from zerolap.engines.slices import Slice, SliceWork, TimedSide
from zerolap.host import Pinning
from zerolap.records import Check, Measurement, TrialFailed, Validity

__all__ = ["Sampled", "SampledTrial", "missing_for_sampling", "sample"]

WARM_UP_SECONDS = 0.2
SAMPLED_SECONDS = 2.0
SLICES_AT_ONCE = 5
"""A slice is so many times as long as a timed one: nothing is gained by looking more often."""
FEWEST_SAMPLES = 500
MOST_LOST = 0.02


@dataclass(frozen=True)
class SampledTrial:
    """What one pass needs."""

    server: ServerProgram
    source_root: str
    case: Case
    seed: int
    directory: Path
    pinning: Pinning


@dataclass(frozen=True)
class Sampled:
    """A pass's outcome and its stacks as JSON (`zerolap.stacks/1`)."""

    measurement: Measurement
    stacks: bytes


class _Counts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    samples: int
    lost: int


def sample(trial: SampledTrial) -> Sampled:
    """Carry out one pass.

    The trial's directory has to be the only place that its binary is run from: it is read again for names. Raises
    `TrialFailed` if the server, the load generator or perf fails.
    """
    if trial.case.deployed_as.nodes > 1:
        raise TrialFailed("stacks are taken of one server; the topology has several")
    began = time.monotonic()
    data = trial.directory / "perf.data"
    setup = SideSetup(trial.server, trial.case, trial.seed, trial.directory, trial.pinning, name="server")
    with contextlib.ExitStack() as stack:
        side, found = set_up(stack, setup)
        try:
            requests = choose_requests([side], trial.case).requests
            work = SliceWork(requests if trial.case.state == "drains" else requests * SLICES_AT_ONCE, 0)
            _run_for(WARM_UP_SECONDS, side, work)
            recorder = stack.enter_context(recording(side.processes[0], sampling_event(), data))
            side.refill = recorder.unseen(side.refill)
            recorder.begin()
            slices = _run_for(SAMPLED_SECONDS, side, work)
            recorder.end()
        except TrialFailed as fault:
            raise side.server.failure(fault.message) if side.is_gone else fault from fault
        stacks = read_stacks(data, trial.source_root)
    return _evaluate(trial, slices, stacks, found, time.monotonic() - began)


def _run_for(seconds: float, side: TimedSide, work: SliceWork) -> list[Slice]:
    end = time.monotonic() + seconds
    slices = [side.run(work)]
    while time.monotonic() < end:
        slices.append(side.run(work))
    return slices


def _evaluate(trial: SampledTrial, slices: list[Slice], stacks: bytes, found: list[Check], seconds: float) -> Sampled:
    counts = _Counts.model_validate_json(stacks)
    requests = sum(one.result.requests for one in slices)
    found = [
        *found,
        *checks.reply_checks(trial.case, [one.result for one in slices]),
        checks.executed_check(trial.case, requests, sum(one.executed for one in slices)),
        Check(
            check="stack_samples",
            ok=counts.samples >= FEWEST_SAMPLES,
            value=float(counts.samples),
            limit=f">= {FEWEST_SAMPLES}",
        ),
        _lost_check(counts),
    ]
    cpu_ns = sum(one.cpu.total_ns for one in slices)
    metrics = {"cpu_ns_per_op": cpu_ns / requests}
    return Sampled(Measurement(metrics=metrics, validity=Validity.of(found), seconds=seconds), stacks)


def _lost_check(counts: _Counts) -> Check:
    share = counts.lost / max(counts.samples + counts.lost, 1)
    return Check(check="lost_samples", ok=share <= MOST_LOST, value=share, limit=f"<= {MOST_LOST:g}")
