"""`opportunities_seconds`: what to optimise next over 400 cases, asked as users ask it.

The cases are those of planted waste, each with call graphs of its size, which are looked through when the command is
first called: it is timed from the second time on, as a process of its own.
"""

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from stored_opportunities import run_of_many_cases

from benches.explain.planted_waste import STORE, comparisons
from benches.figures import DIRECTORY, Figure
from zerolap import open_store
from zerolap.opportunities import counted_version
from zerolap.records import CallGraph, Case

PLACE: Final = DIRECTORY / "explain" / "opportunities-store"
CASES: Final = 400
ROUNDS: Final = 10


def opportunities_seconds() -> Figure:
    """Return the median of the seconds that the command takes."""
    shutil.rmtree(PLACE, ignore_errors=True)
    counted = _counted_cases()
    with open_store(PLACE) as store:
        run_of_many_cases(store, CASES, lambda place: _case(counted[place % len(counted)], place))
    first = _seconds()
    seconds = [_seconds() for _ in range(ROUNDS)]
    shutil.rmtree(PLACE)
    notes = [f"{first:.1f} s when it was first asked, and the call graphs were looked through"]
    return Figure(statistics.median(seconds), "s", list(seconds), ROUNDS, notes=notes)


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {"opportunities_seconds": opportunities_seconds}


def _counted_cases() -> list[tuple[Case, CallGraph]]:
    """Return the cases of planted waste with their call graphs."""
    counted = []
    with_graphs = [compared.identity for compared in comparisons().values()]
    with open_store(STORE) as store:
        for identity in with_graphs:
            version = counted_version(store, identity)
            graphs = [(version.cases[graph.case], store.blobs.get(graph.graph)) for graph in version.graphs]
            counted += [(case, CallGraph.model_validate_json(graph)) for case, graph in graphs]
    return counted


def _case(counted: tuple[Case, CallGraph], place: int) -> tuple[Case, bytes]:
    """Return the case under another name, and its call graph with other totals, so that neither is known yet."""
    case, graph = counted
    totals = graph.totals.model_copy(update={"instructions": graph.totals.instructions * (1 + place * 1e-6)})
    named = case.model_copy(update={"name": f"{case.name}-{place}"})
    return named, graph.model_copy(update={"totals": totals}).model_dump_json(by_alias=True).encode()


def _seconds() -> float:
    """Return how long it takes to ask once, from the start of the process to its end."""
    command = [str(Path(sys.executable).with_name("zerolap")), "opportunities", "--store", str(PLACE)]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
