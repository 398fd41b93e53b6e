"""What the search for change points costs: many series at once, and one point more on many series.

Times are those of the processor, of one thread: what a machine takes that does nothing else. The samples have the
elapsed times, too.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from benches.figures import Figure
from benches.history import otava
from benches.history.series import NOISES, levels_of, seeded, stepped
from zerolap.judge import SeriesLevels, SeriesSearch, history_changes

POINTS: Final = 1000


def seconds_400x1000(repetitions: int = 5) -> Figure:
    """Measure how long it takes to search 400 series of 1,000 points with two steps each, and to gather events."""
    levels = _series(400)
    taken = []
    for _ in range(repetitions):
        begun = _Begun.now()
        history_changes(levels)
        taken.append(begun.taken())
    answered = otava.answers([[1000 + value for value in each.values] for each in levels])
    peers = {} if answered is None else {otava.NAME: [answered.seconds]}
    quickest, samples = min(seconds for seconds, _ in taken), list(map(list, taken))
    return Figure(quickest, "s", samples, repetitions, peers, ["the quickest of all repetitions", *otava.notes()])


def append_ms(points: int = 30) -> Figure:
    """Measure how long 4,000 series of 1,000 points take to give their changes again with a new point; the median.

    The peer's incremental search is not public; it is compared in `seconds_400x1000`.
    """
    searches = []
    for each in _series(4000):
        search = SeriesSearch(each.name, known_variances=False)
        search.extend(each)
        search.changes()
        searches.append(search)
    taken = []
    for number in range(points):
        new = [
            SeriesLevels("new", (POINTS + number,), (seeded("append", number, index).gauss(0, 1),))
            for index in range(len(searches))
        ]
        begun = _Begun.now()
        for search, level in zip(searches, new, strict=True):
            search.extend(level)
            search.changes()
        taken.append(begun.taken())
    milliseconds = [[1000 * seconds for seconds in each] for each in taken]
    note = "at lengths that are powers of two, and at those of the thresholds, all is computed again"
    return Figure(sorted(milliseconds)[points // 2][0], "ms", milliseconds, points, {}, [note])


@dataclass(frozen=True)
class _Begun:
    """When something began, by the processor's clock and the wall's."""

    processor: float
    wall: float

    @classmethod
    def now(cls) -> "_Begun":
        return cls(time.process_time(), time.perf_counter())

    def taken(self) -> tuple[float, float]:
        """Return the seconds since then."""
        now = _Begun.now()
        return now.processor - self.processor, now.wall - self.wall


def _series(count: int) -> list[SeriesLevels]:
    draws = list(NOISES.values())
    series = []
    for number in range(count):
        randoms = seeded("speed", number)
        values = draws[number % len(draws)](randoms, POINTS)
        for _ in range(2):
            values = stepped(values, randoms.randrange(POINTS), randoms.uniform(-6, 6))
        series.append(levels_of(values, str(number)))
    return series


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {"seconds_400x1000": seconds_400x1000, "append_ms": append_ms}
