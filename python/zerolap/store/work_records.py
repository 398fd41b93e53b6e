"""What is known of one version: the call graphs that were counted of it, and what is kept of each."""

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from sqlalchemy import Select, exists, func, or_, select

from zerolap.records import (
    BASE,
    HEAD,
    Case,
    CountedWork,
    GroupWork,
    MeasuredServer,
    Side,
    TrialsJob,
    UnreadableRecord,
    read_stored,
    read_stored_job,
)
from zerolap.store.database import Database, insert_of
from zerolap.store.tables import case_result, document, job, kept_work, trial

ROWS_AT_ONCE: Final = 500
RESULTS_OF_BUILD: Final = 1_000
COMPARISONS_OF_BUILD: Final = 100
RESULTS_EXAMINED: Final = 200
"""How many of the newest results are examined for call graphs, which takes a look at their trials."""

_Kept = TypeVar("_Kept", CountedWork, GroupWork)


@dataclass(frozen=True)
class CountedGraph:
    """The call graph of a case: the result and side that it was counted in, its job, and the digests of blobs.

    These are the graph, and, where they are known, the instructions that were executed and the calls that a count
    build makes.
    """

    result: str
    side: Side
    case: str
    job: str
    graph: str
    executed: str | None = None
    call_counts: str | None = None


