"""Sampled stacks as files that other programs read, a route for each format."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from zerolap import _core
from zerolap.api.authorization import WITH_TOKEN, Authorization
from zerolap.api.page_responses import PageResponses, refusals_of_responses
from zerolap.api.pages import Page
from zerolap.queries import (
    FORMATS,
    ExportFormat,
    ProfileParameters,
    QuerySources,
    SampledCases,
    merged_profile,
    selected_cases,
)
from zerolap.records import DrawnSide, UsageError

NAMES: Final = re.compile(r"[^A-Za-z0-9.-]+")
LONGEST_NAME: Final = 80


DESCRIPTION: Final = (
    "Costs are CPU time where that of a request is known: of one request in speedscope and SVG, of a million elsewhere."
    " Otherwise they are samples. Those of several cases are weighted as on the page of stacks."
)


class ExportParameters(ProfileParameters):
    """Which stacks, and of which side."""

    side: Annotated[
        DrawnSide | None,
        Field(description="One side; without, both in speedscope and the Firefox Profiler, the head elsewhere."),
    ] = None


def stack_exports_router(sources: QuerySources, authorization: Authorization, *, is_public: bool) -> APIRouter:
    """Return a route for each format; unless reports are public, each takes a token."""
    router = APIRouter(
        prefix="/api/v1",
        tags=["pages"],
        responses=refusals_of_responses(),
        dependencies=authorization.may_read(is_public=is_public),
    )
    responses = PageResponses(is_public=is_public)

    def route(export: ExportFormat) -> Callable[..., Any]:
        async def stacks(request: Request, parameters: Annotated[ExportParameters, Query()]) -> Response:
            key = f"{export.name} {parameters.model_dump_json()}"
            response = await responses.respond(request, key, lambda: _page(sources, parameters, export))
            response.headers["Content-Disposition"] = f'attachment; filename="{_file_name(parameters, export)}"'
            return response

        return stacks

    for export in FORMATS:
        content: dict[str, Any] = {export.media_type.partition(";")[0]: {}}
        router.add_api_route(
            f"/stacks.{export.ending}",
            route(export),
            response_class=Response,
            summary=export.summary,
            description=DESCRIPTION,
            openapi_extra=WITH_TOKEN,
            operation_id=f"stacks_for_{export.name}",
            responses={200: {"description": export.summary, "content": content}},
        )
    return router


def _page(sources: QuerySources, parameters: ExportParameters, export: ExportFormat) -> Page:
    chosen = selected_cases(sources, parameters)
    if not chosen.parts:
        raise UsageError("there are no stacks to export")
    side = parameters.side or ("head" if export.is_of_one_side else None)
    if side is not None and side not in chosen.sides:
        raise UsageError(f"there is no {side} here", hint="a run has a head only")
    merged, _ = merged_profile(chosen.parts, parameters.least_share)
    exported = [
        (place, _side_name(chosen, name), chosen.cost_of(place)[0])
        for place, name in enumerate(chosen.sides)
        if side in (None, name)
    ]
    content = _core.export_profile(merged, export.name, _title(parameters, chosen), exported)
    return Page(content, export.media_type)


def _title(parameters: ExportParameters, chosen: SampledCases) -> str:
    names = chosen.case_names
    case = names[0] if len(names) == 1 else f"{len(names)} cases merged"
    of = parameters.id or f"the newest {len(chosen.results)} results"
    return f"{case} of {of}"


def _side_name(chosen: SampledCases, side: DrawnSide) -> str:
    if len(chosen.results) > 1:
        return side
    result = chosen.results[0]
    return f"{side} {result.base if side == 'base' else result.head}"


def _file_name(parameters: ExportParameters, export: ExportFormat) -> str:
    """Return a name of letters, digits and hyphens: names of cases are of others."""
    parts = (parameters.id or "newest", parameters.case, parameters.side)
    name = NAMES.sub("-", "-".join(part for part in parts if part))[:LONGEST_NAME].strip("-.")
    return f"{name or 'stacks'}.{export.ending}"
