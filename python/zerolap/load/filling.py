"""Fills the keyspace for a case before it is measured."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from zerolap.load.geo_points import add_points
from zerolap.load.program import (
    LOAD_PIPELINE,
    key_arguments,
    load_program,
    loading_arguments,
    shown_errors,
)
from zerolap.load.target import Target
from zerolap.records import LETTER_OF_PATTERN, Case, Check, Dataset, TrialFailed, parse_command
from zerolap.server import RunningServer

LOAD_SLICE = 100_000
SETUP_BATCH = 500
"""Commands that are sent together; a data set may have tens of thousands of them."""


def prepare(target: Target, case: Case, seed: int, log: Path) -> list[Check]:
    """Send setup and load of the case's data set, then the case's own setup; return checks of the keyspace."""
    checks = []
    dataset, server = case.dataset, target.server
    if dataset is not None:
        _send(server, dataset.setup)
        for command in dataset.load:
            _load(target, dataset, command, seed, log)
        if dataset.generator is not None:
            add_points(server, dataset.generator)
        for client in dataset.clients:
            _carry_out(target, dataset.name, loading_arguments(client, seed), client.loading_requests, log)
        _send(server, dataset.after_load)
        if dataset.expect.keys is not None:
            checks.append(_keys_check(target, dataset))
    _send(server, case.setup)
    return checks


def _send(server: RunningServer, lines: list[str]) -> None:
    _send_words(server, (parse_command(line) for line in lines))


def _send_words(server: RunningServer, commands: Iterable[list[bytes]]) -> None:
    remaining = iter(commands)
    while batch := list(islice(remaining, SETUP_BATCH)):
        server.commands(batch)


def _load(target: Target, dataset: Dataset, command: str, seed: int, log: Path) -> None:
    keys = dataset.keys
    requests = keys.maximum - keys.minimum + 1
    arguments = ["--threads", "1", "--clients", "1", "--seed", str(seed)]
    # In lockstep the server wakes up equally often in each trial, so its timers see the same state.
    arguments += ["--pipeline", str(LOAD_PIPELINE), "--lockstep"]
    arguments += key_arguments(keys, dataset.data_size, dataset.random_data)
    arguments += ["--command", command, "--command-key-pattern", LETTER_OF_PATTERN[keys.pattern]]
    _carry_out(target, dataset.name, arguments, requests, log)


def _carry_out(target: Target, name: str, arguments: list[str], requests: int, log: Path) -> None:
    with load_program(target.reach, log, arguments) as program:
        errors, first_error = dict[str, int](), None
        for start in range(0, requests, LOAD_SLICE):
            result = program.slice(min(LOAD_SLICE, requests - start))
            errors = {code: errors.get(code, 0) + result.errors.get(code, 0) for code in errors | result.errors}
            first_error = first_error or result.first_error
    if errors:
        raise TrialFailed(f"loading the data set `{name}` got error replies: {shown_errors(errors, first_error)}")


def _keys_check(target: Target, dataset: Dataset) -> Check:
    count, expected = target.count_keys(), dataset.expect.keys or 0
    # memtier_benchmark's `allkeys` omits the last key of a range, which suites written for it rely on.
    tolerance = 1 if dataset.clients and expected > 1 else 0
    limit = f"= {expected}" if not tolerance else f"= {expected} +- {tolerance}"
    return Check(check="keys", ok=abs(count - expected) <= tolerance, value=float(count), limit=limit)
