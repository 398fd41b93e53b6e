"""Trials and what they measured; each is written once, in one transaction."""

import json
import math
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from zerolap.records import Measurement, Trial, Validity
from zerolap.store.faults import AlreadyRecorded
from zerolap.store.listing import require
from zerolap.store.tables import metric, trial


@dataclass(frozen=True)
class FailedTrial:
    """A trial that could not be carried out; `log` is the digest of its log, None where it left none."""

    trial: Trial
    message: str
    log: str | None


def insert_done(connection: Connection, identity: str, done: Trial, measurement: Measurement) -> None:
    """Write a trial with what it measured.

    Raises `AlreadyRecorded` for a trial that the store holds, `UsageError` for an unknown comparison, `ValueError`
    for a metric that is not a finite number.
    """
    for name, value in measurement.metrics.items():
        if not math.isfinite(value):
            raise ValueError(f"{name} of {describe(done)} is {value}")
    number = _insert(
        connection,
        identity,
        done,
        state="done",
        valid=measurement.validity.valid,
        validity=measurement.validity.model_dump_json(),
        profile=measurement.profile,
        seconds=measurement.seconds,
    )
    rows = [{"trial_id": number, "name": name, "value": value} for name, value in measurement.metrics.items()]
    if rows:
        connection.execute(insert(metric), rows)


def insert_failed(connection: Connection, identity: str, failed: Trial, message: str, log: str | None) -> None:
    """Write that a trial failed; `log` is a digest. Raises `AlreadyRecorded`, `UsageError`."""
    _insert(connection, identity, failed, state="failed", failure=message, log=log, seconds=0.0)


def measured(connection: Connection, identity: str) -> list[tuple[Trial, Measurement]]:
    """Return the trials that were carried out, in the order of recording."""
    values: dict[int, dict[str, float]] = {}
    for row in connection.execute(
        select(metric).join(trial).where(trial.c.comparison_id == identity).order_by(metric.c.trial_id)
    ):
        values.setdefault(row.trial_id, {})[row.name] = row.value
    rows = connection.execute(
        select(trial).where(trial.c.comparison_id == identity, trial.c.state == "done").order_by(trial.c.id)
    )
    return [(_trial_of(row), _measurement_of(row, values.get(row.id, {}))) for row in rows]


def failed(connection: Connection, identity: str) -> list[FailedTrial]:
    """Return the trials that failed, in the order of recording."""
    rows = connection.execute(
        select(trial).where(trial.c.comparison_id == identity, trial.c.state == "failed").order_by(trial.c.id)
    )
    return [FailedTrial(trial=_trial_of(row), message=row.failure, log=row.log) for row in rows]


def describe(what: Trial) -> str:
    """Name a trial in a message."""
    return f"trial {what.case} {what.side} {what.engine} {what.block}"


def _insert(connection: Connection, identity: str, what: Trial, **columns: Any) -> int:
    require(connection, identity)
    key = {"comparison_id": identity, **what.model_dump(exclude={"seed"})}
    if connection.execute(select(trial.c.id).filter_by(**key)).first() is not None:
        raise AlreadyRecorded(f"{describe(what)} is recorded already in {identity}")
    statement = insert(trial).values(**key, seed=str(what.seed), **columns).returning(trial.c.id)
    number: int = connection.execute(statement).scalar_one()
    return number


def _trial_of(row: Row[Any]) -> Trial:
    return Trial(case=row.case, side=row.side, engine=row.engine, block=row.block, seed=int(row.seed))


def _measurement_of(row: Row[Any], metrics: dict[str, float]) -> Measurement:
    return Measurement(
        metrics=metrics,
        validity=Validity.model_validate(json.loads(row.validity)),
        profile=row.profile,
        seconds=row.seconds,
    )
