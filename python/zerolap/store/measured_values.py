"""Values of builds as they were measured, for programs that show absolute figures."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, func, or_, select

from zerolap.records import BASE, HEAD
from zerolap.store.database import Database
from zerolap.store.tables import document, metric, platform, series, trial

BOUNDS_95: Final = 1.96
"""Standard errors on each side of a mean of many values."""
STUDENT_95: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t at 97.5 % by degrees of freedom, from 1: standard errors on each side of a mean of few values."""
VALUES_AT_ONCE: Final = 400
"""Builds in one condition: databases bound the variables of a statement, and each is used twice."""


@dataclass(frozen=True)
class MeasuredValue:
    """A metric of a build in one trial; `config` are the settings of its server."""

    build: str
    case: str
    topology: str
    config: Mapping[str, str]
    metric: str
    value: float


@dataclass(frozen=True)
class TrialSeries:
    """A series of the values of trials, as they were measured; `platform` is a fingerprint."""

    id: str
    case: str
    metric: str
    engine: str
    topology: str
    variant: str
    platform: str
    platform_name: str


@dataclass(frozen=True)
class TrialGroup:
    """Values of trials in a row: the mean with the half width of its 95 % interval, and both extremes.

    `began` is when the last of them began (ISO 8601), empty where that is not recorded. The interval takes the trials
    as independent; a single one has none.
    """

    began: str
    mean: float
    half_width: float | None
    least: float
    most: float
    trials: int


class MeasuredValues:
    """Reads the values of valid trials."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_builds(self, builds: Sequence[str], fingerprint: str, names: Sequence[str]) -> list[MeasuredValue]:
        """Return metrics of builds in comparisons and runs on a platform, the oldest first.

        Values at a rate of requests that was chosen for a comparison are left out, those of a third server, and those
        of sampled passes, in which perf takes time of its own.
        """
        statement = (
            select(
                *(document.c.base_build, document.c.head_build, trial.c.side),
                *(series.c.case, series.c.topology, series.c.config, metric.c.name, metric.c.value),
            )
            .select_from(metric)
            .join(trial, trial.c.id == metric.c.trial_id)
            .join(series, series.c.id == metric.c.series_id)
            .join(document, document.c.id == trial.c.request_id)
            .where(
                trial.c.valid,
                trial.c.side.in_((BASE, HEAD)),
                series.c.platform == fingerprint,
                series.c.engine != "sampled",
                metric.c.name.in_(names),
            )
            .order_by(trial.c.id)
        )
        wanted = sorted(set(builds))
        values = []
        with self._database.read_transaction() as connection:
            for first in range(0, len(wanted), VALUES_AT_ONCE):
                part = set(wanted[first : first + VALUES_AT_ONCE])
                is_meant = or_(document.c.base_build.in_(part), document.c.head_build.in_(part))
                for row in connection.execute(statement.where(is_meant)):
                    build = row.base_build if row.side == BASE else row.head_build
                    if build in part:
                        config = dict(json.loads(row.config))
                        values.append(MeasuredValue(build, row.case, row.topology, config, row.name, row.value))
        return values

    def trial_series(
        self, cases: Collection[str], metrics: Collection[str], platforms: Collection[str], limit: int
    ) -> list[TrialSeries]:
        """Return the series of cases and metrics on platforms, by name or fingerprint; without any, on all."""
        columns = [series.c[name] for name in ("id", "case", "metric", "engine", "topology", "variant", "platform")]
        statement = (
            select(*columns, platform.c.name.label("platform_name"))
            .join(platform, platform.c.fingerprint == series.c.platform)
            .where(series.c.case.in_(cases), series.c.metric.in_(metrics))
            .order_by(series.c.case, series.c.metric, series.c.platform, series.c.id)
            .limit(limit)
        )
        if platforms:
            statement = statement.where(or_(series.c.platform.in_(platforms), platform.c.name.in_(platforms)))
        with self._database.read_transaction() as connection:
            return [TrialSeries(**row._mapping) for row in connection.execute(statement)]

    def over_time(self, identity: str, groups: int, newest: int) -> list[TrialGroup]:
        """Return the newest values of a series in so many groups or fewer, in the order of recording."""
        of_series = metric.c.series_id == identity
        numbers = select(metric.c.trial_id).where(of_series).order_by(metric.c.trial_id.desc()).limit(newest).subquery()
        with self._database.read_transaction() as connection:
            ends = select(func.min(numbers.c.trial_id).label("first"), func.max(numbers.c.trial_id).label("last"))
            first, last = connection.execute(ends).one()
            if first is None:
                return []
            invalid = select(trial.c.id).where(~trial.c.valid, trial.c.id.between(first, last))
            part = (metric.c.trial_id - first) // (1 + (last - first) // groups)
            of_parts = (
                select(
                    *(func.count().label("trials"), func.max(metric.c.trial_id).label("last")),
                    *(func.min(metric.c.value).label("least"), func.max(metric.c.value).label("most")),
                    *(
                        func.sum(metric.c.value).label("total"),
                        func.sum(metric.c.value * metric.c.value).label("squares"),
                    ),
                )
                .where(of_series, metric.c.trial_id >= first, metric.c.trial_id.not_in(invalid))
                .group_by(part)
                .subquery()
            )
            statement = select(of_parts, trial.c.began).join(trial, trial.c.id == of_parts.c.last)
            return [_trial_group(row) for row in connection.execute(statement.order_by(of_parts.c.last))]


def _trial_group(row: Row[Any]) -> TrialGroup:
    mean = row.total / row.trials
    variance = max(0.0, row.squares / row.trials - mean * mean)
    half_width = None if row.trials < 2 else _bounds_95(row.trials - 1) * math.sqrt(variance / (row.trials - 1))
    return TrialGroup(row.began, mean, half_width, row.least, row.most, row.trials)


def _bounds_95(degrees: int) -> float:
    """Return Student's t by which a mean is bounded by 95 %.

    Beyond the table by the expansion in Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5, to 0.001.
    """
    if degrees <= len(STUDENT_95):
        return STUDENT_95[degrees - 1]
    z = BOUNDS_95
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2
