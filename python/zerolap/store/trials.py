"""Builds, jobs and their outcomes; each row is written once, and recording it again changes nothing."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select, update

from zerolap import __version__
from zerolap.records import (
    Amounts,
    Build,
    BuildJob,
    JobFailed,
    JobFinished,
    Measurement,
    Placement,
    SeriesKey,
    Side,
    Source,
    Trial,
    TrialDone,
    TrialsJob,
    UsageError,
    Validity,
    job_json,
    read_job,
    revision_of,
)
from zerolap.store.database import insert_new
from zerolap.store.requests import keep_revision
from zerolap.store.tables import build, job, metric, request, revision_build, series, trial

MEASURED_COLUMNS = ("graph", "timeline", "stacks", "executed", "seconds", "method", "zerolap")
"""The fields of a measurement that are columns of their own."""

AnyJob = TrialsJob | BuildJob
"""A job of either kind."""


@dataclass(frozen=True)
class RecordedJob:
    """A job with its recorded events.

    `events` holds a `TrialDone` for each measured block, in the order of recording, then a `JobFailed` and a
    `JobFinished` if they were recorded.
    """

    job: AnyJob
    events: tuple[TrialDone | JobFailed | JobFinished, ...]


@dataclass(frozen=True)
class FailedTrial:
    """A failure of a job; `log` is the digest of its details, None if it has none.

    The trial's side is empty if no single side failed, and its block is -1 if no single block failed.
    """

    trial: Trial
    message: str
    log: str | None
    hint: str = ""
    refused: bool = False


def keep_build(connection: Connection, new_build: Build, source: Source | None) -> None:
    """Write a build, and its relation to the commit that it was built from."""
    values = {**new_build.model_dump(exclude={"arguments"}), "arguments": json.dumps(new_build.arguments)}
    connection.execute(insert_new(connection, build).values(**values))
    revision = None if source is None else revision_of(source)
    if revision is not None:
        keep_revision(connection, revision)
        connection.execute(
            insert_new(connection, revision_build).values(
                repository=revision.repository, commit=revision.commit, build=new_build.build
            )
        )


def read_build(connection: Connection, digest: str) -> Build | None:
    """Return the build with that digest."""
    row = connection.execute(select(build).where(build.c.build == digest)).first()
    if row is None:
        return None
    return Build.model_validate({**row._mapping, "arguments": json.loads(row.arguments)})


def keep_job(connection: Connection, new_job: AnyJob) -> None:
    """Write a job; raises `IntegrityError` for an unknown request."""
    values: dict[str, Any] = {
        "id": new_job.id,
        "request_id": new_job.request,
        "kind": new_job.kind,
        "document": job_json(new_job),
    }
    if isinstance(new_job, TrialsJob):
        values.update(case=new_job.case.name, engine=new_job.engine, per_second=new_job.amounts.per_second)
    connection.execute(insert_new(connection, job).values(**values))


def keep_trials(connection: Connection, trials_job: TrialsJob, done: TrialDone) -> None:
    """Write the trials of an event: all of them, or none if one exists already.

    Raises `IntegrityError` for an unknown job, `ValueError` for a metric that is not a finite number.
    """
    for side, measurement in done.measurements.items():
        for name, value in measurement.metrics.items():
            if not math.isfinite(value):
                raise ValueError(f"{name} of {trials_job.case.name} {side} {trials_job.engine} {done.block} is {value}")
    # In a fixed order, so that two sessions that record the same rows do not deadlock.
    sides = sorted(done.measurements)
    if not sides:
        return
    rows = [_trial_columns(trials_job, side, done.block, done.measurements[side]) for side in sides]
    statement = insert_new(connection, trial).values(rows).returning(trial.c.id, trial.c.side)
    with connection.begin_nested() as attempt:
        numbers = {side: number for number, side in connection.execute(statement)}
        if len(numbers) < len(sides):
            attempt.rollback()
            return
    context = _context_of(connection, trials_job.request)
    keys: dict[str, dict[str, Any]] = {}
    values = []
    for side in sides:
        common = _series_of(trials_job, side, context)
        measurement = done.measurements[side]
        for name, value in measurement.metrics.items():
            key = common and common.model_copy(update={"metric": name, "method": measurement.method})
            if key is not None:
                columns = {**key.model_dump(), "config": json.dumps(key.config)}
                keys[key.digest] = {"id": key.digest, **columns}
            series_id = key and key.digest
            values.append({"trial_id": numbers[side], "name": name, "value": value, "series_id": series_id})
    if keys:
        connection.execute(insert_new(connection, series), [keys[digest] for digest in sorted(keys)])
    if values:
        connection.execute(insert(metric), values)


def keep_failure(connection: Connection, identity: str, failed: JobFailed, log: str | None) -> None:
    """Write the failure of a job unless it is already written; raises `UsageError` for an unknown job."""
    failure = failed.model_dump_json(by_alias=True, exclude={"details"})
    _keep_outcome(connection, identity, job.c.failure, {"failure": failure, "log": log})


def keep_finish(connection: Connection, identity: str, finished: JobFinished) -> None:
    """Write the success of a job unless it is already written; raises `UsageError` for an unknown job."""
    _keep_outcome(connection, identity, job.c.finished, {"finished": finished.model_dump_json(by_alias=True)})


def read_jobs(connection: Connection, identity: str, details_of: Callable[[str], str]) -> list[RecordedJob]:
    """Return the jobs of a request in the order of recording; `details_of` reads the blob with that digest."""
    measured: dict[str, dict[int, dict[Side, Measurement]]] = {}
    for row, measurement in _measurements(connection, trial.c.request_id == identity):
        measured.setdefault(row.job_id, {}).setdefault(row.block, {})[row.side] = measurement
    statement = select(job).where(job.c.request_id == identity, job.c.document.is_not(None)).order_by(job.c.number)
    recorded = []
    for row in connection.execute(statement):
        events: list[TrialDone | JobFailed | JobFinished] = [
            TrialDone(job=row.id, block=block, measurements=sides) for block, sides in measured.get(row.id, {}).items()
        ]
        if row.failure is not None:
            details = "" if row.log is None else details_of(row.log)
            events.append(JobFailed.model_validate_json(row.failure).model_copy(update={"details": details}))
        if row.finished is not None:
            events.append(JobFinished.model_validate_json(row.finished))
        recorded.append(RecordedJob(read_job(row.document), tuple(events)))
    return recorded


def read_trials_of_job(connection: Connection, identity: str) -> tuple[TrialDone, ...]:
    """Return the completed trials of a job, a `TrialDone` for each block, in the order of recording."""
    measured: dict[int, dict[Side, Measurement]] = {}
    for row, measurement in _measurements(connection, trial.c.job_id == identity):
        measured.setdefault(row.block, {})[row.side] = measurement
    return tuple(TrialDone(job=identity, block=block, measurements=sides) for block, sides in measured.items())


def read_measurements(connection: Connection, identity: str) -> list[tuple[Trial, Measurement]]:
    """Return the completed trials of a request, in the order of recording."""
    return [
        (_trial_of(row.job_id, row, row.side, row.block), measurement)
        for row, measurement in _measurements(connection, trial.c.request_id == identity)
    ]


def read_failures(connection: Connection, identity: str) -> list[FailedTrial]:
    """Return the failures of a request's jobs, in the order of the jobs."""
    statement = select(job).where(job.c.request_id == identity, job.c.failure.is_not(None)).order_by(job.c.number)
    failures = []
    for row in connection.execute(statement):
        failed = JobFailed.model_validate_json(row.failure)
        block = -1 if failed.block is None else failed.block
        failed_trial = _trial_of(row.id, row, failed.side or "", block)
        failures.append(FailedTrial(failed_trial, failed.reason, row.log, failed.hint, failed.refused))
    return failures


