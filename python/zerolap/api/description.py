"""`/openapi.json`: the description of the HTTP API, made once and sent to those who do not have it yet."""

import json
from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response

from zerolap.api.pages import Page, Pages, tagged

DESCRIPTION_PATH: Final = "/openapi.json"
JSON: Final = "application/json"


def description_router(app: FastAPI) -> APIRouter:
    """Return the route that describes all routes of an application."""
    router = APIRouter(include_in_schema=False)
    pages = Pages()

    def make() -> Page:
        content = json.dumps(app.openapi(), ensure_ascii=False, separators=(",", ":"))
        return Page(content.encode(), JSON, is_final=True)

    @router.get(DESCRIPTION_PATH)
    async def description(request: Request) -> Response:
        page = await pages.page(DESCRIPTION_PATH, make)
        # Another version of the lab has another one at the same address.
        return tagged(page, request, {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"})

    return router
