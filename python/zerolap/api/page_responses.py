"""Answers that are made from the store for those who may read: each is made once, kept, and refused as a problem."""

import dataclasses
import math
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response

from zerolap.api.pages import FRESH_SECONDS, RETRY_SECONDS, Page, Pages, TooBusy, respond_with
from zerolap.api.problems import Problem, described, unavailable
from zerolap.api.strangers import is_stranger
from zerolap.records import UsageError
from zerolap.store import BlobDamaged


class PageResponses:
    """Answers requests that were permitted to read."""

    def __init__(self, *, is_public: bool) -> None:
        self._is_public = is_public
        self._pages = Pages()

    async def respond(
        self, request: Request, key: str, make: Callable[[], Page], change: Callable[[], str] | None = None
    ) -> Response:
        """Return the answer that a key stands for; `make` and `change` are called in threads.

        `change` returns what differs whenever the answer does, empty where that is not known. Raises `Problem`.
        """
        changed = "" if change is None else await self._pages.called(change, for_stranger=is_stranger(request))

        def make_unchanged() -> Page:
            page = make()
            # What has changed meanwhile is no answer to what it was: a request may come back to that.
            is_same = change is None or change() == changed
            return page if is_same else dataclasses.replace(page, is_kept=False)

        try:
            page = await self._pages.page(
                f"{key} {changed}",
                make_unchanged,
                math.inf if changed else FRESH_SECONDS,
                for_stranger=is_stranger(request),
            )
        except UsageError as fault:
            raise Problem(HTTPStatus.NOT_FOUND, fault.message, fault.hint) from fault
        except TooBusy:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are asked for at once", "", headers) from None
        except BlobDamaged as fault:
            raise unavailable(fault, request.url.path) from fault
        return respond_with(page, request, is_public=self._is_public)


def refusals_of_responses() -> dict[int | str, dict[str, Any]]:
    """Return how the description of an operation states the problems of `PageResponses.respond`."""
    return described(
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    )
