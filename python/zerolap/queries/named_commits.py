"""Commits as pages name them: by what they state of themselves, with the pages where their host shows them."""

import re
from collections.abc import Iterable
from typing import Final

from zerolap.queries.query import QuerySources
from zerolap.records import ListedCommit, RangeCommit, Record, Revision

PULL_REQUEST: Final = re.compile(r"\(#([1-9][0-9]{0,8})\)$")
"""How hosts end the subject of a merged commit."""
GITHUB: Final = "https://github.com/"


class NamedCommit(ListedCommit):
    """A commit with the page at the host of its repository, null where that is not known.

    `pull_request` is the number at the end of its subject, null without one.
    """

    page: str | None
    pull_request: int | None
    pull_request_page: str | None


class CommitDifference(Record):
    """The commits of a comparison, null for a side that is none, and the page with what differs between them."""

    base: NamedCommit | None
    head: NamedCommit | None
    page: str | None


def named_commit(sources: QuerySources, commit: ListedCommit, repository: str) -> NamedCommit:
    """Return a commit of a repository with its pages."""
    page = sources.page_of_repository(repository)
    number = PULL_REQUEST.search(commit.subject)
    is_at_github = page is not None and page.startswith((GITHUB, f"{sources.github_site or GITHUB.rstrip('/')}/"))
    return NamedCommit(
        **dict(commit),
        page=None if page is None else f"{page}/commit/{commit.commit}",
        pull_request=None if number is None else int(number[1]),
        pull_request_page=f"{page}/pull/{number[1]}" if number is not None and is_at_github else None,
    )


def range_commit(revision: Revision) -> RangeCommit:
    """Return a commit as those of ranges are, without tags."""
    of_both = {name: getattr(revision, name) for name in ("commit", "time", "subject", "author")}
    return RangeCommit(**of_both)


def named_commits(sources: QuerySources, commits: Iterable[str | None]) -> dict[str, NamedCommit]:
    """Return what is recorded of commits, by their ids."""
    named: dict[str, NamedCommit] = {}
    for revision in sources.store.reports.revisions({commit for commit in commits if commit}):
        commit = named_commit(sources, range_commit(revision).listed, revision.repository)
        # Of several clones that have it, one whose host is known.
        if revision.commit not in named or commit.page is not None:
            named[revision.commit] = commit
    return named


def commit_difference(sources: QuerySources, base: str | None, head: str | None) -> CommitDifference:
    """Return the commits of two sides, each by its id."""
    named = named_commits(sources, (base, head))
    first, last = named.get(base or ""), named.get(head or "")
    return CommitDifference(base=first, head=last, page=_page_between(first, last))


def _page_between(base: NamedCommit | None, head: NamedCommit | None) -> str | None:
    if base is None or head is None or base.page is None or head.page is None or base.commit == head.commit:
        return None
    repository, _, _ = head.page.rpartition("/commit/")
    is_of_same = base.page == f"{repository}/commit/{base.commit}"
    return f"{repository}/compare/{base.commit}...{head.commit}" if is_of_same else None
