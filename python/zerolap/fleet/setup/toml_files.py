"""Files of a fleet's directory: TOML, written in one step, and private where they have secrets."""

import json
import os
import secrets
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from zerolap.errors import UsageError
from zerolap.named_file import read_named_text
from zerolap.records import FirstFault

OWNER_ONLY: Final = 0o600
FOR_ALL: Final = 0o644
SAID_OF: Final = {"missing": "this has to be set", "extra_forbidden": "there is no such setting"}


class FilePart(BaseModel):
    """A part of a file, without further settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")


AnyPart = TypeVar("AnyPart", bound=FilePart)


def read(path: Path, kind: type[AnyPart], hint: str) -> AnyPart:
    """Return what a file says; raises `UsageError`."""
    try:
        content = tomllib.loads(read_named_text(path, hint=hint))
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise UsageError(f"{path} is not TOML: {fault}") from fault
    return validated(content, kind, str(path))


def validated(content: Mapping[str, Any], kind: type[AnyPart], subject: str, hint: str = "") -> AnyPart:
    """Return a part with this content; raises `UsageError`, about `subject`, for the first thing that is wrong."""
    try:
        return kind.model_validate(content)
    except ValidationError as fault:
        first = FirstFault.of(fault, leaving_out=["[key]"])
        what = SAID_OF.get(first.kind, first.what)
        raise UsageError(": ".join(filter(None, [subject, first.location, what])), hint) from fault


def write(path: Path, text: str, mode: int = OWNER_ONLY) -> None:
    """Replace a file as one step; nobody else can read a secret at any moment."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def table(entry: Mapping[str, Any], name: str = "") -> str:
    """Return a table as TOML, under a name if there is one."""
    lines = [f"[{name}]"] if name else []
    return "\n".join([*lines, *(f"{key} = {_toml(value)}" for key, value in entry.items())]) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        return f'"""\n{value}"""'
    # Strings, numbers, truth values and lists are written as in JSON.
    return json.dumps(value, ensure_ascii=False)
