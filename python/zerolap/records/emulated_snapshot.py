"""Forks that were counted in emulated machines, the document of `zerolap snapshot --kernel`, and their kernels."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.platform import Platform
from zerolap.records.snapshot import FailedSize, HugePages, LineFit, SweepReading


class KernelPatch(Record):
    """A patch that a kernel was built with: the name of its file, and the digest of its content."""

    name: str
    digest: str


class Kernel(Record):
    """A kernel that was built of a source, patches and a configuration; `digest` names all that went in.

    `name` is that of the source's file or directory. `without_effect` are settings of the user's configuration that the
    kernel was not built with: it does not know them, or what they depend on is missing.
    """

    digest: str
    name: str
    version: str
    patches: list[KernelPatch] = []
    compiler: str
    without_effect: list[str] = []


EMULATED_SNAPSHOT_SCHEMA: Final = "zerolap.emulated-snapshot/1"

ForkKind: TypeAlias = Literal["copy", "async"]
"""Whether fork copies the page tables of the last level itself, or leaves them to the child (Async-fork)."""


class KernelFiles(Record):
    """What a kernel is built of, as absolute paths on this machine: source, patches, fragments of a configuration."""

    path: str
    patches: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()


class EmulatedSweep(Record):
    """What a request for forks in emulated machines counts, with the kernel that is built of these files.

    There is a case for each of `sizes_bytes`. More repetitions than one only show that equal ones count the same.
    `huge_pages` and `forks` are those of sides for which they are varied.
    """

    kind: Literal["emulated"] = "emulated"
    kernel: KernelFiles
    sizes_bytes: tuple[int, ...] = ()
    repetitions: int = 1
    huge_pages: dict[str, HugePages] = {}
    forks: dict[str, ForkKind] = {}


class EmulatedPart(Record):
    """What one job of such a sweep counts: one fork of a server, in a machine with the kernel of that digest."""

    kind: Literal["emulated"] = "emulated"
    kernel: str
    size_bytes: int
    fork: ForkKind
    huge_pages: HugePages | None = None


class EmulatedSide(Record):
    """What is measured beside each other in one kernel; `name` is empty where there is one side alone.

    `fits` are lines of counts over the resident memory.
    """

    name: str = ""
    fork: ForkKind = "copy"
    huge_pages: HugePages | None = None
    config: dict[str, str] = {}
    fits: dict[str, LineFit] = {}


class EmulatedPoint(Record):
    """A side at a size of data: the counts of each run by name, as the guest reports them.

    `is_repeated` is whether all runs counted the same; null for a single run.
    """

    side: str = ""
    size_bytes: int
    keys: int
    runs: Annotated[list[dict[str, int]], Field(min_length=1)]
    is_repeated: bool | None = None


class EmulatedSettings(Record):
    """How the machines were emulated; counts depend on the versions of emulator and server, and on the seed."""

    sizes_bytes: list[int]
    value_bytes: int
    repetitions: int
    seed: int
    emulator: str
    machine: str
    processor: str


class EmulatedSnapshotReport(Record):
    """The document of forks in emulated machines, over sizes of data; `id` is as that of a `SnapshotReport`.

    Counts are instructions, entries of page tables and requests, never times: what an emulated machine takes for a
    second means nothing. `reading` is null until it is written down.
    """

    schema_: Literal["zerolap.emulated-snapshot/1"] = Field(default=EMULATED_SNAPSHOT_SCHEMA, alias="schema")
    id: str = ""
    created: str
    command_line: str
    server: MeasuredServer
    kernel: Kernel
    platform: Platform
    settings: EmulatedSettings
    machine_seconds: float
    sides: list[EmulatedSide]
    points: Annotated[list[EmulatedPoint], Field(min_length=1)]
    failed: list[FailedSize] = []
    notes: list[str] = []
    reading: SweepReading | None = None