class WorkRecords:
    """Reads the call graphs of a version, and keeps what searches have found in them; a method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest_result(self) -> str | None:
        """Return the id of the newest comparison or run with call graphs; none where nothing was counted."""
        statement = (
            select(document.c.id)
            .join(trial, trial.c.request_id == document.c.id)
            .where(trial.c.valid, trial.c.graph.is_not(None))
            .order_by(document.c.number.desc())
            .limit(1)
        )
        with self._database.read_transaction() as connection:
            return connection.execute(statement).scalar()

    def graphs_of_result(self, result: str, side: Side) -> list[CountedGraph]:
        """Return the newest valid call graph of each case of one side of a comparison or run, by case.

        A call graph with the calls of a count build is preferred.
        """
        return self._newest(trial.c.request_id == result, trial.c.side == side)

    def graphs_of_build(self, result: str, side: Side) -> list[CountedGraph]:
        """Return the newest valid call graph of each case of the build of a side, from all that was measured alike.

        These are the comparisons and runs on the same platform with the same settings of the server, with `--quick` if
        the result was, of the last 1,000 of the build. Of each, cases in a topology that the result has are taken.
        Graphs with the calls of a count build go first, as in `graphs_of_result`.
        Raises `UnreadableRecord`.
        """
        with self._database.read_transaction() as connection:
            meant = connection.execute(select(document).where(document.c.id == result)).one()
            like = _measured(meant)[side]
            rows = connection.execute(_results_of_build(like.build)).all()
        alike: dict[Side, list[str]] = {BASE: [], HEAD: []}
        for row in rows:
            # What another version has written may have been measured otherwise.
            with contextlib.suppress(UnreadableRecord):
                for each, measured in _measured(row).items():
                    if measured == like:
                        alike[each].append(row.id)
        topologies = select(case_result.c.topology).where(case_result.c.document_id == result)
        is_in_topology = exists().where(
            case_result.c.document_id == trial.c.request_id,
            case_result.c.case == job.c.case,
            case_result.c.topology.in_(topologies),
        )
        of_sides = [(trial.c.side == each) & trial.c.request_id.in_(identities) for each, identities in alike.items()]
        return self._newest(or_(*of_sides), is_in_topology)

    def counted_cases(self, build: str) -> set[str]:
        """Return the cases with valid call graphs of a build in any comparison or run, however it was measured."""
        sides = ((BASE, document.c.base_build), (HEAD, document.c.head_build))
        of_build = [
            (trial.c.side == side) & trial.c.request_id.in_(select(document.c.id).where(column == build))
            for side, column in sides
        ]
        return {graph.case for graph in self._newest(or_(*of_build))}

    def _newest(self, *conditions: Any) -> list[CountedGraph]:
        statement: Select[Any] = (
            select(
                *(trial.c.request_id, trial.c.side, job.c.case, job.c.id),
                *(trial.c.graph, trial.c.executed, trial.c.call_counts),
            )
            .join(job, job.c.id == trial.c.job_id)
            .where(trial.c.valid, trial.c.graph.is_not(None), job.c.engine == "counted", *conditions)
            .order_by(trial.c.call_counts.is_not(None), trial.c.id)
        )
        with self._database.read_transaction() as connection:
            newest = {row.case: CountedGraph(*row) for row in connection.execute(statement)}
        return [newest[case] for case in sorted(newest)]

    def newest_results(self, limit: int) -> dict[str, int]:
        """Return how many cases have call graphs in the newest comparisons and runs with any, the newest first.

        Of the last 200, by id.
        """
        last = select(document.c.id, document.c.number).order_by(document.c.number.desc()).limit(RESULTS_EXAMINED)
        examined = last.subquery()
        is_counted = exists().where(trial.c.request_id == examined.c.id, trial.c.valid, trial.c.graph.is_not(None))
        counted = select(examined.c.id, examined.c.number).where(is_counted)
        newest = counted.order_by(examined.c.number.desc()).limit(limit).subquery()
        statement = (
            select(newest.c.id, func.count(job.c.case.distinct()))
            .join(trial, trial.c.request_id == newest.c.id)
            .join(job, job.c.id == trial.c.job_id)
            .where(trial.c.valid, trial.c.graph.is_not(None))
            .group_by(newest.c.id, newest.c.number)
            .order_by(newest.c.number.desc())
        )
        with self._database.read_transaction() as connection:
            return {row[0]: row[1] for row in connection.execute(statement)}

    def comparisons_of_build(self, build: str) -> list[str]:
        """Return the ids of the comparisons of a build with another one, the newest first, of the last 100."""
        is_meant = (document.c.kind == "compare", document.c.base_build != document.c.head_build)
        statement = _results_of_build(build).with_only_columns(document.c.id).where(*is_meant)
        with self._database.read_transaction() as connection:
            return list(connection.execute(statement.limit(COMPARISONS_OF_BUILD)).scalars())

    def cases(self, jobs: Collection[str]) -> dict[str, Case]:
        """Return the cases that jobs have measured, by name; raises `UnreadableRecord`."""
        return {measuring.case.name: measuring.case for measuring in self.jobs(jobs).values()}

    def jobs(self, identities: Collection[str]) -> dict[str, TrialsJob]:
        """Return jobs of trials by their ids; raises `UnreadableRecord`."""
        jobs: dict[str, TrialsJob] = {}
        for part in _parts(sorted(identities)):
            with self._database.read_transaction() as connection:
                rows = connection.execute(select(job.c.id, job.c.document).where(job.c.id.in_(part))).all()
            for row in rows:
                of_row = read_stored_job(row.document, row.id)
                if isinstance(of_row, TrialsJob):
                    jobs[row.id] = of_row
        return jobs

    def kept(self, graphs: Collection[str], revision: str, *, needs_build: bool = False) -> dict[str, CountedWork]:
        """Return what a revision of the search keeps of call graphs, with the build where needed, by their digests."""
        return self._kept(CountedWork, graphs, revision, needs_build=needs_build)

    def kept_groups(self, groups: Collection[str], revision: str, *, needs_build: bool = False) -> dict[str, GroupWork]:
        """Return what a revision of the search keeps of groups of cases, by their digests."""
        return self._kept(GroupWork, groups, revision, needs_build=needs_build)

    def _kept(
        self, kind: type[_Kept], digests: Collection[str], revision: str, *, needs_build: bool
    ) -> dict[str, _Kept]:
        works: dict[str, _Kept] = {}
        for part in _parts(sorted(digests)):
            statement = select(kept_work.c.graph, kept_work.c.document)
            statement = statement.where(kept_work.c.graph.in_(part), kept_work.c.found_by == revision)
            if needs_build:
                statement = statement.where(kept_work.c.has_build)
            with self._database.read_transaction() as connection:
                rows = connection.execute(statement).all()
            for row in rows:
                # What cannot be read is looked for anew.
                with contextlib.suppress(UnreadableRecord):
                    works[row.graph] = read_stored(kind, row.document, f"the work of {row.graph}")
        return works

    def keep(self, works: Mapping[str, CountedWork], revision: str, *, has_build: bool) -> None:
        """Record what a revision of the search has found in call graphs, in place of what another one has.

        `has_build` states that the build could be read, with whatever debug information it has.
        """
        self._keep(works, revision, has_build=has_build)

    def keep_groups(self, works: Mapping[str, GroupWork], revision: str, *, has_build: bool) -> None:
        """Record what a revision of the search has found in groups of cases, until the store is pruned."""
        self._keep(works, revision, has_build=has_build)

    def _keep(
        self, works: Mapping[str, CountedWork] | Mapping[str, GroupWork], revision: str, *, has_build: bool
    ) -> None:
        # No result changes: those who wait for one need not look again.
        with self._database.write_transaction(is_change=False) as connection:
            for graph, work in works.items():
                values = {"found_by": revision, "has_build": has_build, "document": work.model_dump_json()}
                statement = insert_of(connection, kept_work).values(graph=graph, **values)
                connection.execute(statement.on_conflict_do_update(index_elements=["graph"], set_=values))


@dataclass(frozen=True)
class _Measured:
    """What call graphs of one version have in common that are measured alike; `platform` is a fingerprint."""

    build: str
    config: Mapping[str, str]
    platform: str
    quick: bool


class _Settings(BaseModel):
    quick: bool = False


class _Result(BaseModel):
    """What is read of the document of a comparison, with a base and a head, or of a run, with a server."""

    base: MeasuredServer | None = None
    head: MeasuredServer | None = None
    server: MeasuredServer | None = None
    settings: _Settings


def _measured(row: Any) -> dict[Side, _Measured]:
    """Return how the sides of a comparison or run were measured; raises `UnreadableRecord`."""
    read = read_stored(_Result, row.document, f"the document of {row.id}")
    servers = {BASE: read.base, HEAD: read.head or read.server}
    return {
        side: _Measured(server.build, server.config, row.platform_fingerprint, read.settings.quick)
        for side, server in servers.items()
        if server is not None
    }


def _results_of_build(build: str) -> Select[Any]:
    of_build = or_(document.c.base_build == build, document.c.head_build == build)
    return select(document).where(of_build).order_by(document.c.number.desc()).limit(RESULTS_OF_BUILD)


def _parts(values: Sequence[str]) -> Iterable[Sequence[str]]:
    for first in range(0, len(values), ROWS_AT_ONCE):
        yield values[first : first + ROWS_AT_ONCE]
