"""Sweeps of snapshots: all of them in short, page by page, and one as its page draws it."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.query import LARGEST_NUMBER, PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import EmulatedSnapshotReport, Record, SnapshotPoint, SnapshotReport, SweepReport
from zerolap.sheets import Sheet, sweep_headline, sweep_kernel, sweep_servers, sweep_sheet, with_sweep_reading
from zerolap.store import Store, StoredSweep

SWEEP_ID: Final = r"^w-[0-9a-f-]{1,64}$"
MOST_LISTED: Final = 200


class ListedSweep(Record):
    """A sweep in the list; `headline` is the reason where its document cannot be read.

    `sides` are what was measured beside each other, empty for one server. `kernel` is the one that was built for a
    sweep in emulated machines, empty where it was the machine's own.
    """

    id: str
    created: str
    servers: str
    sides: tuple[str, ...] = ()
    kernel: str = ""
    headline: str
    platform: str


class SweepListParameters(Parameters):
    """How many sweeps are listed at once; `before` is the `next_before` of the page before."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many.")] = 50
    before: Annotated[
        int | None, Field(ge=0, le=LARGEST_NUMBER, description="The `next_before` of the page before.")
    ] = None


class SweepList(Record):
    """Sweeps of snapshots, the newest first; `next_before` is where older ones begin, null where there are none."""

    sweeps: tuple[ListedSweep, ...]
    next_before: int | None


class SweepParameters(Parameters):
    """Which sweep."""

    id: Annotated[str, Field(pattern=SWEEP_ID, description="Its id.")]


class DrawnSweep(Record):
    """A sweep of snapshots with its reading; of each point, the first repetition alone has a series.

    `seed` is that of the settings as text, as it has 64 bits.
    """

    report: SweepReport
    seed: str
    sheet: Sheet


def newest_sweeps(store: Store, limit: int) -> tuple[ListedSweep, ...]:
    """Return the newest sweeps of snapshots, the newest first."""
    return tuple(map(_listed, store.sweeps.newest(limit)))


def _listed(sweep: StoredSweep) -> ListedSweep:
    if sweep.report is None:
        return ListedSweep(id=sweep.id, created=sweep.created, servers="", headline=sweep.unreadable, platform="")
    return ListedSweep(
        id=sweep.id,
        created=sweep.created,
        servers=sweep_servers(sweep.report),
        sides=tuple(side.name for side in sweep.report.sides if side.name),
        kernel=sweep_kernel(sweep.report),
        headline=sweep_headline(sweep.report),
        platform=sweep.report.platform.name,
    )


def _read_list(sources: QuerySources, parameters: SweepListParameters) -> SweepList:
    stored = sources.store.sweeps.newest(parameters.limit + 1, parameters.before)
    shown = stored[: parameters.limit]
    is_more = len(stored) > len(shown)
    return SweepList(sweeps=tuple(map(_listed, shown)), next_before=shown[-1].number if is_more else None)


def _list_rows(answer: SweepList) -> Iterable[TableRow]:
    yield ("created", "id", "servers", "sides", "kernel", "headline", "platform")
    for sweep in answer.sweeps:
        sides = ", ".join(sweep.sides)
        yield (sweep.created, sweep.id, sweep.servers, sides, sweep.kernel, sweep.headline, sweep.platform)


def _read(sources: QuerySources, parameters: SweepParameters) -> DrawnSweep:
    report = sources.store.sweeps.report(parameters.id)
    sheet, drawn = sweep_sheet(report), with_sweep_reading(report)
    if isinstance(drawn, SnapshotReport):
        points = [_with_first_series(point) for point in drawn.points]
        drawn = drawn.model_copy(update={"points": points, "traces": []})
    return DrawnSweep(report=drawn, seed=str(report.settings.seed), sheet=sheet)


def _with_first_series(point: SnapshotPoint) -> SnapshotPoint:
    first, *others = point.repetitions
    return point.model_copy(
        update={"repetitions": [first, *(other.model_copy(update={"series": []}) for other in others)]}
    )


def _rows(answer: DrawnSweep) -> Iterable[TableRow]:
    report = answer.report
    return _repetition_rows(report) if isinstance(report, SnapshotReport) else _run_rows(report)


def _repetition_rows(report: SnapshotReport) -> Iterable[TableRow]:
    """Yield a row for each repetition, with all metrics that any has."""
    points = report.points
    metrics = dict.fromkeys(name for point in points for repetition in point.repetitions for name in repetition.metrics)
    yield ("side", "size_bytes", "load", "began", *metrics)
    for point in points:
        for repetition in point.repetitions:
            values = (repetition.metrics.get(name) for name in metrics)
            yield (point.side, point.size_bytes, point.load, repetition.began, *values)


def _run_rows(report: EmulatedSnapshotReport) -> Iterable[TableRow]:
    """Yield a row for each run in an emulated machine, with all counts that any has."""
    counts = dict.fromkeys(name for point in report.points for run in point.runs for name in run)
    yield ("side", "size_bytes", "keys", "run", *counts)
    for point in report.points:
        for number, run in enumerate(point.runs, start=1):
            yield (point.side, point.size_bytes, point.keys, number, *(run.get(name) for name in counts))


SWEEPS: Final = PageQuery(
    name="snapshots",
    summary="Sweeps of snapshots, the newest first",
    parameters=SweepListParameters,
    result=SweepList,
    read=_read_list,
    table=_list_rows,
)
SWEEP: Final = PageQuery(
    name="snapshot",
    summary="A sweep of snapshots; as a table its repetitions, or its runs in emulated machines",
    parameters=SweepParameters,
    result=DrawnSweep,
    read=_read,
    table=_rows,
)
