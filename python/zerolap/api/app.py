"""The application that `zerolap serve` listens with."""

from pathlib import Path
from typing import Final

from fastapi import FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.datastructures import Headers

from zerolap import __version__
from zerolap.api.active_requests import ActiveRequests
from zerolap.api.app_pages import app_pages_router
from zerolap.api.authorization import Authorization, given_token
from zerolap.api.badges import badges_router
from zerolap.api.description import description_router
from zerolap.api.files import files_router
from zerolap.api.fleet_actions import fleet_actions_router
from zerolap.api.health import HealthCheck
from zerolap.api.joining import joining_router
from zerolap.api.metrics import EventCounts, KnownMetrics, LabCollector, known_regressions
from zerolap.api.page_queries import page_queries_router
from zerolap.api.problems import state_problems
from zerolap.api.refusals import Refusals
from zerolap.api.reports import reports_router
from zerolap.api.request_events import request_events_router
from zerolap.api.sending import Sending
from zerolap.api.sessions import Sessions
from zerolap.api.signing_in import GitHubSignIn, signing_in_router
from zerolap.api.stack_exports import stack_exports_router
from zerolap.api.upkeep import KnownUsage
from zerolap.api.v1 import v1_router
from zerolap.api.webhooks import webhooks_router
from zerolap.build import functions_of_build, repository_page
from zerolap.fleet import Conductor
from zerolap.github import PersonSignIn, site_of
from zerolap.queries import QuerySources
from zerolap.store import Store
from zerolap.triggers import Readers, Triggers, TriggerSettings
from zerolap.triggers.webhooks import UNSIGNED, Outcome, Refused

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
    counts: EventCounts | None = None,
    public_reports: bool = False,
) -> FastAPI:
    """Return the application of a conductor: reports, the HTTP API, `/health`, `/metrics`, and the files of jobs.

    With the directory of a fleet, agents can join it; with triggers whose settings have a secret for them, there are
    also webhooks. Reports need a token, unless `public_reports` or the settings make them public. What is refused is
    counted in `refusals`, what has happened in `counts`; both are shown as metrics. `/openapi.json` describes reports
    and API.
    """
    settings = TriggerSettings() if triggers is None else triggers.settings
    # The framework encodes the description anew for each request, in the event loop.
    app = FastAPI(title="Zerolap", version=__version__, description=DESCRIPTION, openapi_url=None)
    refusals, counts = refusals or Refusals(), counts or EventCounts()
    state_problems(app, refusals)
    sign_in = _github_sign_in(triggers)
    sessions = Sessions(store, settings.lab.public_url)
    authorization = Authorization(
        store.triggers, settings.limits, refusals, sessions, people_sign_in=sign_in is not None
    )

    async def holder_of(headers: Headers) -> str | None:
        grant = conductor.grant(given_token(headers)[1])
        if grant is None:
            return await authorization.holder_of(headers)
        return f"agent {grant.attempt.agent or grant.attempt.id}"

    app.add_middleware(Sending)
    app.add_middleware(ActiveRequests, holder_of=holder_of, refusals=refusals)
    app.include_router(description_router(app))
    check, known_usage = HealthCheck(conductor, store), KnownUsage(store)
    github = None if triggers is None else triggers.github
    app.include_router(files_router(conductor, store), include_in_schema=False)
    if fleet is not None:
        app.include_router(joining_router(fleet, store, settings.limits), include_in_schema=False)
    if triggers is not None and settings.github.webhook_secret is not None:

        def count(outcome: Outcome) -> None:
            counts.count_delivery(outcome)
            if isinstance(outcome, Refused) and outcome.cause in UNSIGNED:
                refusals.count("unsigned_deliveries")

        webhooks = webhooks_router(store, settings, triggers.wake, count)
        app.include_router(webhooks, include_in_schema=False)
    # Without triggers no repository is permitted.
    on_asked = (lambda: None) if triggers is None else triggers.wake
    app.include_router(v1_router(store, settings, authorization, on_asked))
    app.include_router(fleet_actions_router(store, authorization))
    is_public = public_reports or settings.lab.reports == "public"
    app.include_router(signing_in_router(authorization, sign_in, is_public=is_public))
    has_public_badges = is_public if settings.lab.badges is None else settings.lab.badges == "public"
    app.include_router(badges_router(store, authorization, is_public=has_public_badges))
    # Reports go first: an id takes all that has no slash, its ending too.
    app.include_router(reports_router(store, authorization, is_public=is_public))
    app.include_router(request_events_router(store, authorization, is_public=is_public))
    sources = _query_sources(store, triggers)
    app.include_router(page_queries_router(sources, authorization, is_public=is_public))
    app.include_router(stack_exports_router(sources, authorization, is_public=is_public))
    app.include_router(app_pages_router(authorization, is_public=is_public, notice=store.notice))

    @app.get("/health", include_in_schema=False)
    async def health() -> Response:
        """Answer 200 while the conductor works, also where something needs attention, and 503 if it cannot."""
        state = await check.health()
        headers = {"Cache-Control": "no-store"}
        return Response(state.model_dump_json(), state.status, headers, "application/json")

    open_regressions = known_regressions(store)

    async def collector() -> LabCollector:
        triggers = await check.triggers()
        usage, regressions = known_usage.latest(), await open_regressions.latest() or {}
        return LabCollector(conductor, counts, refusals, triggers, github, usage, regressions=regressions)

    known_metrics = KnownMetrics(collector)

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        """Answer in the format of Prometheus."""
        return Response(await known_metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return app


def _query_sources(store: Store, triggers: Triggers | None) -> QuerySources:
    site = None if triggers is None else site_of(triggers.settings.github.api_url)
    return QuerySources(store, site, functions_of_build, repository_page)


def _github_sign_in(triggers: Triggers | None) -> GitHubSignIn | None:
    """Return how people sign in by GitHub; none where the settings have no client of an App."""
    if triggers is None or triggers.github is None:
        return None
    settings = triggers.settings
    client_id, secret, public_url = settings.github.client_id, settings.github.client_secret, settings.lab.public_url
    if client_id is None or secret is None or public_url is None:
        return None
    person = PersonSignIn(settings.github.api_url, client_id, secret)
    return GitHubSignIn(person, Readers(settings, triggers.github), public_url)
