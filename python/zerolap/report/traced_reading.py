"""How what was traced of a case is read by all reports: metrics, system calls by thread, waiting, stacks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from zerolap.records import (
    METRICS,
    TRACED_METRICS,
    CaseResult,
    RunCase,
    TracedCall,
    TracedSide,
    TracedStack,
    TracedStacks,
    TracedThread,
)
from zerolap.sheets import ARROW, ELLIPSIS, count, counted, share

SHOWN_CALLS: Final = 10
SHOWN_THREADS: Final = 6
SHOWN_STACKS: Final = 5
SHOWN_FRAMES: Final = 8
CALLED_BY: Final = " ← "

CALL_FIGURES: Final[Mapping[str, Callable[[TracedCall], float | None]]] = {
    "per 1,000 requests": lambda call: 1000 * call.calls_per_op,
    "ns per request": lambda call: call.ns_per_op,
    "bytes per request": lambda call: call.bytes_per_op,
}
THREAD_FIGURES: Final[Mapping[str, Callable[[TracedThread], float | None]]] = {
    "times off per 1,000": lambda thread: 1000 * thread.off_per_op,
    "ns off/request": lambda thread: thread.off_ns_per_op,
    "in the run queue": lambda thread: thread.queue_ns_per_op,
    "faults per 1,000": lambda thread: 1000 * thread.faults_per_op,
}
"""What is reported beside names, per request or 1,000 requests; rows with the most of the first come first."""

Row = TypeVar("Row")


@dataclass(frozen=True)
class TracedTable:
    """A table: what it is about, its columns, of which the first `names` are foreign names, and its rows."""

    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int


@dataclass(frozen=True)
class TracedReading:
    """What was traced of a case; names are as the server chose them, and are still to be escaped.

    `stacks` are by heading the share of each, its thread, and its functions from the leaf to the root.
    """

    headline: str
    tables: Sequence[TracedTable]
    stacks: Mapping[str, Sequence[tuple[str, str, str]]]
    notes: Sequence[str]


def traced_of_run(case: RunCase) -> TracedReading | None:
    """Return what was traced of a case of a run; none where nothing was."""
    return None if case.traced is None else _reading([case.traced])


def traced_of_comparison(case: CaseResult) -> TracedReading | None:
    """Return what was traced of both sides of a case; none where nothing was."""
    return None if case.traced is None else _reading([case.traced.base, case.traced.head])


def _reading(sides: Sequence[TracedSide]) -> TracedReading:
    head = sides[-1]
    is_compared = len(sides) > 1
    of_head = " of the head" if is_compared else ""
    calls: list[Mapping[tuple[str, ...], TracedCall]] = [
        {(call.thread, call.call): call for call in side.traced.calls} for side in sides
    ]
    threads: list[Mapping[tuple[str, ...], TracedThread]] = [
        {(thread.thread,): thread for thread in side.traced.threads} for side in sides
    ]
    tables = [
        _metrics(sides),
        _table(
            "system calls; their time includes waiting", ["thread", "system call"], CALL_FIGURES, calls, SHOWN_CALLS
        ),
        _table("threads off the processor, and their page faults", ["thread"], THREAD_FIGURES, threads, SHOWN_THREADS),
    ]
    reasons = dict.fromkeys(side.traced.no_stacks for side in sides if side.traced.no_stacks is not None)
    no_tcp = dict.fromkeys(side.traced.no_tcp for side in sides if side.traced.no_tcp is not None)
    return TracedReading(
        headline=f"traced in {counted(head.passes, 'pass', 'passes')}" + (" of each side" if is_compared else ""),
        tables=[table for table in tables if table.rows],
        stacks={
            f"stacks of {_what(of_event)}{of_head}, innermost function first": [
                (share(stack.share), stack.thread, _frames(stack)) for stack in of_event.stacks[:SHOWN_STACKS]
            ]
            for of_event in head.traced.stacks
            if of_event.stacks
        },
        notes=[
            *(f"stacks are missing: {reason}" for reason in reasons),
            *(f"nothing is reported of TCP: {reason}" for reason in no_tcp),
        ],
    )


def _what(of_event: TracedStacks) -> str:
    return "the time off the processor" if of_event.event == "waits" else f"{of_event.samples:,} {of_event.event}"


def _metrics(sides: Sequence[TracedSide]) -> TracedTable:
    """Return the mean of each metric, with the least and the largest value of the passes."""
    rows = []
    for name in filter(TRACED_METRICS.__contains__, sides[-1].metrics):
        values = [side.metrics[name] for side in sides if name in side.metrics]
        ranges = [f"{count(least)} to {count(most)}" for _, least, most in values]
        rows.append([METRICS[name].heading, _of_sides([mean for mean, _, _ in values]), f" {ARROW} ".join(ranges)])
    return TracedTable("metrics", ["metric", "mean", "range of the passes"], rows, names=0)


def _table(
    heading: str,
    names: Sequence[str],
    figures: Mapping[str, Callable[[Row], float | None]],
    by_side: Sequence[Mapping[tuple[str, ...], Row]],
    shown: int,
) -> TracedTable:
    """Return the rows with the most of the first figure on any side; what a side does not have is 0 there.

    A figure that no side has a value of, such as the bytes of a call that moves none, is left open.
    """

    def of_sides(key: tuple[str, ...], figure: Callable[[Row], float | None]) -> list[float | None]:
        values = [figure(rows[key]) if key in rows else 0.0 for rows in by_side]
        has_any = any(key in rows and value is not None for rows, value in zip(by_side, values, strict=True))
        return values if has_any else [None] * len(values)

    first = next(iter(figures.values()))
    most = {key: max(value or 0.0 for value in of_sides(key, first)) for rows in by_side for key in rows}
    keys = sorted(most, key=lambda key: (-most[key], key))
    rows = [[*key, *(_of_sides(of_sides(key, figure)) for figure in figures.values())] for key in keys[:shown]]
    return TracedTable(heading, [*names, *figures], rows, names=len(names))


def _of_sides(values: Sequence[float | None]) -> str:
    return f" {ARROW} ".join(map(count, values))


def _frames(stack: TracedStack) -> str:
    return CALLED_BY.join([*stack.frames[:SHOWN_FRAMES], *([ELLIPSIS] if len(stack.frames) > SHOWN_FRAMES else [])])
