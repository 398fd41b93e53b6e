"""The reference work of a platform: always the same, so that its time shows what became of the machine alone."""

import math
import subprocess
from pathlib import Path

from zerolap.load.generator import packaged
from zerolap.records import TrialFailed
from zerolap.sandbox import FileRefused, launch, read_file

LONGEST_SECONDS = 30.0
"""The longest time for the reference work, which usually takes some milliseconds."""
LARGEST_OUTPUT_BYTES = 4096
NAME = "the reference work"


def reference_ns(processor: int, log: Path) -> float:
    """Return the CPU time in nanoseconds that a processor takes for a step of the reference work.

    `log` is a file for its output, which does not exist. Raises `TrialFailed` if the load generator, which has the
    work, fails.
    """
    command = ["taskset", "--cpu-list", str(processor), str(packaged("zerolap-load")), "--reference-work"]
    with launch(command, environment={}, output=log) as process:
        try:
            code = process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            raise TrialFailed(f"{NAME} did not end within {LONGEST_SECONDS:g} s") from None
        if code != 0:
            raise TrialFailed(f"{NAME} failed (exit code {code})", details=process.output_tail())
    try:
        step_ns = float(read_file(log, LARGEST_OUTPUT_BYTES).decode(errors="replace"))
    except (FileRefused, ValueError) as fault:
        raise TrialFailed(f"{NAME} has printed no number: {fault}") from fault
    if not 0 < step_ns < math.inf:
        raise TrialFailed(f"{NAME} has printed {step_ns:g} ns")
    return step_ns
