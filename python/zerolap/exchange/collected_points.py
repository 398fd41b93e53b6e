"""Points of foreign series as they are read: each is checked, a bad one fails alone, and all of it is bounded."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta, timezone
from statistics import median
from typing import Final

from zerolap.records import ImportedPoint, ImportedSeries, UsageError

MOST_SERIES: Final = 20_000
MOST_POINTS: Final = 1_000_000
MOST_VALUES: Final = 4_000_000
"""With the values that become a median."""
LONGEST_NAME: Final = 300
"""Characters of a case, metric, version or label."""
MOST_LABELS: Final = 24
LONGEST_KEY: Final = 2_000
"""Bytes of case, metric and labels of a series: PostgreSQL's indexes bound the length of a key."""
LONGEST_SOURCE: Final = 100
FIRST_YEAR, LAST_YEAR = 1990, 2200
MILLISECONDS_FROM: Final = 1e11
"""A number from this on is a time in milliseconds since the epoch, below in seconds: the year 5138, or 1973."""
MOST_NOTES: Final = 5

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_EPOCH: Final = re.compile(r"\d{1,15}(?:\.\d{1,9})?", re.ASCII)
_MOMENT: Final = re.compile(
    r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})"
    r"(?:[T ]\s{0,3}(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?"
    r"\s{0,3}(?:(Z|UTC|GMT)|([+-])(\d{2}):?(\d{2}))?",
    re.ASCII,
)
_LONGEST_NUMBER: Final = 64
_LONGEST_MOMENT: Final = 64


class PointRefused(Exception):
    """A point that is not taken, for a reason that is counted."""


@dataclass(frozen=True, order=True)
class CollectedName:
    """What tells a series from others of its source; `labels` are in order."""

    case: str
    metric: str
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def checked(cls, case: str, metric: str, labels: Mapping[str, str] | None = None) -> "CollectedName":
        """Return a name whose parts can be kept and shown; raises `PointRefused`."""
        given = tuple(
            sorted(
                (checked_text(label, "a label"), checked_text(value, "a label"))
                for label, value in (labels or {}).items()
            )
        )
        name = cls(checked_text(case, "a case"), checked_text(metric, "a metric"), given)
        if len(given) > MOST_LABELS or len(json.dumps(astuple(name), ensure_ascii=False).encode()) > LONGEST_KEY:
            raise PointRefused("a series has too many labels, or too long ones")
        return name


@dataclass(frozen=True)
class ReadImport:
    """What was read: series with their points in the order of time, and notes on what was left out."""

    series: tuple[ImportedSeries, ...]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """How many points all series have."""
        return sum(len(series.points) for series in self.series)


