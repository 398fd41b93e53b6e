"""The memory of a server's process."""

import psutil

from zerolap.records import TrialFailed


def read_resident_bytes(process: int) -> int:
    """Return the resident memory of a process; raises `TrialFailed` if the process is gone."""
    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.NoSuchProcess as gone:
        raise TrialFailed("the server's process is gone") from gone
