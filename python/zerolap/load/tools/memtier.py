"""memtier_benchmark, and `zerolap-load`, which takes its arguments."""

import json
import shutil
from collections.abc import Mapping
from typing import Any

from zerolap.load.generator import packaged, timed_arguments
from zerolap.load.target import by_socket
from zerolap.load.tools.interface import LoadOutcome, LoadWork, connection_requests
from zerolap.records import EnvironmentMissing

NOT_OF_MEMTIER = frozenset({"--cpus", "--seed"})
"""Arguments of `zerolap-load` alone; the lab pins memtier_benchmark anyway, and its keys are the same each time."""


class OwnLoad:
    """`zerolap-load` as a program that sends all requests at once."""

    def missing(self) -> str | None:
        """Return why it cannot be used: it is not built."""
        try:
            packaged("zerolap-load")
        except EnvironmentMissing as fault:
            return fault.message
        return None

    def command(self, work: LoadWork) -> list[str]:
        """Return the command line."""
        return [str(packaged("zerolap-load")), *_arguments(work), *_ends(work)]

    def outcome(self, work: LoadWork, output: str) -> LoadOutcome:
        """Read the part of the document that memtier_benchmark does not have."""
        report = json.loads(work.result.read_text())["lab"]
        latency = report["latency_us"] or {}
        return LoadOutcome(
            requests=report["requests"],
            ops_per_sec=report["ops_per_sec"],
            p50_us=latency.get("p50"),
            p99_us=latency.get("p99"),
            p99_9_us=latency.get("p99_9"),
            max_us=latency.get("max"),
            errors=sum(report["errors"].values()),
        )


class Memtier:
    """memtier_benchmark as found on the PATH; it counts errors as replies."""

    def missing(self) -> str | None:
        """Return why it cannot be used: it is not installed."""
        return None if shutil.which("memtier_benchmark") else "memtier_benchmark is not on the PATH"

    def command(self, work: LoadWork) -> list[str]:
        """Return the command line; that of a suite of the public format is used unchanged."""
        words, accepted = iter(_arguments(work)), []
        for word in words:
            if word in NOT_OF_MEMTIER:
                next(words)
            else:
                accepted.append(word)
        if not work.case.is_public:
            # Otherwise all connections draw the same keys.
            accepted.append("--distinct-client-seed")
        return ["memtier_benchmark", *accepted, *_ends(work)]

    def outcome(self, work: LoadWork, output: str) -> LoadOutcome:
        """Read the document."""
        totals = json.loads(work.result.read_text())["ALL STATS"]["Totals"]
        latency = totals["Percentile Latencies"]
        return LoadOutcome(
            requests=totals["Count"],
            ops_per_sec=totals["Ops/sec"],
            p50_us=_us(latency, "p50.00"),
            p99_us=_us(latency, "p99.00"),
            p99_9_us=_us(latency, "p99.90"),
            max_us=_us(totals, "Max Latency"),
        )


def _arguments(work: LoadWork) -> list[str]:
    return timed_arguments(work.case.client, work.seed, work.processors)


def _ends(work: LoadWork) -> list[str]:
    return [
        *by_socket(work.socket, work.login).arguments,
        *("--requests", str(connection_requests(work))),
        *("--hide-histogram", "--json-out-file", str(work.result)),
    ]


def _us(latencies_ms: Mapping[str, Any], name: str) -> float | None:
    return None if latencies_ms.get(name) is None else 1000 * float(latencies_ms[name])
