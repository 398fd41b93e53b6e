"""How it stands with a request: its state, how far the work has come, and how long it may still take."""

from typing import Annotated, Final

from pydantic import BaseModel, Field

from zerolap.queries.query import Parameters, QuerySources, page_query
from zerolap.records import Record, RequestState, UnreadableRecord, UsageError, read_stored
from zerolap.store import RequestProgress, Store

OPEN: Final = ("waiting", "running")
FEWEST_CASES: Final = 2
"""The number of finished cases from which the time of the others is estimated."""


class RequestParameters(Parameters):
    """Which request."""

    id: Annotated[str, Field(pattern=r"^[ckrw]-[0-9a-f-]{1,64}$", description="Its id.")]


class RequestStatus(Record):
    """The state of a request; `reasons` state why it waits or ended.

    `cases_asked` are the cases that were asked for, `cases` those that have a result; further jobs are planned as
    results come in. `has_report` states whether there is a report of it yet. `trials_seconds` is the machine time of
    all trials. `seconds_left` is null where it is not known, `change` differs whenever there is more to see than
    before.
    """

    id: str
    platform: str
    sides: tuple[str, ...]
    state: RequestState
    has_ended: bool
    has_report: bool
    reasons: tuple[str, ...]
    cases_asked: int
    cases: int
    jobs: int
    jobs_ended: int
    trials: int
    trials_seconds: float
    seconds_left: float | None
    change: str


class _Case(BaseModel):
    name: str


class _Settings(BaseModel):
    budget_seconds: float | None = None


class _Source(BaseModel):
    name: str


class _Server(BaseModel):
    source: _Source


class AskedInShort(BaseModel):
    """What a page shows of a request as it was asked for."""

    platform: str = ""
    servers: dict[str, _Server] = {}
    cases: list[_Case] = []
    settings: _Settings = _Settings()


def asked_in_short(store: Store, identity: str) -> tuple[AskedInShort, str]:
    """Return what was asked for, and why that cannot be read, empty where it can; raises `UsageError`."""
    document = store.reports.request_document(identity)
    if document is None:
        raise UsageError(f"the lab knows nothing of {identity}")
    try:
        return read_stored(AskedInShort, document, f"the request {identity}"), ""
    except UnreadableRecord as fault:
        return AskedInShort(), fault.message


def status_of(store: Store, identity: str, asked: AskedInShort, unreadable: str = "") -> RequestStatus:
    """Return how it stands with a request; raises `UsageError`."""
    progress = store.reports.progress(identity)
    if progress is None:
        raise UsageError(f"the lab knows nothing of {identity}")
    return RequestStatus.taken_from(
        asked,
        progress,
        id=identity,
        sides=tuple(server.source.name for server in asked.servers.values()),
        has_ended=progress.state not in OPEN,
        has_report=progress.has_document,
        reasons=tuple(reason for reason in (progress.reason, unreadable) if reason),
        cases_asked=len(asked.cases),
        cases=progress.cases,
        seconds_left=_seconds_left(progress, asked),
    )


def _seconds_left(progress: RequestProgress, asked: AskedInShort) -> float | None:
    """Return how long trials may still take: as long as the jobs before, and not longer than the budget."""
    if progress.state != "running":
        return None
    budget = asked.settings.budget_seconds
    bound = None if budget is None else max(budget - progress.trials_seconds, 0.0)
    if progress.jobs_ended < FEWEST_CASES:
        return bound
    estimate = progress.trials_seconds / progress.jobs_ended * (progress.jobs - progress.jobs_ended)
    return estimate if bound is None else min(estimate, bound)


def _read(sources: QuerySources, parameters: RequestParameters) -> RequestStatus:
    asked, unreadable = asked_in_short(sources.store, parameters.id)
    return status_of(sources.store, parameters.id, asked, unreadable)


REQUEST_STATUS: Final = page_query(
    _read, "request", "The state of a request, how far the work on it has come, and why it waits or ended"
)
