"""What is known of platforms: their facts over time, how much starts differ on them, and their false alarms."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, FromClause, Row, Select, and_, exists, func, or_, select

from zerolap.records import (
    CHANGED,
    METRICS,
    FalseAlarm,
    FalseAlarmCounts,
    ListedPlatform,
    PlatformResult,
    StartSpread,
    UnreadableRecord,
    read_stored,
)
from zerolap.store.database import Database
from zerolap.store.tables import (
    case_result,
    document,
    platform,
    platform_facts,
    request,
    revision_build,
    start_spread,
    verdict,
)

NEWEST_COMPARISONS: Final = 500
"""How many of a platform's newest comparisons are read: a platform changes over time."""
NEWEST_OF_ALL: Final = 2_000
"""How many of the newest reports are searched for a platform by its name."""
MOST_STATES: Final = 200
TIMES: Final = tuple(name for name, metric in METRICS.items() if metric.answer == "time")
WORKS: Final = tuple(name for name, metric in METRICS.items() if metric.answer == "work")
_FACTS: Final = TypeAdapter(dict[str, str])
_VALUES: Final = tuple(verdict.c[name] for name in ("base", "head", "change", "low", "high"))
_WORK_METRIC: Final = "instructions_per_op"


@dataclass(frozen=True)
class PlatformState:
    """The facts of a platform from a time on; `facts` is none where they cannot be read."""

    first_seen: str
    kernel: str
    facts: dict[str, str] | None


