"""Messages for values that do not follow the file format."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from zerolap.cases._document import Document, Path
from zerolap.cases._format import CaseTemplate, CommandEntry, CompanionEntry, DatasetEntry, Outline
from zerolap.cases._values import near, shown
from zerolap.records import Expect, Keys

ModelT = TypeVar("ModelT", bound=BaseModel)

_MODEL_OF_FIELD: dict[str, type[BaseModel]] = {"keys": Keys, "expect": Expect, "commands": CommandEntry}
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "fields with values",
    "model_type": "fields with values",
}


def validated(model: type[ModelT], values: Any, document: Document, at: Path = ()) -> ModelT | None:
    """Return the values as a model, or None and problems in the document; `at` is the path of the values."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _note(detail, document, at)
        return None


def _note(detail: ErrorDetails, document: Document, at: Path) -> None:
    path = (*at, *detail["loc"])
    kind = detail["type"]
    context = detail.get("ctx", {})
    found = f"found {shown(detail['input'])}"
    hint = ""
    if kind == "missing":
        text = "missing"
    elif kind == "extra_forbidden":
        known = _fields_at(path[:-1])
        hint = near(str(path[-1]), known)
        text = "unknown field" if hint else f"unknown field; known are {', '.join(known)}"
    elif kind == "literal_error":
        words = re.findall(r"'([^']*)'", context["expected"])
        text, hint = f"expected one of {', '.join(words)}; {found}", near(str(detail["input"]), words)
    elif kind == "greater_than_equal":
        text = f"expected at least {context['ge']}; {found}"
    elif kind == "too_short":
        text = "expected at least one entry; found none"
    elif kind == "zerolap":
        text = context["text"]
    else:
        text = f"expected {_EXPECTED.get(kind, 'another value')}; {found}"
        if kind == "string_type" and isinstance(detail["input"], int | float):
            hint = "put it in quotes"
    document.add(_existing(path, document, keep_last=kind in ("missing", "extra_forbidden")), text, hint)


def _existing(path: Path, document: Document, keep_last: bool) -> Path:
    """Return the part of a path that exists in the file; a plain entry has no field `command`, for example."""
    if keep_last or path in document.lines:
        return path
    while path and path not in document.lines:
        path = path[:-1]
    return path


def _fields_at(container: Path) -> list[str]:
    if not container:
        return list(Outline.model_fields)
    if container[0] == "cases" and container[2:3] == ("companions",):
        if len(container) == 4:
            return list(CompanionEntry.model_fields)
        container = (*container[:2], *container[4:])
    if len(container) == 2:
        return list((CaseTemplate if container[0] == "cases" else DatasetEntry).model_fields)
    fields = list(_MODEL_OF_FIELD[str(container[2])].model_fields)
    if container[2] == "expect":
        fields.remove("keys" if container[0] == "cases" else "hit_rate")
    return fields
