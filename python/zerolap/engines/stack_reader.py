"""Reads a recording of perf in a process of its own: `python -m zerolap.engines.stack_reader DATA SOURCE_ROOT TABLE`.

Programs under test bring their own unwind information, which can be made to keep a reader busy without end: a process
can be stopped.
"""

import resource
import subprocess
import sys
from pathlib import Path

from zerolap import _core
from zerolap.records import TrialFailed
from zerolap.sandbox import launch, python_environment

READ_SECONDS = 120
READ_BYTES = 4 << 30
"""Sections of binaries unpack to a multiple of their size."""


def read_stacks(data: Path, source_root: str) -> bytes:
    """Return the stacks of a recording as JSON (`zerolap.stacks/1`); raises `TrialFailed`."""
    table, log = data.with_suffix(".stacks"), data.with_suffix(".reading")
    # -P: the working directory may be a checkout with modules of its own.
    command = [sys.executable, "-P", "-m", __name__, str(data), source_root, str(table)]
    with launch(command, environment=python_environment(), output=log) as reader:
        try:
            code = reader.wait(READ_SECONDS)
        except subprocess.TimeoutExpired as late:
            raise TrialFailed(f"perf's recording is not read within {READ_SECONDS} s") from late
        if code != 0:
            raise TrialFailed("perf's recording cannot be read", details=reader.output_tail(5))
    return table.read_bytes()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (READ_SECONDS, READ_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (READ_BYTES, READ_BYTES))
    try:
        Path(sys.argv[3]).write_bytes(_core.read_stacks(sys.argv[1], sys.argv[2]))
    except (OSError, ValueError) as fault:
        sys.exit(str(fault))
