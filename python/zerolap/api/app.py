"""The application that `zerolap serve` listens with."""

from pathlib import Path
from typing import Final

from fastapi import FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST

from zerolap import __version__
from zerolap.api.authorization import Authorization
from zerolap.api.files import files_router
from zerolap.api.joining import joining_router
from zerolap.api.metrics import conductor_metrics
from zerolap.api.problems import state_problems
from zerolap.api.refusals import Refusals
from zerolap.api.reports import reports_router
from zerolap.api.v1 import v1_router
from zerolap.api.webhooks import webhooks_router
from zerolap.fleet import Conductor
from zerolap.store import Store
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import TriggerSettings

DESCRIPTION: Final = (
    "Comparisons of servers that speak the Redis protocol: asked for and followed with a token of"
    " `zerolap token add`, and read as reports. Errors are `application/problem+json` (RFC 9457)."
)


def application(
    conductor: Conductor,
    store: Store,
    triggers: Triggers | None = None,
    fleet: Path | None = None,
    *,
    refusals: Refusals | None = None,
    public_reports: bool = False,
) -> FastAPI:
    """Return the application of a conductor: reports, the HTTP API, `/health`, `/metrics`, and the files of jobs.

    With the directory of a fleet, agents can join it; with triggers whose settings have a secret for them, there are
    also webhooks. Reports need a token, unless `public_reports` or the settings make them public. What is refused is
    counted in `refusals`. `/openapi.json` describes reports and API.
    """
    settings = TriggerSettings() if triggers is None else triggers.settings
    app = FastAPI(title="Zerolap", version=__version__, description=DESCRIPTION, docs_url=None, redoc_url=None)
    state_problems(app)
    authorization = Authorization(store.triggers, settings.limits, refusals or Refusals())
    app.include_router(files_router(conductor, store), include_in_schema=False)
    if fleet is not None:
        app.include_router(joining_router(fleet, store, settings.limits), include_in_schema=False)
    if triggers is not None and settings.github.webhook_secret is not None:
        app.include_router(webhooks_router(store, settings, triggers.wake), include_in_schema=False)
    on_asked = _nobody if triggers is None else triggers.wake
    app.include_router(v1_router(store, settings, authorization, on_asked))
    app.include_router(
        reports_router(store, authorization, is_public=public_reports or settings.lab.reports == "public")
    )

    @app.get("/health", include_in_schema=False)
    async def health() -> Response:
        """Answer 200 while the conductor works, 503 with the reason if it cannot."""
        trouble = conductor.trouble
        if trouble is None:
            return Response("working\n", media_type="text/plain")
        return Response(f"{trouble}\n", status_code=503, media_type="text/plain")

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        """Answer with queues, agents and ages in the format of Prometheus."""
        return Response(conductor_metrics(conductor), media_type=CONTENT_TYPE_LATEST)

    return app


def _nobody() -> None:
    """Stands in for triggers, without which no repository is permitted."""
