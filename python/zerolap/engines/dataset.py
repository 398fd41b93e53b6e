"""What a case needs in the keyspace before it is measured."""

from pathlib import Path

from zerolap.cases import Case, Dataset, parse_command
from zerolap.engines.load import PATTERN_LETTERS, key_arguments, load_program
from zerolap.records import Check, TrialFailed
from zerolap.server import RunningServer

LOAD_PIPELINE = 50
LOAD_SLICE = 100_000


def prepare(server: RunningServer, case: Case, seed: int, log: Path) -> list[Check]:
    """Send setup and load of the case's data set, then the case's own setup; return checks of the keyspace."""
    checks = []
    if case.dataset is not None:
        _send(server, case.dataset.setup)
        for command in case.dataset.load:
            _load(server, case.dataset, command, seed, log)
        if case.dataset.expect.keys is not None:
            checks.append(_keys_check(server, case.dataset.expect.keys))
    _send(server, case.setup)
    return checks


def _send(server: RunningServer, lines: list[str]) -> None:
    for line in lines:
        server.command(*parse_command(line))


def _load(server: RunningServer, dataset: Dataset, command: str, seed: int, log: Path) -> None:
    keys = dataset.keys
    requests = keys.maximum - keys.minimum + 1
    arguments = ["--threads", "1", "--clients", "1", "--seed", str(seed)]
    # In lockstep the server wakes up as often in each trial, so that its timers find the same state.
    arguments += ["--pipeline", str(LOAD_PIPELINE), "--lockstep"]
    arguments += key_arguments(keys, dataset.data_size, dataset.random_data)
    arguments += ["--command", command, "--command-key-pattern", PATTERN_LETTERS[keys.pattern]]
    with load_program(server.socket, log, arguments) as program:
        errors: dict[str, int] = {}
        for start in range(0, requests, LOAD_SLICE):
            result = program.slice(min(LOAD_SLICE, requests - start))
            errors = {code: errors.get(code, 0) + result.errors.get(code, 0) for code in errors | result.errors}
    if errors:
        shown = ", ".join(f"{count} x {code}" for code, count in errors.items())
        raise TrialFailed(f"loading the data set `{dataset.name}` got error replies: {shown}")


def _keys_check(server: RunningServer, expected: int) -> Check:
    found = server.command("DBSIZE")
    return Check(check="keys", ok=found == expected, value=float(str(found)), limit=f"= {expected}")
