"""The engine of sweeps: a start of a server that is filled, and the repetitions of an event in it, or its trace."""

import contextlib
import random
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Final

from zerolap.engines.engine import Place
from zerolap.engines.huge_pages import HUGE_PAGE_VARIABLES, huge_page_settings, visible_setting
from zerolap.engines.server_trial import PinnedTrial
from zerolap.engines.snapshot_sizes import Room
from zerolap.engines.snapshot_trial import SnapshotLoadSettings, SnapshotServer, filled_snapshot_server
from zerolap.engines.traced_fork import TracedServer, trace_snapshot
from zerolap.host import Pinning, Processors, choose_pinning, huge_pages
from zerolap.records import (
    Block,
    CaseRefused,
    EnvironmentMissing,
    Event,
    Measurement,
    Record,
    ServerSpec,
    Side,
    SnapshotPart,
    SnapshotStart,
    SweepRepetition,
    TrialDone,
    TrialFailed,
    TrialsJob,
    Validity,
    now,
)

METHOD: Final = 1
"""The version of the method, raised when the same server would get other figures."""


class Snapshots:
    """Measures what forks cost under load: one start for each job, in which the repetitions that are left follow.

    With `traces` an event is traced instead.
    """

    def __init__(self, *, traces: bool = False) -> None:
        self._traces = traces

    def missing(self) -> str | None:
        """Return none: what tracing needs is examined when it is asked for."""
        return None

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Start and fill the server, and carry out its repetitions; raises `TrialFailed`."""
        if not isinstance(job.part, SnapshotPart):
            raise CaseRefused("the engine `snapshot` measures sweeps of snapshots", hint="zerolap snapshot")
        [(side, server)] = job.servers.items()
        left = [block for block in job.blocks if place.measured(block, side) is None]
        if left:
            lacking = Room.here(job.part.event).lacking(job.part.size_bytes, job.part.event)
            if lacking is not None:
                raise TrialFailed(lacking)
            start = _Start(job, job.part, side, server, place)
            # Each wait of a trial has a limit of its own: how long all data takes depends on its size.
            trials = start.traced(left[0]) if self._traces else start.measured(left)
            with contextlib.closing(trials):
                yield from trials


class _Start:
    """One start of a server; all that is random in it comes from the seeds of blocks, the same for all sides."""

    def __init__(self, job: TrialsJob, part: SnapshotPart, side: Side, server: ServerSpec, place: Place) -> None:
        self._job = job
        self._part = part
        self._side = side
        config = {**huge_page_settings(part.huge_pages, huge_pages()), **server.config}
        self._server = server.model_copy(update={"config": config})
        self._place = place
        self._seconds_from = time.monotonic()

    def measured(self, blocks: Sequence[Block]) -> Generator[TrialDone, None, None]:
        """Carry out the repetitions of these blocks; what filling takes is counted with the first."""
        part, filled = self._part, now()
        with self._filled() as (_, server):
            if part.huge_pages is not None:
                server.require_huge_pages(part.huge_pages)
            keys, data_bytes = server.keys, server.data_bytes
            settled = self._settled(server, blocks[0], filled) if part.is_settled else None
            for block in blocks:
                self._place.cancellation.require_going_on()
                load = part.loads[block.number % len(part.loads)]
                settings = SnapshotLoadSettings(load, part.rate_per_second)
                repetition = server.repetition(settings, self._random(block, load))
                measured = SweepRepetition(
                    side=self._side,
                    size_bytes=part.size_bytes,
                    load=load,
                    number=block.number // len(part.loads),
                    keys=keys,
                    data_bytes=data_bytes,
                    repetition=repetition,
                    start=settled,
                    filled=filled,
                    is_resumed=len(self._place.recorded) > 0,
                    oversubscribed=oversubscribed(self._server, self._place.processors),
                )
                metrics, validity = repetition.metrics, Validity.of(repetition.checks)
                yield self._done(block, repetition.began, measured, metrics, validity)

    def traced(self, block: Block) -> Generator[TrialDone, None, None]:
        """Trace an event of the server; raises `TrialFailed`, also where nothing can be traced here."""
        part, filled = self._part, now()
        with self._filled() as (trial, server):
            if part.is_settled:
                self._settled(server, block, filled)
            source_root = self._place.builds.get(self._server.build).record.source_root
            traced = TracedServer(server, trial, source_root, part.size_bytes, self._side)
            load = SnapshotLoadSettings(part.loads[0], part.rate_per_second)
            try:
                trace = trace_snapshot(traced, load, self._random(block, "trace").getrandbits(32), part.fork_us)
            except EnvironmentMissing as missing:
                # What was measured before has its document nevertheless.
                raise TrialFailed(missing.message, missing.hint) from missing
        yield self._done(block, trace.began, trace, {}, Validity.of([]))

    @contextlib.contextmanager
    def _filled(self) -> Iterator[tuple[PinnedTrial, SnapshotServer]]:
        part = self._part
        with self._place.trial_directory(has_limit=False) as directory:
            trial = PinnedTrial(
                self._place.program(self._server),
                self._server,
                self._job.case,
                self._random(self._job.blocks[0], "data").getrandbits(32),
                directory,
                snapshot_pinning(self._place.processors),
                environment={} if part.huge_pages is None else HUGE_PAGE_VARIABLES[part.huge_pages],
                read_only=visible_setting(),
            )
            with filled_snapshot_server(trial, part.event) as server:
                yield trial, server

    def _settled(self, server: SnapshotServer, block: Block, filled: str) -> SnapshotStart:
        """Have the server fork once before its repetitions, and return how long it did.

        This holds also where a start has a single repetition: sides are compared as servers that have saved before.
        """
        first_fork_us = server.settle(self._random(block, "settle").getrandbits(32))
        return SnapshotStart(
            side=self._side, size_bytes=self._part.size_bytes, began=filled, first_fork_us=first_fork_us
        )

    def _random(self, block: Block, purpose: str) -> random.Random:
        """Return the source of randomness for something at this size."""
        return random.Random(f"{block.seed} {purpose} {self._part.size_bytes}")

    def _done(
        self, block: Block, began: str, outcome: Record, metrics: dict[str, float], validity: Validity
    ) -> TrialDone:
        until = time.monotonic()
        measurement = Measurement(
            metrics=metrics,
            validity=validity,
            record=self._place.blobs.put(outcome.model_dump_json().encode()),
            seconds=until - self._seconds_from,
            method=METHOD,
            began=began,
        )
        self._seconds_from = until
        return TrialDone(job=self._job.id, block=block.number, measurements={self._side: measurement})


def oversubscribed(server: ServerSpec, machine: Processors) -> str:
    """Return why busy threads of a server and the load generator have to share processors; empty if they need not."""
    # A replica takes no load.
    threads = server.busy_threads // server.topology.nodes
    if not choose_pinning(machine, threads).oversubscribed:
        return ""
    processors = len(machine.processors)
    return f"oversubscribed: {threads} busy threads and the load generator share {processors} processors"


def snapshot_pinning(machine: Processors) -> Pinning:
    """Return the processors of a sweep: one of the client, and all others of the server and its child.

    Where only one other is left, all are the server's: on one processor, the child's work would be in the way of the
    server's, which it is not where users run it.
    """
    pinning = choose_pinning(machine)
    numbers = tuple(processor.number for processor in machine.processors)
    others = tuple(number for number in numbers if number not in pinning.client)
    return Pinning(others if len(others) > 1 else numbers, pinning.client, pinning.sharing, pinning.oversubscribed)
