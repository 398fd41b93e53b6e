"""Change points of latency traces that people labelled: WenqinSHAO/rtt, of which a part is in `../shared/datasets/rtt`.

`ZEROLAP_LABELLED_TRACES` names another directory with such traces: files `epoch;rtt;cp`, one row a measurement, `cp` 1
at a change, `rtt` negative where there was no reply.
"""

import csv
import math
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benches.figures import Figure
from benches.history import otava
from benches.history.series import levels_of
from zerolap.judge import series_changes

DIRECTORY: Final = Path(os.environ.get("ZEROLAP_LABELLED_TRACES", "../shared/datasets/rtt"))
MARGIN: Final = 5
LEAST_CHANGE: Final = 0.005
"""Relative; smaller changes are not asked for. With `MOST_P` all of the tuning, the same for all traces."""
MOST_P: Final = 1e-4
"""Traces wander: they have many small steps that are real and that nobody labels."""
HALVES: Final = ("tuned on", "held out")


@dataclass(frozen=True)
class Trace:
    """Round trips in order, without those that had no reply; `rows` are their rows, `labels` those of changes."""

    name: str
    round_trips: list[float]
    rows: list[int]
    labels: list[int]

    @property
    def half(self) -> str:
        """Whether the tuning was chosen on it."""
        return HALVES[zlib.crc32(self.name.encode()) % 2]


@dataclass(frozen=True)
class Score:
    """How many changes were found, labelled, and matched one to one within the margin."""

    found: int
    labelled: int
    matched: int

    @classmethod
    def of(cls, found: Sequence[int], labels: Sequence[int]) -> "Score":
        """Match in order, which pairs as many as can be."""
        left, matched = sorted(found), 0
        for label in sorted(labels):
            while left and left[0] < label - MARGIN:
                left.pop(0)
            if left and left[0] <= label + MARGIN:
                left.pop(0)
                matched += 1
        return cls(len(found), len(labels), matched)

    def __add__(self, other: "Score") -> "Score":
        return Score(self.found + other.found, self.labelled + other.labelled, self.matched + other.matched)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.matched / max(self.found + self.labelled, 1)

    def __str__(self) -> str:
        precision, recall = self.matched / max(self.found, 1), self.matched / max(self.labelled, 1)
        return f"F1 {self.f1:.3f}, precision {precision:.3f}, recall {recall:.3f} ({self.matched} of {self.labelled})"


def rtt_f1() -> Figure:
    """Measure how well labelled changes are found: precision and recall over all changes of all traces together.

    Changes are steps, and beginnings and ends of stretches without a level: people label both.
    """
    traces = _traces()
    if not traces:
        return Figure(math.nan, "F1", [], 0, {}, [f"there are no traces in {DIRECTORY}"])
    ours = {trace.name: Score.of(_found(trace), trace.labels) for trace in traces}
    notes = [f"all: {_total(ours.values())}"]
    for half in HALVES:
        notes.append(f"{half}: {_total(ours[trace.name] for trace in traces if trace.half == half)}")
    notes.append(f"mean over traces: F1 {sum(score.f1 for score in ours.values()) / len(ours):.3f}")
    answered = otava.answers([trace.round_trips for trace in traces])
    peers: dict[str, list[float]] = {}
    if answered is None:
        notes += otava.notes()
    else:
        theirs = [
            Score.of([trace.rows[index] for index, _ in found], trace.labels)
            for trace, found in zip(traces, answered.changes, strict=True)
        ]
        peers[otava.NAME] = [score.f1 for score in theirs]
        notes.append(f"{otava.NAME}: {_total(theirs)}")
    samples = [[trace.name, trace.half, *vars(ours[trace.name]).values()] for trace in traces]
    return Figure(_total(ours.values()).f1, "F1", samples, len(traces), peers, notes)


def _found(trace: Trace) -> list[int]:
    found = series_changes(levels_of([math.log(value) for value in trace.round_trips]))
    places = [change.position for change in found.changes if abs(change.change) >= LEAST_CHANGE and change.p <= MOST_P]
    for stretch in found.disturbed:
        if stretch.p > MOST_P:
            continue
        places.append(stretch.first)
        if not stretch.goes_on:
            places.append(stretch.last + 1)
    return [trace.rows[place] for place in sorted(places)]


def _traces() -> list[Trace]:
    traces = []
    for path in sorted(DIRECTORY.glob("*.csv")):
        with path.open(newline="") as file:
            rows = [(float(row["rtt"]), float(row["cp"]) == 1) for row in csv.DictReader(file, delimiter=";")]
        answered = [row for row, (value, _) in enumerate(rows) if value > 0]
        labels = [row for row, (_, is_change) in enumerate(rows) if is_change]
        traces.append(Trace(path.stem, [rows[row][0] for row in answered], answered, labels))
    return traces


def _total(scores: Iterable[Score]) -> Score:
    total = Score(0, 0, 0)
    for score in scores:
        total += score
    return total


FIGURES: Final[Mapping[str, Callable[[], Figure]]] = {"rtt_f1": rtt_f1}
