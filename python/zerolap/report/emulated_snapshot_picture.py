"""Pictures of counts over sizes of data, as SVG: lines are told apart by dashes and names, not by colour alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Literal

from zerolap.byte_counts import MIB, shown_bytes
from zerolap.records import CountPicture, EmulatedSnapshotReport
from zerolap.report.emulated_snapshot_reading import FORK, LONGEST, MILLION
from zerolap.sheets import count, one_line

WIDTH: Final = 720
LEFT, RIGHT, TOP, BOTTOM = 76, 76, 56, 256
"""Where the plot begins and ends; the names of the lines are below it."""
NAME_HEIGHT: Final = 24
SIZE_WIDTH: Final = 90
"""The room that a size needs in the larger letters."""
LEVELS: Final = 4
DASHES: Final = ("", "7 4", "2 3", "9 3 2 3")
STYLE: Final = """
text { font: 12px system-ui, sans-serif; fill: #222 }
.title { font-weight: bold }
.axis { stroke: #777; fill: none }
.level { stroke: #7774; fill: none }
.line { fill: none; stroke-width: 2 }
.c0 { stroke: #b3261e } .c1 { stroke: #1a5fb4 } .c2 { stroke: #2b7a3d } .c3 { stroke: #8a5a00 }
@media (prefers-color-scheme: dark) {
  text { fill: #eee }
  .c0 { stroke: #ff8a80 } .c1 { stroke: #8ab4f8 } .c2 { stroke: #81c995 } .c3 { stroke: #fdd663 }
}
@media (max-width: 600px) { text { font-size: 18px } }
@media (forced-colors: active) { text { fill: CanvasText } .c0, .c1, .c2, .c3, .axis { stroke: CanvasText } }
"""
MOST_LINES: Final = len(DASHES)


@dataclass(frozen=True)
class PictureLine:
    """A line of a picture: its name, and values over sizes in MiB; it belongs to the left or the right axis."""

    name: str
    points: Sequence[tuple[float, float]]
    is_right: bool = False


def count_pictures(report: EmulatedSnapshotReport) -> list[CountPicture]:
    """Return the instructions of the fork, where they were counted, and the longest wait of a client, over the sizes.

    The fork is on two axes: the first side on the left, the others on the right.
    """
    forks = [
        PictureLine(line.name, line.points, is_right=number > 0) for number, line in enumerate(_lines(report, FORK))
    ]
    waits = _lines(report, LONGEST)
    wait_title = "Longest wait of a client over the size of the data"
    drawn = [
        _picture("fork", "Instructions of the fork over the size of the data", "million instructions", forks),
        _picture("wait", wait_title, "million instructions of the server", waits),
    ]
    return [picture for picture in drawn if picture is not None]


def _lines(report: EmulatedSnapshotReport, name: str) -> list[PictureLine]:
    lines = []
    for side in report.sides[:MOST_LINES]:
        points = [
            (point.size_bytes / MIB, point.runs[0][name] / MILLION)
            for point in report.points
            if point.side == side.name and name in point.runs[0]
        ]
        if points:
            # XML has no control characters.
            lines.append(PictureLine(one_line(side.name) or "fork", points))
    return lines


def _picture(name: Literal["fork", "wait"], title: str, unit: str, lines: Sequence[PictureLine]) -> CountPicture | None:
    """Return lines over sizes in MiB; None without any."""
    if not lines:
        return None
    described = "; ".join(
        f"{line.name}: " + ", ".join(f"{count(value)} at {_shown_size(size)}" for size, value in line.points)
        for line in lines
    )
    drawn = _Drawn(unit, lines)
    body = "\n".join([*drawn.axes(), *drawn.lines(), *drawn.legend()])
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {drawn.height}" role="img" '
        f'aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n<desc>{escape(described)}</desc>\n'
        f"<style>{STYLE}</style>\n"
        f'<text class="title" x="{LEFT}" y="22">{escape(title)}</text>\n{body}\n</svg>\n'
    )
    return CountPicture(name=name, title=title, description=described, svg=svg)


class _Drawn:
    """The parts of a picture; both axes begin at 0."""

    def __init__(self, unit: str, lines: Sequence[PictureLine]) -> None:
        self._unit = unit
        self._lines = lines
        self._largest = max(size for line in lines for size, _ in line.points)
        self._tops = {is_right: _top(lines, is_right) for is_right in (False, True)}

    @property
    def height(self) -> int:
        """The height of the whole picture."""
        return BOTTOM + 36 + len(self._lines) * NAME_HEIGHT

    def axes(self) -> list[str]:
        """Return the axes with their levels and sizes."""
        right = WIDTH - RIGHT
        parts = [
            f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{right}"/>',
            f'<text x="{LEFT}" y="{TOP - 12}">{escape(self._unit)}{self._axis_words()}</text>',
        ]
        for number in range(1, LEVELS + 1):
            y = BOTTOM - (BOTTOM - TOP) * number / LEVELS
            parts.append(f'<path class="level" d="M{LEFT} {y:.1f}H{right}"/>')
            for is_right, x, anchor in ((False, LEFT - 6, "end"), (True, right + 6, "start")):
                if self._tops[is_right]:
                    level = count(self._tops[is_right] * number / LEVELS)
                    parts.append(f'<text x="{x}" y="{y + 4:.1f}" text-anchor="{anchor}">{level}</text>')
        for size in self._marked_sizes():
            place = self._x(size)
            parts.append(f'<text x="{place:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{_shown_size(size)}</text>')
        return parts

    def _marked_sizes(self) -> list[float]:
        """Return the sizes that are written; of two that lie too close to each other, the greater one."""
        marked: list[float] = []
        for size in sorted({size for line in self._lines for size, _ in line.points}, reverse=True):
            if not marked or self._x(marked[-1]) - self._x(size) >= SIZE_WIDTH:
                marked.append(size)
        return marked

    def lines(self) -> list[str]:
        """Return the lines with a mark at each point."""
        parts = []
        for number, line in enumerate(self._lines):
            places = [(self._x(size), self._y(value, line.is_right)) for size, value in line.points]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            parts.append(f'<path class="line c{number}" stroke-dasharray="{DASHES[number]}" d="M{path}"/>')
            parts += [f'<circle class="line c{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
        return parts

    def legend(self) -> list[str]:
        """Return the names of the lines, one below the other."""
        parts = []
        for number, line in enumerate(self._lines):
            y = BOTTOM + 24 + (number + 1) * NAME_HEIGHT
            axis = " (right axis)" if line.is_right else ""
            dashes = f'stroke-dasharray="{DASHES[number]}"'
            parts.append(f'<path class="line c{number}" {dashes} d="M{LEFT} {y - 4}h28"/>')
            parts.append(f'<text x="{LEFT + 36}" y="{y}">{escape(line.name)}{axis}</text>')
        return parts

    def _axis_words(self) -> str:
        return " of the first side; of the others on the right" if self._tops[True] else ""

    def _x(self, size: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * size / self._largest

    def _y(self, value: float, is_right: bool) -> float:
        return BOTTOM - (BOTTOM - TOP) * value / (self._tops[is_right] or 1.0)


def _shown_size(size_mib: float) -> str:
    return shown_bytes(round(size_mib * MIB))


def _top(lines: Sequence[PictureLine], is_right: bool) -> float:
    """Return a round number above all values of an axis; 0 for an axis without lines."""
    values = [value for line in lines if line.is_right == is_right for _, value in line.points]
    if not values or max(values) <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(max(values)))
    return next(step * power for step in (1.0, 2.0, 4.0, 6.0, 8.0, 10.0) if step * power >= max(values))
