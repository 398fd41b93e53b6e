"""What the history of commits is made of: their builds, counts and contrasts, and what their team has accepted."""

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    case as when,
    delete,
    func,
    or_,
    select,
    true,
    update,
)

from zerolap.records import ANCHOR, BASE, HEAD, Case, JobFailed, Request, RunCase, SeriesKey, now, read_stored
from zerolap.store.database import Database, insert_of
from zerolap.store.tables import (
    accepted_change,
    attempt,
    build,
    case_result,
    document,
    explained_step,
    job,
    kept_change,
    kept_series,
    metric,
    request,
    revision_build,
    series,
    start_ratio,
    trial,
    verdict,
)

HISTORY_TOPIC: Final = "history:"
"""The beginning of the topics of requests that histories make."""
CONFIRMING_TOPIC: Final = "history:confirm:"
"""The beginning of the topics of comparisons that confirm a change."""
CPU_TIME: Final = "cpu_ns_per_op"
ALONE: Final = "instructions_alone_per_op"
TICK: Final = "instructions_per_tick"
VALUES_AT_ONCE: Final = 500
"""Values in one condition: databases bound the variables of a statement."""


@dataclass(frozen=True)
class CommitBuild:
    """A build of a commit; `image` is equal for builds that are one program, and empty where that is not known."""

    commit: str
    build: str
    image: str
    variant: str
    flags: str


@dataclass(frozen=True)
class CountedPoint:
    """A counted metric of a build: a trial of the first block of a request that a history has made, or of a comparison.

    `windows` are the requests of both windows, `executed_code` is equal for builds of which the case executes the same;
    a `trial` has a higher number than those before it. `graph` is the call graph of the requests that the metric is
    of, in a pipeline or alone. `comparison` is the id of the comparison that it belongs to: its
    seed is that of no other. It is empty for those of histories, which all have one seed.
    """

    build: str
    series: SeriesKey
    windows: tuple[int, int]
    value: float
    executed_code: str | None
    graph: str | None
    trial: int = 0
    comparison: str = ""


@dataclass(frozen=True)
class UncountedCase:
    """A case that was asked for of a build and not counted, not validly, or without all of its settings.

    `config` are the settings asked for beside those of the case.
    """

    build: str
    case: Case
    config: Mapping[str, str]
    reason: str


@dataclass(frozen=True)
class RecordedContrast:
    """What the starts of a comparison say about a metric of a case: logarithms of head over base.

    - `base_config` and `head_config` are the settings of both servers.
    - `verdict` is that of the comparison on the metric, if these servers are its base and head.
    - `is_of_history`: a history made the comparison to get the contrast, not to confirm a change.
    - `is_of_three`: the three contrasts of three servers in one job are all present, and each follows from the others.
    - `case_digest` is the digest of what the case sent and stored then.
    - `case_config` are the settings of the case that the servers were started with.
    """

    comparison: str
    base_build: str
    head_build: str
    case: str
    topology: str
    metric: str
    engine: str
    log_ratios: tuple[float, ...]
    base_config: Mapping[str, str]
    head_config: Mapping[str, str]
    verdict: str = ""
    is_of_history: bool = False
    is_of_three: bool = False
    case_digest: str = ""
    case_config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ExplainedStep:
    """What the reasons for a change of a counted metric depend on: the builds and call graphs of both sides.

    Commits of equal programs share them. `explained_by` is the revision of what explains it.
    """

    base_build: str
    head_build: str
    base_graph: str
    head_graph: str
    metric: str
    explained_by: str


@dataclass(frozen=True)
class AcceptedChange:
    """A change that its team accepts; `case` and `metric` are empty for all of them. `created` is when (ISO 8601)."""

    repository: str
    commit: str
    reason: str
    case: str = ""
    metric: str = ""
    created: str = ""


@dataclass(frozen=True)
class AbsoluteTime:
    """The CPU time of a request in a start of a build, in ns, by series: what the platform does is in it.

    `facts` is the digest of the state that the machine was in, `began` when the start was.
    """

    build: str
    series: str
    comparison: str
    began: str
    facts: str
    value: float


