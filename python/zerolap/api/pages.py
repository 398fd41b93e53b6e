"""Pages that are made from the store: in threads, each once however many ask for it, and kept while there is room."""

import asyncio
import functools
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar

from fastapi import Request, Response

MOST_KEPT_BYTES: Final = 64 << 20
FRESH_SECONDS: Final = 5.0
"""How long a page is kept that can change."""
ENTRY_BYTES: Final = 2048
"""What a kept page takes beside its content."""
MOST_MADE_AT_ONCE: Final = 64
MOST_MADE_FOR_STRANGERS: Final = 32
THREADS: Final = 2
"""Of their own: the conductor and webhooks do not wait for pages, nor do holders of tokens for those of strangers."""
RETRY_SECONDS: Final = 5
YEAR_SECONDS: Final = 365 * 86_400
T = TypeVar("T")
NOTHING_LOADED: Final = "default-src 'none'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Page:
    """The content of an answer; `policy` is its Content-Security-Policy.

    One that is final never changes; unless `is_kept`, it is made again for who asks next.
    """

    content: bytes
    media_type: str
    policy: str = NOTHING_LOADED
    is_final: bool = False
    is_kept: bool = True
    status: HTTPStatus = HTTPStatus.OK

    @functools.cached_property
    def tag(self) -> str:
        """The entity tag, which is that of the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


class TooBusy(Exception):
    """More pages are being made than may be."""


class Pages:
    """Makes pages and keeps them; to be used in one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most_bytes: int = MOST_KEPT_BYTES) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._threads = ThreadPoolExecutor(THREADS, "pages")
        self._threads_for_strangers = ThreadPoolExecutor(THREADS, "pages-for-strangers")
        self._kept: OrderedDict[str, tuple[Page, float]] = OrderedDict()
        self._kept_bytes = 0
        self._making: dict[str, asyncio.Task[Page]] = {}
        self._made_for_strangers = 0

    async def page(
        self, key: str, make: Callable[[], Page], fresh_seconds: float = FRESH_SECONDS, *, for_stranger: bool = False
    ) -> Page:
        """Return the page that a key stands for, and have it made in a thread if it is not kept.

        One that was made longer ago than `fresh_seconds` is made again, unless it is final. Those that only a stranger
        asks for, `for_stranger`, have threads of their own.
        Raises `TooBusy`, and what `make` raises.
        """
        # Of a fixed length, whatever strangers write into their requests.
        key = hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
        if key in self._kept:
            page, made = self._kept[key]
            if page.is_final or self._clock() - made < fresh_seconds:
                self._kept.move_to_end(key)
                return page
        if key not in self._making:
            of_strangers = self._made_for_strangers
            if len(self._making) - of_strangers >= MOST_MADE_AT_ONCE:
                raise TooBusy
            if for_stranger and of_strangers >= MOST_MADE_FOR_STRANGERS:
                raise TooBusy
            self._making[key] = asyncio.create_task(self._made(key, make, for_stranger=for_stranger))
        # Who asks may go away: the others still wait for it.
        return await asyncio.shield(self._making[key])

    async def called(self, function: Callable[[], T], *, for_stranger: bool) -> T:
        """Return what a function returns that reads the store, called in the threads that pages are made in."""
        threads = self._threads_for_strangers if for_stranger else self._threads
        return await asyncio.get_running_loop().run_in_executor(threads, function)

    async def _made(self, key: str, make: Callable[[], Page], *, for_stranger: bool) -> Page:
        self._made_for_strangers += for_stranger
        try:
            page = await self.called(make, for_stranger=for_stranger)
            if page.is_kept:
                self._keep(key, page)
            return page
        finally:
            self._made_for_strangers -= for_stranger
            del self._making[key]

    def _keep(self, key: str, page: Page) -> None:
        if key in self._kept:
            self._kept_bytes -= _size(self._kept.pop(key)[0])
        self._kept[key] = (page, self._clock())
        self._kept_bytes += _size(page)
        while self._kept_bytes > self._most_bytes:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._kept_bytes -= _size(oldest)


def _size(page: Page) -> int:
    return len(page.content) + ENTRY_BYTES


def respond_with(page: Page, request: Request, *, is_public: bool) -> Response:
    """Return the answer to a request for a page; who has a final one need not read it again."""
    headers = {
        "Content-Security-Policy": f"{page.policy}; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
    if page.is_final:
        headers["Cache-Control"] = f"{'public' if is_public else 'private'}, max-age={YEAR_SECONDS}, immutable"
        return tagged(page, request, headers)
    return Response(page.content, page.status, headers, page.media_type)


def tagged(page: Page, request: Request, headers: dict[str, str]) -> Response:
    """Return a page with its entity tag, without the content for who has that already."""
    headers = {**headers, "ETag": page.tag}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if page.tag in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(page.content, page.status, headers, page.media_type)
