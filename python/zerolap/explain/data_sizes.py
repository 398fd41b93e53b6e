"""How much data the commands of a case work on, as its definition states it: its name plays no part."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from zerolap.records import DATA, KEY, Case, Client, parse_command

SizeUnit: TypeAlias = Literal[
    "elements", "parts of the reply", "arguments", "bytes of the value", "bytes of the request"
]
"""What a size counts: elements of the value, parts that the reply is made of, arguments of the request, bytes."""
UNITS: Final[tuple[SizeUnit, ...]] = (
    *("elements", "parts of the reply", "arguments", "bytes of the value", "bytes of the request"),
)
"""Where several sizes grow alike, the first of these names the size."""

APPENDING: Final = frozenset({"LPUSH", "RPUSH", "XADD"})
"""Commands that add the same elements again when they are repeated."""
ARGUMENTS_OF_AN_ELEMENT: Final[Mapping[str, int]] = {
    **dict.fromkeys(("LPUSH", "PFADD", "RPUSH", "SADD"), 1),
    **dict.fromkeys(("HMSET", "HSET", "ZADD"), 2),
    "GEOADD": 3,
}
ONE_ELEMENT: Final = frozenset({"PSETEX", "SET", "SETEX", "XADD"})
"""Commands that write one element, whatever their arguments."""
WRITES: Final = ONE_ELEMENT | ARGUMENTS_OF_AN_ELEMENT.keys()
"""Commands whose numbers are data, and not how much of it is meant."""
FILLS_NOTHING: Final = frozenset(
    {"ACL", "CLIENT", "CONFIG", "DEL", "EXPIRE", "FLUSHALL", "FLUSHDB", "FUNCTION", "HEXPIRE", "HPEXPIRE", "PEXPIRE"}
    | {"PING", "SCRIPT", "SELECT", "UNLINK", "WAIT", "XGROUP", "XREADGROUP"}
)
"""Commands after which a value has as many elements as before. What all others do to values is not known."""


@dataclass(frozen=True)
class _Filling:
    """A command line that fills a server: how often it is sent, the size of its range of keys, the bytes of a value."""

    line: str
    times: float = 1.0
    keys: int = 1
    data_bytes: int = 0


@dataclass(frozen=True)
class _Value:
    elements: float
    bytes: float


def stated_sizes(case: Case) -> dict[SizeUnit, float]:
    """Return how much data a request of the case works on, as far as the definition states it.

    The elements and bytes are those of the values that the commands name, which the data set or the setup has filled;
    they are left out where anything but plain commands fills values, such as a script.
    """
    sizes = _request_sizes(case.client)
    value = _value(case)
    if value is not None:
        sizes |= {"elements": value.elements, "bytes of the value": value.bytes}
    return {unit: size for unit, size in sizes.items() if size > 0}


def _request_sizes(client: Client) -> dict[SizeUnit, float]:
    """Return the arguments of a request and their bytes, the mean over its commands."""
    arguments = length = 0.0
    for command in client.sent:
        words = _words(command.line)[1:]
        part = command.ratio / client.cycle
        arguments += part * len(words)
        length += part * _length(words, client.data_size)
    return {"arguments": arguments, "bytes of the request": length}


def _value(case: Case) -> _Value | None:
    """Return the values that the commands name, all of them together; none where that is not stated."""
    dataset = case.dataset
    values: dict[str, _Value] = {}
    if dataset is not None and dataset.generator is not None:
        values[dataset.generator.key] = _Value(dataset.generator.count, 0.0)
    for filling in _fillings(case):
        name, *arguments = _words(filling.line) or [""]
        if name.upper() in FILLS_NOTHING:
            continue
        filled = _filled(name.upper(), arguments, filling)
        if filled is None:
            return None
        key, known = arguments[0], values.get(arguments[0], _Value(0.0, 0.0))
        if name.upper() in ONE_ELEMENT - APPENDING:
            values[key] = filled
        else:
            values[key] = _Value(known.elements + filled.elements, known.bytes + filled.bytes)
    named = {word for command in case.client.sent for word in _words(command.line)[1:]}
    used = [value for key, value in values.items() if key in named]
    if not used:
        return None
    return _Value(sum(value.elements for value in used), sum(value.bytes for value in used))


def _fillings(case: Case) -> Iterator[_Filling]:
    dataset = case.dataset
    if dataset is not None:
        yield from map(_Filling, dataset.setup)
        for line in dataset.load:
            yield _Filling(line, dataset.keys.count, dataset.keys.count, dataset.data_size)
        for client in dataset.clients:
            keys = client.key_maximum - client.key_minimum + 1
            for command in client.sent:
                times = client.loading_requests * command.ratio / client.cycle
                yield _Filling(command.line, times, keys, client.data_size)
        yield from map(_Filling, dataset.after_load)
    yield from map(_Filling, case.setup)


def _filled(name: str, arguments: Sequence[str], filling: _Filling) -> _Value | None:
    """Return what a command line has added to one value once it was sent for all keys; none where that is not known."""
    per_element = ARGUMENTS_OF_AN_ELEMENT.get(name)
    if len(arguments) < 2 or (per_element is None and name not in ONE_ELEMENT):
        return None
    key, *further = arguments
    elements = 1.0 if per_element is None else max(len(further) / per_element, 1.0)
    # To one key, and of these those that do not repeat the elements of another line.
    requests = filling.times / filling.keys if KEY in key else filling.times
    has_others = KEY not in key and any(KEY in word for word in further)
    different = min(requests, filling.keys) if has_others else 1.0
    times = max(requests, 1.0) if name in APPENDING else different
    return _Value(elements * times, _length(further, filling.data_bytes) * times)


def _words(line: str) -> list[str]:
    # Data sets have thousands of lines, nearly all without quotes.
    if '"' not in line and "'" not in line:
        return line.split()
    return [word.decode(errors="replace") for word in parse_command(line)]


def _length(words: Sequence[str], data_bytes: int) -> float:
    return float(sum(data_bytes if word == DATA else len(word) for word in words))
