"""Triggers: what was delivered, watched, scheduled or asked for, and what came of it."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.named_commits import NamedCommit, named_commits
from zerolap.queries.pull_requests import LARGEST_PULL_REQUEST, pull_request_address
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.report_list import OutcomeCount, outcomes_of
from zerolap.records import REPORT_PATHS, Record, ReportPath, UnreadableRecord, moment_text
from zerolap.store import StoredTrigger, TriggerState

MOST_LISTED: Final = 200
MOST_REPOSITORIES: Final = 200
MOST_REQUESTS: Final = 20
"""The most requests shown of a trigger; a release can lead to many."""


class TriggeredRequest(Record):
    """A request that a trigger has led to; `outcomes` count the cases of one that is done by their outcome.

    `state` is `removed` where the request is not kept any more.
    """

    id: str
    path: ReportPath
    state: str
    outcomes: tuple[OutcomeCount, ...]
    head_commit: NamedCommit | None


class ListedTrigger(Record):
    """A trigger with what came of it.

    `delivery` is GitHub's id of the webhook that caused it, empty for another cause. `pull_request` is the address of
    its pull request on GitHub, null if there is none or the address is not known. `requests` are the first 20 of its
    `request_count` requests.
    """

    id: str
    kind: str
    repository: str
    subject: str
    actor: str
    delivery: str
    pull_request: str | None
    created: str
    state: TriggerState
    reason: str
    tries: int
    request_count: int
    requests: tuple[TriggeredRequest, ...]


class TriggerList(Record):
    """Triggers, the newest first; `cursor` is that of the next ones, none where there are no more.

    `counts` are those of all triggers by state, `repositories` the names that there are.
    """

    triggers: tuple[ListedTrigger, ...]
    cursor: str | None
    counts: dict[TriggerState, int]
    repositories: tuple[str, ...]


class TriggerListParameters(Parameters):
    """Which triggers are listed."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many.")] = 50
    cursor: Annotated[
        str | None, Field(pattern=r"^t-[0-9a-f]{24}$", description="The `cursor` of the answer before this one.")
    ] = None
    state: Annotated[TriggerState | None, Field(description="Only those in this state.")] = None
    repository: Annotated[str | None, Field(max_length=300, description="Only those of this repository.")] = None
    number: Annotated[
        int | None, Field(ge=1, le=LARGEST_PULL_REQUEST, description="Only those of the pull request of this number.")
    ] = None
    trigger: Annotated[str | None, Field(pattern=r"^t-[0-9a-f]{24}$", description="Only that with this id.")] = None


def _read(sources: QuerySources, parameters: TriggerListParameters) -> TriggerList:
    records = sources.store.triggers
    # One more, which is not shown, says whether there are more.
    stored = records.listed(
        parameters.limit + 1,
        before=parameters.cursor,
        state=parameters.state,
        repository=parameters.repository,
        pull_request=parameters.number,
        identity=parameters.trigger,
    )
    shown = stored[: parameters.limit]
    return TriggerList(
        triggers=_with_requests(sources, shown),
        cursor=shown[-1].id if len(stored) > parameters.limit else None,
        counts=records.counts(),
        repositories=tuple(records.repositories(MOST_REPOSITORIES)),
    )


def _with_requests(sources: QuerySources, triggers: Sequence[StoredTrigger]) -> tuple[ListedTrigger, ...]:
    store = sources.store
    ids = {stored.id: _requests_of(stored) for stored in triggers}
    shown = [identity for of_trigger, _ in ids.values() for identity in of_trigger[:MOST_REQUESTS]]
    states, kinds, reports = store.fleet.states(shown), store.kinds(shown), store.in_short(shown)
    commits = named_commits(sources, (report.head_commit for report in reports.values()))

    def request(identity: str) -> TriggeredRequest:
        report = reports.get(identity)
        return TriggeredRequest(
            id=identity,
            path=REPORT_PATHS[kinds.get(identity, "compare")],
            state=states.get(identity, "removed"),
            outcomes=() if report is None else outcomes_of(report),
            head_commit=None if report is None else commits.get(report.head_commit or ""),
        )

    return tuple(
        ListedTrigger(
            id=stored.id,
            kind=stored.kind,
            repository=stored.repository,
            subject=stored.subject,
            actor=stored.actor or "",
            delivery=stored.delivery or "",
            pull_request=pull_request_address(stored, sources.github_site),
            created=moment_text(stored.created),
            state=stored.state,
            reason=stored.reason or ids[stored.id][1],
            tries=stored.tries,
            request_count=len(ids[stored.id][0]),
            requests=tuple(map(request, ids[stored.id][0][:MOST_REQUESTS])),
        )
        for stored in triggers
    )


def _requests_of(stored: StoredTrigger) -> tuple[tuple[str, ...], str]:
    """Return the ids of the requests of a trigger, and why they cannot be read."""
    try:
        return stored.requests, ""
    except UnreadableRecord as fault:
        return (), fault.message


def _rows(answer: TriggerList) -> Iterable[TableRow]:
    yield ("created", "id", "kind", "repository", "subject", "actor", "state", "reason", "requests")
    for listed in answer.triggers:
        requests = " ".join(request.id for request in listed.requests)
        row = (listed.created, listed.id, listed.kind, listed.repository, listed.subject, listed.actor)
        yield (*row, listed.state, listed.reason, requests)


TRIGGERS: Final = PageQuery(
    name="triggers",
    summary="Triggers with what came of them, the newest first",
    parameters=TriggerListParameters,
    result=TriggerList,
    read=_read,
    table=_rows,
)
