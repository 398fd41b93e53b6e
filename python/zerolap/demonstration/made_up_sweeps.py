"""Made-up sweeps of snapshots: what saving costs the clients, what huge pages change, and Async-fork beside fork."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Final

from zerolap.byte_counts import GIB, shown_bytes
from zerolap.demonstration.made_up_reports import JOB_SECONDS, MadeUpRequest, MadeUpTrials
from zerolap.demonstration.made_up_server import NOT_MEASURED, REPOSITORY, Machine, instant
from zerolap.engines import snapshot_case
from zerolap.records import (
    Block,
    EmulatedPart,
    EmulatedSweep,
    Kernel,
    KernelPatch,
    Measurement,
    Request,
    RequestedServer,
    SeriesSlot,
    Settings,
    Side,
    SnapshotPart,
    SnapshotRepetition,
    SnapshotStart,
    SnapshotSweep,
    SweepRepetition,
    TrialsJob,
    Validity,
)

FORK_US_PER_GIB: Final[Mapping[Machine, float]] = {"made-up-x86": 29_500.0, "made-up-arm": 34_800.0}
HUGE_PAGES_SHARE: Final = 0.035
"""Of the fork, which is left with huge pages."""
FIRST_SHARE: Final = 0.72
"""Of the later forks, which the first one after filling takes."""
SLOTS_BEFORE, SLOTS = 10, 100
SLOT_SECONDS: Final = 0.01
QUIET_US: Final = 140.0
MIN_EFFECT, Q = 0.1, 0.01
ENTRIES_PER_TABLE: Final = 512
TICKS_OF_FORK, TICKS_OF_ENTRY = 350_000, 98
REQUESTS, TICKS_OF_REQUEST, TICKS_OF_SLICE = 20_000, 20_000, 9_600_000


@dataclass(frozen=True)
class MadeUpSweep(MadeUpRequest):
    """A sweep of the server at a commit on a machine; in emulated machines all runs count the same."""

    position: int
    sweep: SnapshotSweep | EmulatedSweep

    @property
    def sides(self) -> dict[Side, int]:
        """The commit by side: the names of sides are what is varied."""
        forks = self.sweep.forks if isinstance(self.sweep, EmulatedSweep) else {}
        return dict.fromkeys([*self.sweep.huge_pages, *forks] or [""], self.position)

    @cached_property
    def request(self) -> Request:
        """The request as it was asked for."""
        connections = self.sweep.connections if isinstance(self.sweep, SnapshotSweep) else 1
        source = self.server.source(self.position)
        engine = self.sweep.kind
        return Request(
            id=self.server.identity("w", self.position, self.machine, self.sweep),
            kind="snapshot",
            created=instant(self.asked),
            command_line=self._command_line,
            servers={side: RequestedServer(source=source) for side in self.sides},
            cases=tuple(snapshot_case(size, connections, "bgsave") for size in self.sweep.sizes_bytes),
            settings=Settings(
                engines=[engine], min_effect={engine: MIN_EFFECT}, q=Q, budget_seconds=None, seed=self.server.seed
            ),
            sweep=self.sweep,
            platform=self.machine,
            notes=(NOT_MEASURED,),
        )

    @property
    def _command_line(self) -> str:
        sizes = ",".join(shown_bytes(size).replace(" ", "") for size in self.sweep.sizes_bytes)
        words = f"zerolap snapshot {self.server.commits[self.position].name} --repo {REPOSITORY} --sizes {sizes}"
        if isinstance(self.sweep, EmulatedSweep):
            words += f" --kernel {self.sweep.kernel.path} --kernel-patch {self.sweep.kernel.patches[0]}"
            words += f" --repetitions {self.sweep.repetitions}"
        key, _, first = next(iter(self.sides)).partition("=")
        others = (side.partition("=")[2] for side in [*self.sides][1:])
        return f"{words} --vary {key}={','.join([first, *others])}" if key else words

    @property
    def kernel(self) -> Kernel | None:
        """The kernel of emulated machines."""
        if not isinstance(self.sweep, EmulatedSweep):
            return None
        return Kernel(
            digest=self.server.digits("kernel"),
            name=self.sweep.kernel.path,
            version="6.1.100",
            patches=[KernelPatch(name=name, digest=self.server.digits("patch")) for name in self.sweep.kernel.patches],
            compiler="gcc 12.2.0",
        )

    def measured(self, job: TrialsJob, block: Block, side: Side, trials: MadeUpTrials) -> Measurement:
        """Return a fork that is counted, or a repetition of the event with its blob."""
        validity, began = Validity.of([]), instant(self.began + timedelta(seconds=10 * block.number))
        if isinstance(job.part, EmulatedPart):
            return Measurement(
                metrics=_counts(job.part),
                validity=validity,
                seconds=JOB_SECONDS,
                began=began,
                instrument="QEMU 7.2.0",
            )
        assert isinstance(job.part, SnapshotPart)
        measured = self._repetition(job.part, block.number, side, began)
        return Measurement(
            metrics=measured.repetition.metrics,
            validity=validity,
            record=trials.blobs.put(measured.model_dump_json().encode()),
            seconds=JOB_SECONDS,
            began=began,
        )

    def _repetition(self, part: SnapshotPart, block: int, side: Side, began: str) -> SweepRepetition:
        number, load = block // len(part.loads), part.loads[block % len(part.loads)]
        size = part.size_bytes
        draw = self.server.draw("sweep", self.position, self.machine, size, load, number, part.huge_pages)
        share = HUGE_PAGES_SHARE if part.huge_pages == "always" else 1.0
        level = FORK_US_PER_GIB[self.machine] * 1.08 * size / GIB * share
        fork_us = level * draw.lognormvariate(0, 0.02)
        pause_us = fork_us * (1 + 0.03 * draw.random()) + 300
        seconds = 3.4 * size / GIB
        tail_us = 0.93 * pause_us if load == "open" else 2_400 + 0.02 * pause_us
        metrics = {
            "fork_us": fork_us,
            "cow_bytes": 0.05 * size * draw.lognormvariate(0, 0.05),
            "longest_pause_us": pause_us,
            "event_seconds": round(seconds * draw.lognormvariate(0, 0.02), 1),
            "throughput_lost": 0.002 if load == "open" else 0.21,
            "seconds_until_normal": math.ceil(pause_us / 10_000) * SLOT_SECONDS,
            "resident_bytes": 1.08 * size,
            **_latencies("during", 90.0, 0.35 * tail_us, tail_us, pause_us),
            **_latencies("outside", 70.0, QUIET_US, 2_000.0, 4_300.0),
        }
        start = SnapshotStart(size_bytes=size, began=instant(self.began), first_fork_us=round(FIRST_SHARE * level))
        return SweepRepetition(
            side=side,
            size_bytes=size,
            load=load,
            number=number,
            keys=size // 1100,
            data_bytes=round(1.06 * size),
            repetition=SnapshotRepetition(began=began, metrics=metrics, series=_series(pause_us)),
            start=start if part.is_settled else None,
        )


def _counts(part: EmulatedPart) -> dict[str, float]:
    size = part.size_bytes
    resident = round(1.08 * size)
    entries = resident // 4096
    deferred = entries * 9 // 10 if part.fork == "async" else 0
    by_hooks = min(deferred // 4, 60_000)
    copied = entries - deferred if part.fork == "copy" else 1_100
    fork_ticks = TICKS_OF_FORK + TICKS_OF_ENTRY * copied
    wait = fork_ticks + (600_000 if part.fork == "async" else 200_000)
    return {
        "resident_bytes": resident,
        "kernel_fork_ticks": fork_ticks,
        "kernel_fork_entries": copied,
        "kernel_fork_tables": (entries - deferred) // ENTRIES_PER_TABLE,
        "kernel_tables_deferred": deferred // ENTRIES_PER_TABLE,
        "kernel_child_entries": deferred - by_hooks,
        "kernel_hook_entries": by_hooks,
        "requests": REQUESTS,
        "wait_server_longest": wait,
        "wait_server_p99": TICKS_OF_REQUEST,
        "wait_ticks_longest": max(wait, TICKS_OF_SLICE),
        "copied_on_write_bytes": size // 8,
    }


def _latencies(part: str, p50: float, p99: float, p99_9: float, most: float) -> dict[str, float]:
    values = {"p50_us": p50, "p99_us": p99, "p99_9_us": p99_9, "p99_99_us": 0.98 * most, "max_us": most}
    return {f"{part}_{name}": value for name, value in values.items()} | {f"{part}_ops_per_sec": 4990.0}


def _series(pause_us: float) -> list[SeriesSlot]:
    """Return no replies during the pause, then all that waited meanwhile, and then those of a child that works."""
    waited = math.ceil(pause_us / 10_000)
    slots = []
    for number in range(SLOTS):
        after = number - SLOTS_BEFORE
        at_seconds = round(after * SLOT_SECONDS, 3)
        if 0 <= after < waited:
            slots.append(SeriesSlot(at_seconds=at_seconds, replies=0, p50_us=None, p99_us=None, max_us=None))
            continue
        longest = pause_us if after == waited else QUIET_US * (3 + number % 4 if after > waited else 1 + number % 2)
        replies = 50 * (waited + 1) if after == waited else 50
        slots.append(
            SeriesSlot(at_seconds=at_seconds, replies=replies, p50_us=longest / 2, p99_us=longest, max_us=longest)
        )
    return slots