class CollectedPoints:
    """The points of one import so far."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._series: dict[CollectedName, dict[tuple[str, str], float]] = {}
        self._repeated: dict[CollectedName, dict[tuple[str, str], list[float]]] = {}
        """All values of the points that have several."""
        self._points = self._values = 0
        self._refused: Counter[str] = Counter()
        self._notes: list[str] = []

    def add(self, name: CollectedName, time: str, version: str, value: float) -> None:
        """Take a value whose parts are checked; several values of one time and version become their median.

        Raises `UsageError` beyond the bounds of an import.
        """
        points = self._series.get(name)
        if points is None:
            if len(self._series) >= MOST_SERIES:
                raise too_much(f"{MOST_SERIES:,} series")
            points = self._series[name] = {}
        self._values += 1
        if (time, version) not in points:
            points[time, version] = value
            self._points += 1
        else:
            of_series = self._repeated.setdefault(name, {})
            of_series.setdefault((time, version), [points[time, version]]).append(value)
        if self._points > MOST_POINTS:
            raise too_much(f"{MOST_POINTS:,} points")
        if self._values > MOST_VALUES:
            raise too_much(f"{MOST_VALUES:,} values")

    def refuse(self, reason: str, count: int = 1) -> None:
        """Count points that are not taken."""
        self._refused[reason] += count

    @contextmanager
    def failing_alone(self) -> Iterator[None]:
        """Count what is refused within the block as a point that is not taken."""
        try:
            yield
        except PointRefused as refused:
            self.refuse(str(refused))

    def note(self, text: str) -> None:
        """Add a note on what was read."""
        self._notes.append(text)

    def result(self) -> ReadImport:
        """Return all that was taken, in the order of names and times."""
        for name, repeated in self._repeated.items():
            self._series[name].update({of: median(values) for of, values in repeated.items()})
        series = tuple(
            ImportedSeries(
                self._source,
                name.case,
                name.metric,
                dict(name.labels),
                tuple(ImportedPoint(time, version, value) for (time, version), value in sorted(points.items())),
            )
            for name, points in sorted(self._series.items(), key=lambda item: item[0])
        )
        common = self._refused.most_common()
        notes = [f"{count:,} left out: {reason}" for reason, count in common[:MOST_NOTES]]
        if common[MOST_NOTES:]:
            notes.append(f"{sum(count for _, count in common[MOST_NOTES:]):,} left out for other reasons")
        return ReadImport(series, (*self._notes, *self._merged(), *notes))

    def _merged(self) -> list[str]:
        """Return a note on the points that are the medians of several values, if there are any."""
        points = [values for repeated in self._repeated.values() for values in repeated.values()]
        if not points:
            return []
        values, most = sum(map(len, points)), max(map(len, points))
        return [
            f"{self._values:,} values read; {values:,} of them, up to {most:,} of one series, time and commit, became "
            f"{len(points):,} {'median' if len(points) == 1 else 'medians'}"
        ]


def checked_text(text: object, what: str) -> str:
    """Return a foreign name; raises `PointRefused` for one that is empty, long or not printable."""
    name = text.strip() if isinstance(text, str) else ""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise PointRefused(f"{what} is empty, too long or not printable")
    return name


def checked_version(text: object) -> str:
    """Return a commit, tag or version, which may be empty; raises `PointRefused`."""
    if text is None or (isinstance(text, str) and not text.strip()):
        return ""
    return checked_text(text, "a commit")


def checked_value(value: object) -> float:
    """Return a finite number, given as one or as text; raises `PointRefused`."""
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
            raise PointRefused("a value is not a number")
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or not math.isfinite(value):
        raise PointRefused("a value is not a number")
    return float(value)


def checked_time(moment: object) -> str:
    """Return a time as ISO 8601 in UTC with milliseconds; raises `PointRefused`.

    A number counts seconds or milliseconds since the epoch. A text is such a number, or a date with or without a time
    and an offset: `2024-01-31T12:00:00Z`, `2024.01.31 3:00:00 +0100`; without an offset it is in UTC.
    """
    text = moment.strip() if isinstance(moment, str) else ""
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        return _of_epoch(float(moment) if abs(moment) < 1e18 else math.inf)
    if len(text) <= _LONGEST_MOMENT and _EPOCH.fullmatch(text):
        return _of_epoch(float(text))
    match = _MOMENT.fullmatch(text) if len(text) <= _LONGEST_MOMENT else None
    if match is None:
        raise PointRefused("a time cannot be read")
    *date, hour, minute, second, fraction, _, sign, offset_hours, offset_minutes = match.groups()
    offset = timedelta(hours=int(offset_hours or 0), minutes=int(offset_minutes or 0))
    try:
        zone = timezone(-offset if sign == "-" else offset)
        year, month, day = map(int, date)
        microsecond = int(f"{fraction or '':0<6}"[:6])
        local = datetime(year, month, day, int(hour or 0), int(minute or 0), int(second or 0), microsecond, zone)
        return _written(local.astimezone(UTC))
    except (ValueError, OverflowError):
        raise PointRefused("a time cannot be read") from None


def _of_epoch(number: float) -> str:
    milliseconds = number if number >= MILLISECONDS_FROM else number * 1000
    if not 0 <= milliseconds < 1e14:
        raise PointRefused(f"a time is not between {FIRST_YEAR} and {LAST_YEAR}")
    return _written(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=round(milliseconds)))


def _written(moment: datetime) -> str:
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise PointRefused(f"a time is not between {FIRST_YEAR} and {LAST_YEAR}")
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def milliseconds_of(time: str) -> int:
    """Return a time that `checked_time` has written, or that of a commit, as milliseconds since the epoch."""
    since = datetime.fromisoformat(time) - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(milliseconds=1)


def too_much(what: str) -> UsageError:
    """Return the error for an import beyond its bounds."""
    return UsageError(f"the import has more than {what}", hint="import a part of it, such as with --filter")
