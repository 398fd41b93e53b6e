"""What a case sends and stores, and what asked for it, as the request recorded them."""

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from zerolap.queries.pull_requests import pull_request_number
from zerolap.records import DATA, KEY, Case, Record, UnreadableRecord, read_stored
from zerolap.sheets import plain
from zerolap.store import Store

MOST_COMMANDS: Final = 20
LONGEST_COMMAND: Final = 300


class MeasuredWorkload(Record):
    """What a case sends, of what the request recorded.

    `commands` are the first 20 of `command_count`, with the words that stand for keys and data; `ratios` is how many of
    each are sent in turn. `keys` are the range of keys and how they are chosen, empty where no command has one;
    `data_bytes` is null where no command has data. `dataset` is the name of the data that are stored before, with
    `dataset_keys` for each command that loads them; empty and null without.
    """

    description: str
    commands: tuple[str, ...]
    ratios: tuple[int, ...]
    command_count: int
    keys: str
    data_bytes: int | None
    connections: int
    pipeline: int
    dataset: str
    dataset_keys: int | None
    companions: int
    config: dict[str, str]


class RequestCause(Record):
    """The trigger that asked for a comparison or run: its id, what it is about, and the repository to find it by.

    `pull_request` is the number of the pull request that it is about, null without one. Without a trigger `subject` is
    what the request recorded, as `command line`, and the others are empty.
    """

    trigger: str
    kind: str
    subject: str
    repository: str
    pull_request: int | None


class _Causing(BaseModel):
    trigger: str = ""


def workload_of(store: Store, identity: str, name: str) -> MeasuredWorkload | None:
    """Return what a case of a comparison or run sends; None where that is not recorded or cannot be read."""
    case = _case(store.reports.resolved_document(identity), name)
    if case is None:
        return None
    client, sent, dataset = case.client, case.client.sent, case.dataset
    return MeasuredWorkload(
        description=plain(case.description, LONGEST_COMMAND),
        commands=tuple(plain(command.line, LONGEST_COMMAND) for command in sent[:MOST_COMMANDS]),
        ratios=tuple(command.ratio for command in sent[:MOST_COMMANDS]),
        command_count=len(sent),
        keys=_keys(case) if any(KEY in command.line for command in sent) else "",
        data_bytes=client.data_size if any(DATA in command.line for command in sent) else None,
        connections=client.connections,
        pipeline=client.pipeline,
        dataset="" if dataset is None else plain(dataset.name, LONGEST_COMMAND),
        dataset_keys=dataset.keys.count if dataset is not None and dataset.load else None,
        companions=len(case.companions),
        config={plain(name, LONGEST_COMMAND): plain(value, LONGEST_COMMAND) for name, value in case.config.items()},
    )


def _case(document: str | None, name: str) -> Case | None:
    if document is None:
        return None
    try:
        # One case of what may be thousands: the others are not checked.
        cases: list[Mapping[str, Any]] = json.loads(document).get("cases", [])
        written = next((case for case in cases if case.get("name") == name), None)
        return None if written is None else read_stored(Case, written, f"the case {name}")
    except (ValueError, AttributeError, TypeError, UnreadableRecord):
        return None


def _keys(case: Case) -> str:
    keys = case.client.keys
    first, last = (plain(f"{keys.prefix}{number}", LONGEST_COMMAND) for number in (keys.minimum, keys.maximum))
    chosen = {"random": "chosen at random", "parallel": "each connection its part in order"}
    how = chosen.get(keys.pattern, keys.pattern)
    return first if keys.count == 1 else f"{first} to {last} ({keys.count:,} keys, {how})"


def cause_of(store: Store, identity: str) -> RequestCause | None:
    """Return what asked for a comparison or run; None where that is not recorded."""
    document = store.reports.request_document(identity)
    try:
        named = "" if document is None else read_stored(_Causing, document, f"the request {identity}").trigger
    except UnreadableRecord:
        return None
    if not named:
        return None
    stored = store.triggers.with_id(named)
    if stored is None:
        return RequestCause(
            trigger="", kind="", subject=plain(named, LONGEST_COMMAND), repository="", pull_request=None
        )
    return RequestCause(
        trigger=stored.id,
        kind=stored.kind,
        subject=plain(stored.subject, LONGEST_COMMAND),
        repository=stored.repository,
        pull_request=pull_request_number(stored),
    )
