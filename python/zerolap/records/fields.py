"""Field types of the file format that models and messages share."""

import re
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, Strict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

PLACEHOLDER = r"\{[a-z][a-z0-9_]*\}"

_DECIMAL = re.compile(r"(-?(?:0|[1-9][0-9]*))([kM]?)")
_FACTORS = {"": 1, "k": 1_000, "M": 1_000_000}


class Filled(str):
    """Text that was filled in for a single placeholder, and may stand for a number."""

    __slots__ = ()


class _OrPlaceholder:
    """Makes the JSON Schema of a number accept a placeholder instead."""

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "string", "pattern": f"^{PLACEHOLDER}$"}]}


def number_of(value: Any) -> Any:
    """Return the number that a filled-in text stands for, such as 2000 for `2k`; other values as they are."""
    match = _DECIMAL.fullmatch(value) if isinstance(value, Filled) else None
    return value if match is None else int(match[1]) * _FACTORS[match[2]]


Number: TypeAlias = Annotated[int, Strict(), Field(ge=0), BeforeValidator(number_of), _OrPlaceholder()]
Positive: TypeAlias = Annotated[int, Strict(), Field(ge=1), BeforeValidator(number_of), _OrPlaceholder()]
