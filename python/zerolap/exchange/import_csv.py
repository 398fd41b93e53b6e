"""Series in files of lines: tables of commits with a column for each metric, tables of points, logs of histograms."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from zerolap.exchange.collected_points import (
    MOST_VALUES,
    CollectedName,
    CollectedPoints,
    PointRefused,
    checked_text,
    checked_time,
    checked_value,
    checked_version,
    too_much,
)
from zerolap.exchange.decimal_mark import DecimalMark
from zerolap.records import UsageError

TIMES: Final = ("time", "timestamp", "date")
VERSIONS: Final = ("commit", "git_commit", "revision", "hash", "version", "tag")
CASES: Final = ("case", "test", "test_name", "benchmark", "workload", "name", "command")
LABELS: Final = (
    *("branch", "platform", "variant", "topology", "engine", "repository", "host", "hostname", "machine", "runner"),
    *("os", "arch", "architecture", "compiler", "threads", "io_threads", "clients", "connections", "pipeline"),
    *("data_size", "cluster_mode", "tls", "benchmark_mode"),
)
"""Columns that tell series from each other; a column of another name holds a metric."""
REPEATS: Final = ("run", "run_id", "run_number", "iteration", "repeat", "repetition", "sample", "trial", "attempt")
"""Columns that number the measurements of one point, which become their median."""
DELIMITERS: Final = (",", ";", "\t")
MOST_COLUMNS: Final = 1_000
MOST_SHOWN: Final = 6
LONGEST_LINE: Final = 1 << 16
"""Characters; of a line that is longer, nothing is read."""
NAMES_AT_HAND: Final = 4_096
"""Names of series that were checked before."""
HISTOGRAM_LOG: Final = "Histogram log format"
"""What the comments of such a log name; Apache Otava's reader of histostat takes the same lines."""
RELATIVE: Final = "relative"
"""The label `value` of a series whose values are relative to the first one."""

_START: Final = re.compile(r"#\[StartTime: (\d{1,12}(?:\.\d{1,9})?) ", re.ASCII)
_LINES_OF_HEAD: Final = 20
_SEPARATOR: Final = re.compile(r"\ufeff?sep=([,;\t])", re.ASCII)
"""The line by which a spreadsheet knows what separates cells."""
_QUOTED_FORMULA: Final = re.compile(r"'[=+@-]")


def read_lines(lines: Iterable[str], case: str, points: CollectedPoints) -> None:
    """Read series from the lines of a file; `case` is that of a table that names none.

    A table begins with the names of its columns. Raises `UsageError` for a file that is no table of series.
    """
    following = iter(lines)
    head: list[str] = []
    stated = None
    for line in following:
        if not head and (separator := _SEPARATOR.fullmatch(line.rstrip("\r\n"))) is not None:
            stated = separator[1]
            continue
        head.append(line)
        if line.strip() and not line.startswith("#"):
            break
        if len(head) >= _LINES_OF_HEAD:
            raise _no_series("it begins with comments alone")
    if any(HISTOGRAM_LOG in line for line in head):
        _read_histograms(head, following, points)
        return
    delimiter = stated or _delimiter(head[-1] if head else "")
    columns = _cells(head[-1], delimiter) if head else None
    if not columns or head[-1].startswith("#"):
        raise _no_series("it is empty")
    table = _Table.of(columns, case, delimiter)
    unclear: list[str] = []
    first_line = len(head) + (stated is not None) + 1
    for number, line in enumerate(following, first_line):
        if line.strip():
            with points.failing_alone():
                row = _row(line, table.columns, table.delimiter)
                if table.numbers.look_at(table.written_numbers(row), number):
                    table.read(row, points)
                elif len(unclear) < MOST_VALUES:
                    unclear.append(line)
                else:
                    raise too_much(f"{MOST_VALUES:,} values")
    table.numbers.settle()
    # Their numbers can be read only now that others are known.
    for line in unclear:
        with points.failing_alone():
            table.read(_row(line, table.columns, table.delimiter), points)


def _delimiter(header: str) -> str:
    """Return what separates the names of columns: with it one of them is a time, and there are the most."""

    def names(delimiter: str) -> tuple[bool, int]:
        cells = [cell.strip().lower() for cell in _cells(header, delimiter) or ()]
        return _first(cells, TIMES) is not None, len(cells)

    return max(DELIMITERS, key=names)


def _row(line: str, columns: int, delimiter: str) -> list[str]:
    cells = _cells(line, delimiter)
    if cells is None:
        raise PointRefused("a line is too long, or its quotes do not match")
    if len(cells) != columns:
        why = ": a comma in a number needs quotes" if delimiter == "," and len(cells) > columns else ""
        raise PointRefused(f"a line has {len(cells)} cells, and there are {columns} names of columns{why}")
    return cells


def _cells(line: str, delimiter: str) -> list[str] | None:
    """Return the cells of a line, None for one that is no row."""
    if len(line) > LONGEST_LINE:
        return None
    try:
        cells = next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter, strict=True), None)
    except csv.Error:
        return None
    return cells if cells is None or len(cells) <= MOST_COLUMNS else None