class PlatformRecords:
    """Reads what is known of platforms; its methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self) -> list[ListedPlatform]:
        """Return all platforms, those first whose state has changed last."""
        reports = select(document.c.platform_fingerprint, func.count().label("reports")).group_by(
            document.c.platform_fingerprint
        )
        counts = reports.subquery()
        states = (
            select(
                platform_facts.c.fingerprint,
                func.min(platform_facts.c.first_seen).label("first_seen"),
                func.max(platform_facts.c.first_seen).label("last_change"),
                func.count().label("states"),
            )
            .group_by(platform_facts.c.fingerprint)
            .subquery()
        )
        kernel = (
            select(platform_facts.c.kernel)
            .where(platform_facts.c.fingerprint == platform.c.fingerprint)
            .order_by(platform_facts.c.first_seen.desc())
            .limit(1)
            .scalar_subquery()
        )
        statement = (
            select(platform, states, func.coalesce(counts.c.reports, 0).label("reports"), kernel.label("kernel"))
            .join(states, states.c.fingerprint == platform.c.fingerprint)
            .outerjoin(counts, counts.c.platform_fingerprint == platform.c.fingerprint)
            .order_by(states.c.last_change.desc(), platform.c.fingerprint)
        )
        with self._database.read_transaction() as connection:
            return [
                ListedPlatform(**{name: getattr(row, name) for name in ListedPlatform.model_fields})
                for row in connection.execute(statement)
            ]

    def states(self, fingerprint: str) -> list[PlatformState]:
        """Return the states that a platform was seen in, each once, the newest first; at most 200."""
        statement = (
            select(platform_facts.c.first_seen, platform_facts.c.kernel, platform_facts.c.facts)
            .where(platform_facts.c.fingerprint == fingerprint)
            .order_by(platform_facts.c.first_seen.desc(), platform_facts.c.digest)
            .limit(MOST_STATES)
        )
        with self._database.read_transaction() as connection:
            return [
                PlatformState(row.first_seen, row.kernel, _facts(row.facts)) for row in connection.execute(statement)
            ]

    def false_alarm_counts(self, fingerprint: str) -> list[FalseAlarmCounts]:
        """Return the counts over the newest comparisons of a platform, those of one build on both sides first.

        A kind of which no case was timed is left out.
        """
        same_build = (document.c.base_build == document.c.head_build).label("same_build")
        is_alarm = case_result.c.verdict.in_(CHANGED)
        statement = (
            select(
                same_build,
                func.count(document.c.id.distinct()).label("comparisons"),
                func.count().label("timed"),
                func.count().filter(is_alarm).label("alarms"),
                func.count().filter(is_alarm, case_result.c.confirmed).label("confirmed_alarms"),
                func.min(request.c.created).label("since"),
            )
            .select_from(document)
            .join(request, request.c.id == document.c.id)
            .join(case_result, case_result.c.document_id == document.c.id)
            .where(document.c.number.in_(_newest(fingerprint)), *_nothing_changed_but_timed())
            .group_by(same_build)
        )
        with self._database.read_transaction() as connection:
            counts = [FalseAlarmCounts(**row._mapping) for row in connection.execute(statement)]
        return sorted(counts, key=lambda count: not count.same_build)

    def false_alarms(self, fingerprint: str, limit: int) -> list[FalseAlarm]:
        """Return the newest false alarms of the newest comparisons of a platform, the newest first."""
        statement = (
            select(
                document.c.id.label("comparison"),
                request.c.created,
                case_result.c.case,
                case_result.c.verdict,
                case_result.c.deciding.label("metric"),
                verdict.c.change,
                verdict.c.low,
                verdict.c.high,
                case_result.c.confirmed,
                (document.c.base_build == document.c.head_build).label("same_build"),
            )
            .select_from(document)
            .join(request, request.c.id == document.c.id)
            .join(case_result, case_result.c.document_id == document.c.id)
            .outerjoin(verdict, _is_deciding())
            .where(
                document.c.number.in_(_newest(fingerprint)),
                case_result.c.verdict.in_(CHANGED),
                *_nothing_changed_but_timed(),
            )
            .order_by(document.c.number.desc(), case_result.c.position)
            .limit(limit)
        )
        with self._database.read_transaction() as connection:
            return [FalseAlarm(**row._mapping) for row in connection.execute(statement)]

    def spreads(self, fingerprint: str) -> list[StartSpread]:
        """Return the pooled spreads of the newest comparisons of a platform, by metric and circumstances."""
        newest = select(document.c.id).where(document.c.number.in_(_newest(fingerprint)))
        statement = (
            select(
                start_spread.c.metric,
                start_spread.c.circumstances,
                func.count(),
                func.sum(start_spread.c.variance * start_spread.c.degrees) / func.sum(start_spread.c.degrees),
                func.sum(start_spread.c.degrees),
            )
            .where(start_spread.c.document_id.in_(newest), start_spread.c.degrees > 0)
            .group_by(start_spread.c.metric, start_spread.c.circumstances)
            .order_by(start_spread.c.metric, start_spread.c.circumstances)
        )
        with self._database.read_transaction() as connection:
            return [
                StartSpread(
                    metric=metric,
                    circumstances=of_starts,
                    spreads=spreads,
                    standard_deviation=math.sqrt(max(0.0, variance)),
                    degrees=degrees,
                )
                for metric, of_starts, spreads, variance, degrees in connection.execute(statement)
            ]

    def same_comparisons(self, fingerprint: str, other: str, limit: int) -> list[tuple[str, str]]:
        """Return the newest comparisons of the same two builds or commits on two platforms, the newest first.

        Each is a pair of ids, of which the second is the newest of its kind on the other platform.
        """
        here, there = document.alias("here"), document.alias("there")
        pairs: dict[int, int] = {}
        with self._database.read_transaction() as connection:
            for joined in (_joined_by_builds(here, there), _joined_by_commits(here, there)):
                statement = (
                    select(here.c.number, func.max(there.c.number))
                    .select_from(joined)
                    .where(
                        here.c.number.in_(_newest(fingerprint)),
                        # No index is used of the platform, which half of all reports may have, but that of builds.
                        func.coalesce(there.c.platform_fingerprint, "") == other,
                        there.c.kind == "compare",
                    )
                    .group_by(here.c.number)
                    .order_by(here.c.number.desc())
                    .limit(limit)
                )
                for number, on_other in connection.execute(statement):
                    pairs.setdefault(number, on_other)
            newest = sorted(pairs, reverse=True)[:limit]
            numbers = [*newest, *(pairs[number] for number in newest)]
            named = select(document.c.number, document.c.id).where(document.c.number.in_(numbers))
            ids = {row.number: row.id for row in connection.execute(named)}
        return [(ids[number], ids[pairs[number]]) for number in newest]

    def newest_comparison(self, name: str) -> str | None:
        """Return the id of the newest finished comparison on the platform of that name; none if it is long ago."""
        newest = select(document.c.number).order_by(document.c.number.desc()).limit(NEWEST_OF_ALL).subquery()
        statement = (
            select(document.c.id)
            .join(request, request.c.id == document.c.id)
            .join(platform, platform.c.fingerprint == document.c.platform_fingerprint)
            .where(
                document.c.number.in_(select(newest.c.number)),
                document.c.kind == "compare",
                request.c.state == "done",
                or_(request.c.platform == name, platform.c.name == name),
            )
            .order_by(document.c.number.desc())
            .limit(1)
        )
        with self._database.read_transaction() as connection:
            return connection.execute(statement).scalar()

    def decided_cases(self, comparisons: Collection[str]) -> list[tuple[str, PlatformResult]]:
        """Return the cases of comparisons, by name, with what their verdicts rest on, in the order of each."""
        statement = (
            select(
                case_result.c.case,
                case_result.c.document_id.label("comparison"),
                case_result.c.verdict,
                case_result.c.deciding.label("metric"),
                *_VALUES,
            )
            .outerjoin(verdict, _is_deciding())
            .where(case_result.c.document_id.in_(list(comparisons)))
            .order_by(case_result.c.position)
        )
        with self._database.read_transaction() as connection:
            return [_named_result(row) for row in connection.execute(statement)]

    def cases_by_metrics(
        self, comparisons: Collection[str], metrics: Collection[str]
    ) -> list[tuple[str, PlatformResult]]:
        """Return the cases of comparisons with their verdicts on these metrics, whatever their own rest on."""
        statement = (
            select(
                case_result.c.case,
                case_result.c.document_id.label("comparison"),
                verdict.c.verdict,
                verdict.c.metric,
                *_VALUES,
            )
            .join(verdict, verdict.c.case_result_id == case_result.c.id)
            .where(case_result.c.document_id.in_(list(comparisons)), verdict.c.metric.in_(list(metrics)))
        )
        with self._database.read_transaction() as connection:
            return [_named_result(row) for row in connection.execute(statement)]


def _named_result(row: Row[Any]) -> tuple[str, PlatformResult]:
    columns = dict(row._mapping)
    return columns.pop("case"), PlatformResult(**columns)


def _newest(fingerprint: str) -> Select[Any]:
    """Return the numbers of the newest comparisons of a platform."""
    newest = (
        select(document.c.number)
        .where(document.c.platform_fingerprint == fingerprint, document.c.kind == "compare")
        .order_by(document.c.number.desc())
        .limit(NEWEST_COMPARISONS)
        .subquery()
    )
    return select(newest.c.number)


def _joined_by_builds(here: FromClause, there: FromClause) -> FromClause:
    return here.join(there, and_(there.c.base_build == here.c.base_build, there.c.head_build == here.c.head_build))


def _joined_by_commits(here: FromClause, there: FromClause) -> FromClause:
    """Join comparisons of the same two commits, whose builds are others on another architecture."""
    bases, heads = ((revision_build.alias(), revision_build.alias()) for _ in range(2))
    base_here, base_there = bases
    head_here, head_there = heads
    return (
        here.join(base_here, base_here.c.build == here.c.base_build)
        .join(base_there, _is_same_commit(base_here, base_there))
        .join(there, there.c.base_build == base_there.c.build)
        .join(head_here, head_here.c.build == here.c.head_build)
        .join(head_there, and_(_is_same_commit(head_here, head_there), head_there.c.build == there.c.head_build))
    )


def _is_same_commit(here: FromClause, there: FromClause) -> ColumnElement[bool]:
    return and_(there.c.repository == here.c.repository, there.c.commit == here.c.commit)


def _is_deciding() -> ColumnElement[bool]:
    # No index is used of the metric, which every case has, but that of the case.
    deciding = func.coalesce(verdict.c.metric, "") == case_result.c.deciding
    return and_(verdict.c.case_result_id == case_result.c.id, deciding)


def _nothing_changed_but_timed() -> tuple[ColumnElement[bool], ...]:
    """Return what holds for a valid case that was timed although its executed code, or its build, is the same."""
    # The queries themselves read the deciding verdict of a case.
    of_work, of_time = verdict.alias("of_work"), verdict.alias("of_time")
    is_identical = exists().where(
        of_work.c.case_result_id == case_result.c.id,
        # No index is used of the metric, which every case has, but that of the case.
        func.coalesce(of_work.c.metric, "") == _WORK_METRIC,
        of_work.c.verdict == "identical",
    )
    of_changed = verdict.alias("of_changed")
    is_changed = exists().where(
        of_changed.c.case_result_id == case_result.c.id,
        of_changed.c.metric.in_(WORKS),
        of_changed.c.verdict.in_(CHANGED),
    )
    is_timed = exists().where(of_time.c.case_result_id == case_result.c.id, of_time.c.metric.in_(TIMES))
    return (
        case_result.c.valid,
        is_timed,
        (is_identical & ~is_changed) | (document.c.base_build == document.c.head_build),
    )


def _facts(text: str) -> dict[str, str] | None:
    try:
        return read_stored(_FACTS, text, "the facts of a platform")
    except UnreadableRecord:
        return None
