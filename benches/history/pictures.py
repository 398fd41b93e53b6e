"""Draws series of a history: `python -m benches.history.pictures HISTORY.json PICTURE.svg CASE:METRIC...`.

`HISTORY.json` is what `zerolap history --json` has written. The pictures in docs/ are made so.
"""

import math
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

from zerolap.records import History, HistoryChange, HistoryPoint, HistorySeries
from zerolap.sheets import metric_label

WIDTH: Final = 760
LEFT, RIGHT, TOP, BOTTOM = 54, 18, 26, 34
ROW: Final = 168
PLOT_HEIGHT: Final = 108
LEVELS_WANTED: Final = 4
LEAST_SPAN_PERCENT: Final = 0.5
LOSS, GAIN, LINE, BAND = "#b3261e", "#1a5fb4", "#333333", "#9aa0a6"
LABEL_WIDTH: Final = 150


class _Row:
    """One series in a row of its own: x by position in the range, y by the change in percent."""

    def __init__(self, history: History, series: HistorySeries, number: int) -> None:
        self._history = history
        self._series = series
        self._top = TOP + ROW * number + 20
        percents = [_percent(value) for point in series.points for value in (point.low, point.high)]
        low, high = min([0.0, *percents]), max([0.0, *percents])
        span = max(high - low, LEAST_SPAN_PERCENT)
        self._low, self._high = low - 0.08 * span, low + 1.28 * span

    def drawn(self) -> list[str]:
        """Return the row as SVG elements."""
        title = f"{self._series.case}, {metric_label(self._series.metric)}"
        return [
            f'<text x="{LEFT}" y="{self._top - 8}" font-weight="bold">{escape(title)}</text>',
            *self._levels(),
            *self._releases(),
            *self._drifts(),
            *self._points(),
            *self._steps(),
            *self._ends(),
        ]

    def _x(self, position: float) -> float:
        last = max(1, len(self._history.commits) - 1)
        return LEFT + position / last * (WIDTH - LEFT - RIGHT)

    def _y(self, percent: float) -> float:
        return self._top + PLOT_HEIGHT * (self._high - percent) / (self._high - self._low)

    def _levels(self) -> list[str]:
        """Return lines at round percentages."""
        width = _round_step((self._high - self._low) / LEVELS_WANTED)
        first, last = math.ceil(self._low / width), math.floor(self._high / width)
        parts = []
        for percent in (number * width for number in range(first, last + 1)):
            y, stroke = self._y(percent), "#888" if abs(percent) < width / 2 else "#ddd"
            label = "0" if abs(percent) < width / 2 else f"{percent:+g}"
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{stroke}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 3:.1f}" font-size="9" text-anchor="end">{label} %</text>')
        return parts

    def _releases(self) -> list[str]:
        parts = []
        for position, commit in enumerate(self._history.commits):
            if commit.tags:
                x, bottom, name = self._x(position), self._top + PLOT_HEIGHT, escape(commit.name)
                parts.append(
                    f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{self._top}" y2="{bottom}" stroke="#bbb"'
                    ' stroke-dasharray="2 3"/>'
                )
                parts.append(f'<text x="{x:.1f}" y="{bottom + 12}" font-size="9" text-anchor="middle">{name}</text>')
        return parts

    def _drifts(self) -> list[str]:
        parts = []
        for drift in self._changes("drift"):
            x, end = self._x(drift.after), self._x(drift.position)
            parts.append(
                f'<rect x="{x:.1f}" y="{self._top}" width="{end - x:.1f}" height="{PLOT_HEIGHT}"'
                f' fill="{_colour(drift)}" fill-opacity="0.08"/>'
            )
            parts.append(
                f'<text x="{x + 4:.1f}" y="{self._top + 10}" font-size="10" fill="{_colour(drift)}">'
                f"drift {drift.change:+.1%}</text>"
            )
        return parts

    def _points(self) -> list[str]:
        points = self._series.points
        parts = [self._interval(point) for point in points if point.high - point.low > 1e-9]
        if self._series.engine == "counted":
            parts.append(self._staircase(points))
        parts += [
            f'<circle cx="{self._x(point.position):.1f}" cy="{self._y(_percent(point.level)):.1f}" r="2.2"'
            f' fill="{LINE}"/>'
            for point in points
        ]
        return parts

    def _interval(self, point: HistoryPoint) -> str:
        x, low, high = self._x(point.position), self._y(_percent(point.low)), self._y(_percent(point.high))
        return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{BAND}" stroke-width="2"/>'

    def _staircase(self, points: Sequence[HistoryPoint]) -> str:
        """Return the line of exact values: each holds up to the next commit."""
        corners, before = [], None
        for point in points:
            x, y = self._x(point.position), self._y(_percent(point.level))
            if before is not None:
                corners.append(f"{x:.1f},{before:.1f}")
            corners.append(f"{x:.1f},{y:.1f}")
            before = y
        return f'<polyline points="{" ".join(corners)}" fill="none" stroke="{LINE}" stroke-width="1.2"/>'

    def _steps(self) -> list[str]:
        parts = []
        for change in self._changes("step"):
            x = self._x(change.position)
            dashed = "" if change.confirmed else ' stroke-dasharray="4 3"'
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{self._top}" y2="{self._top + PLOT_HEIGHT}"'
                f' stroke="{_colour(change)}"{dashed}/>'
            )
            commit = self._history.commits[change.position]
            parts.append(self._label(x, f"{change.change:+.1%} at {commit.name[:8]}", change))
        return parts

    def _label(self, x: float, text: str, change: HistoryChange) -> str:
        is_right = x > WIDTH - RIGHT - LABEL_WIDTH
        anchor, x = ("end", x - 4) if is_right else ("start", x + 4)
        return (
            f'<text x="{x:.1f}" y="{self._top + 10}" font-size="10" text-anchor="{anchor}" fill="{_colour(change)}">'
            f"{escape(text)}</text>"
        )

    def _ends(self) -> list[str]:
        """Return the names of the first and the last commit, where these are no releases."""
        commits, y = self._history.commits, self._top + PLOT_HEIGHT + 12
        ends = ((0, "start"), (len(commits) - 1, "end"))
        return [
            f'<text x="{self._x(position):.1f}" y="{y}" font-size="9" text-anchor="{anchor}">'
            f"{escape(commits[position].name[:8])}</text>"
            for position, anchor in ends
            if not commits[position].tags
        ]

    def _changes(self, kind: str) -> list[HistoryChange]:
        return [change for change in self._series.changes if change.kind == kind]


def drawing(history: History, series: Sequence[HistorySeries]) -> str:
    """Return a picture with a row for each series."""
    height = TOP + ROW * len(series) + BOTTOM - 20
    rows = [part for number, of_row in enumerate(series) for part in _Row(history, of_row, number).drawn()]
    footer = f"change since {history.commits[0].name[:8]}; {len(history.commits)} commits"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"',
            ' font-size="12">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            *rows,
            f'<text x="{LEFT}" y="{height - 8}" font-size="10">{escape(footer)}</text>',
            "</svg>",
            "",
        ]
    )


def _percent(log_change: float) -> float:
    return 100.0 * math.expm1(log_change)


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)


def _colour(change: HistoryChange) -> str:
    return LOSS if change.change > 0 else GAIN


def main() -> None:
    """Draw what the command line names."""
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    source, picture, names = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    history = History.model_validate_json(source.read_text())
    by_name = {f"{series.case}:{series.metric}": series for series in history.series}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; series: {', '.join(by_name)}")
    picture.write_text(drawing(history, [by_name[name] for name in names]))


if __name__ == "__main__":
    main()
