"""A case as a case file of its own, to be copied and changed."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from zerolap.cases._document import Document, read_document
from zerolap.cases._expand import combinations, filled, named_dataset
from zerolap.records import PLACEHOLDER, Case, Filled, UsageError, number_of

_WIDTH = 110


def case_file_of(case: Case) -> str:
    """Return a case file with this case alone, its matrix filled in, and its data set.

    Raises `UsageError` for a suite of the public format, whose file is not of this form.
    """
    if case.is_public:
        raise UsageError(f"`{case.name}` is a suite of the public format", hint=f"its file is {case.file}")
    document = read_document(Path(case.file).read_text(encoding="utf-8"), case.file)
    raw, values = next(
        (raw, values) for raw, values in _points(document) if filled(raw["name"], values, document, ()) == case.name
    )
    fields = {name: value for name, value in raw.items() if name != "matrix"}
    written: dict[str, Any] = {"group": case.group}
    if case.skips_unknown:
        written["unknown_commands"] = "skip"
    if case.dataset is not None:
        named = named_dataset(raw["dataset"], values, document.data["datasets"])
        assert named is not None
        of_case = document.data["datasets"][named[0]]
        written["datasets"] = {case.dataset.name: _plain(filled(of_case, named[1], document, ()))}
        fields["dataset"] = case.dataset.name
    written["cases"] = [_plain(filled(fields, values, document, ()))]
    return yaml.safe_dump(written, sort_keys=False, width=_WIDTH, allow_unicode=True)


def _points(document: Document) -> Iterator[tuple[Mapping[str, Any], Mapping[str, str]]]:
    """Yield the cases of a file as they stand there, each with every point of its matrix."""
    for raw in document.data["cases"]:
        for values in combinations(raw, document, ()):
            yield raw, values


def _plain(value: Any) -> Any:
    """Return values as YAML writes them; braces that a reader would take for a placeholder are doubled."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, Filled):
        number = number_of(value)
        return number if isinstance(number, int) else str(value)
    return re.sub(PLACEHOLDER, r"{\g<0>}", value) if isinstance(value, str) else value
