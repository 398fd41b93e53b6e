"""Whether the latencies that the load generator reports are those that a server with known times has caused."""

import json
import math
import statistics
from dataclasses import asdict, dataclass
from typing import Any

from benches.figures import Figure
from benches.load.effort import Effort
from benches.load.process import run_client
from benches.load.scripted import build, scripted_server
from benches.load.tools import OWN
from zerolap.load.generator import packaged

PER_SECOND = 10_000
SERVER_ARGUMENTS = ("--delay-us", "100", "--stall-every-s", "10", "--stall-ms", "1000")
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}
ALLOWED = 0.02
"""Errors up to this share of the truth do not count."""


@dataclass(frozen=True)
class Percentile:
    """One percentile as it was reported and as it was, in microseconds."""

    percentile: str
    measured_us: float
    truth_us: float
    error_us: float
    relative_error: float


@dataclass(frozen=True)
class Disturbance:
    """What the machine did to a run; a truth that the server itself was late to see is none."""

    server_longest_pause_us: float
    client_run_queue_us: float
    """How long the client's thread waited for its processor in all."""
    own_slip_us: dict[str, float]
    unsent: int

    @classmethod
    def of(cls, counts: dict[str, Any], lab: dict[str, Any]) -> "Disturbance":
        """Take it from what the server and the load generator report."""
        return cls(
            server_longest_pause_us=counts["longest_pause_ns"] / 1000,
            client_run_queue_us=sum(thread["run_queue_ns"] for thread in lab["client"]["threads"]) / 1000,
            own_slip_us=lab["schedule"]["own_slip_us"],
            unsent=lab["schedule"]["unsent"],
        )

    def line(self) -> str:
        """Return it as a line of text."""
        waited = f"the client waited {self.client_run_queue_us:.0f} us in all for its processor"
        return f"the server did not look for up to {self.server_longest_pause_us:.0f} us; {waited}"


def sleeping(effort: Effort) -> dict[str, Figure]:
    """Measure the load generator as it is by default, asleep while there is nothing to do."""
    response, service = response_and_service(effort)
    return {"response_error_us": response, "service_error_us": service}


def busy(effort: Effort) -> dict[str, Figure]:
    """Measure the load generator while it never sleeps."""
    response, service = response_and_service(effort, "--busy-poll")
    return {"response_error_busy_poll_us": response, "service_error_busy_poll_us": service}


def response_and_service(effort: Effort, *arguments: str) -> tuple[Figure, Figure]:
    """Send at a fixed rate to a server that stalls now and then, several times."""
    program = build()
    response: list[list[Percentile]] = []
    service: list[list[Percentile]] = []
    disturbances = []
    for _ in range(effort.truth_runs):
        with scripted_server(program, *SERVER_ARGUMENTS) as server:
            lab = measure(server.port, effort.truth_seconds, *arguments)
        times_ns = server.times_ns
        if len(times_ns) != lab["requests"]:
            raise ValueError(f"the server got {len(times_ns)} requests, of {lab['requests']} that are reported")
        due_ns = [lab["began_monotonic_ns"] + number * 1_000_000_000 // PER_SECOND for number in range(len(times_ns))]
        true_response_ns = [replied - due for (_, replied), due in zip(times_ns, due_ns, strict=True)]
        true_service_ns = [replied - arrived for arrived, replied in times_ns]
        schedule = lab["schedule"]
        response.append(percentiles(schedule["response_us"], true_response_ns))
        service.append(percentiles(schedule["service_us"], true_service_ns))
        disturbances.append(Disturbance.of(server.counts, lab))
    return figure(response, disturbances, effort), figure(service, disturbances, effort)


def measure(port: int, seconds: int, *arguments: str) -> dict[str, Any]:
    """Send at the fixed rate and return the report."""
    command = [str(packaged(OWN)), "-s", "127.0.0.1", "-p", str(port), "-t", "1", "-c", "50", "--cpus", "1"]
    command += ["--rate", str(PER_SECOND), "--test-time", str(seconds), "--json-out-file", "-"]
    command += arguments
    lab: dict[str, Any] = json.loads(run_client(command).output)["lab"]
    return lab


def percentiles(reported_us: dict[str, float], true_ns: list[int]) -> list[Percentile]:
    """Compare each reported percentile with the smallest value that so many do not exceed."""
    ordered = sorted(true_ns)
    compared = []
    for name, share in SHARES.items():
        truth_us = ordered[math.ceil(share * len(ordered)) - 1] / 1000
        error_us = reported_us[name] - truth_us
        compared.append(Percentile(name, reported_us[name], truth_us, error_us, error_us / truth_us))
    return compared


def figure(runs: list[list[Percentile]], disturbances: list[Disturbance], effort: Effort) -> Figure:
    """Return the median over runs of the largest error that is not within what is allowed."""
    return Figure(
        value=statistics.median(largest_error_us(run) for run in runs),
        unit="us",
        samples=[
            {"percentiles": [asdict(one) for one in run], **asdict(disturbance)}
            for run, disturbance in zip(runs, disturbances, strict=True)
        ],
        trials=len(runs),
        notes=[
            f"0 if all of {', '.join(SHARES)} are within {ALLOWED:.0%}",
            *(disturbance.line() for disturbance in disturbances),
            *(f"{one.percentile}: {one.measured_us:.1f} us, in truth {one.truth_us:.1f} us" for one in runs[-1]),
            *effort.notes,
        ],
    )


def largest_error_us(run: list[Percentile]) -> float:
    """Return the largest error of percentiles that are not within what is allowed; 0 if all are."""
    return max((abs(one.error_us) for one in run if abs(one.relative_error) > ALLOWED), default=0.0)
