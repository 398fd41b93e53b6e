"""What a sweep has measured until it ends: a file of this machine, to which each repetition adds a line."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

from zerolap.records import KeptRepetition, UnreadableRecord, read_stored
from zerolap.store.store_errors import RequestBusy, store_faults
from zerolap.store.uninterrupted import uninterrupted

KEPT_SECONDS: Final = 30 * 86_400.0
"""Sweeps that nobody has gone on with for so long are removed when another one begins."""


class KeptSweep:
    """The repetitions of a sweep that has not ended; all methods raise `EnvironmentMissing` where the disk is full."""

    def __init__(self, path: Path, file: IO[bytes], repetitions: Sequence[KeptRepetition]) -> None:
        self._path = path
        self._file = file
        self.repetitions = list(repetitions)

    def keep(self, repetition: KeptRepetition) -> None:
        """Record a repetition; it is on the disk when this returns."""
        line = repetition.model_dump_json().encode() + b"\n"
        with store_faults(str(self._path)), uninterrupted():
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
            # Before a signal that has come meanwhile ends the sweep: without a repetition its file is removed.
            self.repetitions.append(repetition)

    def begin_anew(self) -> None:
        """Forget all repetitions."""
        with store_faults(str(self._path)):
            self._file.seek(0)
            self._file.truncate()
        self.repetitions = []

    def end(self) -> None:
        """Remove the file: the sweep is complete."""
        with store_faults(str(self._path)):
            self._path.unlink(missing_ok=True)


@contextlib.contextmanager
def kept_sweep(directory: Path, digest: str) -> Iterator[KeptSweep]:
    """Open what is kept of the sweep of that digest in a directory, which is made.

    Raises `RequestBusy` while another process carries out the same sweep, `EnvironmentMissing` if the directory cannot
    be written to. The lock of a killed process is released, and of a line that it has written in part nothing is left.
    Where nothing is kept at the end, no file is left.
    """
    path = directory / f"{digest}.jsonl"
    with contextlib.ExitStack() as stack:
        with store_faults(str(directory)):
            directory.mkdir(parents=True, exist_ok=True)
            _remove_old(directory, path)
            file = stack.enter_context(path.open("a+b"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RequestBusy("this sweep") from None
            if not _is_in_place(file, path):
                raise RequestBusy("this sweep")
            file.seek(0)
            repetitions, end = _whole_lines(file)
            file.truncate(end)
            file.seek(end)
        kept = KeptSweep(path, file, repetitions)
        try:
            yield kept
        finally:
            if not kept.repetitions:
                kept.end()


def _is_in_place(file: IO[bytes], path: Path) -> bool:
    """Whether the file is still that of the path: a process that has just ended the sweep may have removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _whole_lines(file: IO[bytes]) -> tuple[list[KeptRepetition], int]:
    """Return the repetitions up to the first line that is not whole, and where that begins."""
    repetitions, end = [], 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        try:
            repetitions.append(read_stored(KeptRepetition, line.decode(), "a repetition"))
        except (UnreadableRecord, UnicodeDecodeError):
            break
        end += len(line)
    return repetitions, end


def _remove_old(directory: Path, kept: Path) -> None:
    for path in directory.glob("*.jsonl"):
        # Another process may remove it.
        with contextlib.suppress(FileNotFoundError):
            if path != kept and time.time() - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink()
