"""A query of a page: what it takes, what it answers, and its answer as a table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from zerolap.records import Record
from zerolap.store import Store

TableValue: TypeAlias = str | int | float | bool | None
TableRow: TypeAlias = Sequence[TableValue]
"""A row of a table; the first row of each table has the names of the columns, with their units."""


class Parameters(Record):
    """The parameters of a query, which are those of its URL; bounds on each belong to its fields."""


@dataclass(frozen=True)
class QuerySources:
    """Where queries read."""

    store: Store


@dataclass(frozen=True)
class PageQuery:
    """A query that is served at `/api/v1/pages/NAME`, and at `/api/v1/pages/NAME.csv` where it has a table.

    `read` is called with `QuerySources` and an instance of `parameters`, in a thread, and returns an instance of
    `answer`; it raises `UsageError` for what there is not. `table` returns the rows of an answer, the names of columns
    first.
    """

    name: str
    summary: str
    parameters: type[Parameters]
    answer: type[Record]
    read: Callable[[QuerySources, Any], Record]
    table: Callable[[Any], Iterable[TableRow]] | None = None
