"""Load without an end of its own: a run of the load generator that is ended by its user, and reports slots of time."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from zerolap.load.generator import Amount, CommandResult, Count, LoadReport, packaged, shown_errors
from zerolap.load.load_series import NS_PER_SECOND, LoadSeries, LoadSlot
from zerolap.records import FirstFault, TrialFailed
from zerolap.sandbox import FileRefused, Process, launch, read_file
from zerolap.server import Reach, read_total_ns

SLOT_SECONDS: Final = 0.01
LONGEST_SECONDS: Final = 3600
"""The longest load. After six minutes the load generator joins slots into longer ones."""
ENDING_SECONDS: Final = 60
INTERRUPTED: Final = 130
"""The load generator's exit code where it was ended by a signal; what it counted until then is written."""
LARGEST_RESULT_BYTES: Final = 512 << 20
LOG_LINES: Final = 5


class _Timeline(LoadReport):
    slot_seconds: Amount
    slots: list[LoadSlot]


class _ClientPart(LoadReport):
    reasons: list[str]


class _LabPart(LoadReport):
    began_monotonic_ns: Count
    errors: dict[str, Count]
    timed_out: Count
    disconnected: Count
    commands: list[CommandResult]
    client: _ClientPart
    timeline: _Timeline


class _Result(LoadReport):
    lab: _LabPart


class OpenEndedLoad:
    """A load generator that sends requests until it is ended."""

    def __init__(self, process: Process, result: Path) -> None:
        self._process = process
        self._result = result

    def require_running(self) -> None:
        """Raise `TrialFailed` if it has ended by itself."""
        if self._process.returncode is not None:
            raise TrialFailed(f"the load generator ended: {self._process.output_tail(LOG_LINES)}")

    def used_ns(self) -> int:
        """Return the CPU time that it has used."""
        return read_total_ns(self._process.number)

    def end(self) -> LoadSeries:
        """End the load, wait for the last replies, and return what came.

        Raises `TrialFailed` if the load generator fails, or requests got error replies or none.
        """
        self.require_running()
        os.kill(self._process.number, signal.SIGINT)
        try:
            code = self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            raise TrialFailed(f"the load generator did not end within {ENDING_SECONDS} s") from None
        if code != INTERRUPTED:
            raise TrialFailed(f"the load generator failed: {self._process.output_tail(LOG_LINES)}")
        try:
            return read_series(read_file(self._result, LARGEST_RESULT_BYTES))
        except FileRefused as refused:
            raise TrialFailed(f"the load generator's result {refused}") from refused


def read_series(document: bytes) -> LoadSeries:
    """Return the slots of a document of the load generator.

    Raises `TrialFailed` for one that is not valid, and where requests got error replies or none.
    """
    try:
        lab = _Result.model_validate_json(document).lab
    except ValidationError as wrong:
        raise TrialFailed(f"the load generator's result is not valid: {FirstFault.of(wrong)}") from wrong
    if lab.errors:
        first_error = next((command.first_error for command in lab.commands if command.first_error is not None), None)
        raise TrialFailed(f"the load got error replies: {shown_errors(lab.errors, first_error)}")
    if lost := lab.timed_out + lab.disconnected:
        raise TrialFailed(f"{lost} requests of the load got no reply")
    slot_ns = round(lab.timeline.slot_seconds * NS_PER_SECOND)
    if slot_ns <= 0:
        raise TrialFailed("the load generator's result has slots without a length")
    return LoadSeries(lab.began_monotonic_ns, slot_ns, lab.timeline.slots, tuple(lab.client.reasons))


@contextlib.contextmanager
def open_ended_load(reach: Reach, arguments: Sequence[str], log: Path, result: Path) -> Iterator[OpenEndedLoad]:
    """Start the load generator, which reaches the server by `reach`; it ends with the context at the latest."""
    command = [str(packaged("zerolap-load")), *reach.arguments, "--quiet", "--hide-histogram"]
    command += ["--test-time", str(LONGEST_SECONDS), "--timeline-slot", f"{SLOT_SECONDS:g}"]
    command += ["--json-out-file", str(result)]
    result.unlink(missing_ok=True)
    with launch([*command, *arguments], environment={}, output=log, network=reach.network) as process:
        yield OpenEndedLoad(process, result)
