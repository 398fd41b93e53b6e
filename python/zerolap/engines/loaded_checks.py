"""What a run of a load tool gave, and the conditions under which it may be used: the server is asked, not the tool."""

from collections.abc import Sequence
from dataclasses import dataclass

from zerolap.engines.counted_checks import executed_check
from zerolap.engines.engine import EngineTrial
from zerolap.engines.look_up_checks import absent_keys_check
from zerolap.engines.timed_checks import client_check
from zerolap.load.tools import LoadOutcome
from zerolap.records import Case, Check
from zerolap.server import CpuTimes, KeyLookUps, RunningServer, number_in, parts_of, rows_of


@dataclass(frozen=True)
class ServerCounts:
    """Totals since the server began; `errors` are none where it does not report them, as before Redis 6.2."""

    errors: int | None
    keys: KeyLookUps

    def __sub__(self, earlier: "ServerCounts") -> "ServerCounts":
        errors = None if self.errors is None or earlier.errors is None else self.errors - earlier.errors
        return ServerCounts(errors, self.keys - earlier.keys)


@dataclass(frozen=True)
class LoadedRun:
    """One run of a program: what it reported, what it used itself, and what the server did meanwhile."""

    outcome: LoadOutcome
    client_seconds: float
    seconds: float
    cpu: CpuTimes
    calls: int
    counts: ServerCounts

    def metrics(self) -> dict[str, float]:
        """Return what the program reported and what the lab saw, by name."""
        requests = self.outcome.requests
        seen = {
            "cpu_ns_per_op": self.cpu.total_ns / requests,
            "main_thread_ns_per_op": self.cpu.main_ns / requests,
            "client_cpu_ns_per_op": self.client_seconds * 1e9 / requests,
        }
        return self.outcome.metrics() | {name: value for name, value in seen.items() if value > 0}


def read_counts(server: RunningServer, verbs: Sequence[str]) -> ServerCounts:
    """Return what a server counted of look-ups, and of errors of these commands.

    Other commands, with which a client introduces itself, not every server knows. Raises `TrialFailed` if the server is
    gone.
    """
    totals = server.info("stats")
    commands = {row: parts_of(figures) for row, figures in server.info("commandstats").items()}
    failures = [(number_in(row, "failed_calls"), number_in(row, "rejected_calls")) for row in rows_of(verbs, commands)]
    has_errors = all("failed_calls" in row for row in commands.values())
    return ServerCounts(
        errors=sum((failed or 0) + (rejected or 0) for failed, rejected in failures) if has_errors else None,
        keys=KeyLookUps.of(totals) or KeyLookUps(0, 0),
    )


def loaded_checks(trial: EngineTrial, run: LoadedRun) -> list[Check]:
    """Return the checks of a run: errors, hits and calls, and whether the program kept up, on its own core."""
    return [
        *_reply_checks(trial.case, run),
        executed_check(trial.case, run.outcome.requests, run.calls),
        client_check(
            run.client_seconds / run.seconds,
            run.cpu.main_ns / 1e9 * run.outcome.ops_per_sec / run.outcome.requests,
        ),
        Check(
            check="oversubscribed",
            ok=trial.pinning.is_clean,
            value=f"sharing: {trial.pinning.sharing.value}",
            limit="a core for every busy thread",
        ),
    ]


def _reply_checks(case: Case, run: LoadedRun) -> list[Check]:
    checks, counts = [], run.counts
    errors = run.outcome.errors if counts.errors is None else counts.errors
    if errors is not None:
        allowed = case.expect.errors
        checks.append(Check(check="errors", ok=errors <= allowed, value=float(errors), limit=f"<= {allowed}"))
    if case.expect.hit_rate is None:
        misses = absent_keys_check(case, counts.keys)
        return checks if misses is None else [*checks, misses]
    if counts.keys.hits + counts.keys.misses:
        rate = 1 - counts.keys.missing_share
        holds = case.expect.hit_rate_holds(rate)
        checks.append(Check(check="hit_rate", ok=holds, value=rate, limit=case.expect.hit_rate))
    return checks
