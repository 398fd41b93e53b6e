"""The made-up history of the main branch: a series for each case and metric on each machine, with its changes."""

import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from zerolap.demonstration.made_up_functions import file_of
from zerolap.demonstration.made_up_server import (
    BRANCH,
    DRIFT_FIRST,
    DRIFT_LAST,
    DRIFTING,
    EVENT_DAYS,
    EVENT_SIZE,
    NOT_MEASURED,
    PLANTED,
    REPOSITORY,
    Machine,
    MadeUpServer,
    PlantedChange,
    instant,
)
from zerolap.demonstration.made_up_trials import COUNTED_SCATTER
from zerolap.records import (
    Case,
    History,
    HistoryChange,
    HistoryCommit,
    HistoryLedger,
    HistoryPoint,
    HistorySeries,
    PlatformEvent,
)

TIME_SCATTER: Final = 0.0026
TIME_HALF_WIDTH: Final = 0.0068
COUNTED_HALF_WIDTH: Final = 0.0004
SMALLEST_STEP: Final = {"counted": 0.005, "timed": 0.02}
METRIC_OF_ENGINE: Final = {"counted": "instructions_per_op", "timed": "cpu_ns_per_op"}
TIMED_EVERY: Final = 2
"""One of so many commits of another program is timed, and each that changed a case."""


def made_up_history(server: MadeUpServer, machine: Machine) -> History:
    """Return the history of a machine."""
    events: tuple[PlatformEvent, ...] = ()
    if server.platform_effect(machine, server.moment) > 1:
        changed = server.moment - timedelta(days=EVENT_DAYS)
        before = instant(changed - timedelta(hours=7))
        events = (
            PlatformEvent(
                before=before, since=instant(changed), change=EVENT_SIZE, series=len(server.cases), facts_changed=True
            ),
        )
    return History(
        created=instant(server.moment),
        command_line=f"zerolap history --repo {REPOSITORY} --measure 7.2.6..{BRANCH} --platform {machine}",
        repository=str(REPOSITORY),
        range=f"7.2.6..{BRANCH}",
        variant="default",
        config={},
        platform=server.platform(machine, server.moment),
        commits=tuple(
            HistoryCommit(
                commit=commit.commit,
                time=instant(commit.time),
                subject=commit.subject,
                author=commit.author,
                tags=commit.tags,
                node=None if commit.fails else commit.node,
                failure="the build failed: module.c:1204: error: unknown type name 'EvictionHook'"
                if commit.fails
                else None,
            )
            for commit in server.commits
        ),
        series=tuple(
            _series(server, machine, case, engine) for case in server.cases for engine in ("counted", "timed")
        ),
        platform_events=events,
        machine_seconds=41_300.0,
        notes=(NOT_MEASURED,),
    )


def _series(server: MadeUpServer, machine: Machine, case: Case, engine: str) -> HistorySeries:
    points = tuple(_points(server, machine, case.name, engine))
    changes = tuple(_changes(server, machine, case.name, engine, {point.position for point in points}))
    return HistorySeries(
        case=case.name,
        group=case.group,
        metric=METRIC_OF_ENGINE[engine],
        engine=engine,
        topology=case.topology.name,
        points=points,
        changes=changes,
        ledger=_ledger(points, changes),
    )


def _points(server: MadeUpServer, machine: Machine, case: str, engine: str) -> Iterator[HistoryPoint]:
    first: float | None = None
    before: tuple[int, float, float] | None = None
    for commit in server.commits:
        if commit.fails or (engine == "timed" and not _is_timed(server, case, commit.position)):
            continue
        place = commit.position
        same_code = before is not None and all(
            server.is_identical(other - 1, other, case) for other in range(before[0] + 1, place + 1)
        )
        if engine == "counted":
            true = server.instructions(case, place)
            scatter, half = COUNTED_SCATTER / 3, COUNTED_HALF_WIDTH
        else:
            true = server.nanoseconds(case, place, machine)
            scatter, half = TIME_SCATTER, TIME_HALF_WIDTH
        draw = server.draw("point", machine if engine == "timed" else "", case, engine, place)
        level = before[1] if before is not None and same_code else math.log(true) + draw.gauss(0, scatter)
        first = level if first is None else first
        yield HistoryPoint(
            position=place,
            level=level - first,
            low=level - first - (half if place else 0.0),
            high=level - first + (half if place else 0.0),
            value=math.exp(level) if engine == "counted" else None,
            same_code=same_code,
            step=math.expm1(level - before[1]) if engine == "counted" and before is not None else None,
        )
        before = (place, level, true)


def _is_timed(server: MadeUpServer, case: str, place: int) -> bool:
    commit = server.commits[place]
    near = any(change.case == case and change.position - 1 <= place <= change.position for change in PLANTED)
    is_end = place in (0, len(server.commits) - 1)
    return near or is_end or bool(commit.tags) or (commit.changes_code and commit.node % TIMED_EVERY == 0)


def _changes(
    server: MadeUpServer, machine: Machine, case: str, engine: str, measured: set[int]
) -> Iterator[HistoryChange]:
    for planted in PLANTED:
        size = planted.instructions if engine == "counted" else planted.time[machine]
        if planted.case == case and abs(size) >= SMALLEST_STEP[engine]:
            half = 2 * (COUNTED_HALF_WIDTH if engine == "counted" else TIME_HALF_WIDTH / 1.6)
            yield HistoryChange(
                id=f"{server.commits[planted.position].commit[:12]}",
                kind="step",
                after=max(place for place in measured if place < planted.position),
                position=planted.position,
                change=size,
                low=size - half,
                high=size + half,
                p=None if engine == "counted" else 2.1e-6,
                reasons=(_reason(server, planted),),
                accepted=planted.accepted or None,
            )
    if case == DRIFTING and engine == "counted":
        total = server.instructions(case, DRIFT_LAST) / server.instructions(case, DRIFT_FIRST - 1) - 1
        yield HistoryChange(
            id=f"{server.commits[DRIFT_LAST].commit[:12]}",
            kind="drift",
            after=DRIFT_FIRST - 1,
            position=DRIFT_LAST,
            change=total,
            low=total - 0.001,
            high=total + 0.001,
            reasons=("15 steps for the worse, the largest 0.16 %, each too small to be reported",),
        )


def _reason(server: MadeUpServer, planted: PlantedChange) -> str:
    added = server.instructions(planted.case, planted.position - 1) * planted.instructions
    verb = "takes more instructions" if added > 0 else "takes fewer instructions"
    return (
        f"`{planted.function}` ({file_of(planted.function)}, changed here) itself {verb}:"
        f" {added:+,.0f} instructions, 100 % of the change."
    )


def _ledger(points: tuple[HistoryPoint, ...], changes: tuple[HistoryChange, ...]) -> HistoryLedger:
    total = math.expm1(points[-1].level)
    reported = sum(change.change for change in changes if change.kind == "step")
    return HistoryLedger(
        since=points[0].position,
        total=total,
        low=math.expm1(points[-1].low),
        high=math.expm1(points[-1].high),
        reported=reported,
        unreported=total - reported,
        slope=(total - reported) / len(points),
    )
