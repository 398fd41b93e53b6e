"""Memory, disk and settings of the address space."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

from zerolap.host import machine_settings as settings
from zerolap.host.diagnosis import Diagnosis, fine, fine_if, missing, warning
from zerolap.host.noise import Noise
from zerolap.host.system_files import ROOT, read_text
from zerolap.records import EnvironmentMissing
from zerolap.sandbox import socket_path

_GIB = 2**30
DEEPEST_SERVER: Final = Path("zerolap-trial-12345678/server/primary-1")
"""Where a server's socket is, below the directory for temporary files."""


def transparent_huge_pages(root: Path = ROOT) -> Diagnosis:
    """Whether the kernel uses huge pages for all memory."""
    found = settings.huge_pages(root)
    return fine_if(
        found != "always",
        "transparent huge pages",
        found or "the kernel has none",
        "latency peaks after fork, and memory that depends on the order of allocations",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    )


def memory(root: Path = ROOT) -> Diagnosis:
    """Whether memory holds a data set twice."""
    sizes = settings.memory_bytes(root)
    total, free = sizes.get("MemTotal", 0), sizes.get("MemAvailable", 0)
    swap_used = sizes.get("SwapTotal", 0) - sizes.get("SwapFree", 0)
    return fine_if(
        free >= _GIB,
        "memory",
        f"{free / _GIB:.1f} GiB free of {total / _GIB:.1f} GiB, swap used: {swap_used / _GIB:.1f} GiB",
        "large data sets do not fit twice: one side at a time, and pairs no longer cancel drift",
        "free some memory",
    )


def overcommit(root: Path = ROOT) -> Diagnosis:
    """Whether a server with a large data set can fork."""
    found = read_text("proc/sys/vm/overcommit_memory", root)
    if found is None:
        return fine("overcommit", "not reported by the kernel")
    if found == "1":
        return fine("overcommit", "1: always granted")
    return warning(
        "overcommit",
        f"{found}: {'estimated' if found == '0' else 'strict'}",
        "saving and replication fail when a data set takes about half of the memory",
        "sudo sysctl vm.overcommit_memory=1",
    )


def address_randomisation(root: Path = ROOT) -> Diagnosis:
    """Whether addresses differ between process starts."""
    found = read_text("proc/sys/kernel/randomize_va_space", root)
    return fine_if(
        found != "0",
        "address randomisation",
        "off" if found == "0" else "on" if found else "not reported by the kernel",
        "every start gets the same addresses: a lucky or unlucky layout looks like a property of the code",
        "sudo sysctl kernel.randomize_va_space=2",
    )


def disk(directory: Path | None = None) -> Diagnosis:
    """Whether there is space for results and builds in the working directory."""
    try:
        free = shutil.disk_usage(Path() if directory is None else directory).free
    except OSError as fault:
        return missing("disk", str(fault.strerror), "nothing can be stored", "work in a directory that can be read")
    return fine_if(
        free >= 2 * _GIB, "disk", f"{free / _GIB:.1f} GiB free", "builds and snapshots may not fit", "free 2 GiB"
    )


def sockets(temporary: Path | None = None) -> Diagnosis:
    """Whether sockets of servers have paths that are short enough, in or beside the directory for temporary files."""
    directory = Path(tempfile.gettempdir()) if temporary is None else temporary
    try:
        place = socket_path(directory / DEEPEST_SERVER).parent
    except EnvironmentMissing as fault:
        return missing("sockets", fault.message, "no server can be started", fault.hint)
    if place == directory / DEEPEST_SERVER:
        return fine("sockets", f"in {directory}")
    return fine("sockets", f"in {place.parent}, as the path of {directory} is too long")


def swap(noise: Noise) -> Diagnosis:
    """Whether pages move to or from swap."""
    found = f"{noise.swapped_pages:.0f} pages/s"
    remedy = "free some memory, then: sudo swapoff -a"
    return fine_if(noise.swapped_pages <= 0, "swap", found, "timed trials measure the disk", remedy)
