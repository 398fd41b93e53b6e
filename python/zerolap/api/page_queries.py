"""`/api/v1/pages`: what pages show, as JSON, and as CSV where it is a table."""

import csv
import functools
import inspect
import io
from collections.abc import Iterable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from zerolap.api.authorization import WITH_TOKEN, Authorization
from zerolap.api.page_responses import PageResponses, refusals_of_responses
from zerolap.api.pages import NOTHING_LOADED, Page
from zerolap.foreign_text import spreadsheet_text
from zerolap.queries import QUERIES, PageQuery, Parameters, QuerySources, TableRow, TableValue
from zerolap.records import Record

CSV: Final = "text/csv; charset=utf-8"
JSON: Final = "application/json"


def page_queries_router(sources: QuerySources, authorization: Authorization, *, is_public: bool) -> APIRouter:
    """Return a route for each query; unless reports are public, each takes a token."""
    router = APIRouter(
        prefix="/api/v1/pages",
        tags=["pages"],
        responses=refusals_of_responses(),
        dependencies=authorization.may_read(is_public=is_public),
    )
    responses = PageResponses(is_public=is_public)
    for query in QUERIES:
        _add(router, query, f"/{query.name}", sources, responses)
        if query.table is not None:
            _add(router, query, f"/{query.name}.csv", sources, responses)
    return router


def _add(router: APIRouter, query: PageQuery, path: str, sources: QuerySources, responses: PageResponses) -> None:
    is_csv = path.endswith(".csv")

    async def respond(request: Request, parameters: Parameters) -> Response:
        def make() -> Page:
            record = query.read(sources, parameters)
            return (
                _csv_page(query, record)
                if is_csv
                else Page(record.model_dump_json(by_alias=True).encode(), JSON, NOTHING_LOADED)
            )

        change = None if query.change is None else functools.partial(query.change, sources, parameters)
        return await responses.respond(request, f"{path}?{parameters.model_dump_json()}", make, change)

    # FastAPI reads the parameters from the signature; that of `respond` cannot name a model that is known here only.
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    taken = [
        inspect.Parameter("request", kind, annotation=Request),
        inspect.Parameter("parameters", kind, annotation=Annotated[query.parameters, Query()]),
    ]
    endpoint: Any = respond
    endpoint.__signature__ = inspect.Signature(taken)
    content: dict[str, Any] = {CSV.partition(";")[0]: {}}
    router.add_api_route(
        path,
        endpoint,
        # It is answered with a response; the class states the kind of content in the description.
        response_class=Response if is_csv else JSONResponse,
        response_model=None if is_csv else query.result,
        summary=f"{query.summary}{', as CSV' if is_csv else ''}",
        description=inspect.getdoc(query.result),
        openapi_extra=WITH_TOKEN,
        operation_id=f"page_{query.name.replace('-', '_').replace('/', '_')}{'_as_csv' if is_csv else ''}",
        responses={200: {"description": "A table.", "content": content}} if is_csv else {},
    )


def _csv_page(query: PageQuery, record: Record) -> Page:
    rows = () if query.table is None else query.table(record)
    return Page(_csv_text(rows).encode(), CSV, NOTHING_LOADED)


def _csv_text(rows: Iterable[TableRow]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: TableValue) -> TableValue:
    """Return a value as a cell: names of commits and cases are of others."""
    return spreadsheet_text(value) if isinstance(value, str) else value
