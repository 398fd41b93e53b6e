"""What pages of comparisons and runs read in parts: a list of requests, a case, a trial, how far the work has come."""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from zerolap.records import (
    Platform,
    RequestKind,
    RequestState,
    Revision,
    TrialsJob,
    UnreadableRecord,
    read_stored_job,
)
from zerolap.store import trials
from zerolap.store.database import Records, begins_with, has_text
from zerolap.store.documents import Kind, StoredRow, short_row
from zerolap.store.recorded_requests import RequestInShort, read_facts, request_in_short
from zerolap.store.tables import case_result, document, job, platform, request, revision, revision_build, trial
from zerolap.store.trials import NumberedTrial

READ_AT_ONCE: Final = 100
SEARCHED_AT_ONCE: Final = 5_000
"""The most requests that are searched for a text until the next page is asked for."""
COMPARED_AT_ONCE: Final = 10_000
"""The most requests that are compared with a filter without an index."""
ALL: Final = 1 << 62
MOST_OF_ID: Final = 1_000
"""The most requests that are listed for one beginning of an id."""
RESULTS_OF_CASES: Final = 100
"""The newest results that are searched for cases."""
DIGITS_OF_CHANGE: Final = 32
ID_BEGINS: Final = re.compile(r"[ckrw]-[0-9a-f-]{4,64}")


@dataclass(frozen=True)
class RequestFilter:
    """Which requests are listed; what is empty excludes none. `text` is sought in ids, names and commands."""

    text: str = ""
    state: str = ""
    platform: str = ""
    kind: RequestKind | Literal[""] = ""


@dataclass(frozen=True)
class ListedRequest:
    """A request with its document in short, none where nothing was measured yet."""

    number: int
    created: str
    asked: RequestInShort
    measured: StoredRow | None
    machine: str


@dataclass(frozen=True)
class RequestPage:
    """Requests, the newest first. `next_number` is where the next ones begin, none where all were read or searched."""

    requests: tuple[ListedRequest, ...]
    next_number: int | None


@dataclass(frozen=True)
class RequestProgress:
    """How far the work on a request has come; `change` differs whenever its document does.

    `trials_seconds` is the machine time of its trials; `has_document` states whether there is anything to report.
    """

    state: RequestState
    reason: str
    jobs: int
    jobs_ended: int
    trials: int
    trials_seconds: float
    cases: int
    has_document: bool
    change: str


@dataclass(frozen=True)
class TrialRecord:
    """A trial with what belongs to it; `platform` has the facts of its time, none where they were not recorded.

    `log` is the digest of the log that its job has left.
    """

    request: str
    kind: Kind
    numbered: NumberedTrial
    job: TrialsJob
    platform: Platform | None
    log: str | None


