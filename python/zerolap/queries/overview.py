"""The overview: the newest comparisons, runs and sweeps of snapshots, and how the fleet is."""

import time
from collections import Counter
from typing import Final

from zerolap.queries.commit_strips import CommitStrip, commit_strips
from zerolap.queries.fleet_state import GONE_AFTER_SECONDS
from zerolap.queries.published_changes import MOST_HISTORIES, ListedChange, listed_changes
from zerolap.queries.query import PageQuery, Parameters, QuerySources
from zerolap.queries.report_list import ListedReport, listed_reports, report_rows
from zerolap.queries.sweep_list import ListedSweep, newest_sweeps
from zerolap.records import REPORT_PATHS, Record, ReportPath
from zerolap.store import RequestInShort

NEWEST: Final = 20
OPEN_SHOWN: Final = 20
SWEEPS_SHOWN: Final = 5
CHANGES_SHOWN: Final = 30


class OpenRequest(Record):
    """A request of which nothing was measured yet, or that is being measured; `reason` states why it waits."""

    id: str
    path: ReportPath
    platform: str
    sides: tuple[str, ...]
    state: str
    reason: str


class FleetHealth(Record):
    """How many agents there are, how many of them are gone, draining or refused, and how many requests are open."""

    agents: int = 0
    gone: int = 0
    draining: int = 0
    refused: int = 0
    open_requests: int = 0


class Overview(Record):
    """What the first page shows; `is_empty` where nothing was ever measured or asked for.

    `strips` are those of the histories that were judged last, `open_changes` the largest of the `open_count`
    regressions and drifts that are neither accepted nor made good.
    """

    is_empty: bool
    strips: tuple[CommitStrip, ...]
    open_changes: tuple[ListedChange, ...]
    open_count: int
    newest: tuple[ListedReport, ...]
    sweeps: tuple[ListedSweep, ...]
    open_requests: tuple[OpenRequest, ...]
    fleet: FleetHealth


def read_overview(sources: QuerySources, _: Parameters) -> Overview:
    """Return the overview of a store."""
    store = sources.store
    newest = listed_reports(sources, store.comparisons(NEWEST))
    open_ids = store.fleet.open_requests()
    shown = filter(None, (store.fleet.in_short(identity) for identity in open_ids[-OPEN_SHOWN:][::-1]))
    histories = store.published_histories.histories(MOST_HISTORIES)
    sweeps = newest_sweeps(store, SWEEPS_SHOWN)
    return Overview(
        is_empty=not newest and not open_ids and not histories and not sweeps,
        strips=commit_strips(store, histories),
        open_changes=listed_changes(
            store,
            store.published_histories.open_changes(CHANGES_SHOWN),
            {history.number: history for history in histories},
        ),
        open_count=store.published_histories.open_count(),
        newest=newest,
        sweeps=sweeps,
        open_requests=tuple(_open_request(work) for work in shown),
        fleet=_health(sources, len(open_ids)),
    )


def _open_request(work: RequestInShort) -> OpenRequest:
    return OpenRequest(
        id=work.id,
        path=REPORT_PATHS[work.kind],
        platform=work.platform,
        sides=tuple(side.name for side in work.sides.values()),
        state=work.state,
        reason=work.reason or work.unreadable,
    )


def _health(sources: QuerySources, open_requests: int) -> FleetHealth:
    agents, now = sources.store.fleet.agents(), time.time()
    counts = Counter(
        "refused"
        if agent.refusal
        else "gone"
        if now - agent.seen > GONE_AFTER_SECONDS
        else "draining"
        if agent.draining
        else "working"
        for agent in agents
    )
    return FleetHealth(
        agents=len(agents),
        gone=counts["gone"],
        draining=counts["draining"],
        refused=counts["refused"],
        open_requests=open_requests,
    )


OVERVIEW: Final = PageQuery(
    name="overview",
    summary="The newest comparisons and runs, open requests, and how the fleet is",
    parameters=Parameters,
    result=Overview,
    read=read_overview,
    table=lambda answer: report_rows(answer.newest),
)
