"""A real HTTP server of webhooks, in a thread."""

import contextlib
from collections.abc import Callable, Iterator

from fastapi import FastAPI
from http_server import served

from zerolap.api.webhooks import webhooks_router
from zerolap.store import Store
from zerolap.triggers.settings import TriggerSettings


@contextlib.contextmanager
def webhook_server(
    store: Store, settings: TriggerSettings, on_admitted: Callable[[], object] = lambda: None
) -> Iterator[str]:
    """Serve webhooks on a free port of this machine; yields the URL that they are sent to."""
    app = FastAPI(openapi_url=None)
    app.include_router(webhooks_router(store, settings, on_admitted))
    with served(app) as url:
        yield f"{url}/webhooks/github"
