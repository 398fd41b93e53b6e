"""What a commit did: to each group of cases, and which cases have a step there."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.named_commits import NamedCommit, named_commit, named_commits
from zerolap.queries.published_changes import (
    MOST_HISTORIES,
    ListedChange,
    change_rows,
    listed_changes,
)
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.report_list import ListedReport, listed_reports
from zerolap.records import ChangedGroup, ListedCommit, PublishedCommit, PublishedHistory, Record, UsageError
from zerolap.store import Store

MOST_OF_COMMIT: Final = 20
"""Histories that one commit is shown in."""
MOST_STEPS: Final = 300
MOST_DRIFTS: Final = 50
MOST_COMPARISONS: Final = 10


class CommitParameters(Parameters):
    """Which commit."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{4,64}$", description="The beginning of its id.")]


class CommitInHistory(Record):
    """A commit in a history.

    `after` is the commit before, null for the first; `is_same_program`: both have the same program. `drifts` contain
    the commit, or begin after it.
    """

    history: PublishedHistory
    after: ListedCommit | None
    failure: str | None
    is_built: bool
    is_same_program: bool
    measured: int
    changed: int
    groups: tuple[ChangedGroup, ...]
    steps: tuple[ListedChange, ...]
    drifts: tuple[ListedChange, ...]


class CommitChanges(Record):
    """A commit in the histories that have it, those judged last first.

    `comparisons` are the newest of which it is the head.
    """

    commit: NamedCommit
    tags: tuple[str, ...]
    histories: tuple[CommitInHistory, ...]
    comparisons: tuple[ListedReport, ...]


def _read(sources: QuerySources, parameters: CommitParameters) -> CommitChanges:
    store = sources.store
    known = {history.number: history for history in store.published_histories.histories(MOST_HISTORIES)}
    named = store.published_histories.commits_named(parameters.commit, MOST_OF_COMMIT)
    commits = [commit for commit in named if commit.history in known]
    if not commits:
        return _outside_histories(sources, parameters.commit)
    if len({commit.commit for commit in commits}) > 1:
        raise UsageError(f"several commits begin with {parameters.commit}", hint="give more of the id")
    before = store.published_histories.commits_at({(commit.history, commit.position - 1) for commit in commits})
    changes = _changes(store, commits, known)
    return CommitChanges(
        commit=named_commit(sources, commits[0].listed, known[commits[0].history].repository),
        tags=commits[0].tags,
        histories=tuple(
            _in_history(
                store,
                commit,
                before.get((commit.history, commit.position - 1)),
                known[commit.history],
                [change for change in changes if change.history == commit.history],
            )
            for commit in commits
        ),
        comparisons=_comparisons(sources, commits[0].commit),
    )


def _outside_histories(sources: QuerySources, beginning: str) -> CommitChanges:
    """Return a commit that was measured, and that no history has."""
    named = sources.store.reports.revisions_named(beginning, MOST_OF_COMMIT)
    commits = {revision.commit for revision in named if revision.commit.startswith(beginning)}
    if len(commits) > 1:
        raise UsageError(f"several commits begin with {beginning}", hint="give more of the id")
    if not commits:
        raise UsageError(f"no commit {beginning} was measured", hint="`zerolap history` measures ranges of commits")
    [commit] = named_commits(sources, commits).values()
    comparisons = _comparisons(sources, commit.commit)
    return CommitChanges(commit=commit, tags=(), histories=(), comparisons=comparisons)


def _comparisons(sources: QuerySources, commit: str) -> tuple[ListedReport, ...]:
    store = sources.store
    identities = store.reports.comparisons_with_head(commit, MOST_COMPARISONS)
    rows = store.in_short(identities)
    return listed_reports(sources, (rows[identity] for identity in identities if identity in rows))


def _changes(
    store: Store, commits: Sequence[PublishedCommit], histories: Mapping[int, PublishedHistory]
) -> tuple[ListedChange, ...]:
    """Return the steps at commits and the drifts around them, those of each history the largest first."""
    kept = store.published_histories
    changes = [
        change
        for number, position in [(commit.history, commit.position) for commit in commits]
        for change in (
            *kept.changes_at(number, position, position, MOST_STEPS),
            *kept.drifts_around(number, position, MOST_DRIFTS),
        )
    ]
    return listed_changes(store, changes, histories)


def _in_history(
    store: Store,
    commit: PublishedCommit,
    before: PublishedCommit | None,
    history: PublishedHistory,
    changes: Sequence[ListedChange],
) -> CommitInHistory:
    return CommitInHistory(
        history=history,
        after=None if before is None else before.listed,
        failure=commit.failure,
        is_built=commit.node is not None,
        is_same_program=before is not None and commit.node is not None and commit.node == before.node,
        measured=commit.measured,
        changed=commit.changed,
        groups=tuple(store.published_histories.group_changes(commit.history, commit.position)),
        steps=tuple(change for change in changes if change.kind == "step"),
        drifts=tuple(change for change in changes if change.kind == "drift"),
    )


def _rows(answer: CommitChanges) -> Iterable[TableRow]:
    return change_rows(step for history in answer.histories for step in history.steps)


COMMIT: Final = PageQuery(
    name="commit",
    summary="What a commit did to each group of cases, and which cases have a step there",
    parameters=CommitParameters,
    result=CommitChanges,
    read=_read,
    table=_rows,
)
