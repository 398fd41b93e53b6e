"""The memory of a server's process."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from zerolap.records import TrialFailed

KIB: Final = re.compile(r"^(\w+):\s+(\d+) kB$", re.MULTILINE)


def read_resident_bytes(process: int) -> int:
    """Return the resident memory of a process; raises `TrialFailed` if the process is gone."""
    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.NoSuchProcess as gone:
        raise TrialFailed("the server's process is gone") from gone


@dataclass(frozen=True)
class AnonymousMemory:
    """The resident memory of a process that is of no file: where its data are; some lies in transparent huge pages."""

    all_bytes: int
    huge_page_bytes: int


def read_anonymous_memory(process: int) -> AnonymousMemory | None:
    """Return the memory of a process that is of no file; none if the kernel does not show it."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return None
    fields = {name: int(kib) * 1024 for name, kib in KIB.findall(text)}
    if "Anonymous" not in fields or "AnonHugePages" not in fields:
        return None
    return AnonymousMemory(fields["Anonymous"], fields["AnonHugePages"])