@dataclass(frozen=True)
class _Context:
    """What the series of a request's trials have in common."""

    platform: str
    variants: Mapping[Side, str]


def _context_of(connection: Connection, identity: str) -> _Context:
    columns = select(request.c.platform_fingerprint, request.c.servers).where(request.c.id == identity)
    row = connection.execute(columns).one()
    servers = json.loads(row.servers or "{}")
    return _Context(row.platform_fingerprint, {side: server["variant"] for side, server in servers.items()})


def _series_of(trials_job: TrialsJob, side: Side, context: _Context) -> SeriesKey | None:
    """Return the series key of a side's trials, without metric and method; None at a rate chosen for these servers."""
    if trials_job.is_paced:
        return None
    server = trials_job.servers[side]
    return SeriesKey(
        case=trials_job.case.name,
        case_digest=trials_job.case.digest,
        metric="",
        engine=trials_job.engine,
        topology=server.topology.name,
        config=tuple(sorted(server.config.items())),
        variant=context.variants.get(side, ""),
        platform=context.platform,
        method=0,
    )


def _trial_columns(trials_job: TrialsJob, side: Side, block: int, measurement: Measurement) -> dict[str, Any]:
    return {
        "job_id": trials_job.id,
        "request_id": trials_job.request,
        "side": side,
        "block": block,
        "valid": measurement.validity.valid,
        "validity": measurement.validity.model_dump_json(),
        "amounts": measurement.amounts.model_dump_json(),
        "placement": None if measurement.placement is None else measurement.placement.model_dump_json(),
        **{name: getattr(measurement, name) for name in MEASURED_COLUMNS},
        "recorded_by": __version__,
    }


def _measurements(connection: Connection, chosen: ColumnElement[bool]) -> list[tuple[Row[Any], Measurement]]:
    """Return the rows of the chosen trials, with columns of their jobs, and their measurements."""
    values: dict[int, dict[str, float]] = {}
    for row in connection.execute(
        select(metric.c.trial_id, metric.c.name, metric.c.value).join(trial).where(chosen)
    ):
        values.setdefault(row.trial_id, {})[row.name] = row.value
    rows = connection.execute(
        select(trial, job.c.case, job.c.engine, job.c.per_second)
        .join(job, job.c.id == trial.c.job_id)
        .where(chosen)
        .order_by(trial.c.id)
    )
    return [(row, _measurement_of(row, values.get(row.id, {}))) for row in rows]


def _measurement_of(row: Row[Any], metrics: dict[str, float]) -> Measurement:
    return Measurement(
        metrics=metrics,
        validity=Validity.model_validate_json(row.validity),
        amounts=Amounts.model_validate_json(row.amounts),
        graph=row.graph,
        timeline=row.timeline,
        stacks=row.stacks,
        executed=row.executed,
        placement=None if row.placement is None else Placement.model_validate_json(row.placement),
        seconds=row.seconds,
        method=row.method,
        zerolap=row.zerolap,
    )


def _trial_of(identity: str, row: Row[Any], side: Side, block: int) -> Trial:
    return Trial(
        job=identity, case=row.case or "", side=side, engine=row.engine or "", block=block, per_second=row.per_second
    )


def _keep_outcome(connection: Connection, identity: str, column: Any, values: Mapping[str, Any]) -> None:
    written = connection.execute(update(job).where(job.c.id == identity, column.is_(None)).values(**values))
    if written.rowcount == 0 and connection.execute(select(job.c.id).where(job.c.id == identity)).first() is None:
        raise UsageError(f"the store holds no job {identity!r}")
