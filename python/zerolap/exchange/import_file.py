"""Reads series from a file, whose content says what it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from zerolap.exchange.collected_points import LONGEST_NAME, CollectedPoints
from zerolap.exchange.import_csv import LONGEST_LINE, read_lines
from zerolap.exchange.import_json import read_json
from zerolap.named_file import open_named

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
    with open_named(path, MOST_BYTES, hint="give a file, in parts if it is large, or redis://HOST:PORT") as file:
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
