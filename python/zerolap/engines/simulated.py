"""An engine that makes its outcomes up: planning, recording and resuming are tested with it without any server."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from zerolap.engines.engine import Deadline, Place
from zerolap.records import (
    HEAD,
    Amounts,
    Block,
    Check,
    Event,
    JobFinished,
    Measurement,
    Placement,
    Side,
    SliceRecord,
    Timeline,
    TrialDone,
    TrialsJob,
    Validity,
    Windows,
)

GRAPH = (
    b'{"schema":"zerolap.callgraph/1","files":[],"totals":{"instructions":1000.0,"syscalls":0.1},'
    b'"functions":[],"edges":[]}'
)
WINDOWS = Windows(small=40, large=160)
SLICE_REQUESTS = 320


@dataclass
class Simulated:
    """Stands in for the engine `counted` or `timed`: the same job gives the same outcome, in no time.

    `changes` are the heads' relative changes of all costs by case, `of_head` factors of its counts by metric, `scatter`
    is the relative standard deviation of starts. With `has_counters` cycles are counted too, in which starts differ a
    tenth as much, as in elapsed time. `on_trial` is called before each trial; it may raise, or wait. `seconds` is the
    machine time that a trial claims. With `as_built`, the changes of programs as they were built, all other starts are
    in random layouts. `executed` gives what counted trials of a case and side executed. `carried_out`
    lists the trials: case, block number, side. With `measured` all of this is left to it.
    """

    changes: Mapping[str, float] = field(default_factory=dict)
    scatter: float = 0.0
    has_counters: bool = False
    seconds: float = 1.0
    slices: int = 4
    executed: Callable[[str, Side], bytes] | None = None
    of_head: Mapping[str, float] = field(default_factory=dict)
    as_built: Mapping[str, float] | None = None
    on_trial: Callable[[TrialsJob, Block], None] = lambda _job, _block: None
    carried_out: list[tuple[str, int, Side]] = field(default_factory=list)
    measured: Callable[[TrialsJob, Block, Side], Measurement] | None = None

    def missing(self) -> str | None:
        """Return none: it works everywhere."""
        return None

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Make up all trials that `place` has no record of."""
        deadline = Deadline(job, place)
        for block in job.blocks:
            if deadline.is_over:
                yield JobFinished(job=job.id, cut_short=True)
                return
            sides = [side for side in job.servers if place.measured(block, side) is None]
            if job.engine == "timed":
                if sides:
                    yield self._done(job, block, place, list(job.servers))
                continue
            for side in sides:
                yield self._done(job, block, place, [side])
        yield JobFinished(job=job.id)

    def _done(self, job: TrialsJob, block: Block, place: Place, sides: list[Side]) -> TrialDone:
        self.on_trial(job, block)
        place.cancellation.require_going_on()
        self.carried_out += [(job.case.name, block.number, side) for side in sides]
        measurements = {side: self._measurement(job, block, side, place) for side in sides}
        return TrialDone(job=job.id, block=block.number, measurements=measurements)

    def _measurement(self, job: TrialsJob, block: Block, side: Side, place: Place) -> Measurement:
        if self.measured is not None:
            return self.measured(job, block, side)
        chance = random.Random(f"{job.case.name} {block.seed} {side} {job.is_paced}")
        changes = self.as_built or {} if job.amounts.as_built else self.changes
        expected = 1 + (changes.get(job.case.name, 0.0) if side == HEAD else 0.0)
        cost = chance.gauss(1.0, self.scatter) * expected
        validity = Validity.of([Check(check="errors", ok=True, value=0.0, limit="<= 0")])
        if job.engine == "timed":
            metrics = {"cpu_ns_per_op": 2000 * cost, "ops_per_sec": 400_000 / cost, "latency_p50_us": 50 * cost}
            elapsed_ns = 2500 * cost
            if self.has_counters:
                cycles = chance.gauss(1.0, self.scatter / 10) * expected
                elapsed_ns = 2500 * cycles
                metrics |= {"cycles_per_op": 6000 * cycles, "kernel_cycles_per_op": 1000 * cycles}
            record = SliceRecord(
                requests=SLICE_REQUESTS,
                seconds=0.005,
                client_busy=0.5,
                server_busy=0.9,
                requests_per_read=1.0,
                requests_per_cycle=4.0,
                metrics=metrics,
            )
            timeline = Timeline(slices=[record] * self.slices, histogram_ns=[(50_000, SLICE_REQUESTS * self.slices)])
            return Measurement(
                metrics=metrics | {"elapsed_ns_per_op": elapsed_ns},
                validity=validity,
                amounts=job.amounts.model_copy(update={"slice_requests": SLICE_REQUESTS}),
                timeline=place.blobs.put(timeline.model_dump_json(by_alias=True).encode()),
                placement=None
                if self.as_built is None
                else Placement(seed=None if job.amounts.as_built else block.seed),
                seconds=self.seconds,
            )
        metrics = {"instructions_per_op": 1000 * cost, "syscalls_per_op": 0.1, "allocations_per_op": 1.0}
        if side == HEAD:
            metrics = {name: count * self.of_head.get(name, 1.0) for name, count in metrics.items()}
        windows = job.amounts.windows or WINDOWS
        return Measurement(
            metrics=metrics,
            validity=validity,
            amounts=Amounts(windows=windows, scale=job.amounts.scale),
            graph=place.blobs.put(GRAPH),
            executed=None if self.executed is None else place.blobs.put(self.executed(job.case.name, side)),
            seconds=self.seconds,
        )
