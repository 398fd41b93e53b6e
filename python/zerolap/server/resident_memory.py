"""The memory of a server's process."""

import re
from pathlib import Path
from typing import Final

import psutil

from zerolap.records import TrialFailed

HUGE_PAGES: Final = re.compile(r"^AnonHugePages:\s+(\d+) kB$", re.MULTILINE)


def read_resident_bytes(process: int) -> int:
    """Return the resident memory of a process; raises `TrialFailed` if the process is gone."""
    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.NoSuchProcess as gone:
        raise TrialFailed("the server's process is gone") from gone


def read_huge_page_bytes(process: int) -> int | None:
    """Return how much memory of a process lies in transparent huge pages; none if the kernel does not show it."""
    try:
        found = HUGE_PAGES.search(Path(f"/proc/{process}/smaps_rollup").read_text())
    except OSError:
        return None
    return None if found is None else int(found[1]) * 1024
