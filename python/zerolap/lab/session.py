"""What every run of the lab has: an id, a time, a place for builds, the tools that it cannot do without."""

import os
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from zerolap.cases import Case, Topology
from zerolap.engines import counted_part, missing_for_counting, missing_for_sampling
from zerolap.records import EnvironmentMissing
from zerolap.sandbox import available, network_missing
from zerolap.store import Store

MOST_WARNINGS = 10
"""Of case files: more are not told one by one beside results."""


def new_id(kind: str) -> str:
    """Return an id that is new, such as `c-1f2e3d4c` for the kind `c`."""
    return f"{kind}-{secrets.token_hex(4)}"


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def builds_directory(store: Store) -> Path:
    """Return where builds are kept: beside the results."""
    return store.path.parent.resolve() / "builds"


def trials_at_once() -> int:
    """Return how many counted trials run at the same time: counts do not depend on other work."""
    return max(1, len(os.sched_getaffinity(0)))


def require_instruments(engines: Sequence[str]) -> None:
    """Raise `EnvironmentMissing` if one of the engines cannot work here."""
    if "counted" in engines:
        missing = missing_for_counting()
        if missing is not None:
            raise EnvironmentMissing(f"no counted trials: {missing}", hint="apt-get install valgrind")
    if "sampled" in engines:
        unsampled = missing_for_sampling()
        if unsampled is not None:
            raise EnvironmentMissing(f"no stacks: {unsampled.reason}", hint=unsampled.remedy)


def case_notes(cases: Sequence[Case], engines: Sequence[str]) -> list[str]:
    """Return what belongs to results of these cases: faults of their files, and what was counted of many servers."""
    warnings = [warning for case in cases for warning in case.warnings]
    notes = warnings
    if len(warnings) > MOST_WARNINGS:
        files = len({case.file for case in cases if case.warnings})
        notes = [f"{len(warnings)} faults in {files} case files: `zerolap suites check --no-run` tells them"]
    topologies = {case.topology: case.deployed_as for case in cases if case.cannot_run is None}
    parts = {name: counted_part(one) for name, one in topologies.items()} if "counted" in engines else {}
    return [*notes, *_network_note(topologies.values()), *(f"`{name}`: {part}" for name, part in parts.items() if part)]


def _network_note(topologies: Iterable[Topology]) -> list[str]:
    """Return the note that belongs to servers that had the network of the machine."""
    reason = network_missing() if any(topology.needs_network for topology in topologies) else None
    return [] if reason is None else [f"servers had the machine's network: {reason}"]


def sandbox_note() -> list[str]:
    """Return the note that belongs to results measured without a sandbox."""
    reason = available()
    return [] if reason is None else [f"builds and servers ran without a sandbox: {reason}"]