class RequestListing(Records):
    """Reads of comparisons and runs in parts; its methods may be called from any thread."""

    def page(self, wanted: RequestFilter, limit: int, before: int | None = None) -> RequestPage:
        """Return the newest requests, or those older than the one of a number; a few thousand are searched at once."""
        with self._database.read_transaction() as connection:
            return _page(connection, wanted, limit, before)

    def platforms(self) -> list[str]:
        """Return the names that requests can be filtered by: of platforms of a fleet and of machines."""
        return sorted(set(self._database.values(select(platform.c.name).distinct())))

    def comparisons_with_head(self, commit: str, limit: int) -> list[str]:
        """Return the newest measured comparisons whose head is a build of a commit, by their ids."""
        # Not joined: SQLite would read all documents in the order of their numbers.
        builds = select(revision_build.c.build).where(revision_build.c.commit == commit)
        statement = (
            select(document.c.id)
            .where(document.c.head_build.in_(builds), document.c.kind == "compare")
            .order_by(document.c.number.desc())
            .limit(limit)
        )
        return self._database.values(statement)

    def revisions(self, commits: Collection[str]) -> list[Revision]:
        """Return what is recorded of commits, without their parents, in each repository that has them."""
        return list(map(_revision, self._database.rows_with(select(revision), revision.c.commit, commits)))

    def revisions_named(self, begin: str, limit: int) -> list[Revision]:
        """Return the newest commits whose ids begin so, without their parents."""
        return self._revisions(begins_with(revision.c.commit, begin), limit)

    def revisions_with_text(self, text: str, limit: int) -> list[Revision]:
        """Return the newest commits whose id begins with a text, or whose subject or author has it, without parents."""
        is_named = begins_with(revision.c.commit, text.lower())
        return self._revisions(
            or_(is_named, has_text(revision.c.subject, text), has_text(revision.c.author, text)), limit
        )

    def _revisions(self, is_meant: ColumnElement[bool], limit: int) -> list[Revision]:
        statement = select(revision).where(is_meant).order_by(revision.c.time.desc()).limit(limit)
        return list(map(_revision, self._database.rows(statement)))

    def cases_named(self, text: str, limit: int) -> dict[str, str]:
        """Return the newest result with each case whose name has a text, of the last results, by case."""
        last = select(document.c.id, document.c.number).order_by(document.c.number.desc()).limit(RESULTS_OF_CASES)
        newest = last.subquery()
        statement = (
            select(case_result.c.case, newest.c.id)
            .join(newest, newest.c.id == case_result.c.document_id)
            .where(has_text(case_result.c.case, text))
            .order_by(newest.c.number, case_result.c.case)
        )
        results = {row.case: row.id for row in self._database.rows(statement)}
        return {name: results[name] for name in sorted(results)[:limit]}

    def case_documents(self, identity: str) -> list[tuple[str, str]]:
        """Return the names and documents of all cases of a comparison or run, in order."""
        statement = select(case_result.c.case, case_result.c.document).where(case_result.c.document_id == identity)
        return [(row.case, row.document) for row in self._database.rows(statement.order_by(case_result.c.position))]

    def case_document(self, identity: str, name: str) -> str | None:
        """Return the document of one case."""
        is_meant = (case_result.c.document_id == identity, case_result.c.case == name)
        found: str | None = self._database.value(select(case_result.c.document).where(*is_meant))
        return found

    def request_document(self, identity: str) -> str | None:
        """Return a request as it was asked for, as JSON."""
        found: str | None = self._database.value(select(request.c.document).where(request.c.id == identity))
        return found

    def resolved_document(self, identity: str) -> str | None:
        """Return a request as it was carried out, as JSON: the builds and cases of it that were possible."""
        found: str | None = self._database.value(select(request.c.resolved).where(request.c.id == identity))
        return found

    def measured_cases(self, identity: str) -> set[str]:
        """Return the cases of a request of which no job is open: what there is of them says something."""
        with self._database.read_transaction() as connection:
            return _measured_cases(connection, identity)

    def progress(self, identity: str) -> RequestProgress | None:
        """Return how far the work on a request has come, none for an unknown one."""
        with self._database.read_transaction() as connection:
            return _progress(connection, identity)

    def trials_of(
        self, identity: str, name: str, side: str = "", limit: int | None = None, after: int = 0
    ) -> list[NumberedTrial]:
        """Return the trials of a case, in the order of recording; of a side, if one is named."""
        is_meant = [trial.c.request_id == identity, job.c.case == name, trial.c.id > after]
        if side:
            is_meant.append(trial.c.side == side)
        numbers = select(trial.c.id).join(job, job.c.id == trial.c.job_id).where(*is_meant).order_by(trial.c.id)
        with self._database.read_transaction() as connection:
            chosen = list(connection.execute(numbers.limit(limit)).scalars())
            return list(_numbered(connection, chosen))

    def trial_counts(self, identity: str, name: str) -> dict[str, int]:
        """Return how many trials a case has, by side."""
        is_meant = (trial.c.request_id == identity, job.c.case == name)
        statement = select(trial.c.side, func.count().label("trials")).join(job, job.c.id == trial.c.job_id)
        with self._database.read_transaction() as connection:
            rows = connection.execute(statement.where(*is_meant).group_by(trial.c.side))
            return {row.side: row.trials for row in rows}

    def trial(self, number: int) -> TrialRecord | None:
        """Return a trial with what belongs to it; raises `UnreadableRecord`."""
        with self._database.read_transaction() as connection:
            return _trial_record(connection, number)


def _revision(row: Row[Any]) -> Revision:
    return Revision(**row._mapping)


def _page(connection: Connection, wanted: RequestFilter, limit: int, before: int | None) -> RequestPage:
    taken: list[ListedRequest] = []
    newest = _newest(connection) + 1 if before is None else before
    oldest = max(newest - _most_searched(wanted), 0)
    last = newest
    for listed in _listed(connection, wanted, newest, oldest):
        if not _has_text(listed, wanted.text.strip().lower()):
            continue
        if len(taken) == limit:
            return RequestPage(tuple(taken), last)
        taken.append(listed)
        last = listed.number
    return RequestPage(tuple(taken), oldest if oldest > 0 else None)


def _most_searched(wanted: RequestFilter) -> int:
    """Return how many requests may be read in search of those that match."""
    if wanted.text.strip() and not _is_id(wanted.text):
        return SEARCHED_AT_ONCE
    return COMPARED_AT_ONCE if wanted.platform or wanted.kind else ALL


def _is_id(text: str) -> bool:
    return ID_BEGINS.fullmatch(text.strip().lower()) is not None


def _newest(connection: Connection) -> int:
    number: int | None = connection.execute(select(func.max(request.c.number))).scalar()
    return number or 0


def _listed(connection: Connection, wanted: RequestFilter, newest: int, oldest: int) -> Iterator[ListedRequest]:
    before = newest
    while True:
        statement = _matching(wanted).where(request.c.number < before, request.c.number >= oldest)
        rows = connection.execute(statement.order_by(request.c.number.desc()).limit(READ_AT_ONCE)).all()
        for row in rows:
            measured = None if row.document_of is None else short_row(row.id, row.kind, row.state, row.document_of)
            yield ListedRequest(row.number, row.created, request_in_short(row), measured, row.machine or "")
        if len(rows) < READ_AT_ONCE:
            return
        before = rows[-1].number


