"""Builds, jobs and their outcomes; each row is written once, and recording it again changes nothing."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, insert, select, update

from zerolap import __version__
from zerolap.records import (
    CONTROL,
    Amounts,
    Build,
    BuildJob,
    Event,
    GivenJob,
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
    UnreadableRecord,
    UsageError,
    Validity,
    job_json,
    read_stored,
    read_stored_job,
    revision_of,
)
from zerolap.store.database import RecordsWithBlobs, insert_new
from zerolap.store.recorded_requests import keep_revision, require
from zerolap.store.tables import build, job, metric, request, revision_build, series, trial

MEASURED_COLUMNS = (
    *("graph", "graph_alone", "graph_tick", "call_counts", "timeline", "stacks", "executed", "executed_code"),
    *("traced", "record", "allocations", "start_position"),
    *("seconds", "method", "zerolap", "began", "facts", "instrument", "load_host"),
)
"""The fields of a measurement that are columns of their own."""


@dataclass(frozen=True)
class RecordedJob:
    """A job with its recorded events.

    `events` holds a `TrialDone` for each measured block, in the order of recording, then a `JobFailed` and a
    `JobFinished` if they were recorded.
    """

    job: BuildJob | TrialsJob
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


@dataclass(frozen=True)
class NumberedTrial:
    """A trial with the number that names it in a store; `unreadable` is why it has no measurement."""

    number: int
    trial: Trial
    measurement: Measurement | None
    unreadable: str = ""


def keep_jobs(connection: Connection, new_jobs: Sequence[GivenJob]) -> None:
    """Write jobs; raises `IntegrityError` for an unknown request."""
    rows = [
        {
            "id": new_job.id,
            "request_id": new_job.request,
            "kind": new_job.kind,
            "document": job_json(new_job),
            "case": new_job.case.name if isinstance(new_job, TrialsJob) else None,
            "engine": new_job.engine if isinstance(new_job, TrialsJob) else None,
            "per_second": new_job.amounts.per_second if isinstance(new_job, TrialsJob) else None,
        }
        for new_job in new_jobs
    ]
    if rows:
        connection.execute(insert_new(connection, job), rows)


def keep_trials(connection: Connection, events: Sequence[tuple[TrialsJob, TrialDone]]) -> None:
    """Write the trials of events: of each all of them, or none if one exists already.

    Raises `IntegrityError` for an unknown job.
    """
    by_trial = {(of_job.id, side, done.block): (of_job, done) for of_job, done in events for side in done.measurements}
    # In a fixed order, so that two sessions that record the same rows do not deadlock.
    new = _insert_trials(connection, {key: by_trial[key] for key in sorted(by_trial)})
    contexts: dict[str, _Context] = {}
    builds = _toolchains(
        connection, {of_job.servers[side].build for of_job, done in events for side in done.measurements}
    )
    keys: dict[str, dict[str, Any]] = {}
    values = []
    for (identity, side, block), number in new.items():
        of_job, done = by_trial[identity, side, block]
        if of_job.request not in contexts:
            contexts[of_job.request] = _context_of(connection, of_job.request)
        measurement = done.measurements[side]
        common = _series_of(of_job, side, measurement, contexts[of_job.request], builds)
        for name, value in measurement.metrics.items():
            key = common and common.model_copy(update={"metric": name})
            if name == CONTROL:
                key = _series_of_control(of_job, measurement, contexts[of_job.request])
            if key is not None:
                columns = {**key.model_dump(), "config": json.dumps(key.config)}
                keys[key.digest] = {"id": key.digest, **columns}
            values.append({"trial_id": number, "name": name, "value": value, "series_id": key and key.digest})
    if keys:
        connection.execute(insert_new(connection, series), [keys[digest] for digest in sorted(keys)])
    if values:
        connection.execute(insert(metric), values)


_TrialKey = tuple[str, Side, int]
"""A trial: the id of its job, its side and its block."""


def _insert_trials(
    connection: Connection, events: Mapping[_TrialKey, tuple[TrialsJob, TrialDone]]
) -> dict[_TrialKey, int]:
    """Insert the rows of trials that do not exist, unless one of the same event does, and return their numbers."""
    columns = (trial.c.id, trial.c.job_id, trial.c.side, trial.c.block)
    rows = [
        _trial_columns(of_job, side, block, done.measurements[side])
        for (_, side, block), (of_job, done) in events.items()
    ]
    new: dict[_TrialKey, int] = {}
    if rows:
        # Given beside the statement, rows are inserted many at a time by a statement that is made once.
        inserted = connection.execute(insert_new(connection, trial).returning(*columns), rows)
        new = {(row.job_id, row.side, row.block): row.id for row in inserted}
    incomplete = {
        (identity, block)
        for (identity, _, block), (_, done) in events.items()
        if any((identity, side, block) not in new for side in done.measurements)
    }
    superfluous = [number for (identity, _, block), number in new.items() if (identity, block) in incomplete]
    if superfluous:
        connection.execute(delete(trial).where(trial.c.id.in_(superfluous)))
    return {key: number for key, number in new.items() if (key[0], key[2]) not in incomplete}


def keep_failure(connection: Connection, identity: str, failed: JobFailed, log: str | None) -> None:
    """Write the failure of a job unless it is already written; raises `UsageError` for an unknown job."""
    failure = failed.model_dump_json(by_alias=True, exclude={"details"})
    _keep_outcome(connection, identity, job.c.failure, {"failure": failure, "log": log})


def keep_finish(connection: Connection, identity: str, finished: JobFinished) -> None:
    """Write the success of a job unless it is already written; raises `UsageError` for an unknown job."""
    _keep_outcome(connection, identity, job.c.finished, {"finished": finished.model_dump_json(by_alias=True)})


def keep_finishes(connection: Connection, finished: Sequence[JobFinished]) -> None:
    """Write the successes of jobs that are recorded, unless they are already written."""
    if finished:
        statement = update(job).where(job.c.id == bindparam("of_job"), job.c.finished.is_(None))
        rows = [{"of_job": event.job, "finished": event.model_dump_json(by_alias=True)} for event in finished]
        connection.execute(statement.values(finished=bindparam("finished")), rows)


def read_trials(connection: Connection, chosen: ColumnElement[bool]) -> list[TrialDone]:
    """Return the chosen trials, a `TrialDone` for each block of a job, in the order of recording."""
    measured: dict[tuple[str, int], dict[Side, Measurement]] = {}
    for row, values in _rows(connection, chosen):
        measured.setdefault((row.job_id, row.block), {})[row.side] = _measurement_of(row, values)
    return [TrialDone(job=identity, block=block, measurements=sides) for (identity, block), sides in measured.items()]


def read_numbered(connection: Connection, chosen: ColumnElement[bool]) -> list[NumberedTrial]:
    """Return the chosen trials in the order of recording; one that cannot be read does not affect the others."""
    numbered = []
    for row, values in _rows(connection, chosen):
        of_row = _trial_of(row.job_id, row, row.side, row.block)
        try:
            numbered.append(NumberedTrial(row.id, of_row, _measurement_of(row, values)))
        except UnreadableRecord as fault:
            numbered.append(NumberedTrial(row.id, of_row, None, fault.message))
    return numbered


@dataclass(frozen=True)
class _Context:
    """What the series of a request's trials have in common."""

    platform: str
    variants: Mapping[Side, str]


