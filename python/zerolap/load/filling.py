"""Fills the keyspace for a case before it is measured."""

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from zerolap.load.generator import (
    LOAD_PIPELINE,
    key_arguments,
    load_program,
    loading_arguments,
    shown_errors,
)
from zerolap.load.geo_points import add_points
from zerolap.load.target import Target
from zerolap.records import LETTER_OF_PATTERN, Case, Check, Dataset, TrialFailed, parse_command
from zerolap.server import RunningServer

LOAD_SLICE = 100_000
BEGINNING = 5_000
"""Requests of a load after which it has begun."""
SETUP_BATCH = 500
"""Commands that are sent together; a data set may have tens of thousands of them."""


def prepare(target: Target, case: Case, seed: int, log: Path, begun: Callable[[], object] | None = None) -> list[Check]:
    """Send setup and load of the case's data set, then the case's own setup; return checks of the keyspace.

    `begun` is called once: when the first requests of a load have been answered, or at the end where there is no load.
    """
    checks = []
    beginning = _Beginning(begun)
    dataset, server = case.dataset, target.server
    if dataset is not None:
        _send(server, dataset.setup)
        for command in dataset.load:
            _load(target, dataset, command, seed, log, beginning)
        if dataset.generator is not None:
            add_points(server, dataset.generator)
        for client in dataset.clients:
            slices = beginning.slices(client.loading_requests)
            _carry_out(target, dataset.name, loading_arguments(client, seed), slices, log)
        _send(server, dataset.after_load)
        if dataset.expect.keys is not None:
            checks.append(_keys_check(target, dataset))
    _send(server, case.setup)
    beginning.is_over()
    return checks


class _Beginning:
    """Whoever waits for the first requests of a load."""

    def __init__(self, begun: Callable[[], object] | None) -> None:
        self._begun = begun

    def slices(self, requests: int) -> Iterable[int]:
        """Yield how many requests of a load to send at a time; what is first sent is its beginning."""
        left = requests
        if self._begun is not None and left:
            yield min(BEGINNING, left)
            left -= min(BEGINNING, left)
            self.is_over()
        while left:
            yield min(LOAD_SLICE, left)
            left -= min(LOAD_SLICE, left)

    def is_over(self) -> None:
        """Call who waits, if none has been called yet."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun()


def _send(server: RunningServer, lines: list[str]) -> None:
    _send_words(server, (parse_command(line) for line in lines))


def _send_words(server: RunningServer, commands: Iterable[list[bytes]]) -> None:
    remaining = iter(commands)
    while batch := list(islice(remaining, SETUP_BATCH)):
        server.commands(batch)


def _load(target: Target, dataset: Dataset, command: str, seed: int, log: Path, beginning: _Beginning) -> None:
    keys = dataset.keys
    requests = keys.maximum - keys.minimum + 1
    arguments = ["--threads", "1", "--clients", "1", "--seed", str(seed)]
    # In lockstep the server wakes up equally often in each trial, so its timers see the same state.
    arguments += ["--pipeline", str(LOAD_PIPELINE), "--lockstep"]
    arguments += key_arguments(keys, dataset.data_size, dataset.random_data)
    arguments += ["--command", command, "--command-key-pattern", LETTER_OF_PATTERN[keys.pattern]]
    _carry_out(target, dataset.name, arguments, beginning.slices(requests), log)


def _carry_out(target: Target, name: str, arguments: list[str], slices: Iterable[int], log: Path) -> None:
    with target.closed_connections(), load_program(target.reach, log, arguments) as program:
        errors, first_error = dict[str, int](), None
        for requests in slices:
            result = program.slice(requests)
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
