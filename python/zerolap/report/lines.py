"""Lines and tables for a terminal of any width, or none: no colour is needed to read them, nothing is cut."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

Part: TypeAlias = str | tuple[str, str]

GAP = "  "
SMALLEST_TEXT_WIDTH = 20
SMALLEST_FIRST_WIDTH = 12
ASCII = str.maketrans({"→": "->", "±": "+/-", "…": "...", "∞": "inf", "·": "-", "≥": ">="})


@dataclass(frozen=True)
class TextColumn:
    """A column of a table; where width is scarce, the one with the highest `dispensable` goes first, 0 stays.

    The last one may go on below itself instead of being as wide as its longest text.
    """

    header: str
    cells: Sequence[Part]
    right: bool = False
    dispensable: int = 0
    goes_on_below: bool = False

    @property
    def width(self) -> int:
        """The cells on a line that its longest text needs."""
        width = max(part_width(part) for part in (self.header, *self.cells))
        return min(width, SMALLEST_TEXT_WIDTH) if self.goes_on_below else width


class Lines:
    """Writes to a console line by line."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._ascii = console.options.ascii_only

    def line(self, *parts: Part, indent: int = 0) -> None:
        """Write one line; where it is too long it goes on under itself."""
        text = Text.assemble(*(self._part(part) for part in parts))
        width = max(self.console.width - indent, SMALLEST_TEXT_WIDTH)
        for wrapped in text.wrap(self.console, width):
            wrapped.rstrip()
            self._print(Text(" " * indent) + wrapped)

    def labelled(self, label: Part, text: Part, indent: int = 0) -> None:
        """Write a text behind its label; where it is too long it goes on under itself, or under the label."""
        label, text = self._part(label), self._part(text)
        room = self.console.width - indent - part_width(label)
        if room < SMALLEST_TEXT_WIDTH:
            self.line(label, text, indent=indent)
            return
        for number, wrapped in enumerate(Text(*as_pair(text)).wrap(self.console, room)):
            wrapped.rstrip()
            begin = Text(*as_pair(label)) if number == 0 else Text(" " * part_width(label))
            self._print(Text(" " * indent) + begin + wrapped)

    def blank(self) -> None:
        """Write an empty line."""
        self._print(Text())

    def table(self, columns: Sequence[TextColumn]) -> None:
        """Write a table with as many of its columns as fit; a first cell that is too long gets a line of its own."""
        columns = [self._column(column) for column in columns]
        shown = self._fitting(columns, columns[0].width)
        if _width(shown) > self.console.width:
            shown = self._fitting(columns, SMALLEST_FIRST_WIDTH)
        room = self.console.width - (_width(shown) - shown[0].width)
        fits = [width for width in map(part_width, shown[0].cells) if width <= room]
        first_width = max([part_width(shown[0].header), *fits])
        widths = [first_width, *(column.width for column in shown[1:])]
        self._row([(column.header, "dim") for column in shown], shown, widths)
        for cells in zip(*(column.cells for column in shown), strict=True):
            self._row(list(cells), shown, widths)

    def fits(self, columns: Sequence[TextColumn]) -> bool:
        """Return whether all of these columns fit beside each other."""
        return _width([self._column(column) for column in columns]) <= self.console.width

    def _fitting(self, columns: Sequence[TextColumn], first_width: int) -> list[TextColumn]:
        """Return the columns to show where the first one gets `first_width` cells."""
        shown = list(columns)
        while _width(shown) - shown[0].width + first_width > self.console.width:
            dispensed = max(shown, key=lambda column: column.dispensable)
            if not dispensed.dispensable:
                break
            shown.remove(dispensed)
        return shown

    def _row(self, cells: list[Part], columns: list[TextColumn], widths: list[int]) -> None:
        if part_width(cells[0]) > widths[0]:
            self.line(cells[0])
            cells = ["", *cells[1:]]
        row = Text()
        below: list[str] = []
        for column, cell, width in zip(columns, cells, widths, strict=True):
            if column.goes_on_below:
                begin = cell_len(row.plain)
                room = max(self.console.width - begin, SMALLEST_TEXT_WIDTH)
                first, *rest = textwrap.wrap(plain(cell), room, break_on_hyphens=False) or [""]
                row.append(first)
                below = [" " * begin + line for line in rest]
            else:
                space = " " * (width - part_width(cell))
                row.append(space if column.right else "").append(*as_pair(cell))
                row.append("" if column.right else space).append(GAP)
        row.rstrip()
        for line in (row, *map(Text, below)):
            self._print(line)

    def _column(self, column: TextColumn) -> TextColumn:
        header = plain(self._part(column.header))
        return replace(column, header=header, cells=[self._part(cell) for cell in column.cells])

    def _part(self, part: Part) -> Part:
        if not self._ascii:
            return part
        text, style = as_pair(part)
        return text.translate(ASCII).encode("ascii", "replace").decode("ascii"), style

    def _print(self, text: Text) -> None:
        self.console.print(text, soft_wrap=True, highlight=False)


def plain(part: Part) -> str:
    """Return a part's text."""
    return part if isinstance(part, str) else part[0]


def part_width(part: Part) -> int:
    """Return the cells on a line that a part takes."""
    return cell_len(plain(part))


def as_pair(part: Part) -> tuple[str, str]:
    """Return a part's text and style."""
    return (part, "") if isinstance(part, str) else part


def _width(columns: Sequence[TextColumn]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)
