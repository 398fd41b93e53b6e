"""redis-benchmark and its descendant, valkey-benchmark: they send one command, and keys of their own form."""

import csv
import shutil

from zerolap.load.tools.interface import LoadOutcome, LoadWork
from zerolap.records import Case, CaseRefused, Keys, parse_command
from zerolap.server import ServerLogin

KEY, VALUE, NUMBER = b"__key__", b"__data__", "__rand_int__"
DIGITS = 12
"""Its random numbers have leading zeros, unlike those of the lab's keys."""


class Benchmark:
    """The program of that name as found on the PATH; it ends at the first error reply."""

    def __init__(self, program: str) -> None:
        self._program = program

    def missing(self) -> str | None:
        """Return why it cannot be used: it is not installed."""
        return None if shutil.which(self._program) else f"{self._program} is not on the PATH"

    def command(self, work: LoadWork) -> list[str]:
        """Return the command line; raises `CaseRefused` for several commands, and for keys that it cannot form."""
        reason = _reason_against(work.case)
        if reason:
            raise CaseRefused(f"{self._program} cannot send this case: {reason}")
        client = work.case.client
        words = [word.replace(KEY, _key(client.keys).encode()) for word in parse_command(client.sent[0].line)]
        words = [b"x" * client.data_size if word == VALUE else word for word in words]
        return [
            *(self._program, "-s", str(work.socket), *_login(work.login)),
            *("-c", str(client.connections), "-P", str(client.pipeline)),
            *("-n", str(work.requests), "-r", str(client.keys.count), "--csv"),
            *[word.decode() for word in words],
        ]

    def outcome(self, work: LoadWork, output: str) -> LoadOutcome:
        """Read the table, which may follow warnings, such as that the server has no CONFIG."""
        (row,) = csv.DictReader(output[output.index('"test"') :].splitlines())
        return LoadOutcome(
            requests=work.requests,
            ops_per_sec=float(row["rps"]),
            p50_us=1000 * float(row["p50_latency_ms"]),
            p99_us=1000 * float(row["p99_latency_ms"]),
            max_us=1000 * float(row["max_latency_ms"]),
            errors=0,
        )


def _login(login: ServerLogin | None) -> list[str]:
    if login is None:
        return []
    user = ["--user", login.username] if login.username else []
    return [*user, "-a", login.password]


def _reason_against(case: Case) -> str:
    if case.is_public:
        return "its arguments are memtier_benchmark's"
    client = case.client
    if len(client.sent) > 1:
        return "it knows one command at a time"
    words = parse_command(client.sent[0].line)
    if client.random_data and VALUE in words:
        return "its values are the same each time"
    if not all(word.isascii() and b"\0" not in word for word in words):
        return "an argument is no plain text"
    return _reason_against_keys(client.keys) if any(KEY in word for word in words) else ""


def _reason_against_keys(keys: Keys) -> str:
    if keys.count == 1:
        return ""
    if keys.pattern != "random":
        return f"it draws keys at random, and they are asked for by the pattern {keys.pattern}"
    if _leading(keys) == 0:
        return f"its keys end with {DIGITS} digits, as those from {10**DIGITS} on do, not {keys.minimum}"
    return ""


def _key(keys: Keys) -> str:
    if keys.count == 1:
        return f"{keys.prefix}{keys.minimum}"
    return f"{keys.prefix}{_leading(keys)}{NUMBER}"


def _leading(keys: Keys) -> int:
    """Return the digits before the last `DIGITS` of all keys; 0 if they differ or the range does not begin there."""
    leading, first = divmod(keys.minimum, 10**DIGITS)
    return leading if first == 0 and keys.maximum // 10**DIGITS == leading else 0