def _context_of(connection: Connection, identity: str) -> _Context:
    columns = select(request.c.platform_fingerprint, request.c.variants).where(request.c.id == identity)
    row = connection.execute(columns).one()
    return _Context(row.platform_fingerprint or "", json.loads(row.variants or "{}"))


@dataclass(frozen=True)
class _Toolchain:
    """What a build was made with; empty where that is not known."""

    compiler: str = ""
    libc: str = ""


def _toolchains(connection: Connection, builds: Collection[str]) -> dict[str, _Toolchain]:
    columns = select(build.c.build, build.c.compiler, build.c.libc).where(build.c.build.in_(sorted(builds)))
    return {row.build: _Toolchain(row.compiler, row.libc) for row in connection.execute(columns)}


def _series_of(
    trials_job: TrialsJob,
    side: Side,
    measurement: Measurement,
    context: _Context,
    toolchains: Mapping[str, _Toolchain],
) -> SeriesKey | None:
    """Return the series key of a trial, without the metric; None in a sweep, or at a rate chosen for these servers."""
    if trials_job.is_paced or trials_job.part is not None:
        return None
    server, amounts, placement = trials_job.servers[side], measurement.amounts, measurement.placement
    toolchain = toolchains.get(server.build, _Toolchain())
    is_counted = trials_job.engine == "counted"
    are_together = trials_job.engine == "timed" and not amounts.alone
    return SeriesKey(
        case=trials_job.case.name,
        case_digest=trials_job.case.digest,
        metric="",
        engine=trials_job.engine,
        topology=server.topology.name,
        config=tuple(sorted(server.config.items())),
        variant=context.variants.get(side, ""),
        platform=context.platform,
        method=measurement.method,
        placed=placement is not None and placement.seed is not None,
        resident=len(trials_job.servers) if are_together else 1,
        load_host=measurement.load_host,
        compiler=toolchain.compiler,
        libc=toolchain.libc,
        valgrind=measurement.instrument.removeprefix("valgrind ") if is_counted else "",
        windows=f"{amounts.windows.small}+{amounts.windows.large}" if is_counted and amounts.windows else "",
    )


