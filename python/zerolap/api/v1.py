"""`/api/v1`: comparisons are asked for, followed and ended with a token; platforms and agents are listed."""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Final

import structlog
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import ValidationError

from zerolap.api.authorization import Authorization
from zerolap.api.bodies import read_body
from zerolap.api.fleet_actions import cancel_request
from zerolap.api.problems import USUAL, Problem, described, too_many, unreadable
from zerolap.api.resources import (
    AgentList,
    ComparisonDetails,
    ComparisonList,
    ComparisonResource,
    Ended,
    JobProgress,
    PlatformList,
    PlatformResource,
    TriggerResource,
    agent_resource,
    comparison_fields,
    trigger_resource,
)
from zerolap.api.sessions import Visitor
from zerolap.store import ApiToken, RequestInShort, Store, StoredTrigger
from zerolap.triggers import AskedComparison, AskedTrigger, TriggerSettings
from zerolap.triggers.webhooks import HOUR_SECONDS, stored_trigger

MOST_BODY_BYTES: Final = 64 << 10
MOST_LISTED: Final = 100
KIND: Final = "asked"
EXAMPLE: Final = {"repository": "redis/redis", "base": "7.4.0", "head": "unstable", "cases": ["hset*"]}

ComparisonId = Annotated[str, Path(pattern=r"^c-[0-9a-f-]{1,64}$", examples=["c-9f5a06d1a4d7082cc3a3b40d"])]
TriggerId = Annotated[str, Path(pattern=r"^t-[0-9a-f]{24}$", examples=["t-5b8f0c1d2e3f4a5b6c7d8e9f"])]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many.")]
Cursor = Annotated[
    str | None, Query(pattern=r"^c-[0-9a-f-]{1,64}$", description="The `cursor` of the answer before this one.")
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        pattern=r"^[!-~]{1,200}$",
        description="A text of the sender's: a request that is repeated with it is carried out once.",
    ),
]

log = structlog.get_logger("zerolap.api")


