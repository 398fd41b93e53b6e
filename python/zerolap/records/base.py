"""The base of all records, and how those are read that a store holds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from zerolap.errors import UnreadableRecord

STORED: Final = {"stored": True}
"""The context in which what a store holds is validated."""

T = TypeVar("T")

_ADAPTERS: dict[object, TypeAdapter[Any]] = {}


class HasErrors(Protocol):
    """An error of validation: of pydantic, or of FastAPI."""

    def errors(self) -> Sequence[Any]:
        """Return what is wrong, in order."""


@dataclass(frozen=True)
class FirstFault:
    """What is wrong with a value, without the value, which may be a secret.

    `location` is the path to it, with dots; `cause` the error that a validator of ours raised, if one did.
    """

    location: str
    what: str
    kind: str
    cause: Exception | None = None

    @classmethod
    def of(cls, fault: HasErrors, leaving_out: Collection[str] = ()) -> "FirstFault":
        """Return the first of the errors that validation found; some parts of its path can be left out."""
        first = fault.errors()[0]
        location = ".".join(str(part) for part in first["loc"] if part not in leaving_out)
        cause = first.get("ctx", {}).get("error")
        return cls(
            location,
            str(first["msg"]).removeprefix("Value error, "),
            str(first["type"]),
            cause if isinstance(cause, Exception) else None,
        )

    def __str__(self) -> str:
        return f"{self.location}: {self.what}" if self.location else self.what


class Record(BaseModel):
    """An immutable value that is written to and read from JSON under its field names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def taken_from(cls, *sources: object, **own: object) -> Self:
        """Return a record with its `own` fields; others are those of that name of the first source that has one."""
        fields: dict[str, Any] = {}
        names = [name for name, field in cls.model_fields.items() if field.alias is None]
        for source in reversed(sources):
            fields |= {name: getattr(source, name) for name in names if hasattr(source, name)}
        return cls(**(fields | own))


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
        raise UnreadableRecord(
            f"{name} cannot be read: {FirstFault.of(fault)}",
            hint="another version of Zerolap has written it, or the store is damaged",
        ) from fault
