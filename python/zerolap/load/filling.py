"""Fills the keyspace for a case before it is measured."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
FIRST_RECORDED, LATER_RECORDED = 2_000, 500
"""The requests of the first load, and of each later one, that are sent while the server is instrumented."""
SETUP_BATCH = 500
"""Commands that are sent together; a data set may have tens of thousands of them."""


@dataclass(frozen=True)
class Instrument:
    """Switches the instrumentation of a server at rest on and off."""

    start: Callable[[], object]
    stop: Callable[[], object]


def prepare(target: Target, case: Case, seed: int, log: Path, instrument: Instrument | None = None) -> list[Check]:
    """Send setup and load of the case's data set, then the case's own setup; return checks of the keyspace.

    An `instrument` is on when this begins and off when it ends. In between it is on for the first requests of each
    part, so that all code is seen which creates the data, at a bounded cost.
    """
    checks = []
    recorded = _Recorded(instrument)
    dataset, server = case.dataset, target.server
    if dataset is not None:
        recorded.send(server, dataset.setup)
        for command in dataset.load:
            _load(target, dataset, command, seed, log, recorded)
        if dataset.generator is not None:
            recorded.switch(on=True)
            add_points(server, dataset.generator)
            recorded.switch(on=False)
        for client in dataset.clients:
            slices = recorded.slices(client.loading_requests)
            _carry_out(target, dataset.name, loading_arguments(client, seed), slices, log)
        recorded.send(server, dataset.after_load)
        if dataset.expect.keys is not None:
            checks.append(_keys_check(target, dataset))
    recorded.send(server, case.setup)
    recorded.switch(on=False)
    return checks


class _Recorded:
    """What is sent in parts, of each of which an instrument sees the beginning."""

    def __init__(self, instrument: Instrument | None) -> None:
        self._instrument = instrument
        self._is_on = True
        self._next_requests = FIRST_RECORDED

    def switch(self, *, on: bool) -> None:
        """Switch the instrument on or off, if there is one and it is not so already."""
        if self._instrument is not None and on != self._is_on:
            (self._instrument.start if on else self._instrument.stop)()
            self._is_on = on

    def slices(self, requests: int) -> Iterable[int]:
        """Yield how many requests of a load to send at a time; the instrument is on for the first ones."""
        left = requests
        if self._instrument is not None and left:
            self.switch(on=True)
            first = min(self._next_requests, left)
            yield first
            self.switch(on=False)
            left -= first
            self._next_requests = LATER_RECORDED
        while left:
            yield min(LOAD_SLICE, left)
            left -= min(LOAD_SLICE, left)

    def send(self, server: RunningServer, lines: Sequence[str]) -> None:
        """Send commands; the instrument is on for the first batch."""
        for first in range(0, len(lines), SETUP_BATCH):
            self.switch(on=first == 0)
            server.commands([parse_command(line) for line in lines[first : first + SETUP_BATCH]])
        self.switch(on=False)


def _load(target: Target, dataset: Dataset, command: str, seed: int, log: Path, recorded: _Recorded) -> None:
    keys = dataset.keys
    requests = keys.maximum - keys.minimum + 1
    arguments = ["--threads", "1", "--clients", "1", "--seed", str(seed)]
    # In lockstep the server wakes up equally often in each trial, so its timers see the same state.
    arguments += ["--pipeline", str(LOAD_PIPELINE), "--lockstep"]
    arguments += key_arguments(keys, dataset.data_size, dataset.random_data)
    arguments += ["--command", command, "--command-key-pattern", LETTER_OF_PATTERN[keys.pattern]]
    _carry_out(target, dataset.name, arguments, recorded.slices(requests), log)


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
