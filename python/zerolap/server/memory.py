"""How much memory a server holds."""

import psutil

from zerolap.records import TrialFailed


def read_resident_bytes(process: int) -> int:
    """Return the memory of a process that is in the machine's; raises `TrialFailed` if it is gone."""
    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.NoSuchProcess as gone:
        raise TrialFailed("the server's process is gone") from gone