@dataclass(frozen=True)
class RecordedFailure:
    """Why a request of a history has failed: its build did, or its trials."""

    reason: str
    is_build: bool


class HistoryMeasurements:
    """Reads what histories are made of; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def builds(self, commits: Sequence[str], architectures: Collection[str] | None = None) -> list[CommitBuild]:
        """Return the builds of commits, of these architectures: in a shared store other machines have their own."""
        columns = (revision_build.c.commit, build.c.build, build.c.image, build.c.variant, build.c.flags)
        with self._database.read_transaction() as connection:
            return [
                CommitBuild(row.commit, row.build, row.image, row.variant, row.flags)
                for part in _parts(commits)
                for row in connection.execute(
                    select(*columns)
                    .join(build, build.c.build == revision_build.c.build)
                    .where(
                        revision_build.c.commit.in_(part),
                        true() if architectures is None else build.c.architecture.in_(["", *architectures]),
                    )
                    .order_by(revision_build.c.commit, build.c.build)
                )
            ]

    def builds_of_images(self, images: Sequence[str], variant: str) -> dict[str, str]:
        """Return the builds in a variant whose programs are these, with the image of each."""
        with self._database.read_transaction() as connection:
            return {
                row.build: row.image
                for part in _parts(images)
                for row in connection.execute(
                    select(build.c.build, build.c.image).where(build.c.image.in_(part), build.c.variant == variant)
                )
            }

    def counted_points(self, builds: Sequence[str], platform: str, names: Sequence[str]) -> list[CountedPoint]:
        """Return the counted metrics of builds on a platform, the oldest first.

        They are those that histories have measured, and those of comparisons of two of the builds.
        """
        of_side = when((trial.c.side == BASE, document.c.base_build), else_=document.c.head_build).label("build")
        of_metric = when(
            (metric.c.name == ALONE, trial.c.graph_alone),
            (metric.c.name == TICK, trial.c.graph_tick),
            else_=trial.c.graph,
        )
        is_of_history = and_(document.c.kind == "run", request.c.topic.startswith(HISTORY_TOPIC, autoescape=True))
        statement: Select[Any] = (
            select(
                trial.c.id,
                of_side,
                document.c.base_build,
                document.c.id.label("document"),
                trial.c.executed_code,
                of_metric.label("graph"),
                metric.c.value,
                *(series.c[name] for name in SeriesKey.model_fields),
            )
            .select_from(metric)
            .join(trial, trial.c.id == metric.c.trial_id)
            .join(series, series.c.id == metric.c.series_id)
            .join(document, document.c.id == trial.c.request_id)
            .join(request, request.c.id == trial.c.request_id)
            .where(
                or_(is_of_history, document.c.kind == "compare"),
                trial.c.valid,
                trial.c.block == 0,
                series.c.engine == "counted",
                series.c.platform == platform,
                metric.c.name.in_(names),
            )
        )
        wanted = set(builds)
        with self._database.read_transaction() as connection:
            rows = [
                row
                for part in _parts(builds)
                for row in connection.execute(statement.where(document.c.head_build.in_(part)))
                if row.base_build is None or row.base_build in wanted
            ]
            return [_counted_point(row) for row in sorted(rows, key=lambda row: row.id)]

    def uncounted_cases(self, builds: Sequence[str], platform: str) -> list[UncountedCase]:
        """Return the cases that histories were to count of builds on a platform, and that have no valid result."""
        statement: Select[Any] = (
            select(document.c.id, document.c.head_build, request.c.document.label("asked"), request.c.resolved)
            .join(request, request.c.id == document.c.id)
            .where(
                document.c.kind == "run",
                document.c.platform_fingerprint == platform,
                request.c.topic.startswith(HISTORY_TOPIC, autoescape=True),
                request.c.state == "done",
            )
            .order_by(document.c.number)
        )
        with self._database.read_transaction() as connection:
            return [
                case
                for part in _parts(builds)
                for row in connection.execute(statement.where(document.c.head_build.in_(part)))
                for case in _uncounted_cases(connection, row)
            ]

    def contrasts(self, builds: Sequence[str], platform: str, names: Sequence[str]) -> list[RecordedContrast]:
        """Return what comparisons of these builds with each other on a platform say about timed metrics.

        Of three servers that were measured together, these are the contrasts of those that are among the builds, the
        head with them.
        """
        wanted = set(builds)
        statement: Select[Any] = (
            select(
                document.c.id,
                document.c.base_build,
                document.c.head_build,
                request.c.topic,
                request.c.document.label("asked"),
                request.c.resolved,
            )
            .join(request, request.c.id == document.c.id)
            .where(document.c.kind == "compare", document.c.platform_fingerprint == platform)
            .order_by(document.c.number)
        )
        with self._database.read_transaction() as connection:
            return [
                contrast
                for part in _parts(builds)
                for row in connection.execute(statement.where(document.c.head_build.in_(part)))
                for contrast in _contrasts_of(connection, row, names, wanted)
            ]

    def absolute_times(self, builds: Sequence[str], platform: str) -> list[AbsoluteTime]:
        """Return the CPU time of all valid starts of builds in comparisons on a platform."""
        anchors = select(start_ratio.c.anchor).where(start_ratio.c.document_id == document.c.id).limit(1)
        of_side = when(
            (trial.c.side == BASE, document.c.base_build),
            (trial.c.side == ANCHOR, anchors.where(start_ratio.c.anchor != "").scalar_subquery()),
            else_=document.c.head_build,
        )
        statement: Select[Any] = (
            select(
                of_side.label("build"),
                metric.c.series_id,
                document.c.id.label("document"),
                trial.c.began,
                trial.c.facts,
                metric.c.value,
            )
            .select_from(metric)
            .join(trial, trial.c.id == metric.c.trial_id)
            .join(series, series.c.id == metric.c.series_id)
            .join(document, document.c.id == trial.c.request_id)
            .where(
                document.c.kind == "compare",
                trial.c.valid,
                trial.c.began != "",
                series.c.engine == "timed",
                series.c.platform == platform,
                series.c.metric == CPU_TIME,
                metric.c.value > 0,
            )
            .order_by(trial.c.id)
        )
        with self._database.read_transaction() as connection:
            return [
                AbsoluteTime(row.build, row.series_id, row.document, row.began, row.facts, row.value)
                for part in _parts(builds)
                for row in connection.execute(statement.where(of_side.in_(part)))
            ]

    def failures(self) -> dict[str, RecordedFailure]:
        """Return why the newest requests of histories have failed, by topic.

        What stopped the lab itself, such as a full disk, is no failure of a commit.
        """
        failures: dict[str, RecordedFailure] = {}
        for topic, failure, is_done in self._failures(request.c.topic.startswith(HISTORY_TOPIC, autoescape=True)):
            if failure is not None:
                failures[topic] = failure
            elif is_done:
                failures.pop(topic, None)
        return failures

    def failure_of(self, identity: str) -> RecordedFailure | None:
        """Return why the request with that id has failed; none where that is not by its commit."""
        return next((failure for _, failure, _ in self._failures(request.c.id == identity) if failure), None)

    def _failures(self, which: ColumnElement[bool]) -> list[tuple[str, RecordedFailure | None, bool]]:
        """Return of requests, the oldest first, the topic, why it has failed by its commit, and whether it is done."""
        # Of a build that an agent of a fleet has tried, its attempt has failed; that it was given up is of the fleet.
        tried_builds = (
            select(attempt.c.request_id)
            .join(job, job.c.id == attempt.c.job_id)
            .where(attempt.c.request_id == request.c.id, attempt.c.state == "failed", job.c.kind == "build")
        )
        statement: Select[Any] = (
            select(
                request.c.topic,
                request.c.state,
                request.c.reason,
                job.c.kind,
                job.c.failure,
                tried_builds.exists().label("is_build_of_agent"),
            )
            .outerjoin(job, and_(job.c.request_id == request.c.id, job.c.failure.is_not(None)))
            .where(which)
            .order_by(request.c.number)
        )
        with self._database.read_transaction() as connection:
            return [(row.topic, _failure(row), row.state == "done") for row in connection.execute(statement)]

    def trial_seconds(self) -> float:
        """Return the seconds of machine time that all trials of histories have taken, those that failed left out."""
        statement: Select[Any] = (
            select(func.sum(trial.c.seconds))
            .join(request, request.c.id == trial.c.request_id)
            .where(request.c.topic.startswith(HISTORY_TOPIC, autoescape=True))
        )
        with self._database.read_transaction() as connection:
            return float(connection.execute(statement).scalar() or 0.0)

    def comparison_of(self, topic: str) -> str | None:
        """Return the id of the newest comparison of exactly this topic that is done, if there is one."""
        is_meant = (request.c.kind == "compare", request.c.topic == topic, request.c.state == "done")
        statement = select(request.c.id).where(*is_meant).order_by(request.c.number.desc()).limit(1)
        with self._database.read_transaction() as connection:
            found: str | None = connection.execute(statement).scalar()
            return found

    def topics(self, beginning: str) -> set[str]:
        """Return the topics of requests that are done and begin so."""
        statement: Select[Any] = select(request.c.topic).where(
            request.c.state == "done", request.c.topic.startswith(beginning, autoescape=True)
        )
        with self._database.read_transaction() as connection:
            return set(connection.execute(statement).scalars())

    def reasons(self, step: ExplainedStep) -> tuple[str, ...] | None:
        """Return the reasons for a step that were found before; none where there is nothing of this revision."""
        statement: Select[Any] = select(explained_step.c.reasons).where(
            *(explained_step.c[name] == value for name, value in asdict(step).items())
        )
        with self._database.read_transaction() as connection:
            recorded = connection.execute(statement).scalar()
        # What cannot be read is found anew.
        with contextlib.suppress(ValidationError):
            return None if recorded is None else TypeAdapter(tuple[str, ...]).validate_json(recorded)
        return None

    def keep_reasons(self, step: ExplainedStep, reasons: Sequence[str]) -> None:
        """Record the reasons for a step, in place of those that another revision has found."""
        key = [column.name for column in explained_step.primary_key]
        values = {**asdict(step), "reasons": json.dumps(list(reasons))}
        with self._database.write_transaction() as connection:
            statement = insert_of(connection, explained_step).values(**values)
            connection.execute(statement.on_conflict_do_update(index_elements=key, set_=values))

    def cases(self) -> set[str]:
        """Return the names of all cases that were measured, or that a published history has."""
        columns = (series.c.case, kept_series.c.case)
        with self._database.read_transaction() as connection:
            return {name for column in columns for name in connection.scalars(select(column).distinct())}

    def accept(self, change: AcceptedChange) -> bool:
        """Record that a change is accepted, replacing what was recorded of the same change.

        Returns whether a published history has it.
        """
        key = ["repository", "commit", "case", "metric"]
        values = {name: getattr(change, name) for name in key}
        values |= {"reason": change.reason, "created": change.created or now()}
        with self._database.write_transaction() as connection:
            statement = insert_of(connection, accepted_change).values(**values)
            connection.execute(statement.on_conflict_do_update(index_elements=key, set_=values))
            kept = update(kept_change).where(*_of_kept(change))
            return connection.execute(kept.values(accepted=change.reason, is_open=False)).rowcount > 0

    def withdraw(self, change: AcceptedChange) -> bool:
        """Remove an accepted change; return whether there was one.

        Published histories show the change as open again. The next judgement finds whether a later commit undoes it.
        """
        columns = accepted_change.c
        is_meant = (
            columns.repository == change.repository,
            columns.commit == change.commit,
            columns.case == change.case,
            columns.metric == change.metric,
        )
        with self._database.write_transaction() as connection:
            kept = update(kept_change).where(*_of_kept(change), kept_change.c.accepted.is_not(None))
            is_open = and_(kept_change.c.confirmed, kept_change.c.is_worse)
            connection.execute(kept.values(accepted=None, is_open=is_open))
            return connection.execute(delete(accepted_change).where(*is_meant)).rowcount > 0

    def accepted(self, commits: Sequence[str]) -> list[AcceptedChange]:
        """Return the accepted changes at commits, in the order in which they were accepted."""
        with self._database.read_transaction() as connection:
            return [
                AcceptedChange(row.repository, row.commit, row.reason, row.case, row.metric, row.created)
                for part in _parts(commits)
                for row in connection.execute(
                    select(accepted_change).where(accepted_change.c.commit.in_(part)).order_by(accepted_change.c.number)
                )
            ]


def _of_kept(change: AcceptedChange) -> list[ColumnElement[bool]]:
    """Return the conditions for the changes of published histories that an accepted change is of."""
    series_of = select(kept_series.c.number)
    conditions = [kept_change.c.commit == change.commit]
    if change.case:
        conditions.append(kept_change.c.series.in_(series_of.where(kept_series.c.case == change.case)))
    if change.metric:
        conditions.append(kept_change.c.series.in_(series_of.where(kept_series.c.metric == change.metric)))
    return conditions


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    distinct = sorted(set(values))
    for first in range(0, len(distinct), VALUES_AT_ONCE):
        yield distinct[first : first + VALUES_AT_ONCE]


def _counted_point(row: Row[Any]) -> CountedPoint:
    fields = {name: row._mapping[name] for name in SeriesKey.model_fields}
    key = SeriesKey(**(fields | {"config": tuple(map(tuple, json.loads(fields["config"])))}))
    small, _, large = key.windows.partition("+")
    windows = (int(small), int(large)) if small.isdigit() and large.isdigit() else (0, 0)
    comparison = "" if row.base_build is None else row.document
    return CountedPoint(row.build, key, windows, row.value, row.executed_code, row.graph, row.id, comparison)


def _uncounted_cases(connection: Connection, row: Row[Any]) -> Iterator[UncountedCase]:
    results = {
        result.case: result
        for result in connection.execute(
            select(case_result.c.case, case_result.c.valid, case_result.c.document).where(
                case_result.c.document_id == row.id
            )
        )
    }
    asked = json.loads(row.asked)
    measured = _settings_of_cases(asked["cases"], row.resolved)
    for case in asked["cases"]:
        result = results.get(case["name"])
        lost = sorted(case["config"].keys() - measured[case["name"]].keys())
        if result is None:
            reason = "it was skipped"
        elif not result.valid:
            reason = _reason_of_result(RunCase.model_validate_json(result.document))
        elif lost:
            reason = f"the server does not know the setting {', '.join(f'`{name}`' for name in lost)}"
        else:
            continue
        yield UncountedCase(row.head_build, Case.model_validate(case), asked["servers"]["head"]["config"], reason)


def _settings_of_cases(asked: Sequence[Mapping[str, Any]], resolved: str | None) -> dict[str, dict[str, str]]:
    """Return the settings that cases were measured with, by name: a server may not know all that a case has.

    What the request means on its platform is read only where a case has any.
    """
    settings = {case["name"]: case["config"] for case in asked}
    if resolved is None or not any(settings.values()):
        return settings
    return settings | {case["name"]: case["config"] for case in json.loads(resolved)["cases"]}


def _reason_of_result(result: RunCase) -> str:
    if result.failure:
        return result.failure
    failed = [
        f"{check.check} is {check.value}, expected {check.limit}" for check in result.validity.checks if not check.ok
    ]
    return "; ".join(failed) or "it is invalid"


def _contrasts_of(
    connection: Connection, row: Row[Any], names: Sequence[str], builds: Collection[str]
) -> Iterator[RecordedContrast]:
    columns = (start_ratio.c.case, start_ratio.c.metric, start_ratio.c.engine, start_ratio.c.block)
    statement = (
        select(*columns, start_ratio.c.anchor, start_ratio.c.log_ratio, case_result.c.topology)
        .join(
            case_result,
            (case_result.c.document_id == start_ratio.c.document_id) & (case_result.c.case == start_ratio.c.case),
        )
        .where(start_ratio.c.document_id == row.id, start_ratio.c.metric.in_(names))
        .order_by(start_ratio.c.case, start_ratio.c.metric, start_ratio.c.block)
    )
    concluded = _verdicts_of(connection, row.id)
    starts: dict[tuple[str, str, str, str], dict[str, dict[int, float]]] = {}
    for start in connection.execute(statement):
        of_metric = starts.setdefault((start.case, start.metric, start.engine, start.topology), {})
        of_metric.setdefault(start.anchor or row.base_build, {})[start.block] = start.log_ratio
    if not starts:
        return
    asked = read_stored(Request, row.asked, f"the request {row.id}")
    digests = {case.name: case.digest for case in asked.cases}
    settings = _settings_of_cases([{"name": case.name, "config": case.config} for case in asked.cases], row.resolved)
    configs = {side: dict(server.config) for side, server in asked.servers.items()}
    for (case, name, engine, topology), over in starts.items():
        contrasts = _with_third(over, row.base_build, row.head_build)
        kept = {pair: ratios for pair, ratios in contrasts.items() if pair[0] in builds and pair[1] in builds}
        for (base, head), ratios in kept.items():
            is_concluded = (base, head) == (row.base_build, row.head_build)
            yield RecordedContrast(
                comparison=row.id,
                base_build=base,
                head_build=head,
                case=case,
                topology=topology,
                metric=name,
                engine=engine,
                log_ratios=ratios,
                base_config=configs[BASE if base == row.base_build else ANCHOR],
                head_config=configs[HEAD if head == row.head_build else BASE],
                verdict=concluded.get((case, name), "") if is_concluded else "",
                is_of_history=row.topic.startswith(HISTORY_TOPIC) and not row.topic.startswith(CONFIRMING_TOPIC),
                is_of_three=len(kept) == len(contrasts) > 2,
                case_digest=digests.get(case, ""),
                case_config=settings.get(case, {}),
            )


def _with_third(
    over: Mapping[str, Mapping[int, float]], base: str, head: str
) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the log ratios of starts by the builds of both servers, with an anchor also those of the base over it.

    `over` are those of the head over each other build, by block. The third contrast is the difference of both.
    """
    contrasts = {(build, head): tuple(ratios.values()) for build, ratios in over.items()}
    own = over.get(base, {})
    for anchor, ratios in over.items():
        together = [ratio - own[block] for block, ratio in ratios.items() if block in own]
        if anchor != base and together:
            contrasts[anchor, base] = tuple(together)
    return contrasts


def _verdicts_of(connection: Connection, identity: str) -> dict[tuple[str, str], str]:
    """Return the verdicts on timed metrics of a comparison, by case and metric."""
    statement = (
        select(case_result.c.case, verdict.c.metric, verdict.c.verdict)
        .join(verdict, verdict.c.case_result_id == case_result.c.id)
        .where(case_result.c.document_id == identity, verdict.c.engine == "timed")
    )
    return {(row.case, row.metric): row.verdict for row in connection.execute(statement)}


def _failure(row: Row[Any]) -> RecordedFailure | None:
    """Return why a request has failed by its commit, in its builds or trials."""
    if row.state != "failed":
        return None
    if row.failure is not None:
        return RecordedFailure(read_stored(JobFailed, row.failure, "a failure").reason, is_build=row.kind == "build")
    return RecordedFailure(row.reason, is_build=True) if row.is_build_of_agent else None