@dataclass(frozen=True)
class _Table:
    """Where the parts of a point are in a row; `metrics` are the columns of a wide table by name."""

    columns: int
    delimiter: str
    numbers: DecimalMark
    case: str
    case_column: int | None
    time: int
    version: int | None
    labels: Mapping[str, int]
    metrics: Mapping[str, int]
    long: Mapping[str, int]

    @classmethod
    def of(cls, header: Sequence[str], case: str, delimiter: str) -> "_Table":
        names = [name.strip().lower().removeprefix("\ufeff") for name in header]
        time = _first(names, TIMES)
        if time is None:
            seen = ", ".join(f"`{name[:30]}`" for name in names[:MOST_SHOWN] if name.isprintable())
            raise _no_series(f"no column is named {', '.join(TIMES)}; the first ones are {seen}")
        version = _first(names, VERSIONS)
        labels: dict[str, int] = {name: names.index(name) for name in LABELS if name in names}
        long = {}
        if (of_case := _first(names, CASES)) is not None and "metric" in names:
            long = {"case": of_case} | {
                name: names.index(name) for name in ("metric", "value", "change", "measured_by") if name in names
            }
            if "value" not in long:
                raise _no_series("no column is named value")
        others = (*VERSIONS, *REPEATS, "tags")
        taken = {time, of_case, *labels.values(), *(place for place, name in enumerate(names) if name in others)}
        metrics = {} if long else {header[place].strip(): place for place in range(len(names)) if place not in taken}
        if not long and not metrics:
            raise _no_series("no column holds a metric")
        numbers = DecimalMark(delimiter)
        return cls(len(names), delimiter, numbers, case, of_case, time, version, labels, metrics, long)

    def written_numbers(self, row: Sequence[str]) -> Iterator[str]:
        """Yield the cells that are to hold numbers."""
        for name, place in self.long.items():
            if name in ("value", "change"):
                yield row[place]
        for place in self.metrics.values():
            yield row[place]

    def read(self, row: Sequence[str], points: CollectedPoints) -> None:
        time = checked_time(row[self.time])
        version = checked_version(None if self.version is None else _unquoted(row[self.version]))
        labels = {name: row[place] for name, place in self.labels.items() if row[place].strip()}
        if self.long:
            name, value = self._long_point(row, labels)
            points.add(name, time, version, value)
            return
        case = self.case if self.case_column is None else _unquoted(row[self.case_column])
        for metric, place in self.metrics.items():
            if row[place].strip():
                try:
                    value = self.numbers.value(row[place])
                    points.add(_name(case, metric, tuple(labels.items())), time, version, value)
                except PointRefused as refused:
                    points.refuse(f"{refused}, in the column `{metric[:40]}`" if metric.isprintable() else str(refused))

    def _long_point(self, row: Sequence[str], labels: dict[str, str]) -> tuple[CollectedName, float]:
        """Return series and value of a row of `zerolap history --csv`, or of another table of points."""
        value = row[self.long["value"]]
        if not value.strip() and "change" in self.long:
            # Of a timed metric only changes are known.
            labels = labels | {"value": RELATIVE}
            ratio = 1.0 + self.numbers.value(row[self.long["change"]])
            return self._name(row, labels), ratio
        return self._name(row, labels), self.numbers.value(value)

    def _name(self, row: Sequence[str], labels: dict[str, str]) -> CollectedName:
        case, metric = (_unquoted(row[self.long[name]]) for name in ("case", "metric"))
        return _name(case, metric, tuple(labels.items()))


@lru_cache(maxsize=NAMES_AT_HAND)
def _name(case: str, metric: str, labels: tuple[tuple[str, str], ...]) -> CollectedName:
    return CollectedName.checked(case, metric, dict(labels))


def _first(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _unquoted(text: str) -> str:
    """Return a cell without the quote by which a spreadsheet takes it for a text."""
    return text[1:] if _QUOTED_FORMULA.match(text) else text


def _read_histograms(head: Sequence[str], lines: Iterator[str], points: CollectedPoints) -> None:
    """Read a log of histograms in intervals: a series for each tag and percentile; empty intervals have no points."""
    starts = [found for line in head if (found := _START.match(line))]
    columns = next((_cells(line.removeprefix("#"), ",") for line in head if line.startswith("#Tag,")), None)
    if not starts or columns is None or columns[1:3] != ["Interval_Start", "Interval_Length"]:
        raise _no_series("the log of histograms has no start or no names of columns")
    start = float(starts[0][1])
    for line in (head[-1], *lines):
        if not line.strip() or line.startswith("#"):
            continue
        with points.failing_alone():
            row = _row(line, len(columns), ",")
            tag = checked_text(row[0].removeprefix("Tag="), "a tag")
            began = checked_value(row[1])
            values = {name: checked_value(cell) for name, cell in zip(columns[3:], row[3:], strict=True)}
            time = checked_time(start + began if math.isfinite(start + began) else "")
            if values.get("count") != 0:
                for metric, value in values.items():
                    points.add(CollectedName.checked(tag, metric), time, "", value)


def _no_series(why: str) -> UsageError:
    return UsageError(
        f"the file holds no series: {why}",
        hint="a table has columns time, commit and metrics, or time, commit, case, metric and value",
    )
