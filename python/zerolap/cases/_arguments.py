"""Reads command lines of the load generator, as in the public format, into clients."""

import functools
import json
from collections.abc import Sequence
from typing import Any

from zerolap import _core
from zerolap.records import Client, ClientCommand, UsageError


def read_client(words: Sequence[str]) -> Client:
    """Return the client that a command line describes; raises `UsageError` for one that the load generator refuses."""
    described = _described(tuple(words))
    if described is None:
        raise UsageError("the arguments ask for a text, not for requests")
    settings = described["settings"]
    return Client(
        given=described["given"],
        commands=[ClientCommand(**command) for command in settings["commands"]],
        requests=described["requests"],
        seconds=described["seconds"],
        per_second=described["per_second"],
        warnings=described["warnings"],
        **{
            name: settings[name]
            for name in (
                "key_prefix",
                "key_minimum",
                "key_maximum",
                "connections",
                "listeners",
                "pipeline",
                "data_size",
                "random_data",
            )
        },
    )


@functools.lru_cache(maxsize=4096)
def _described(words: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        text = _core.describe_load(list(words))
    except ValueError as wrong:
        raise UsageError(str(wrong)) from wrong
    return None if text is None else json.loads(text)
