"""The application that `zerolap serve` listens with."""

from fastapi import FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST

from zerolap.api.files import files_router
from zerolap.api.metrics import conductor_metrics
from zerolap.api.webhooks import webhooks_router
from zerolap.fleet import Conductor
from zerolap.store import Store
from zerolap.triggers.running import Triggers


def application(
    conductor: Conductor,
    store: Store,
    triggers: Triggers | None = None,
) -> FastAPI:
    """Return the application of a conductor: `/health`, `/metrics`, and the files of jobs for who has a token.

    With triggers whose settings have a secret for them, also webhooks.
    """
    app = FastAPI(title="Zerolap", docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(files_router(conductor, store))
    if triggers is not None and triggers.settings.github.webhook_secret is not None:
        app.include_router(webhooks_router(store, triggers.settings, triggers.wake))

    @app.get("/health")
    async def health() -> Response:
        """Answer 200 while the conductor works, 503 with the reason if it cannot."""
        trouble = conductor.trouble
        if trouble is None:
            return Response("working\n", media_type="text/plain")
        return Response(f"{trouble}\n", status_code=503, media_type="text/plain")

    @app.get("/metrics")
    async def metrics() -> Response:
        """Answer with queues, agents and ages in the format of Prometheus."""
        return Response(conductor_metrics(conductor), media_type=CONTENT_TYPE_LATEST)

    return app