def _series_of_control(trials_job: TrialsJob, measurement: Measurement, context: _Context) -> SeriesKey:
    """Return the series of the platform's reference work, which has nothing to do with cases, builds or rates."""
    return SeriesKey(
        case="",
        case_digest="",
        metric=CONTROL,
        engine=trials_job.engine,
        topology="",
        config=(),
        variant="",
        platform=context.platform,
        method=measurement.method,
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


def _rows(connection: Connection, chosen: ColumnElement[bool]) -> list[tuple[Row[Any], dict[str, float]]]:
    """Return the rows of the chosen trials, with columns of their jobs, and the values of their metrics."""
    values: dict[int, dict[str, float]] = {}
    for row in connection.execute(select(metric.c.trial_id, metric.c.name, metric.c.value).join(trial).where(chosen)):
        values.setdefault(row.trial_id, {})[row.name] = row.value
    rows = connection.execute(
        select(trial, job.c.case, job.c.engine, job.c.per_second)
        .join(job, job.c.id == trial.c.job_id)
        .where(chosen)
        .order_by(trial.c.id)
    )
    return [(row, values.get(row.id, {})) for row in rows]


def _measurement_of(row: Row[Any], metrics: dict[str, float]) -> Measurement:
    name = f"a trial of the job {row.job_id}"
    return Measurement(
        metrics=metrics,
        validity=read_stored(Validity, row.validity, name),
        amounts=read_stored(Amounts, row.amounts, name),
        placement=None if row.placement is None else read_stored(Placement, row.placement, name),
        **{column: getattr(row, column) for column in MEASURED_COLUMNS},
    )


def _trial_of(identity: str, row: Row[Any], side: Side, block: int) -> Trial:
    return Trial(
        job=identity, case=row.case or "", side=side, engine=row.engine or "", block=block, per_second=row.per_second
    )


def _keep_outcome(connection: Connection, identity: str, column: Any, values: Mapping[str, Any]) -> None:
    written = connection.execute(update(job).where(job.c.id == identity, column.is_(None)).values(**values))
    if written.rowcount == 0 and connection.execute(select(job.c.id).where(job.c.id == identity)).first() is None:
        raise UsageError(f"the store holds no job {identity!r}")


class TrialRecords(RecordsWithBlobs):
    """Builds, jobs and trials; recording one again changes nothing."""

    def record_build(self, new: Build, source: Source | None = None) -> None:
        """Record a build and, if its source is a commit, the relation of the commit to the build."""
        revision = None if source is None else revision_of(source)
        columns = {**new.model_dump(), "arguments": json.dumps(new.arguments)}
        with self._database.write_transaction() as connection:
            connection.execute(insert_new(connection, build).values(**columns))
            if revision is not None:
                keep_revision(connection, revision)
                key = {"repository": revision.repository, "commit": revision.commit}
                connection.execute(insert_new(connection, revision_build).values(**key, build=new.build))

    def build(self, digest: str) -> Build | None:
        """Return the build with that digest."""
        row = self._database.first(select(build).where(build.c.build == digest))
        if row is None:
            return None
        return read_stored(Build, {**row._mapping, "arguments": json.loads(row.arguments)}, f"the build {digest}")

    def record_job(self, job: GivenJob) -> None:
        """Record a job; raises `UsageError` for an unknown request."""
        with self._database.write_transaction() as connection:
            keep_jobs(connection, [job])

    def record(self, job: TrialsJob | BuildJob, event: Event) -> None:
        """Record the trials, the failure or the end that an event of a job reports; other events are ignored.

        The trials of an event are recorded together; none of them is if one exists already. Raises `UsageError` for a
        job that was not recorded.
        """
        if isinstance(event, TrialDone):
            if not isinstance(job, TrialsJob):
                raise ValueError(f"{job.id} is a build, which has no trials")
            with self._database.write_transaction() as connection:
                keep_trials(connection, [(job, event)])
        elif isinstance(event, JobFailed):
            log = self.blobs.put(event.details.encode()) if event.details else None
            with self._database.write_transaction() as connection:
                keep_failure(connection, job.id, event, log)
        elif isinstance(event, JobFinished):
            with self._database.write_transaction() as connection:
                keep_finish(connection, job.id, event)

    def jobs(self, identity: str) -> list[RecordedJob]:
        """Return the builds and trials of a request with their recorded events, in the order of recording.

        Raises `UsageError`, and `BlobDamaged` if the details of a failure cannot be read.
        """
        statement = select(job).where(job.c.request_id == identity, job.c.kind != "load").order_by(job.c.number)
        with self._database.read_transaction() as connection:
            require(connection, identity)
            done: dict[str, list[TrialDone]] = {}
            for trials_done in read_trials(connection, trial.c.request_id == identity):
                done.setdefault(trials_done.job, []).append(trials_done)
            rows = connection.execute(statement).all()
        return [self._recorded(row, done.get(row.id, [])) for row in rows]

    def _recorded(self, row: Row[Any], done: Sequence[TrialDone]) -> RecordedJob:
        events: list[TrialDone | JobFailed | JobFinished] = [*done]
        if row.failure is not None:
            details = "" if row.log is None else self.blobs.get(row.log).decode()
            failed = read_stored(JobFailed, row.failure, f"the failure of the job {row.id}")
            events.append(failed.model_copy(update={"details": details}))
        if row.finished is not None:
            events.append(read_stored(JobFinished, row.finished, f"the end of the job {row.id}"))
        return RecordedJob(read_stored_job(row.document, row.id), tuple(events))

    def measurements(self, identity: str) -> list[tuple[Trial, Measurement]]:
        """Return the trials of a comparison or run that were carried out, in the order of recording.

        Raises `UsageError`.
        """
        with self._database.read_transaction() as connection:
            require(connection, identity)
            rows = _rows(connection, trial.c.request_id == identity)
        return [(_trial_of(row.job_id, row, row.side, row.block), _measurement_of(row, values)) for row, values in rows]

    def failures(self, identity: str) -> list[FailedTrial]:
        """Return the failures of the jobs of a comparison or run, in the order of the jobs; raises `UsageError`."""
        statement = select(job).where(job.c.request_id == identity, job.c.failure.is_not(None)).order_by(job.c.number)
        with self._database.read_transaction() as connection:
            require(connection, identity)
            rows = connection.execute(statement).all()
        failures = []
        for row in rows:
            failed = read_stored(JobFailed, row.failure, f"the failure of the job {row.id}")
            block = -1 if failed.block is None else failed.block
            failed_trial = _trial_of(row.id, row, failed.side or "", block)
            failures.append(FailedTrial(failed_trial, failed.reason, row.log, failed.hint, failed.refused))
        return failures
