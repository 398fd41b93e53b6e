"""A query of a page: what it takes, what it answers, and its answer as a table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeAlias, get_type_hints

from pydantic import model_validator

from zerolap.records import FunctionsOfBuild, Record, SourceFunction
from zerolap.store import Store

TableValue: TypeAlias = str | int | float | bool | None
TableRow: TypeAlias = Sequence[TableValue]
"""A row of a table; the first row of each table has the names of the columns, with their units."""


LARGEST_NUMBER: Final = 2**53
"""The largest number of a row in parameters: databases take no larger integer."""


class Parameters(Record):
    """The parameters of a query, which are those of its URL; bounds on each belong to its fields.

    A field that is excluded from their JSON has no part in what an answer is kept by.
    """

    @model_validator(mode="after")
    def _require_text(self) -> Self:
        """Refuse the character that PostgreSQL takes in no text."""
        for name, value in self:
            texts = value if isinstance(value, tuple | list) else (value,)
            if any(isinstance(text, str) and "\0" in text for text in texts):
                raise ValueError(f"{name} has a null character")
        return self


def no_functions(builds: Path, digest: str) -> Sequence[SourceFunction] | None:
    """Return none, as where no build is on this machine."""


def no_page(repository: str) -> str | None:
    """Return none, as where no repository is on this machine."""


@dataclass(frozen=True)
class QuerySources:
    """Where queries read.

    `github_site` is the address of GitHub's pages, None where that is not known. `functions_of_build` reads the builds
    of this machine, `page_of_repository` returns the page of a repository of this machine at its host.
    """

    store: Store
    github_site: str | None = None
    functions_of_build: FunctionsOfBuild = no_functions
    page_of_repository: Callable[[str], str | None] = no_page


@dataclass(frozen=True)
class PageQuery:
    """A query that is served at `/api/v1/pages/NAME`, and at `/api/v1/pages/NAME.csv` where it has a table.

    `read` is called with `QuerySources` and an instance of `parameters`, in a thread, and returns an instance of
    `result`; it raises `UsageError` for what there is not. `change` returns what differs whenever the answer does,
    where that is known at little cost: then no earlier answer is given. `table` returns the rows of an answer, the
    names of columns first.
    """

    name: str
    summary: str
    parameters: type[Parameters]
    result: type[Record]
    read: Callable[[QuerySources, Any], Record]
    table: Callable[[Any], Iterable[TableRow]] | None = None
    change: Callable[[QuerySources, Any], str] | None = None


def page_query(
    read: Callable[[QuerySources, Any], Record],
    name: str,
    summary: str,
    table: Callable[[Any], Iterable[TableRow]] | None = None,
    change: Callable[[QuerySources, Any], str] | None = None,
) -> PageQuery:
    """Return a query whose parameters and answer have the types that `read` states."""
    _, parameters, answer = get_type_hints(read).values()
    return PageQuery(name, summary, parameters, answer, read, table, change)
