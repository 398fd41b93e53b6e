"""Values of a public file, taken with care: what has another form than expected is a warning and not taken."""

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
    """The fields of a mapping at a place of a file."""

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
        """Note what is wrong with a value."""
        self._document.add((*self.at, *below), text, hint)

    def warn_of_unknown(self, known: frozenset[str]) -> None:
        """Note fields that nothing reads."""
        for name in self._values:
            if name not in known:
                self.warn((name,), "unknown field", near(name, known))

    def fields(self, name: str) -> "Fields":
        """Return the fields of the mapping called so; none where there is no such."""
        return Fields(self._document, self._values.get(name), (*self.at, name))

    def each(self, name: str) -> list["Fields"]:
        """Return the mappings of the list called so."""
        found = self._values.get(name)
        if found is None:
            return []
        if not isinstance(found, list):
            self.warn((name,), f"expected a list; found {shown(found)}")
            return []
        return [Fields(self._document, one, (*self.at, name, index)) for index, one in enumerate(found)]

    def raw(self, name: str) -> Any:
        """Return the value as it stands in the file."""
        return self._values.get(name)

    def text(self, name: str) -> str:
        """Return the text called so, or an empty one."""
        found = self._values.get(name)
        if found is None:
            return ""
        if isinstance(found, str):
            return found
        self.warn((name,), f"expected text; found {shown(found)}", "put it in quotes")
        return "" if isinstance(found, dict | list) else str(found)

    def number(self, name: str) -> int | None:
        """Return the whole number called so."""
        found = self._values.get(name)
        if isinstance(found, str) and _NUMBER.fullmatch(found):
            self.warn((name,), f"expected a whole number; found the text {shown(found)}")
            return int(found)
        if found is not None and (not isinstance(found, int) or isinstance(found, bool) or found < 0):
            self.warn((name,), f"expected a whole number; found {shown(found)}")
            return None
        return found

    def words(self, name: str) -> list[str]:
        """Return the list of texts called so."""
        found = self._values.get(name)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
            self.warn((name,), f"expected a list of texts; found {shown(found)}")
            found = found if isinstance(found, list) else [found]
        return [str(word) for word in found]

    def bytes(self, name: str) -> int | None:
        """Return an amount of memory such as `2g` in bytes."""
        found = self._values.get(name)
        if found is None:
            return None
        amount = _AMOUNT.fullmatch(str(found).strip().lower())
        if amount is None:
            self.warn((name,), f"expected an amount of memory such as 2g; found {shown(found)}")
            return None
        return int(float(amount[1]) * _BYTES_PER_UNIT[amount[2]])
