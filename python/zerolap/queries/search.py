"""What a text names: commits, histories, requests and cases, the most exact first."""

import re
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.named_commits import NamedCommit, named_commit, range_commit
from zerolap.queries.published_changes import MOST_HISTORIES
from zerolap.queries.query import Parameters, QuerySources, page_query
from zerolap.queries.report_list import ListedReport, listed_reports, listed_requests
from zerolap.records import PublishedCommit, PublishedHistory, RangeCommit, Record, Revision
from zerolap.store import RequestFilter, Store

MOST_OF_KIND: Final = 20
READ_COMMITS: Final = 200
"""Several histories and repositories have the same commits."""
FEWEST_CHARACTERS: Final = 2
HASH: Final = re.compile(r"[0-9a-f]{7,64}")
"""What is a hash rather than the number of a pull request or a word."""
REQUEST: Final = re.compile(r"[ckrw]-[0-9a-f-]{4,64}")


class SearchParameters(Parameters):
    """What is looked for."""

    text: Annotated[
        str,
        Field(
            min_length=FEWEST_CHARACTERS,
            max_length=200,
            description="The beginning of a commit's id or tag, or a part of its subject, as `#123` of a pull request, "
            "or of its author's name; the beginning of an id of a comparison or run; a part of the name of a case or a "
            "branch.",
        ),
    ]


class MatchingCase(Record):
    """A case by its name: whether it has series, and the newest result with it, null where that is old."""

    case: str
    has_series: bool
    result: ListedReport | None


class SearchResults(Record):
    """What a text names, at most 20 of each kind."""

    commits: tuple[NamedCommit, ...]
    histories: tuple[PublishedHistory, ...]
    requests: tuple[ListedReport, ...]
    cases: tuple[MatchingCase, ...]


def read_search(sources: QuerySources, parameters: SearchParameters) -> SearchResults:
    """Return what a text names."""
    store, text = sources.store, parameters.text.strip()
    if len(text) < FEWEST_CHARACTERS:
        return SearchResults(commits=(), histories=(), requests=(), cases=())
    histories = store.published_histories.histories(MOST_HISTORIES)
    is_id = REQUEST.fullmatch(text.lower()) is not None
    requests = store.reports.page(RequestFilter(text), MOST_OF_KIND).requests if is_id else ()
    return SearchResults(
        commits=_commits(sources, text, {history.number: history.repository for history in histories}),
        histories=tuple(history for history in histories if text.lower() in history.range.lower())[:MOST_OF_KIND],
        requests=listed_requests(sources, requests),
        cases=_cases(sources, text),
    )


def _commits(sources: QuerySources, text: str, repositories: dict[int, str]) -> tuple[NamedCommit, ...]:
    """Return commits, those of histories first, which know their tags; what a text names exactly before all others."""
    kept, revisions = _named_commits(sources.store, text)
    in_repositories: list[tuple[RangeCommit, str]] = [
        (commit, repositories[commit.history]) for commit in kept if commit.history in repositories
    ]
    in_repositories += [(range_commit(revision), revision.repository) for revision in revisions]
    unique = {commit.commit: (commit, repository) for commit, repository in reversed(in_repositories)}
    ordered = sorted(unique.values(), key=lambda entry: entry[0].time, reverse=True)
    ordered.sort(key=lambda entry: not entry[0].is_named(text))
    return tuple(named_commit(sources, commit.listed, repository) for commit, repository in ordered[:MOST_OF_KIND])


def _named_commits(store: Store, text: str) -> tuple[list[PublishedCommit], list[Revision]]:
    """Return commits of histories and others; those that a hash names are found by an index."""
    if HASH.fullmatch(text.lower()):
        kept = store.published_histories.commits_named(text.lower(), READ_COMMITS)
        revisions = store.reports.revisions_named(text.lower(), READ_COMMITS)
        if kept or revisions:
            return kept, revisions
    return (
        store.published_histories.commits_with_text(text, READ_COMMITS),
        store.reports.revisions_with_text(text, READ_COMMITS),
    )


def _cases(sources: QuerySources, text: str) -> tuple[MatchingCase, ...]:
    store = sources.store
    with_series = set(store.published_histories.case_names(text, MOST_OF_KIND))
    results = store.reports.cases_named(text, MOST_OF_KIND)
    names = sorted(with_series | set(results), key=lambda name: (name != text, name))[:MOST_OF_KIND]
    rows = store.in_short({results[name] for name in names if name in results})
    listed = {report.id: report for report in listed_reports(sources, rows.values())}
    return tuple(
        MatchingCase(case=name, has_series=name in with_series, result=listed.get(results.get(name, "")))
        for name in names
    )


SEARCH: Final = page_query(read_search, "search", "The commits, histories, requests and cases that a text names")
