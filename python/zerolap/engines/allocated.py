"""The engine that finds out where the bytes of the data were allocated: one trial a side, of cases whose bytes changed.

The server runs under valgrind's DHAT, which counts every block that a chain of calls allocated and that is not free at
the end. It replaces the functions of the C library's allocator; one that is linked into the program under names of its
own is seen in a copy of the program whose symbols have the usual names.
"""

import contextlib
import os
import shutil
import signal
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from zerolap.engines.counted_deployment import CountedDeployment, Instrumented, deploy_counted
from zerolap.engines.engine import Deadline, Place, named_failure
from zerolap.engines.heap_profile import LARGEST_BYTES, read_heap_profile
from zerolap.engines.pin import PinRequest
from zerolap.engines.server_trial import ServerTrial, filled
from zerolap.engines.windows import SETTLING_LEAPS
from zerolap.load import counted_arguments, load_program
from zerolap.records import (
    AllocationSites,
    Block,
    Event,
    JobFinished,
    Measurement,
    Side,
    TrialDone,
    TrialFailed,
    TrialsJob,
    Validity,
    now,
)
from zerolap.resp_frames import ServerLost, UnreadableReply
from zerolap.sandbox import FileRefused, read_file
from zerolap.server import CommandRefused, RunningServer, named_death

METHOD: Final = 1
DHAT: Final = Instrumented(
    ("valgrind", "--quiet", "--tool=dhat", "--num-callers=20", "--vgdb=no", "--soname-synonyms=somalloc=NONE"),
    "--dhat-out-file",
)
SHUT_DOWN_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.02

SYMBOLS_KIND: Final = 2
SECTION: Final = struct.Struct("<IIQQQQIIQQ")
SYMBOL_BYTES: Final = 24
MOST_SYMBOLS: Final = 1 << 20
LARGEST_PROGRAM_BYTES: Final = 512 << 20
OWN_PREFIX: Final = b"je_"
USUAL: Final = frozenset(
    {b"malloc", b"calloc", b"realloc", b"free", b"memalign", b"posix_memalign", b"aligned_alloc", b"malloc_usable_size"}
)


class Allocated:
    """Profiles the allocations of each side once."""

    def missing(self) -> str | None:
        """Return why nothing can be profiled on this machine, or none."""
        return None if shutil.which("valgrind") else "valgrind is not installed"

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Carry out the trials side after side."""
        deadline = Deadline(job, place)
        for block in job.blocks:
            for side in job.servers:
                if deadline.is_over:
                    yield JobFinished(job=job.id, cut_short=True)
                    return
                if place.measured(block, side) is None:
                    with named_failure(job.servers, side, block):
                        measurement = _profile(job, block, side, place)
                    yield TrialDone(job=job.id, block=block.number, measurements={side: measurement})
        yield JobFinished(job=job.id)


def _profile(job: TrialsJob, block: Block, side: Side, place: Place) -> Measurement:
    began, began_at = time.monotonic(), now()
    program = place.program(job.servers[side])
    with place.trial_directory() as directory:
        visible = directory / "program"
        if not program.arguments:
            visible.write_bytes(with_usual_names(read_file(program.path.resolve(), LARGEST_PROGRAM_BYTES)))
            visible.chmod(0o755)
            program = replace(program, path=visible)
        sites = profile(ServerTrial(program, job.servers[side], job.case, block.seed, directory), _requests(job))
    return Measurement(
        metrics={},
        validity=Validity(valid=True, checks=[]),
        amounts=job.amounts,
        allocations=place.blobs.put(sites.model_dump_json().encode()),
        seconds=time.monotonic() - began,
        method=METHOD,
        began=began_at,
    )


def _requests(job: TrialsJob) -> int:
    """Return how many requests a trial sends, as many as the windows of the counted ones held."""
    windows = job.amounts.windows
    return 0 if windows is None else windows.small + windows.large


def profile(trial: ServerTrial, requests: int) -> AllocationSites:
    """Carry out one trial, with so many requests; raises `TrialFailed` with the server's log where it fails."""
    driven = [client for client in trial.case.companions if client.is_driven]
    with deploy_counted(trial.server, trial.program, trial.directory, trial.seed, tool=DHAT) as counted:
        server = counted.target.server
        with (
            filled(
                trial, counted.deployment, counted.target, clients=driven, attach_replicas=counted.attach_replicas
            ) as data,
            named_death(server),
            load_program(counted.target.reach, trial.load_log, counted_arguments(trial.case, trial.seed)) as load,
        ):
            if requests:
                load.slice(requests)
            data.beside.require_running()
        with named_death(server):
            for _ in range(SETTLING_LEAPS):
                counted.at_rest(PinRequest.LEAP)
            keys = server.count_keys()
        _shut_down(server)
        return AllocationSites(keys=keys, sites=read_heap_profile(_written(counted)))


def _written(counted: CountedDeployment) -> bytes:
    try:
        return read_file(counted.dumps, LARGEST_BYTES)
    except FileRefused as reason:
        raise TrialFailed(f"valgrind wrote no profile of allocations: {reason}") from reason


def _shut_down(server: RunningServer) -> None:
    """Have the server end by itself, which is when the profile is written; raises `TrialFailed` if it does not."""
    process = server.process
    try:
        server.connection.call("SHUTDOWN", "NOSAVE")
    except CommandRefused:
        # It knows no such command: valgrind writes the profile of what a signal ends too.
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    except (ServerLost, UnreadableReply):
        pass
    end = time.monotonic() + SHUT_DOWN_SECONDS
    while server.alive:
        if time.monotonic() > end:
            raise TrialFailed("the server did not shut down, so that its allocations are not known")
        time.sleep(POLL_SECONDS)


def with_usual_names(program: bytes) -> bytes:
    """Return a program in which the functions of an allocator of its own, as `je_malloc`, have the usual names.

    Only the names of symbols change, which nothing executes. A file that is not read here stays as it is.
    """
    content = bytearray(program)
    try:
        for name_at, entry_at in list(_own_allocator(program)):
            struct.pack_into("<I", content, entry_at, name_at + len(OWN_PREFIX))
    except (struct.error, IndexError):
        return program
    return bytes(content)


def _own_allocator(program: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the names of an allocator of its own begin, among the texts, and where its symbols lie."""
    if not program.startswith(b"\x7fELF\x02\x01"):
        return
    first = struct.unpack_from("<Q", program, 40)[0]
    size_bytes, number = struct.unpack_from("<HH", program, 58)
    if size_bytes != SECTION.size or first + number * SECTION.size > len(program):
        return
    sections = [SECTION.unpack_from(program, first + place * SECTION.size) for place in range(number)]
    left = MOST_SYMBOLS
    for section in sections:
        if section[1] != SYMBOLS_KIND or section[6] >= len(sections):
            continue
        texts_at, begin, entries = sections[section[6]][4], section[4], min(section[5] // SYMBOL_BYTES, left)
        left -= entries
        for entry_at in range(begin, begin + entries * SYMBOL_BYTES, SYMBOL_BYTES):
            (name_at,) = struct.unpack_from("<I", program, entry_at)
            name = program[texts_at + name_at : texts_at + name_at + 40].partition(b"\0")[0]
            if name.startswith(OWN_PREFIX) and name.removeprefix(OWN_PREFIX) in USUAL:
                yield name_at, entry_at
