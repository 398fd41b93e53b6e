"""Reads series from a file, whose content says what it is."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from zerolap.exchange.collected_points import LONGEST_NAME, CollectedPoints
from zerolap.exchange.import_csv import LONGEST_LINE, read_lines
from zerolap.exchange.import_json import read_json
from zerolap.records import UsageError

MOST_BYTES: Final = 256 << 20
JSON_BEGINS: Final = b"{["
LOOKED_AT: Final = 64
ACTION_DATA: Final = b"window.BENCHMARK_DATA"
"""With it the `data.js` of github-action-benchmark begins; its value is JSON."""
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def read_file(path: Path, case: str | None, points: CollectedPoints) -> None:
    """Read the series of a file: JSON, or lines of a table or a log of histograms.

    `case` is that of a table that names none, by default the name of the file. Raises `UsageError` for a file that
    holds no series, or more than is read.
    """
    try:
        # Of a pipe the opening alone could wait without end.
        status = path.stat()
    except OSError as fault:
        raise UsageError(f"`{path}` cannot be read: {fault.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"`{path}` is no regular file", hint="give a file, or redis://HOST:PORT")
    if status.st_size > MOST_BYTES:
        raise UsageError(f"`{path}` is larger than {MOST_BYTES >> 20} MiB", hint="import it in parts")
    with path.open("rb") as file:
        beginning = file.read(LOOKED_AT).removeprefix(BYTE_ORDER_MARK).lstrip()
        file.seek(0)
        if beginning[:1] and (beginning[:1] in JSON_BEGINS or beginning.startswith(ACTION_DATA)):
            # The file may have grown since it was looked at.
            content = file.read(MOST_BYTES).removeprefix(BYTE_ORDER_MARK).lstrip()
            if content.startswith(ACTION_DATA):
                content = content.partition(b"=")[2].rstrip().removesuffix(b";")
            read_json(content, points)
        else:
            read_lines(_lines(file), (case or path.stem)[:LONGEST_NAME], points)


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file, each at most one byte longer than what is read of one."""
    left = MOST_BYTES
    while left > 0 and (line := file.readline(LONGEST_LINE + 1)):
        left -= len(line)
        yield line.decode("utf-8-sig", errors="replace")
