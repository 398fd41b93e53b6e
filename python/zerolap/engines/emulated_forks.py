"""The engine of sweeps in emulated machines: a job is one fork of a server there, which is counted."""

import time
from collections.abc import Iterator
from typing import Final

from zerolap.build import KERNELS, KernelBuilder
from zerolap.byte_counts import MIB
from zerolap.engines.emulated_fork import EmulatedTrial, emulated_fork
from zerolap.engines.emulator import require_emulator
from zerolap.engines.engine import Place
from zerolap.host import available_bytes
from zerolap.records import (
    CaseRefused,
    EmulatedPart,
    EnvironmentMissing,
    Event,
    Measurement,
    TrialDone,
    TrialFailed,
    TrialsJob,
    Validity,
    now,
)

EMULATOR_BYTES: Final = 512 * MIB
"""The memory of the emulator beside that of the guest."""
SPARED_SHARE: Final = 0.9


class EmulatedForks:
    """Counts forks in machines of their own: what else the machine does has no effect on counts."""

    def missing(self) -> str | None:
        """Return why no machine can be emulated, or none."""
        try:
            require_emulator()
        except EnvironmentMissing as missing:
            return missing.message
        return None

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Emulate a machine for each block; raises `TrialFailed`, `EnvironmentMissing` if its kernel is not here."""
        part = job.part
        if not isinstance(part, EmulatedPart):
            raise CaseRefused("the engine `emulated` counts forks", hint="zerolap snapshot --kernel SOURCE")
        [(side, server)] = job.servers.items()
        kernels = place.builds.directory / KERNELS
        kernel = KernelBuilder(kernels).find(part.kernel)
        if kernel is None:
            raise EnvironmentMissing(f"the kernel {part.kernel} is not on this machine")
        if place.builds.get(server.build).record.architecture != "x86_64":
            raise TrialFailed("the server is no program for x86-64, which the emulated machine is")
        for block in job.blocks:
            if place.measured(block, side) is not None:
                continue
            trial = EmulatedTrial(
                program=place.program(server),
                config=server.config,
                fork=part.fork,
                huge_pages=part.huge_pages,
                size_bytes=part.size_bytes,
                seed=block.seed,
            )
            with place.trial_directory(has_limit=False) as directory:
                began, from_seconds = now(), time.monotonic()
                counts = emulated_fork(trial, kernel.image, kernels, directory)
                measurement = Measurement(
                    metrics={name: float(count) for name, count in counts.items()},
                    validity=Validity.of([]),
                    seconds=time.monotonic() - from_seconds,
                    began=began,
                    instrument=f"QEMU {require_emulator()}",
                )
            yield TrialDone(job=job.id, block=block.number, measurements={side: measurement})


def machine_bytes(size_bytes: int) -> int:
    """Return the memory that a machine for that much data needs with its emulator."""
    return EmulatedTrial.memory_for(size_bytes) + EMULATOR_BYTES


def room_for_machines() -> int:
    """Return the memory that machines can have now, together."""
    return int(available_bytes() * SPARED_SHARE)


def machines_at_once(size_bytes: int) -> int:
    """Return how many machines for that much data can be emulated beside each other now, at least one."""
    return max(1, room_for_machines() // machine_bytes(size_bytes))
