"""The base of all records, and how those are read that a store holds."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from zerolap.errors import UnreadableRecord

STORED: Final = {"stored": True}
"""The context in which what a store holds is validated."""

T = TypeVar("T")

_ADAPTERS: dict[object, TypeAdapter[Any]] = {}


class Record(BaseModel):
    """An immutable value that is written to and read from JSON under its field names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def read_stored(kind: type[T] | TypeAdapter[T], content: str | Mapping[str, Any], name: str) -> T:
    """Return a value that a store holds, as JSON or as fields; `name` is that of the row in messages.

    Another version of Zerolap may have written it: unknown fields are ignored at all levels, unlike in what users and
    agents write. Raises `UnreadableRecord`.
    """
    adapter = kind if isinstance(kind, TypeAdapter) else _adapter(kind)
    try:
        if isinstance(content, str):
            return adapter.validate_json(content, extra="ignore", context=STORED)
        return adapter.validate_python(content, extra="ignore", context=STORED)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UnreadableRecord(
            f"{name} cannot be read: {place + ': ' if place else ''}{first['msg']}",
            hint="another version of Zerolap has written it, or the store is damaged",
        ) from fault
