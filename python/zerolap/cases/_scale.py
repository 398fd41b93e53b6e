"""Cases with smaller data sets, for `--quick`."""

from zerolap.records import KEY, Case, Client, Dataset, Expect, Generator, Keys

SMALLEST_LOAD = 100
"""Lower bound on the requests of a client that fills a server; fewer save no time."""


def scaled(case: Case, factor: float) -> Case:
    """Return the case with its loaded key range, and its clients' ranges over the same keys, scaled by one factor.

    A range keeps its relative position within the loaded range, so the hit rate stays the same. Data from setup
    commands is not scaled, and neither is a case without a load or a generator.

    Raises:
        ValueError: The factor is not above 0 and at most 1.
    """
    if not 0 < factor <= 1:
        raise ValueError(f"expected a factor above 0 and at most 1; found {factor}")
    dataset = case.dataset
    if dataset is None or not dataset.is_scaled:
        return case
    if case.is_public:
        return _scaled_suite(case, dataset, factor)
    origin, client = dataset.keys.minimum, case.client
    if client.key_prefix == dataset.keys.prefix:
        start, end = _scaled_range(client.key_minimum, client.key_maximum, origin, factor)
        client = client.model_copy(update={"key_minimum": start, "key_maximum": end})
    companions = [
        _scaled_client(companion, origin, factor) if companion.key_prefix == dataset.keys.prefix else companion
        for companion in case.companions
    ]
    scaled_dataset = _scaled_dataset(dataset, factor)
    return case.model_copy(update={"client": client, "dataset": scaled_dataset, "companions": companions})


def _scaled_generator(generator: Generator | None, factor: float) -> Generator | None:
    return generator and generator.model_copy(update={"count": max(1, round(generator.count * factor))})


def _scaled_dataset(dataset: Dataset, factor: float) -> Dataset:
    keys = _scaled_keys(dataset.keys, dataset.keys.minimum, factor)
    expect = dataset.expect
    if expect.keys is not None:
        per_value = min(expect.keys // dataset.keys.count, sum(KEY in command for command in dataset.load))
        removed = per_value * (dataset.keys.count - keys.count)
        expect = expect.model_copy(update={"keys": expect.keys - removed})
    generator = _scaled_generator(dataset.generator, factor)
    return dataset.model_copy(update={"keys": keys, "expect": expect, "generator": generator})


def _scaled_keys(keys: Keys, origin: int, factor: float) -> Keys:
    start, end = _scaled_range(keys.minimum, keys.maximum, origin, factor)
    return keys.model_copy(update={"minimum": start, "maximum": end})


def _scaled_range(minimum: int, maximum: int, origin: int, factor: float) -> tuple[int, int]:
    start = round((minimum - origin) * factor)
    end = max(start + 1, round((maximum + 1 - origin) * factor))
    return origin + start, origin + end - 1


def _scaled_suite(case: Case, dataset: Dataset, factor: float) -> Case:
    """Return a suite of the public format with all its clients' ranges scaled, also if their prefixes differ.

    A prefix may name keys or the members of one key, so the resulting number of keys is not known and not checked.
    """
    origin = dataset.clients[0].key_minimum if dataset.clients else case.client.key_minimum
    clients = [_scaled_client(client, origin, factor) for client in dataset.clients]
    keys = _scaled_keys(dataset.keys, origin, factor)
    generator = _scaled_generator(dataset.generator, factor)
    return case.model_copy(
        update={
            "client": _scaled_client(case.client, origin, factor),
            "companions": [_scaled_client(companion, origin, factor) for companion in case.companions],
            "dataset": dataset.model_copy(
                update={"keys": keys, "clients": clients, "expect": Expect(), "generator": generator}
            ),
        }
    )


def _scaled_client(client: Client, origin: int, factor: float) -> Client:
    if not any(command.keys for command in client.sent):
        start, end = client.key_minimum, client.key_maximum
    else:
        start, end = _scaled_range(client.key_minimum, client.key_maximum, origin, factor)
    requests = client.requests
    if requests is not None:
        requests = max(min(requests, SMALLEST_LOAD), round(requests * factor))
    return client.model_copy(update={"key_minimum": start, "key_maximum": end, "requests": requests})
