"""A real HTTP server of webhooks, in a thread."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import uvicorn
from fastapi import FastAPI

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
    with socket.create_server(("127.0.0.1", 0)) as listening:
        configuration = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none")
        server = uvicorn.Server(configuration)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/webhooks/github"
        finally:
            server.should_exit = True
            thread.join()
