"""Values of a file of the public format; a value of an unexpected form is reported as a warning and ignored."""

import re
from collections.abc import Mapping
from typing import Any

from zerolap.cases._document import Document, Path, field_name
from zerolap.cases._values import near, shown

TOP_FIELDS = frozenset(
    {
        *("version", "name", "description", "dbconfig", "tested-groups", "tested-commands", "redis-topologies"),
        *("build-variants", "clientconfig", "clientconfigs", "exporter", "priority"),
    }
)
DATABASE_FIELDS = frozenset(
    {
        *("configuration-parameters", "check", "resources", "preload_tool", "init_commands", "init_lua"),
        *("dataset", "dataset_name", "dataset_description", "preload_before_replica"),
    }
)
DECISIVE_TOP_FIELDS = frozenset({"dbconfig", "clientconfig", "clientconfigs"})
DECISIVE_TEXTS = frozenset({"tool", "arguments", "init_lua", "dataset"})
"""Texts that decide about data or load."""
CHECK_FIELDS = frozenset({"keyspacelen"})
DESCRIPTIVE_FIELDS = frozenset({"dataset_name", "dataset_description", "resources"})
"""Fields of `dbconfig` that hold neither data nor checks."""
_NUMBER = re.compile(r"[0-9]{1,18}")
_AMOUNT = re.compile(r"([0-9]{1,18}(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]?)i?b?")
_BYTES_PER_UNIT = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


class Fields:
    """The fields of a mapping in a file.

    `lost` are the warnings about parts that hold data, load or checks and cannot be used: without them, something else
    would be measured.
    """

    def __init__(self, document: Document, values: Any, at: Path = (), lost: list[str] | None = None) -> None:
        self._document, self.at = document, at
        self.lost: list[str] = [] if lost is None else lost
        self._values: Mapping[str, Any] = values if isinstance(values, dict) else {}
        if values is not None and not isinstance(values, dict):
            text = f"expected fields with values; found {shown(values)}"
            if at[:1] == ("dbconfig",) and at[1:2] not in (("resources",), ("configuration-parameters",)):
                self.lose((), text)
            else:
                self.warn((), text)

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def names(self) -> list[str]:
        """Return the names of all fields."""
        return list(self._values)

    def warn(self, below: Path, text: str, hint: str = "") -> None:
        """Add a warning about a value."""
        self._document.add((*self.at, *below), text, hint)

    def lose(self, below: Path, text: str, hint: str = "") -> None:
        """Add a warning about a value that holds data, load or a check, and cannot be used."""
        self.warn(below, text, hint)
        self.lost.append(f'field "{field_name((*self.at, *below))}": {text}')

    def warn_of_unknown(self, known: frozenset[str]) -> None:
        """Add a warning for each unknown field, which has no influence."""
        for name in self._values:
            if name not in known:
                self.warn((name,), "unknown field", near(name, known))

    def lose_unknown(self, known: frozenset[str], without_influence: frozenset[str] = frozenset()) -> None:
        """Add a warning for each unknown field: it may hold data or a check, unless it resembles one without."""
        for name in self._values:
            if name not in known:
                hint = near(name, known)
                report = self.warn if any(f'"{other}"' in hint for other in without_influence) else self.lose
                report((name,), "unknown field", hint)

    def lose_misspelt(self, decisive: frozenset[str]) -> None:
        """Add a warning for each field whose name resembles one that decides about data or load."""
        for name in self._values:
            if name not in decisive and (hint := near(name, decisive)):
                self.lose((name,), "unknown field", hint)

    def fields(self, name: str) -> "Fields":
        """Return the fields of the mapping of that name; empty if it does not exist."""
        return Fields(self._document, self._values.get(name), (*self.at, name), self.lost)

    def each(self, name: str) -> list["Fields"]:
        """Return the mappings in the list of that name."""
        items = self._values.get(name)
        if items is None:
            return []
        if not isinstance(items, list):
            self.warn((name,), f"expected a list; found {shown(items)}")
            return []
        return [Fields(self._document, item, (*self.at, name, index), self.lost) for index, item in enumerate(items)]

    def raw(self, name: str) -> Any:
        """Return the value as it is in the file."""
        return self._values.get(name)

    def text(self, name: str) -> str:
        """Return the text of that name, or an empty string."""
        value = self._values.get(name)
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        is_dropped = isinstance(value, dict | list)
        report = self.lose if is_dropped and name in DECISIVE_TEXTS else self.warn
        report((name,), f"expected text; found {shown(value)}", "put it in quotes")
        return "" if is_dropped else str(value)

    def number(self, name: str) -> int | None:
        """Return the whole number of that name."""
        value = self._values.get(name)
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            self.warn((name,), f"expected a whole number; found the text {shown(value)}")
            return int(value)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            report = self.lose if name in CHECK_FIELDS else self.warn
            report((name,), f"expected a whole number; found {shown(value)}")
            return None
        return value

    def words(self, name: str) -> list[str]:
        """Return the list of texts of that name."""
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            self.warn((name,), f"expected a list of texts; found {shown(value)}")
            value = value if isinstance(value, list) else [value]
        return [str(word) for word in value]

    def bytes(self, name: str) -> int | None:
        """Return an amount of memory such as `2g` in bytes."""
        value = self._values.get(name)
        if value is None:
            return None
        amount = _AMOUNT.fullmatch(str(value).strip().lower())
        if amount is None:
            self.warn((name,), f"expected an amount of memory such as 2g; found {shown(value)}")
            return None
        return int(float(amount[1]) * _BYTES_PER_UNIT[amount[2]])
