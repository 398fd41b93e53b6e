"""Values of builds as they were measured, for programs that show absolute figures."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import or_, select

from zerolap.records import BASE, HEAD
from zerolap.store.database import Database
from zerolap.store.tables import document, metric, series, trial

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


class MeasuredValues:
    """Reads the values of valid trials."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_builds(self, builds: Sequence[str], platform: str, names: Sequence[str]) -> list[MeasuredValue]:
        """Return metrics of builds in comparisons and runs on a platform, the oldest first.

        Values at a rate of requests that was chosen for a comparison are left out, and those of a third server.
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
                series.c.platform == platform,
                metric.c.name.in_(names),
            )
            .order_by(trial.c.id)
        )
        wanted = sorted(set(builds))
        values = []
        with self._database.reading() as connection:
            for first in range(0, len(wanted), VALUES_AT_ONCE):
                part = set(wanted[first : first + VALUES_AT_ONCE])
                is_meant = or_(document.c.base_build.in_(part), document.c.head_build.in_(part))
                for row in connection.execute(statement.where(is_meant)):
                    build = row.base_build if row.side == BASE else row.head_build
                    if build in part:
                        config = dict(json.loads(row.config))
                        values.append(MeasuredValue(build, row.case, row.topology, config, row.name, row.value))
        return values
