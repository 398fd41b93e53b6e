"""What the search for change points costs: many series at once, and one point more on many series."""

import time
from collections.abc import Callable, Mapping
from typing import Final

from benches.figures import Figure
from benches.history import otava
from benches.history.series import NOISES, levels_of, seeded, stepped
from zerolap.judge import SeriesLevels, SeriesSearch, history_changes

POINTS: Final = 1000


def seconds_400x1000(repetitions: int = 5) -> Figure:
    """Measure how long it takes to search 400 series of 1,000 points with two steps each, and to gather events."""
    levels = _series(400)
    seconds = []
    for _ in range(repetitions):
        begun = time.perf_counter()
        history_changes(levels)
        seconds.append(time.perf_counter() - begun)
    answered = otava.answers([[1000 + value for value in each.values] for each in levels])
    peers = {} if answered is None else {otava.NAME: [answered.seconds]}
    return Figure(min(seconds), "s", seconds, repetitions, peers, ["the quickest of all repetitions", *otava.notes()])


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
    milliseconds = []
    for number in range(points):
        new = [
            SeriesLevels("new", (POINTS + number,), (seeded("append", number, index).gauss(0, 1),))
            for index in range(len(searches))
        ]
        begun = time.perf_counter()
        for search, level in zip(searches, new, strict=True):
            search.extend(level)
            search.changes()
        milliseconds.append((time.perf_counter() - begun) * 1000)
    return Figure(sorted(milliseconds)[points // 2], "ms", milliseconds, points)


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
