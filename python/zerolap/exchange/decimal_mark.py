"""How a table writes numbers: `12.5` or `12,5`, and thousands as `1,234`, `1.234`, `1 234` or `1'234`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from zerolap.exchange.collected_points import checked_value
from zerolap.records import UsageError

POINT: Final = "."
COMMA: Final = ","
LONGEST_SHOWN: Final = 30
_SPACES: Final = " '\u00a0\u2009\u202f\u2019"
_EXPONENT: Final = r"(?:[eE][+-]?\d{1,4})?"


def _pattern(mark: str, grouping: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:([{re.escape(grouping + _SPACES)}])\d{{3}}(?:\1\d{{3}})*)?"
    return re.compile(rf"[+-]?(?:{grouped}|\d+)?(?:{re.escape(mark)}\d*)?{_EXPONENT}", re.ASCII)


_WRITTEN: Final = {POINT: _pattern(POINT, COMMA), COMMA: _pattern(COMMA, POINT)}
_GROUPING: Final = {mark: str.maketrans("", "", _SPACES + other) for mark, other in ((POINT, COMMA), (COMMA, POINT))}
_LONGEST_NUMBER: Final = 64


@dataclass
class DecimalMark:
    """The decimal mark of a table, as far as its cells have shown it.

    In a table whose cells are separated by commas, a number without a comma has a decimal point.
    """

    delimiter: str
    mark: str | None = None
    _seen: dict[str, str] = field(default_factory=dict)
    """For each mark a number that can only be read with it, and its line, in words."""
    _unclear: tuple[str, int] | None = None

    def look_at(self, cells: Iterable[str], line: int) -> bool:
        """Look at the numbers of a line; return whether all can be read by now.

        Raises `UsageError` where they contradict the lines before.
        """
        is_clear = True
        for cell in cells:
            text = cell.strip()
            if text.isdecimal() or not text or len(text) > _LONGEST_NUMBER:
                continue
            readings = {mark: number for mark in (POINT, COMMA) if (number := self._read(text, mark)) is not None}
            if len(readings) == 1:
                self._note(next(iter(readings)), text, line)
            elif len(set(readings.values())) == 2:
                is_clear = False
                if COMMA in text and self._unclear is None:
                    self._unclear = (text, line)
        return is_clear or self.mark is not None

    def settle(self) -> None:
        """Take numbers as with a decimal point where no line has shown the mark.

        Raises `UsageError` where they may be thousands as well.
        """
        if self.mark is None and self._unclear is not None:
            text, line = self._unclear
            raise UsageError(
                f"`{text[:LONGEST_SHOWN]}` in line {line} may have a decimal comma or a comma between thousands, "
                "and no other number shows which",
                hint="write numbers with a decimal point and without thousands separators",
            )
        self.mark = self.mark or POINT

    def value(self, text: str) -> float:
        """Return the number that a cell holds; raises `PointRefused`."""
        text = text.strip()
        mark = self.mark or POINT
        if len(text) > _LONGEST_NUMBER or not _WRITTEN[mark].fullmatch(text):
            return checked_value(text)
        return checked_value(text.translate(_GROUPING[mark]).replace(mark, POINT))

    def _read(self, text: str, mark: str) -> str | None:
        if self.delimiter == COMMA and mark == COMMA and COMMA not in text:
            return None if POINT in text else self._read(text, POINT)
        if not _WRITTEN[mark].fullmatch(text) or not any(map(str.isdecimal, text)):
            return None
        return text.translate(_GROUPING[mark]).replace(mark, POINT)

    def _note(self, mark: str, text: str, line: int) -> None:
        self._seen.setdefault(mark, f"`{text[:LONGEST_SHOWN]}` in line {line}")
        self.mark = mark
        if len(self._seen) == 2:
            raise UsageError(
                f"the table has numbers with a decimal comma ({self._seen[COMMA]}) "
                f"and with a decimal point ({self._seen[POINT]})",
                hint="write all of them in one way",
            )