def _matching(wanted: RequestFilter) -> Select[Any]:
    statement = (
        select(request, document.c.document.label("document_of"), platform.c.name.label("machine"))
        .outerjoin(document, and_(document.c.id == request.c.id, document.c.kind != "snapshot"))
        .outerjoin(platform, platform.c.fingerprint == request.c.platform_fingerprint)
    )
    if wanted.state:
        statement = statement.where(request.c.state == wanted.state)
    if wanted.kind:
        statement = statement.where(request.c.kind == wanted.kind)
    if wanted.platform:
        statement = statement.where(or_(platform.c.name == wanted.platform, request.c.platform == wanted.platform))
    if wanted.text.strip():
        statement = statement.where(_mentions(wanted.text.strip()))
    return statement


def _mentions(text: str) -> ColumnElement[bool]:
    """Whether a text is in an id or in what is written of a measured request: more than those that are meant."""
    if _is_id(text):
        # Read by the index of ids, and not one by one by their numbers.
        ids = request.alias("ids")
        numbers = select(ids.c.number).where(begins_with(ids.c.id, text.lower()))
        return request.c.number.in_(numbers.order_by(ids.c.id).limit(MOST_OF_ID))
    # As JSON has it, in which letters beyond ASCII and quotes are escaped.
    written = json.dumps(text)[1:-1]
    ways = [request.c.id, document.c.document, platform.c.name, request.c.platform]
    found = [has_text(column, written) for column in ways]
    # What was not measured has no document; of these there are few.
    return or_(*found, document.c.id.is_(None))


def _has_text(listed: ListedRequest, text: str) -> bool:
    asked, measured = listed.asked, listed.measured
    texts = [asked.id, asked.platform, listed.machine, asked.command_line, asked.trigger]
    texts += [part for side in asked.sides.values() for part in (side.name, side.commit or "")]
    if measured is not None:
        texts += [measured.base or "", measured.head, measured.command_line]
    return any(text in other.lower() for other in texts)


def _measured_cases(connection: Connection, identity: str) -> set[str]:
    is_open = and_(job.c.finished.is_(None), job.c.failure.is_(None))
    statement = (
        select(job.c.case)
        .where(job.c.request_id == identity, job.c.case.is_not(None))
        .group_by(job.c.case)
        .having(func.count().filter(is_open) == 0)
    )
    return set(connection.execute(statement).scalars())


def _progress(connection: Connection, identity: str) -> RequestProgress | None:
    asked = connection.execute(select(request.c.state, request.c.reason).where(request.c.id == identity)).first()
    if asked is None:
        return None
    is_ended = or_(job.c.finished.is_not(None), job.c.failure.is_not(None))
    jobs = connection.execute(
        select(func.count(), func.count().filter(is_ended)).select_from(job).where(job.c.request_id == identity)
    ).one()
    measured = connection.execute(
        select(func.count(), func.coalesce(func.sum(trial.c.seconds), 0.0), func.max(trial.c.id)).where(
            trial.c.request_id == identity
        )
    ).one()
    of_document = connection.execute(select(document.c.document).where(document.c.id == identity)).scalar()
    # By their content: SQLite gives the number of a case that is written anew to it once more.
    digests = select(case_result.c.digest).where(case_result.c.document_id == identity)
    cases = list(connection.execute(digests.order_by(case_result.c.position)).scalars())
    # A comparison that goes on is read from its trials and jobs, so that they change it too.
    counted = (asked.state, of_document is not None, measured[0], measured[2] or 0, jobs[0], jobs[1])
    content = hashlib.sha256("\n".join([of_document or "", *cases]).encode()).hexdigest()[:DIGITS_OF_CHANGE]
    return RequestProgress(
        state=asked.state,
        reason=asked.reason,
        jobs=jobs[0],
        jobs_ended=jobs[1],
        trials=measured[0],
        trials_seconds=measured[1],
        cases=len(cases) or len(_measured_cases(connection, identity)),
        has_document=of_document is not None,
        change=f"{' '.join(map(str, counted))} {content}",
    )


def _numbered(connection: Connection, numbers: Sequence[int]) -> Iterator[NumberedTrial]:
    for first in range(0, len(numbers), READ_AT_ONCE):
        yield from trials.read_numbered(connection, trial.c.id.in_(numbers[first : first + READ_AT_ONCE]))


def _trial_record(connection: Connection, number: int) -> TrialRecord | None:
    columns = select(
        trial.c.request_id,
        trial.c.facts,
        request.c.kind,
        request.c.platform_fingerprint,
        job.c.id,
        job.c.document,
        job.c.log,
    )
    joined = columns.join(job, job.c.id == trial.c.job_id).join(request, request.c.id == trial.c.request_id)
    row = connection.execute(joined.where(trial.c.id == number)).first()
    if row is None:
        return None
    [numbered] = _numbered(connection, [number])
    of_job = read_stored_job(row.document, row.id)
    if not isinstance(of_job, TrialsJob):
        raise UnreadableRecord(f"the job {row.id} has no trials", hint="the store is damaged")
    return TrialRecord(
        request=row.request_id,
        kind=row.kind,
        numbered=numbered,
        job=of_job,
        platform=read_facts(connection, row.platform_fingerprint or "", row.facts),
        log=row.log,
    )
