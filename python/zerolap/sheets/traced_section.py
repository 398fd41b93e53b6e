"""What was traced of a case as it is shown: metrics, system calls by thread, waiting, and stacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from zerolap.records import (
    METRICS,
    TRACED_METRICS,
    CaseResult,
    RunCase,
    TracedCall,
    TracedSide,
    TracedStack,
    TracedThread,
)
from zerolap.sheets.format import ARROW, ELLIPSIS, count, counted, share
from zerolap.sheets.sheet import Cell, Column, Section, Stack, Stacks, Table, as_name, name

SHOWN_CALLS: Final = 30
SHOWN_THREADS: Final = 16
SHOWN_STACKS: Final = 5
SHOWN_FRAMES: Final = 8
WAITS: Final = "the time off the processor"

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


def traced_of_run(case: RunCase) -> Section | None:
    """Return what was traced of a case of a run; none where nothing was."""
    return None if case.traced is None else _section(case.case, [case.traced])


def traced_of_comparison(case: CaseResult) -> Section | None:
    """Return what was traced of both sides of a case; none where nothing was."""
    return None if case.traced is None else _section(case.case, [case.traced.base, case.traced.head])


def _section(case: str, sides: Sequence[TracedSide]) -> Section:
    head = sides[-1]
    is_compared = len(sides) > 1
    of_head = " of the head" if is_compared else ""
    calls: list[Mapping[tuple[str, ...], TracedCall]] = [
        {(call.thread, call.call): call for call in side.traced.calls} for side in sides
    ]
    threads: list[Mapping[tuple[str, ...], TracedThread]] = [
        {(thread.thread,): thread for thread in side.traced.threads} for side in sides
    ]
    heading_of_calls = "system calls; their time includes waiting"
    heading_of_threads = "threads off the processor, and their page faults"
    tables = [
        _metrics(sides),
        _table(heading_of_calls, ["thread", "system call"], CALL_FIGURES, calls, SHOWN_CALLS),
        _table(heading_of_threads, ["thread"], THREAD_FIGURES, threads, SHOWN_THREADS),
    ]
    no_stacks = dict.fromkeys(side.traced.no_stacks for side in sides if side.traced.no_stacks is not None)
    no_tcp = dict.fromkeys(side.traced.no_tcp for side in sides if side.traced.no_tcp is not None)
    passes = counted(head.passes, "pass", "passes") + (" of each side" if is_compared else "")
    return Section(
        key=case,
        title=f"{as_name(case)} traced in {passes}",
        is_folded=True,
        tables=[table for table in tables if table.rows],
        stacks=[
            Stacks(
                heading=f"stacks of {what}{of_head}, innermost function first",
                stacks=[_stack(stack) for stack in of_event.stacks[:SHOWN_STACKS]],
            )
            for of_event in head.traced.stacks
            for what in [WAITS if of_event.event == "waits" else f"{of_event.samples:,} {of_event.event}"]
            if of_event.stacks
        ],
        notes=[
            *(f"stacks are missing: {reason}" for reason in no_stacks),
            *(f"nothing is reported of TCP: {reason}" for reason in no_tcp),
        ],
    )


def _metrics(sides: Sequence[TracedSide]) -> Table:
    """Return the mean of each metric, with the least and the largest value of the passes."""
    rows = []
    for metric in filter(TRACED_METRICS.__contains__, sides[-1].metrics):
        values = [side.metrics[metric] for side in sides if metric in side.metrics]
        ranges = [f"{count(least)} to {count(most)}" for _, least, most in values]
        texts = [METRICS[metric].heading, _of_sides([mean for mean, _, _ in values]), f" {ARROW} ".join(ranges)]
        rows.append([Cell(text=text) for text in texts])
    columns = [
        Column(key="metric", heading="metric"),
        Column(key="mean", heading="mean", is_number=True),
        Column(key="range", heading="range of the passes", is_number=True),
    ]
    return Table(heading="metrics", columns=columns, rows=rows)


def _table(
    heading: str,
    names: Sequence[str],
    figures: Mapping[str, Callable[[Row], float | None]],
    by_side: Sequence[Mapping[tuple[str, ...], Row]],
    shown: int,
) -> Table:
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
    return Table(
        heading=heading,
        columns=[
            *(Column(key=called, heading=called) for called in names),
            *(
                Column(key=figure, heading=figure, is_number=True, rank=max(0, place - 2))
                for place, figure in enumerate(figures, start=len(names))
            ),
        ],
        rows=[
            [*map(name, key), *(Cell(text=_of_sides(of_sides(key, figure))) for figure in figures.values())]
            for key in keys[:shown]
        ],
        left_out=max(0, len(keys) - shown),
    )


def _of_sides(values: Sequence[float | None]) -> str:
    return f" {ARROW} ".join(map(count, values))


def _stack(stack: TracedStack) -> Stack:
    more = [ELLIPSIS] if len(stack.frames) > SHOWN_FRAMES else []
    return Stack(share=share(stack.share), label=stack.thread, frames=[*stack.frames[:SHOWN_FRAMES], *more])
