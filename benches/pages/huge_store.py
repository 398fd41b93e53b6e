"""A store of the size of years: the demonstration's data, of which the databases make copies by themselves."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select, text

from zerolap.demonstration import MACHINES, fill_with_made_up_data
from zerolap.demonstration.made_up_functions import SERVER, file_of
from zerolap.demonstration.made_up_reports import MadeUpReport, MadeUpTrials
from zerolap.demonstration.made_up_server import MadeUpServer, instant
from zerolap.demonstration.made_up_trials import MadeUpMetrics, MeasuredBuild
from zerolap.history import open_changes
from zerolap.records import (
    HEAD,
    Block,
    Case,
    History,
    HistoryChange,
    HistoryCommit,
    HistoryPoint,
    HistorySeries,
    JobFinished,
    ServerSpec,
    TrialsJob,
)
from zerolap.store import Store, tables as stored

SEED: Final = 7
MOMENT: Final = datetime(2026, 11, 24, 12, 0, 0, tzinfo=UTC)
TEMPLATES: Final = 60
CASES_EACH: Final = 2
TRIALS_EACH: Final = 1000
"""More than a template has."""
BUILDS: Final = 2000
COPIES_AT_ONCE: Final = 10_000
YEARS: Final = 2.0
HISTORIES: Final = 10
CASES_OF_HISTORY: Final = 250
FRAMES: Final = 900
DEEPEST: Final = 40


@dataclass(frozen=True)
class HugeSize:
    """How much there is: of the points one half is in kept histories, the other are metrics of trials."""

    comparisons: int = 100_000
    points: int = 10_000_000
    profiles: int = 5_000

    def scaled(self, factor: float) -> "HugeSize":
        """Return a part of it."""
        return HugeSize(*(max(200, round(factor * count)) for count in (self.comparisons, self.points, self.profiles)))


@dataclass(frozen=True)
class HugeStore:
    """Fills a store; `blobs_from` is one that has the same profiles already."""

    store: Store
    size: HugeSize

    def fill(self) -> dict[str, int]:
        """Write everything; return how much there is, by name."""
        server = fill_with_made_up_data(self.store, SEED, MOMENT)
        templates = list(self._templates(server))
        with self._writing() as connection:
            connection.execute(
                text(
                    "CREATE TABLE copies (n INTEGER PRIMARY KEY, template TEXT, id TEXT, measured INTEGER,"
                    " created TEXT, submitted DOUBLE PRECISION, before TEXT, first_trial INTEGER)"
                )
            )
            metrics_each = self._metrics_of(connection, templates)
            measured = min(1.0, self.size.points / 2 / (metrics_each * self.size.comparisons))
            connection.execute(
                text(
                    "INSERT INTO copies VALUES (:n, :template, :id, :measured, :created, :submitted, :before, :first)"
                ),
                list(self._copies(connection, templates, measured)),
            )
        for first in range(1, self.size.comparisons + 1, COPIES_AT_ONCE):
            with self._writing() as connection:
                _Copying(connection, first, first + COPIES_AT_ONCE).copy_all()
        self._keep_histories(server)
        self._add_profiles(server, templates)
        with self._writing() as connection:
            self._copy_triggers(connection)
            connection.execute(text("DROP TABLE copies"))
            if connection.dialect.name == "postgresql":
                connection.execute(text("ANALYZE"))
            return self._counts(connection)

    def _writing(self) -> Any:
        return self.store._database.write_transaction()

    def _templates(self, server: MadeUpServer) -> Iterator[MadeUpReport]:
        """Record the comparisons that are copied: of two cases each."""
        names, trials = [case.name for case in server.cases], MadeUpTrials(self.store)
        for number in range(TEMPLATES):
            head = 5 + 2 * number
            report = MadeUpReport(
                server,
                MACHINES[number % 2],
                server.commits[head].time + timedelta(hours=9),
                head - 1,
                head,
                cases=(names[number % len(names)], names[(number + 5) % len(names)]),
                topic=f"made-up/server@template-{number}",
            )
            report.record(self.store, trials)
            yield report

    def _metrics_of(self, connection: Connection, templates: list[MadeUpReport]) -> float:
        statement = (
            select(func.count())
            .select_from(stored.metric)
            .join(stored.trial)
            .where(stored.trial.c.request_id.in_([report.id for report in templates]))
        )
        return float(connection.execute(statement).scalar_one()) / len(templates)

    def _copies(
        self, connection: Connection, templates: list[MadeUpReport], measured: float
    ) -> Iterator[dict[str, Any]]:
        first_trials = dict(
            connection.execute(
                select(stored.trial.c.request_id, func.min(stored.trial.c.id)).group_by(stored.trial.c.request_id)
            ).all()
        )
        step = timedelta(days=365 * YEARS) / self.size.comparisons
        begin = MOMENT - timedelta(days=365 * YEARS)
        for number in range(1, self.size.comparisons + 1):
            template = templates[number % len(templates)]
            # Written in decimal digits, which are hexadecimal ones too.
            yield {
                "n": number,
                "template": template.id,
                "id": f"c-{10**15 + number}",
                "measured": int(math.floor(number * measured) > math.floor((number - 1) * measured)),
                "created": instant(begin + number * step),
                "submitted": (begin + number * step).timestamp(),
                "before": instant(template.began),
                "first": first_trials[template.id],
            }

    # Histories.

    def _keep_histories(self, server: MadeUpServer) -> None:
        commits = max(50, round(self.size.points / 2 / (HISTORIES * CASES_OF_HISTORY * 2)))
        history = _history(server, commits)
        commands = {series.case: [series.case.partition("-")[0].upper()] for series in history.series}
        self.store.published_histories.keep(history, open_changes(history), commands)
        for number in range(1, HISTORIES):
            with self._writing() as connection:
                _copy_history(connection, history.range, number, server)

    # Profiles.

    def _add_profiles(self, server: MadeUpServer, templates: list[MadeUpReport]) -> None:
        with self._writing() as connection:
            statement = text("SELECT n, template, id FROM copies WHERE measured = 1 ORDER BY n DESC")
            copies = connection.execute(statement).all()[: self.size.profiles // 2]
            last = connection.execute(select(func.max(stored.trial.c.id))).scalar_one()
        by_id = {report.id: report for report in templates}
        jobs, trials = [], []
        for place, copy in enumerate(copies):
            report = by_id[copy.template]
            case = report.request.cases[0]
            job = _sampled_job(report, case)
            identity = f"j-{copy.n}-sampled"
            jobs.append(
                {
                    "id": identity,
                    "request_id": copy.id,
                    "kind": "trials",
                    "case": case.name,
                    "engine": "sampled",
                    "document": job.model_dump_json(by_alias=True).replace(report.id, copy.id),
                    "finished": JobFinished(job=identity).model_dump_json(by_alias=True),
                }
            )
            for side, position in report.sides.items():
                metrics = MadeUpMetrics(server, case.name, position, report.machine, report.began, f"{copy.id} {side}")
                build = MeasuredBuild(metrics, self.store.blobs, {})
                table = _enlarged(build.stack_table(), random.Random(f"{copy.n} {side}"))
                trials.append(
                    {
                        "id": last + 2 * place + (2 if side == HEAD else 1),
                        "job_id": identity,
                        "request_id": copy.id,
                        "side": side,
                        "block": 0,
                        "valid": True,
                        "validity": '{"valid":true,"checks":[]}',
                        "amounts": "{}",
                        "stacks": self.store.blobs.put(json.dumps(table).encode()),
                        "placement": '{"seed":7,"failure":""}',
                        "seconds": 6.2,
                        "method": 2,
                        "zerolap": "0.1.0",
                        "recorded_by": "0.1.0",
                        "began": instant(report.began),
                        "facts": "",
                        "instrument": "",
                        "load_host": "",
                    }
                )
        with self._writing() as connection:
            connection.execute(insert(stored.job), jobs)
            connection.execute(insert(stored.trial), trials)

    def _copy_triggers(self, connection: Connection) -> None:
        columns = {
            "id": "'t-' || CAST(k.n AS TEXT)",
            "delivery_id": "NULL",
            "created": "k.submitted",
            "requests": "'[\"' || k.id || '\"]'",
        }
        _copy(
            connection,
            stored.trigger,
            columns,
            "JOIN copies k ON k.n % 10 = 0 WHERE old.number = (SELECT max(number) FROM trigger WHERE kind = 'push')",
            key="number",
        )

    def _counts(self, connection: Connection) -> dict[str, int]:
        def count(table: Table) -> int:
            return int(connection.execute(select(func.count()).select_from(table)).scalar_one())

        kept = connection.execute(select(func.sum(stored.kept_series.c.point_count))).scalar_one()
        profiles = select(func.count()).select_from(stored.trial).where(stored.trial.c.stacks.is_not(None))
        return {
            "points": int(kept) + count(stored.metric),
            "points_of_histories": int(kept),
            "points_of_trials": count(stored.metric),
            "comparisons": count(stored.document),
            "case_results": count(stored.case_result),
            "verdicts": count(stored.verdict),
            "trials": count(stored.trial),
            "profiles": int(connection.execute(profiles).scalar_one()),
            "triggers": count(stored.trigger),
        }


@dataclass(frozen=True)
class _Copying:
    """Copies the templates, from one number to another; `JOB` and the like are expressions of new ids."""

    connection: Connection
    first: int
    end: int

    def copy_all(self) -> None:
        """Copy requests with all that belongs to them."""
        rename = "replace(replace(old.{0}, k.template, k.id), k.before, k.created)"
        job = "'j-' || CAST(k.n AS TEXT) || '-' || CAST({}.number AS TEXT)"
        case = f"1000000 + k.n * {CASES_EACH} + {{}}.position"
        trial = f"1000000 + k.n * {TRIALS_EACH} + {{}}.id - k.first_trial"
        build = f"old.{{0}} || '-' || CAST(k.n % {BUILDS} AS TEXT)"
        by_request = "JOIN copies k ON k.template = old.request_id AND k.measured = 1"
        by_document = "JOIN copies k ON k.template = old.document_id"
        self._copy(
            stored.request,
            {
                "id": "k.id",
                "created": "k.created",
                "submitted": "k.submitted",
                "ended": "k.submitted + 400",
                "topic": "'made-up/server@' || CAST(k.n AS TEXT)",
                "digest": "old.digest || CAST(k.n AS TEXT)",
                "document": rename.format("document"),
                "resolved": rename.format("resolved"),
            },
            "JOIN copies k ON k.template = old.id",
            key="number",
        )
        columns = {"id": "k.id", "document": rename.format("document")}
        columns |= {name: build.format(name) for name in ("base_build", "head_build")}
        self._copy(stored.document, columns, "JOIN copies k ON k.template = old.id", key="number")
        self._copy(stored.case_result, {"id": case.format("old"), "document_id": "k.id"}, by_document)
        parts = "JOIN case_result c ON c.id = old.case_result_id JOIN copies k ON k.template = c.document_id"
        for table in (stored.verdict, stored.finding):
            self._copy(table, {"case_result_id": case.format("c")}, parts)
        for table in (stored.start_spread, stored.start_ratio):
            self._copy(table, {"document_id": "k.id"}, f"{by_document} AND k.measured = 1")
        columns = {"id": job.format("old"), "request_id": "k.id", "document": rename.format("document")}
        self._copy(stored.job, columns, by_request, key="number")
        with_job = f"JOIN job j ON j.id = old.job_id {by_request}"
        columns = {"id": "'a-' || CAST(k.n AS TEXT) || '-' || CAST(old.number AS TEXT)", "request_id": "k.id"}
        columns |= {"job_id": job.format("j"), "created": "k.submitted", "claimed": "k.submitted + 60"}
        self._copy(stored.attempt, {**columns, "ended": "k.submitted + 100"}, with_job, key="number")
        columns = {"id": trial.format("old"), "job_id": job.format("j"), "request_id": "k.id", "began": "k.created"}
        self._copy(stored.trial, columns, with_job)
        of_trial = "JOIN trial t ON t.id = old.trial_id JOIN copies k ON k.template = t.request_id AND k.measured = 1"
        self._copy(stored.metric, {"trial_id": trial.format("t")}, of_trial)

    def _copy(self, table: Table, columns: dict[str, str], join: str, key: str = "") -> None:
        chosen = f"{join} WHERE k.n >= {self.first} AND k.n < {self.end} ORDER BY k.n"
        _copy(self.connection, table, columns, chosen, key)


def _sampled_job(report: MadeUpReport, case: Case) -> TrialsJob:
    servers = {
        side: ServerSpec(build=server.spec.digest, topology=case.topology)
        for side, server in report.resolved.servers.items()
    }
    return TrialsJob(request=report.id, case=case, servers=servers, engine="sampled", blocks=(Block(number=0, seed=7),))


def _copy(connection: Connection, table: Table, columns: dict[str, str], rest: str, key: str = "") -> None:
    """Insert copies of rows; `columns` are expressions for what differs, the database chooses the `key`."""
    names = [column.name for column in table.columns if column.name != key]
    values = ", ".join(columns.get(name, f'old."{name}"') for name in names)
    quoted = ", ".join(f'"{name}"' for name in names)
    connection.execute(text(f'INSERT INTO "{table.name}" ({quoted}) SELECT {values} FROM "{table.name}" old {rest}'))


def _history(server: MadeUpServer, commits: int) -> History:
    """Return a history of many cases, each with a few steps."""
    begin, step = MOMENT - timedelta(days=365 * YEARS), timedelta(days=365 * YEARS) / commits
    return History(
        created=instant(MOMENT),
        command_line="zerolap history",
        repository="/made-up/server",
        range="branch-0",
        variant="default",
        config={},
        platform=server.platform(MACHINES[0], MOMENT),
        commits=tuple(
            HistoryCommit(
                commit=server.digits("huge commit", place)[:40],
                time=instant(begin + place * step),
                subject=f"A change of the part {place % 37} (#{place})",
                tags=(f"9.{place // 100}.0",) if place % 100 == 0 else (),
                node=place,
            )
            for place in range(commits)
        ),
        series=tuple(
            _series(server, f"{server.cases[number % len(server.cases)].name}-{number:03d}", number, engine, commits)
            for number in range(CASES_OF_HISTORY)
            for engine in ("counted", "timed")
        ),
    )


def _series(server: MadeUpServer, case: str, number: int, engine: str, commits: int) -> HistorySeries:
    draw = server.draw("huge", case, engine)
    steps = {draw.randrange(5, commits - 5): draw.gauss(0, 0.05) for _ in range(3)}
    scatter, half = (0.0001, 0.0004) if engine == "counted" else (0.003, 0.007)
    level, points, changes = 0.0, [], []
    for place in range(commits):
        level += steps.get(place, 0.0)
        shown = level + (draw.gauss(0, scatter) if place else 0.0)
        points.append(
            HistoryPoint.model_construct(
                position=place,
                level=shown,
                low=shown - half,
                high=shown + half,
                value=1e4 * math.exp(shown) if engine == "counted" else None,
                same_code=False,
                step=None,
                share=None,
            )
        )
        if place in steps:
            change = math.expm1(steps[place])
            identity = server.digits("huge commit", place)[:12]
            changes.append(
                HistoryChange(
                    id=identity,
                    kind="step",
                    after=place - 1,
                    position=place,
                    change=change,
                    low=change - half,
                    high=change + half,
                    reasons=("`someFunction` (server.c, changed here) itself takes more instructions.",),
                )
            )
    return HistorySeries.model_construct(
        case=case,
        group=server.cases[number % len(server.cases)].group,
        metric="instructions_per_op" if engine == "counted" else "cpu_ns_per_op",
        engine=engine,
        topology="standalone",
        points=tuple(points),
        changes=tuple(changes),
        ledger=None,
        better="less",
        is_imported=False,
        source="",
        labels={},
    )


def _copy_history(connection: Connection, name: str, number: int, server: MadeUpServer) -> None:
    """Copy the kept history of a range to another branch, of the other platform every other time."""
    history, series = stored.kept_history, stored.kept_series
    first = connection.execute(select(history.c.number).where(history.c.range == name)).scalar_one()
    place = connection.execute(select(func.max(history.c.number))).scalar_one() + 1
    shift = connection.execute(select(func.max(series.c.number))).scalar_one()
    platform = server.platform(MACHINES[number % 2], MOMENT)
    changed = {
        "number": str(place),
        "range": f"'branch-{number}'",
        "platform": f"'{platform.fingerprint}'",
        "platform_name": f"'{platform.name}'",
    }
    _copy(connection, history, changed, f"WHERE old.number = {first}")
    chosen = f"WHERE old.history = {first}"
    _copy(connection, stored.kept_commit, {"history": str(place)}, chosen)
    _copy(connection, series, {"history": str(place), "number": f"{shift} + old.number"}, chosen)
    columns = {"history": str(place), "series": f"{shift} + old.series"}
    _copy(connection, stored.kept_change, columns, chosen, key="number")


def _enlarged(table: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Return sampled stacks with some hundred stacks more, as those of a real server have them."""
    frames = list(table["frames"])
    for number in range(FRAMES):
        name = f"function{number}"
        frames.append({"function": name, "file": file_of(name), "object": SERVER, "inlined": False})
    stacks = list(table["stacks"])
    roots = [stack["frames"] for stack in table["stacks"]]
    for _ in range(400):
        path = [*draw.choice(roots)]
        path += [len(table["frames"]) + draw.randrange(FRAMES) for _ in range(draw.randrange(1, 8))]
        stacks.append({"thread": 1, "frames": path[:DEEPEST], "samples": 1 + int(draw.expovariate(0.2))})
    return {**table, "frames": frames, "stacks": stacks, "samples": sum(stack["samples"] for stack in stacks)}
