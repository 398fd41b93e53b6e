"""`fold_ratio`: a recording of perf folded, symbolised and merged, against stackcollapse-perf.pl on the same recording.

`ZEROLAP_BENCH_STACKCOLLAPSE` is that script. The recording is of the installed server under load, of a million samples
or more, with call chains by frame pointers. The script reads what `perf script` has unwound, symbolised and written as
text, which is not part of its time: the whole way of both is a note.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from benches.figures import DIRECTORY, Figure
from zerolap import _core

SCRIPT_VARIABLE: Final = "ZEROLAP_BENCH_STACKCOLLAPSE"
PLACE: Final = DIRECTORY / "explain"
SAMPLES: Final = 1_000_000
FREQUENCY_HZ: Final = 24_989
FIRST_SECONDS: Final = 5.0
"""Of the first recording, which shows how many samples there are in a second: the machine may be busy."""
MARGIN: Final = 1.2
PORT: Final = 7391
ROUNDS: Final = 3


def fold_ratio() -> Figure:
    """Time both ways in turns over one recording."""
    script = os.environ.get(SCRIPT_VARIABLE)
    if not script:
        raise SystemExit(f"{SCRIPT_VARIABLE} has to be the path of stackcollapse-perf.pl")
    recording, text = PLACE / "million.perf", PLACE / "million.txt"
    PLACE.mkdir(parents=True, exist_ok=True)
    if not recording.exists():
        _record(recording)
    unwound = _seconds(lambda: _into(text, ["perf", "script", "--input", str(recording)]))
    ours, theirs, samples = [], [], 0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        table = _core.read_stacks(str(recording), "")
        _core.fold_stacks(_core.merge_stacks([table, table]))
        ours.append(time.perf_counter() - began)
        theirs.append(_seconds(lambda: _into(PLACE / "million.folded", ["perl", script, str(text)])))
        samples = _samples(table)
    pairs = [their / our for our, their in zip(ours, theirs, strict=True)]
    whole = (min(theirs) + unwound) / min(ours)
    return Figure(
        min(pairs),
        "of the seconds of stackcollapse-perf.pl",
        [{"ours": our, "theirs": their} for our, their in zip(ours, theirs, strict=True)],
        samples,
        notes=[f"{samples:,} samples; with perf script, which takes {unwound:.1f} s, {whole:.0f} times"],
    )


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {"fold_ratio": fold_ratio}


def _record(recording: Path) -> None:
    """Record the installed server under the load of its own benchmark until there are enough samples."""
    server, load = (shutil.which(name) for name in ("redis-server", "redis-benchmark"))
    if server is None or load is None:
        raise SystemExit("redis-server and redis-benchmark have to be installed")
    options = ["--port", str(PORT), "--save", "", "--daemonize", "no"]
    with subprocess.Popen([server, *options], stdout=subprocess.DEVNULL) as running:
        try:
            time.sleep(1)
            loop = [load, "-p", str(PORT), "-t", "set,get,lpush,lrange_100,zadd,xadd", "-n", "100000000", "-q"]
            with subprocess.Popen(loop, stdout=subprocess.DEVNULL) as loading:
                try:
                    seconds, samples = FIRST_SECONDS, 0
                    while samples < SAMPLES:
                        samples = _record_process(running.pid, recording, seconds)
                        seconds *= MARGIN * SAMPLES / max(1, samples)
                finally:
                    loading.send_signal(signal.SIGTERM)
        finally:
            running.send_signal(signal.SIGTERM)


def _record_process(process: int, recording: Path, seconds: float) -> int:
    """Record a process for a time; return the number of samples."""
    perf = ["perf", "record", "--call-graph", "fp", "--freq", str(FREQUENCY_HZ), "--pid", str(process)]
    subprocess.run([*perf, "--output", str(recording), "--", "sleep", str(seconds)], check=True)
    return _samples(_core.read_stacks(str(recording), ""))


def _samples(table: bytes) -> int:
    return sum(int(line.rpartition(" ")[2]) for line in _core.fold_stacks(table).splitlines())


def _into(path: Path, command: list[str]) -> None:
    with path.open("wb") as output:
        subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, check=True)


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
