"""A YAML file as plain values with their line numbers."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

Path: TypeAlias = tuple[str | int, ...]
_Pairs: TypeAlias = list[tuple[yaml.Node, yaml.Node]]

MOST_VALUES = 1_000_000
MOST_DEPTH = 100
MOST_CHARACTERS = 64 << 20
"""Of the text that placeholders are filled with: a few lines of them can stand for any length."""
_TEXT_FIELDS = {"matrix", "config"}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "tag:yaml.org,2002:merge"
_NUMBERS: dict[str, type[int] | type[float]] = {"int": int, "float": float}


@dataclass(frozen=True)
class FileProblem:
    """An error at a line of a file."""

    file: str
    line: int
    text: str
    hint: str = ""

    def __str__(self) -> str:
        """Return the problem as it is shown: file and line first."""
        return f"{self.file}:{self.line}: {self.text}"


@dataclass
class Document:
    """The values of a file, their lines by path, and the problems with it.

    `values` counts them, `merged` are the fields that `<<` merges into mappings, by mapping.
    """

    file: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[FileProblem] = field(default_factory=list)
    values: int = 0
    merged: dict[int, _Pairs] = field(default_factory=dict)
    filled_characters: int = 0
    _faulty: set[Path] = field(default_factory=set)

    def line_of(self, path: Path) -> int:
        """Return the line of a value, or of the innermost value that contains the path."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    @property
    def sorted_problems(self) -> list[FileProblem]:
        """The problems in the order of their lines."""
        return sorted(self.problems, key=lambda problem: problem.line)

    def takes(self, text: str) -> bool:
        """Count text that a placeholder is filled with; returns false where that is more than is read."""
        self.filled_characters += len(text)
        return self.filled_characters <= MOST_CHARACTERS

    def add(self, path: Path, text: str, hint: str = "", line: int | None = None) -> None:
        """Add a problem with the value at `path`; only the first problem of a path is kept."""
        if path not in self._faulty:
            self._faulty.add(path)
            name = f'field "{field_name(path)}": ' if path else ""
            self.problems.append(FileProblem(self.file, line or self.line_of(path), name + text, hint))


def field_name(path: Path) -> str:
    """Return a path as users write it, such as `keys.pattern`; paths inside a case are relative to the case."""
    if len(path) > 2 and path[0] == "cases":
        path = path[2:]
    name = ""
    for part in path:
        name += f"[{part}]" if isinstance(part, int) else f".{part}"
    return name.removeprefix(".")


def read_document(text: str, file: str) -> Document:
    """Parse YAML text; errors are in the document's problems."""
    document = Document(file)
    try:
        _require_bounded(text)
        root = yaml.compose(text, Loader=_LOADER)
    except _TooMuch as excess:
        document.problems.append(FileProblem(file, excess.line, excess.text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        hint = "indent with spaces, not with tabs" if "\t" in _line(text, line) else ""
        document.problems.append(FileProblem(file, line, f"not valid YAML: {error.problem or 'cannot be read'}", hint))
    except yaml.YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        document.problems.append(FileProblem(file, line, "not valid YAML: a control character"))
    else:
        if root is not None:
            document.lines[()] = root.start_mark.line + 1
            _take(root, document)
    return document


class _TooMuch(Exception):
    def __init__(self, event: yaml.Event, text: str) -> None:
        super().__init__(text)
        self.line = 1 if event.start_mark is None else event.start_mark.line + 1
        self.text = text


def _require_bounded(text: str) -> None:
    """Raise `_TooMuch` for text that is nested too deeply to be composed, or has too many values.

    Composing is recursive in C, where depth ends the process; events are not.
    """
    depth = values = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MOST_DEPTH:
                raise _TooMuch(event, "nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        values += isinstance(event, yaml.NodeEvent)
        if values > MOST_VALUES:
            raise _TooMuch(event, f"it holds more than {MOST_VALUES:,} values")


def _take(root: yaml.Node, document: Document) -> None:
    try:
        document.data = _value(root, (), document, ())
    except RecursionError:
        # References to what is nested are as deep as both together.
        document.problems.append(FileProblem(document.file, 1, "nested too deeply"))


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1] if number <= len(lines) else ""


def _value(node: yaml.Node, path: Path, document: Document, around: tuple[yaml.Node, ...]) -> Any:
    document.values += 1
    if document.values > MOST_VALUES:
        # A few lines of references to references can stand for billions of values.
        document.add((), f"it holds more than {MOST_VALUES:,} values")
        return None
    if any(node is outer for outer in around):
        document.add(path, "refers to itself")
        return None
    around = (*around, node)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, document, around)
    if isinstance(node, yaml.SequenceNode):
        values = []
        for index, item in enumerate(node.value):
            document.lines[(*path, index)] = item.start_mark.line + 1
            values.append(_value(item, (*path, index), document, around))
        return values
    assert isinstance(node, yaml.ScalarNode)
    return node.value if _TEXT_FIELDS.intersection(path) else _scalar(node, path, document)


def _mapping(node: yaml.MappingNode, path: Path, document: Document, around: tuple[yaml.Node, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    own = {key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)}
    merged = [(key, item) for key, item in _merged_pairs(node, path, document) if key.value not in own]
    for key, item in [*merged, *(pair for pair in node.value if pair[0].tag != _MERGE)]:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            document.add(path, "a field's name must be text", 'quote text that starts with {, as in "{size}"', line)
            continue
        inner = (*path, key.value)
        if key.value in values:
            # The last one counts, as for PyYAML.
            document.add(inner, f"given twice, first in line {document.lines[inner]}", line=line)
        document.lines[inner] = item.start_mark.line + 1 if isinstance(item, yaml.ScalarNode) else line
        values[key.value] = _value(item, inner, document, around)
    return values


def _merged_pairs(node: yaml.MappingNode, path: Path, document: Document, around: tuple[yaml.Node, ...] = ()) -> _Pairs:
    """Return the fields that `<<` merges into a mapping, each once, as PyYAML does.

    Of several mappings in a list the first counts, of several `<<` the last. What is merged may merge others itself;
    each mapping is merged once, however often others refer to it.
    """
    if id(node) in document.merged:
        return document.merged[id(node)]
    if document.values > MOST_VALUES:
        document.add((), f"it holds more than {MOST_VALUES:,} values")
        return []
    merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for key, value in node.value:
        if key.tag != _MERGE:
            continue
        sources = list(reversed(value.value)) if isinstance(value, yaml.SequenceNode) else [value]
        for source in sources:
            if not isinstance(source, yaml.MappingNode):
                document.add((*path, "<<"), "expected fields to merge, or a list of such", line=key.start_mark.line + 1)
                continue
            if source is node or any(source is outer for outer in around):
                document.add((*path, "<<"), "refers to itself", line=key.start_mark.line + 1)
                continue
            pairs = _merged_pairs(source, path, document, (*around, node))
            pairs = [*pairs, *(pair for pair in source.value if pair[0].tag != _MERGE)]
            document.values += len(pairs)
            merged |= {inner.value: (inner, item) for inner, item in pairs if isinstance(inner, yaml.ScalarNode)}
    document.merged[id(node)] = list(merged.values())
    return document.merged[id(node)]


def _scalar(node: yaml.ScalarNode, path: Path, document: Document) -> Any:
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        document.add(path, "the value is missing")
    elif kind == "bool":
        return node.value.lower() in ("true", "yes", "on")
    elif number := _NUMBERS.get(kind):
        try:
            return number(node.value)
        except ValueError:
            return node.value
    return None if kind == "null" else node.value
