"""Pictures of counts over sizes of data, as SVG: lines are told apart by dashes and names, not by colour alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from zerolap.byte_counts import MIB, shown_bytes
from zerolap.records import EmulatedSnapshotReport
from zerolap.report.emulated_snapshot_reading import FORK, LONGEST, MILLION
from zerolap.report.format import count

WIDTH: Final = 720
HEIGHT: Final = 320
LEFT, RIGHT, TOP, BOTTOM = 76, 76, 48, 76
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
@media (forced-colors: active) { text { fill: CanvasText } .c0, .c1, .c2, .c3, .axis { stroke: CanvasText } }
"""
MOST_LINES: Final = len(DASHES)


@dataclass(frozen=True)
class PictureLine:
    """A line of a picture: its name, and values over sizes in MiB; it belongs to the left or the right axis."""

    name: str
    points: Sequence[tuple[float, float]]
    is_right: bool = False


def fork_picture(report: EmulatedSnapshotReport) -> str:
    """Return the instructions of the fork over the size of the data, as SVG on two axes: the first side, the others."""
    lines = [
        PictureLine(line.name, line.points, is_right=number > 0) for number, line in enumerate(_lines(report, FORK))
    ]
    return picture("Instructions of the fork over the size of the data", "million instructions", lines)


def wait_picture(report: EmulatedSnapshotReport) -> str:
    """Return the longest wait of a client over the size of the data, in instructions of the server, as SVG."""
    title = "Longest wait of a client over the size of the data"
    return picture(title, "million instructions of the server", _lines(report, LONGEST))


def _lines(report: EmulatedSnapshotReport, name: str) -> list[PictureLine]:
    lines = []
    for side in report.sides[:MOST_LINES]:
        points = [
            (point.size_bytes / MIB, point.runs[0][name] / MILLION)
            for point in report.points
            if point.side == side.name and name in point.runs[0]
        ]
        if points:
            lines.append(PictureLine(side.name or "fork", points))
    return lines


def picture(title: str, unit: str, lines: Sequence[PictureLine]) -> str:
    """Return lines over sizes in MiB as SVG, with a description for readers that do not show it; empty without any."""
    if not lines:
        return ""
    described = "; ".join(
        f"{line.name}: " + ", ".join(f"{count(value)} at {_shown_size(size)}" for size, value in line.points)
        for line in lines
    )
    drawn = _Drawn(unit, lines)
    body = "\n".join([*drawn.axes(), *drawn.lines(), *drawn.legend()])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n<desc>{escape(described)}</desc>\n'
        f"<style>{STYLE}</style>\n"
        f'<text class="title" x="{LEFT}" y="20">{escape(title)}</text>\n{body}\n</svg>\n'
    )


class _Drawn:
    """The parts of a picture; both axes begin at 0."""

    def __init__(self, unit: str, lines: Sequence[PictureLine]) -> None:
        self._unit = unit
        self._lines = lines
        self._largest = max(size for line in lines for size, _ in line.points)
        self._tops = {is_right: _top(lines, is_right) for is_right in (False, True)}

    def axes(self) -> list[str]:
        """Return the axes with their levels and sizes."""
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = [
            f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>',
            f'<text x="{LEFT}" y="{TOP - 10}">{escape(self._unit)}{self._axis_words()}</text>',
        ]
        for number in range(1, LEVELS + 1):
            y = bottom - (bottom - TOP) * number / LEVELS
            parts.append(f'<path class="level" d="M{LEFT} {y:.1f}H{right}"/>')
            for is_right, x, anchor in ((False, LEFT - 6, "end"), (True, right + 6, "start")):
                if self._tops[is_right]:
                    level = count(self._tops[is_right] * number / LEVELS)
                    parts.append(f'<text x="{x}" y="{y + 4:.1f}" text-anchor="{anchor}">{level}</text>')
        sizes = sorted({size for line in self._lines for size, _ in line.points})
        for number, size in enumerate(sizes):
            # Small sizes lie too close to each other for a number at each.
            if number == 0 or size >= self._largest / 4:
                place = self._x(size)
                parts.append(f'<text x="{place:.1f}" y="{bottom + 18}" text-anchor="middle">{_shown_size(size)}</text>')
        return parts

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
        """Return the names of the lines, two beside each other."""
        parts = []
        for number, line in enumerate(self._lines):
            left, y = LEFT + number % 2 * (WIDTH - LEFT - RIGHT) // 2, HEIGHT - 34 + number // 2 * 18
            axis = " (right axis)" if line.is_right else ""
            dashes = f'stroke-dasharray="{DASHES[number]}"'
            parts.append(f'<path class="line c{number}" {dashes} d="M{left} {y - 4}h28"/>')
            parts.append(f'<text x="{left + 34}" y="{y}">{escape(line.name)}{axis}</text>')
        return parts

    def _axis_words(self) -> str:
        return " of the first side; of the others on the right" if self._tops[True] else ""

    def _x(self, size: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * size / self._largest

    def _y(self, value: float, is_right: bool) -> float:
        bottom = HEIGHT - BOTTOM
        return bottom - (bottom - TOP) * value / (self._tops[is_right] or 1.0)


def _shown_size(size_mib: float) -> str:
    return shown_bytes(round(size_mib * MIB))


def _top(lines: Sequence[PictureLine], is_right: bool) -> float:
    """Return a round number above all values of an axis; 0 for an axis without lines."""
    values = [value for line in lines if line.is_right == is_right for _, value in line.points]
    if not values or max(values) <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(max(values)))
    return next(step * power for step in (1.0, 2.0, 4.0, 6.0, 8.0, 10.0) if step * power >= max(values))
