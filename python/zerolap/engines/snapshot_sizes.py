"""Which sizes of data a sweep can have on this machine, decided before anything is started."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.byte_counts import GIB, MIB, shown_bytes
from zerolap.engines.emulated_forks import machine_bytes, room_for_machines
from zerolap.engines.snapshot_trial import WRITTEN_FILES, snapshot_topology
from zerolap.host import available_bytes
from zerolap.records import EnvironmentMissing, SnapshotEvent
from zerolap.sandbox import server_limits

USUAL_SIZES: Final = (GIB, 2 * GIB, 4 * GIB, 8 * GIB)
"""The sizes of data of a sweep for which none are given, as far as they fit into memory."""
USUAL_MACHINES: Final = (64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB, GIB)
"""The sizes of data in emulated machines, where none are given."""
COPIES: Final = 2
"""While a child saves, each page can be there twice: as the child sees it, and as the parent has written it."""
SPARED_SHARE: Final = 0.9


@dataclass(frozen=True)
class Room:
    """What there is for the data of a sweep: for all servers together, for each of them, and for their files."""

    memory_bytes: int
    server_bytes: int
    disk_bytes: int
    directory: Path

    @classmethod
    def here(cls, event: SnapshotEvent) -> "Room":
        """Return what there is now on this machine, in the directory for temporary files."""
        directory = Path(tempfile.gettempdir())
        memory_bytes = int(available_bytes() * SPARED_SHARE)
        of_server = server_limits(directory, snapshot_topology(event).nodes).memory_bytes
        disk_bytes = int(shutil.disk_usage(directory).free * SPARED_SHARE)
        return cls(memory_bytes, memory_bytes if of_server is None else of_server, disk_bytes, directory)

    def lacking(self, size_bytes: int, event: SnapshotEvent) -> str | None:
        """Return what a size needs and there is not, or none."""
        replicas = snapshot_topology(event).nodes - 1
        for_server = COPIES * size_bytes
        for_all = for_server + replicas * size_bytes
        kinds = [
            ("memory", for_all, self.memory_bytes, "can be used"),
            ("memory for its server", for_server, self.server_bytes, "it may use"),
            (f"disk space in `{self.directory}`", WRITTEN_FILES[event] * size_bytes, self.disk_bytes, "can be used"),
        ]
        for what, needed, there, may in kinds:
            if needed > there:
                need = f"{shown_bytes(size_bytes)} of data needs {shown_bytes(needed)} of {what}"
                return f"{need}, and {shown_bytes(there)} {may}"
        return None


def fitting_sizes(asked: Sequence[int] | None, event: SnapshotEvent, room: Room | None) -> tuple[list[int], list[str]]:
    """Return the sizes of a sweep in rising order, and notes on those that are left out; without a room all fit.

    Sizes that are asked for are never left out: raises `EnvironmentMissing` if one does not fit, or none does.
    """
    if room is None:
        return sorted(set(asked or USUAL_SIZES)), []
    return _fitting(asked, USUAL_SIZES, lambda size: room.lacking(size, event), lambda: _hint(event, room))


def fitting_machines(asked: Sequence[int] | None) -> tuple[list[int], list[str]]:
    """Return the sizes for which emulated machines have memory here, as `fitting_sizes` does."""
    room = room_for_machines()

    def lacking(size: int) -> str | None:
        needed = machine_bytes(size)
        text = f"{shown_bytes(size)} of data needs {shown_bytes(needed)} for its machine, and {shown_bytes(room)} can"
        return f"{text} be used" if needed > room else None

    return _fitting(asked, USUAL_MACHINES, lacking, lambda: "give smaller sizes with --sizes")


def _fitting(
    asked: Sequence[int] | None,
    usual: Sequence[int],
    lacks: Callable[[int], str | None],
    hint: Callable[[], str],
) -> tuple[list[int], list[str]]:
    sizes = sorted(set(asked or usual))
    lacking = {size: reason for size in sizes if (reason := lacks(size)) is not None}
    fitting = [size for size in sizes if size not in lacking]
    if lacking and (asked is not None or not fitting):
        raise EnvironmentMissing(next(iter(lacking.values())), hint=hint())
    return fitting, [f"left out: {reason}" for reason in lacking.values()]


def _hint(event: SnapshotEvent, room: Room) -> str:
    """Return the largest sizes that fit, as an option."""
    largest = 16 * MIB
    while room.lacking(2 * largest, event) is None:
        largest *= 2
    if room.lacking(largest, event) is not None:
        return "free some, or set TMPDIR to a directory on another disk"
    written = f"{largest // GIB}GiB" if largest >= GIB else f"{largest // MIB}MiB"
    return f"give smaller ones, such as --sizes {written}"
