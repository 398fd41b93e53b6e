"""A pause of known length that is planted into a server after its fork, and whether its trace shows it.

The server is the installed one: a library that is preloaded into it waits in the parent, once `fork` has returned.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from benches.comparing import SERVER, empty_store
from benches.figures import Figure
from zerolap import open_store
from zerolap.build import resolve
from zerolap.lab import Lab, sides_of, snapshot, snapshot_request
from zerolap.records import ForkFinding, RequestedServer, SnapshotReport, SnapshotSweep, SnapshotTrace

STALL_MS: Final = 20
STALLING: Final = "wait_after_fork"
"""The function that waits: it is to be in the stack of the finding."""
TRACES: Final = 5
SIZE_BYTES: Final = 128 << 20
RATE_PER_SECOND: Final = 1000
CONNECTIONS: Final = 10

LIBRARY_SOURCE: Final = f"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) void {STALLING}(void)
{{
    struct timespec left = {{0, {STALL_MS} * 1000000L}};
    while (nanosleep(&left, &left) != 0) {{}}
}}

pid_t fork(void)
{{
    pid_t (*forks)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    pid_t child = forks();
    if (child > 0) {STALLING}();
    return child;
}}
"""


def stalling_server(server: Path, directory: Path) -> str:
    """Compile the library into a directory, and return the start command of a server that waits after its fork."""
    source, library = directory.resolve() / "stall.c", directory.resolve() / "libstall.so"
    source.write_text(LIBRARY_SOURCE)
    command = ["cc", "-O1", "-g", "-fPIC", "-shared", "-fno-optimize-sibling-calls", "-o", str(library), str(source)]
    subprocess.run([*command, "-ldl"], check=True)
    return f"env LD_PRELOAD={library} {server}"


def stall_in(trace: SnapshotTrace) -> ForkFinding | None:
    """Return the finding that shows the planted wait with its stack; none if there is none."""
    for finding in trace.findings:
        if finding.kind == "waiting" and finding.ns_in_pause >= STALL_MS * 1e6 and STALLING in finding.frames:
            return finding
    return None


def planted_stall() -> Figure:
    """Trace servers with the planted wait and without it; the value is how many traces of both kinds are right."""
    store = empty_store("planted-stall")
    store.mkdir(parents=True)
    installed = Path(shutil.which(SERVER) or SERVER)
    samples = []
    for number in range(TRACES):
        for server, is_planted in ((stalling_server(installed, store), True), (str(installed), False)):
            trace = traced(server, store / "results", seed=number)
            found = stall_in(trace)
            waits = [finding for finding in trace.findings if finding.kind == "waiting"]
            samples.append(
                {
                    "planted": is_planted,
                    "right": found is not None if is_planted else not waits,
                    "fork_ms": trace.fork_ns / 1e6,
                    "pause_ms": None if trace.pause_ns is None else trace.pause_ns / 1e6,
                    "waits_ms": sum(finding.ns_in_pause for finding in waits) / 1e6,
                    "frames": [] if found is None else found.frames,
                }
            )
    return Figure(
        value=sum(bool(sample["right"]) for sample in samples),
        unit=f"of {len(samples)} traces",
        samples=samples,
        trials=len(samples),
        notes=[f"{STALL_MS} ms after the fork at {SIZE_BYTES >> 20} MiB, in every second trace; none in the others"],
    )


def traced(server: str, store: Path, seed: int) -> SnapshotTrace:
    """Return the trace of a server by `zerolap snapshot --trace`."""
    sweep = SnapshotSweep(
        sizes_bytes=(SIZE_BYTES,),
        loads=("open",),
        rate_per_second=RATE_PER_SECOND,
        connections=CONNECTIONS,
        repetitions=1,
        is_traced=True,
    )
    sides = sides_of(RequestedServer(source=resolve(server, None)), None, [])
    request = snapshot_request(sides, sweep, "make bench-snapshots", seed=seed)
    with open_store(store) as results:
        report = snapshot(request, Lab(results, lambda event: print(event, file=sys.stderr)))
    assert isinstance(report, SnapshotReport)
    [trace] = report.traces
    return trace
