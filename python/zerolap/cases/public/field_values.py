"""Values of a file of the public format; a value of an unexpected form is reported as a warning and ignored."""

import re
from collections.abc import Mapping
from typing import Any

from zerolap.cases._document import Document, Path
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
_NUMBER = re.compile(r"[0-9]{1,18}")
_AMOUNT = re.compile(r"([0-9]{1,18}(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]?)i?b?")
_BYTES_PER_UNIT = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


class Fields:
    """The fields of a mapping in a file."""

    def __init__(self, document: Document, values: Any, at: Path = ()) -> None:
        self._document, self.at = document, at
        self._values: Mapping[str, Any] = values if isinstance(values, dict) else {}
        if values is not None and not isinstance(values, dict):
            self.warn((), f"expected fields with values; found {shown(values)}")

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def names(self) -> list[str]:
        """Return the names of all fields."""
        return list(self._values)

    def warn(self, below: Path, text: str, hint: str = "") -> None:
        """Add a warning about a value."""
        self._document.add((*self.at, *below), text, hint)

    def warn_of_unknown(self, known: frozenset[str]) -> None:
        """Add a warning for each unknown field."""
        for name in self._values:
            if name not in known:
                self.warn((name,), "unknown field", near(name, known))

    def fields(self, name: str) -> "Fields":
        """Return the fields of the mapping of that name; empty if it does not exist."""
        return Fields(self._document, self._values.get(name), (*self.at, name))

    def each(self, name: str) -> list["Fields"]:
        """Return the mappings in the list of that name."""
        items = self._values.get(name)
        if items is None:
            return []
        if not isinstance(items, list):
            self.warn((name,), f"expected a list; found {shown(items)}")
            return []
        return [Fields(self._document, item, (*self.at, name, index)) for index, item in enumerate(items)]

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
        self.warn((name,), f"expected text; found {shown(value)}", "put it in quotes")
        return "" if isinstance(value, dict | list) else str(value)

    def number(self, name: str) -> int | None:
        """Return the whole number of that name."""
        value = self._values.get(name)
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            self.warn((name,), f"expected a whole number; found the text {shown(value)}")
            return int(value)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            self.warn((name,), f"expected a whole number; found {shown(value)}")
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
