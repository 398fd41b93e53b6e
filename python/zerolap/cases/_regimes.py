"""Cases in regimes: those of the package, and those that case files state."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import resources
from typing import Any

from zerolap.cases._document import read_document
from zerolap.cases._format import RegimeFields, RegimeFile
from zerolap.records import DATA, KEY, Case, Client, ClientCommand, Dataset, InRegime, Regime, name_in_regime

FEWEST_KEYS = 16
"""Keys of a data set that large values leave: with fewer, all of them are always in the same places."""


@functools.cache
def packaged_regimes() -> tuple[Regime, ...]:
    """Return the regimes that come with the package, in the order in which they are counted."""
    resource = resources.files("zerolap.cases") / "regimes.yml"
    document = read_document(resource.read_text(encoding="utf-8"), str(resource))
    return regimes_of(RegimeFile.model_validate(document.data).regimes)


def regimes_of(entries: Mapping[str, RegimeFields]) -> tuple[Regime, ...]:
    """Return the regimes that a file states, by name."""
    return tuple(Regime(name=name, **entry.model_dump()) for name, entry in entries.items())


def regimes_of_case(case: Case) -> Iterator[Regime]:
    """Yield the regimes in which a case may be counted: those of its own file, then those of the package."""
    stated = case.regimes
    own = [] if stated is None else stated.own
    named = {regime.name for regime in own}
    for regime in [*own, *(regime for regime in packaged_regimes() if regime.name not in named)]:
        if (stated is None or stated.takes(regime.name)) and _applies(regime, case):
            yield regime


def in_regime(case: Case, regime: Regime, *, is_added: bool = False) -> Case:
    """Return a case in a regime that applies to it; `is_added` where the lab counts it besides what was asked for."""
    dataset = _dataset_in(regime, case.dataset)
    client = _client_in(regime, case.client, case.dataset, dataset)
    expect = case.expect
    if regime.beside:
        # Of what is sent beside the case's commands, nothing is known.
        expect = expect.model_copy(update={"reply": None, "hit_rate": None})
    if regime.protocol == "resp3":
        # Maps and sets are replied instead of arrays then.
        expect = expect.model_copy(update={"reply": None})
    return case.model_copy(
        update={
            "name": name_in_regime(case.name, regime.name),
            "description": " ".join(part for part in (case.description, regime.description) if part),
            "dataset": dataset,
            "client": client,
            "setup": [*case.setup, *regime.setup],
            "config": {**case.config, **regime.config},
            "expect": expect,
            "regimes": None,
            "regime": InRegime(
                name=regime.name,
                of=case.name,
                beside=len(regime.beside),
                idle_connections=regime.idle_connections,
                warm_requests=regime.warm_requests,
                warm_with=regime.warm_with,
                is_added=is_added,
            ),
        }
    )


def cases_in_regimes_named(cases: Sequence[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases in regimes whose names match a pattern that names such, as `get-100B@*` does."""
    wanted = [pattern for pattern in patterns if "@" in pattern]
    if not wanted:
        return []
    return [
        in_regime(case, regime)
        for case in cases
        for regime in regimes_of_case(case)
        if any(fnmatchcase(name_in_regime(case.name, regime.name), pattern) for pattern in wanted)
    ]


def _applies(regime: Regime, case: Case) -> bool:
    """Whether a regime applies to a case: what it states, and nothing that the case cannot have."""
    to, dataset = regime.applies, case.dataset
    changes_requests = regime.beside or regime.data_size or regime.keys_times > 1 or regime.load
    if case.cannot_run is not None or case.regime is not None or (case.is_public and changes_requests):
        return False
    if to.commands and not any(fnmatchcase(verb, pattern.upper()) for verb in case.verbs for pattern in to.commands):
        return False
    if to.states and case.state not in to.states:
        return False
    if to.values and not _has_values(case):
        return False
    needs_keys = to.loaded_keys or regime.keys_times > 1 or regime.load
    return not needs_keys or (dataset is not None and any(KEY in command for command in dataset.load))


def _has_values(case: Case) -> bool:
    loaded = [] if case.dataset is None else case.dataset.load
    return any(DATA in line for line in (*loaded, *(command.line for command in case.client.sent)))


def _dataset_in(regime: Regime, dataset: Dataset | None) -> Dataset | None:
    if dataset is None:
        return None
    changed: dict[str, Any] = {"load": [*dataset.load, *regime.load]}
    if regime.data_size is not None:
        changed["data_size"] = regime.data_size
    minimum, count = dataset.keys.minimum, dataset.keys.count * regime.keys_times
    values = sum(line.count(DATA) for line in dataset.load)
    if regime.most_data_bytes is not None and regime.data_size is not None and values:
        fitting = regime.most_data_bytes // (regime.data_size * values)
        count = min(count, max(FEWEST_KEYS, fitting))
    if count != dataset.keys.count and any(KEY in line for line in dataset.load):
        changed["keys"] = dataset.keys.model_copy(update={"maximum": minimum + count - 1})
        if dataset.expect.keys is not None:
            # As in scaled data sets: of each key that is loaded, so many are held.
            per_key = min(dataset.expect.keys // dataset.keys.count, sum(KEY in line for line in dataset.load))
            held = dataset.expect.keys + per_key * (count - dataset.keys.count)
            changed["expect"] = dataset.expect.model_copy(update={"keys": held})
    return dataset.model_copy(update=changed)


def _client_in(regime: Regime, client: Client, before: Dataset | None, after: Dataset | None) -> Client:
    changed: dict[str, Any] = {}
    if regime.data_size is not None:
        changed["data_size"] = regime.data_size
    if regime.protocol is not None:
        changed["protocol"] = regime.protocol
    if before is not None and after is not None and before.keys != after.keys:
        same_range = (client.key_prefix, client.key_minimum, client.key_maximum) == (
            before.keys.prefix,
            before.keys.minimum,
            before.keys.maximum,
        )
        if same_range:
            changed["key_maximum"] = after.keys.maximum
        elif client.key_prefix == before.keys.prefix:
            changed["key_maximum"] = min(client.key_maximum, after.keys.maximum)
            changed["key_minimum"] = min(client.key_minimum, after.keys.maximum)
    if regime.beside:
        pattern = client.keys.pattern
        beside = [ClientCommand.of(line, 1, pattern) for line in regime.beside]
        changed["commands"] = [*client.commands, *beside]
    return client.model_copy(update=changed)
