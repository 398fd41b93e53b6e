"""Placeholders such as `{size}` and the matrix that fills them."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zerolap.cases._document import MOST_CHARACTERS, MOST_VALUES, Document, Path
from zerolap.cases._format import Matrix
from zerolap.cases._messages import validated
from zerolap.cases._values import near
from zerolap.records import PLACEHOLDER, Filled

MOST_POINTS = 10_000
_AXIS = re.compile(r"[a-z][a-z0-9_]*")
_TOKEN = re.compile(rf"\{{({PLACEHOLDER})\}}|({PLACEHOLDER})")


def combinations(raw: Mapping[str, Any], document: Document, at: Path) -> Iterator[dict[str, str]]:
    """Yield the values of each point of a case's matrix; one empty point if it has no matrix.

    A list of matrices stands for the points of all of them.
    """
    given = raw.get("matrix", {})
    if not isinstance(given, list):
        yield from _points(raw, given, document, at)
        return
    if not given:
        document.add((*at, "matrix"), "expected at least one entry; found none")
        yield stand_in(raw)
    for index, part in enumerate(given):
        if isinstance(part, dict):
            lists = {axis: values if isinstance(values, list) else [values] for axis, values in part.items()}
            yield from _points(raw, lists, document, at, is_listed=True)
        else:
            document.add((*at, "matrix", index), "expected fields with values")
            yield stand_in(raw)


def _points(
    raw: Mapping[str, Any], given: Any, document: Document, at: Path, *, is_listed: bool = False
) -> Iterator[dict[str, str]]:
    """Yield the points of one matrix; of a list of them, not every field needs to be in the case's name."""
    axes = validated(Matrix, {"matrix": given}, document, at)
    if axes is None:
        yield stand_in(raw)
        return
    in_name = list(axes.matrix) if is_listed else placeholders_of(raw.get("name"))
    distinguishing = {axis: values if axis in in_name else values[:1] for axis, values in axes.matrix.items()}
    for axis in axes.matrix:
        if not _AXIS.fullmatch(axis):
            document.add((*at, "matrix", axis), "expected a name of a-z, 0-9 and _")
        elif axis not in in_name:
            document.add((*at, "matrix", axis), f"the case's name must contain {{{axis}}}, to distinguish the cases")
    points = math.prod(map(len, distinguishing.values()))
    if points > MOST_POINTS or points * _size(raw) > MOST_VALUES:
        hint = f"a matrix may stand for {MOST_POINTS:,} cases, and all of them for {MOST_VALUES:,} values"
        document.add((*at, "matrix"), f"it stands for {points:,} cases", hint)
        yield stand_in(raw)
        return
    for point in itertools.product(*distinguishing.values()):
        yield dict(zip(distinguishing, point, strict=True))


def _size(raw: Any) -> int:
    """Return how many values a value holds, itself included."""
    if isinstance(raw, dict):
        return 1 + sum(map(_size, raw.values()))
    return 1 + sum(map(_size, raw)) if isinstance(raw, list) else 1


def stand_in(raw: Any) -> dict[str, str]:
    """Return substitutes for placeholders, so that values that no case uses can be checked."""
    return dict.fromkeys(placeholders_of(raw), "1")


def named_dataset(name: str, values: Mapping[str, str], names: Iterable[str]) -> tuple[str, Mapping[str, str]] | None:
    """Return the data set of that name as it is written in the file, and the values that fill it; none if none fits.

    A case may write it as it is written there, or with values: `strings-100B` is `strings-{size}B` with a size of 100.
    """
    if name in (known := list(names)):
        return name, values
    meant = _TOKEN.sub(lambda match: match[1] or values.get(match[2][1:-1], match[2]), name)
    if meant in known:
        return meant, values
    for template in known:
        pattern = "".join(
            f"(?P<{part[1:-1]}>[^-]+?)" if re.fullmatch(PLACEHOLDER, part) else re.escape(part)
            for part in re.split(f"({PLACEHOLDER})", template)
        )
        match = re.fullmatch(pattern, meant) if placeholders_of(template) else None
        if match is not None:
            return template, match.groupdict()
    return None


def without_lone_placeholders(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without those that consist of one placeholder, as their type is not known."""
    return {
        name: without_lone_placeholders(value) if isinstance(value, dict) else value
        for name, value in raw.items()
        if not (isinstance(value, str) and re.fullmatch(PLACEHOLDER, value))
    }


def placeholders_of(raw: Any) -> list[str]:
    """Return the names of the placeholders in a value and all it holds, each once."""
    if isinstance(raw, str):
        return list(dict.fromkeys(match[2][1:-1] for match in _TOKEN.finditer(raw) if match[2]))
    parts: list[Any] = []
    if isinstance(raw, dict):
        parts = list(raw.values())
    elif isinstance(raw, list):
        parts = raw
    return list(dict.fromkeys(name for part in parts for name in placeholders_of(part)))


def filled(raw: Any, values: Mapping[str, str], document: Document, at: Path) -> Any:
    """Return the value with its placeholders filled; a placeholder without a value is a problem.

    `{{size}}` stands for the text `{size}`.
    """
    if isinstance(raw, dict):
        return {name: filled(part, values, document, (*at, name)) for name, part in raw.items()}
    if isinstance(raw, list):
        return [filled(part, values, document, (*at, index)) for index, part in enumerate(raw)]
    if not isinstance(raw, str):
        return raw

    def fill(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        name = match[2][1:-1]
        if name not in values:
            text = f"the matrix has no values for {match[2]}"
            hint = near(name, values) or f"write {{{match[2]}}} for the text {match[2]} itself"
            document.add(at, text, hint)
            return "1"
        if not document.takes(values[name]):
            document.add(at, f"the values of the matrix fill in more than {MOST_CHARACTERS >> 20} MiB of text")
            return ""
        return values[name]

    text = _TOKEN.sub(fill, raw)
    return Filled(text) if re.fullmatch(PLACEHOLDER, raw) else text