def v1_router(
    store: Store,
    settings: TriggerSettings,
    authorization: Authorization,
    on_asked: Callable[[], object] = lambda: None,
) -> APIRouter:
    """Return the routes; `on_asked` is called in the loop once a comparison was asked for."""
    router = APIRouter(
        prefix="/api/v1",
        responses=described(*USUAL, HTTPStatus.FORBIDDEN),
    )
    may_read, may_submit = authorization.requires("read"), authorization.requires("submit")
    address = "" if settings.lab.public_url is None else settings.lab.public_url
    asking = asyncio.Lock()

    @router.post(
        "/comparisons",
        status_code=HTTPStatus.ACCEPTED,
        tags=["comparisons"],
        operation_id="ask_for_comparison",
        responses=described(HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT),
        openapi_extra={"requestBody": _described_body()},
    )
    async def ask(
        request: Request,
        response: Response,
        token: Annotated[ApiToken, Depends(may_submit)],
        idempotency_key: IdempotencyKey = None,
    ) -> TriggerResource:
        """Ask for a comparison of two revisions on one or more platforms.

        It is answered before the commits are fetched: follow the trigger, which names the comparisons once it is done.
        """
        asked = await _asked(request, settings)
        key = idempotency_key or secrets.token_hex(16)
        # One after the other, so that no more are recorded than are permitted.
        async with asking:
            stored = await asyncio.to_thread(_recorded, asked, token, key, store, settings)
        log.info("a comparison was asked for", trigger=stored.id, subject=stored.subject, token=token.name)
        on_asked()
        resource = trigger_resource(stored, address)
        response.headers["Location"] = resource.links.self
        return resource

    @router.get("/comparisons", tags=["comparisons"], operation_id="list_comparisons")
    async def comparisons(
        _: Annotated[ApiToken, Depends(may_read)], limit: Limit = 20, cursor: Cursor = None
    ) -> ComparisonList:
        """List what was submitted, by the API or otherwise, the newest first."""
        return await asyncio.to_thread(_listed, limit, cursor, store, address)

    @router.get(
        "/comparisons/{identity}",
        tags=["comparisons"],
        operation_id="read_comparison",
        responses=described(HTTPStatus.NOT_FOUND),
    )
    async def comparison(identity: ComparisonId, _: Annotated[ApiToken, Depends(may_read)]) -> ComparisonDetails:
        """Show how it stands with a comparison."""
        return await asyncio.to_thread(_details, identity, store, address)

    @router.post(
        "/comparisons/{identity}/cancel",
        tags=["comparisons"],
        operation_id="cancel_comparison",
        responses=described(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    )
    async def cancel(identity: ComparisonId, token: Annotated[ApiToken, Depends(may_submit)]) -> Ended:
        """End a comparison: what was measured is kept.

        The scope submit is for those that its actor has asked for, admin for all.
        """
        await asyncio.to_thread(_end, identity, token, store)
        log.info("a comparison was cancelled", request=identity, token=token.name)
        return Ended(id=identity)

    @router.get(
        "/triggers/{identity}",
        tags=["triggers"],
        operation_id="read_trigger",
        responses=described(HTTPStatus.NOT_FOUND),
    )
    async def trigger(identity: TriggerId, _: Annotated[ApiToken, Depends(may_read)]) -> TriggerResource:
        """Show what has caused work, and the comparisons that it has led to."""
        stored = await asyncio.to_thread(store.triggers.with_id, identity)
        if stored is None:
            raise Problem(HTTPStatus.NOT_FOUND, f"there is no trigger {identity}")
        return trigger_resource(stored, address)

    @router.get("/platforms", tags=["fleet"], operation_id="list_platforms")
    async def platforms(_: Annotated[ApiToken, Depends(may_read)]) -> PlatformList:
        """List the platforms that comparisons can be asked for."""
        served = await asyncio.to_thread(store.fleet.platforms)
        agents = Counter(agent.platform for agent in await asyncio.to_thread(store.fleet.agents))
        listed = (PlatformResource(name=one.name, builder=one.builder, agents=agents[one.name]) for one in served)
        return PlatformList(platforms=tuple(listed))

    @router.get("/agents", tags=["fleet"], operation_id="list_agents")
    async def agents(_: Annotated[ApiToken, Depends(may_read)]) -> AgentList:
        """List the agents."""
        known = await asyncio.to_thread(store.fleet.agents)
        return AgentList(agents=tuple(agent_resource(agent) for agent in known))

    return router


# Asking.


def _described_body() -> dict[str, Any]:
    """Return the description of the body, which is not read before the token is known to be good."""
    content = {"application/json": {"schema": AskedComparison.model_json_schema(), "example": EXAMPLE}}
    return {"required": True, "content": content}


async def _asked(request: Request, settings: TriggerSettings) -> AskedComparison:
    """Return what the body of a request asks for; raises `Problem`."""
    body = await read_body(request, MOST_BODY_BYTES, settings.limits.body_seconds)
    try:
        return AskedComparison.model_validate_json(body)
    except ValidationError as fault:
        raise unreadable(fault) from None


def _recorded(
    asked: AskedComparison, token: ApiToken, key: str, store: Store, settings: TriggerSettings
) -> StoredTrigger:
    """Record the trigger of a comparison, or return that which was recorded with the same key; raises `Problem`."""
    _require_permitted(asked, token, store, settings)
    trigger = AskedTrigger(**asked.model_dump(), actor=token.actor)
    stored = stored_trigger(trigger, f"{KIND} {token.name} {key}", time.time())
    earlier = store.triggers.with_id(stored.id)
    if earlier is None:
        most = settings.limits.submissions_per_hour_per_actor
        if store.triggers.count_of_actor(token.actor.lower(), [KIND], time.time() - HOUR_SECONDS) >= most:
            detail = f"{token.actor} has asked for {most} comparisons in the last hour"
            raise too_many(detail, int(HOUR_SECONDS // most) + 1)
        store.triggers.add(stored)
        return stored
    if earlier.document != stored.document:
        detail = "another comparison was asked for with this Idempotency-Key"
        raise Problem(HTTPStatus.CONFLICT, detail, "use each key for one request, and its repetitions")
    return earlier


def _require_permitted(asked: AskedComparison, token: ApiToken, store: Store, settings: TriggerSettings) -> None:
    if settings.measured(asked.repository) is None:
        raise Problem(
            HTTPStatus.FORBIDDEN,
            f"{asked.repository} is not one of the permitted repositories",
            "add it to the file of zerolap serve --triggers",
        )
    if asked.priority == "release" and "admin" not in token.scopes:
        raise Problem(HTTPStatus.FORBIDDEN, "the priority release needs the scope admin", "ask for the priority pull")
    served = {platform.name for platform in store.fleet.platforms()}
    unknown = next((name for name in asked.platforms if name not in served), None)
    if unknown is not None:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"platforms: {unknown} is not served", "GET /api/v1/platforms lists them"
        )


# Following.


def _listed(limit: int, cursor: str | None, store: Store, address: str) -> ComparisonList:
    # One more, which is not shown, says whether there are more.
    works = store.fleet.comparisons(limit + 1, cursor)
    shown = works[:limit]
    recorded = store.in_short(work.id for work in shown)
    resources = tuple(
        ComparisonResource.model_validate(comparison_fields(work, recorded.get(work.id), address)) for work in shown
    )
    return ComparisonList(comparisons=resources, cursor=shown[-1].id if len(works) > limit else None)


def _details(identity: str, store: Store, address: str) -> ComparisonDetails:
    work = _submitted(identity, store)
    fields = comparison_fields(work, store.in_short([identity]).get(identity), address)
    progress = JobProgress(jobs=dict(Counter(store.fleet.job_states(identity).values())))
    return ComparisonDetails.model_validate({**fields, "progress": progress})


def _submitted(identity: str, store: Store) -> RequestInShort:
    work = store.fleet.in_short(identity)
    if work is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            f"no comparison {identity} was submitted",
            f"what was measured without zerolap serve is at /comparisons/{identity}",
        )
    return work


def _end(identity: str, token: ApiToken, store: Store) -> None:
    _submitted(identity, store)
    cancel_request(identity, Visitor.of_token(token, by_browser=False), store)
