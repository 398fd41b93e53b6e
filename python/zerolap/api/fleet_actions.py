"""What people have a fleet do from its page: end a request, carry it out again, drain an agent."""

import asyncio
from http import HTTPStatus
from typing import Annotated, Literal

import structlog
from fastapi import APIRouter, Depends, Path

from zerolap.api.authorization import WITH_TOKEN, Authorization
from zerolap.api.problems import USUAL, Problem, described
from zerolap.api.sessions import Visitor
from zerolap.records import Record, UsageError
from zerolap.store import RequestInShort, Store
from zerolap.triggers import asked_by

RequestId = Annotated[str, Path(pattern=r"^[ckrw]-[0-9a-f-]{1,64}$", description="The id of a request.")]
AgentId = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$", description="The name of an agent.")]

log = structlog.get_logger("zerolap.api")


class ChangedRequest(Record):
    """A request after it was ended, or is to be carried out again."""

    id: str
    state: Literal["cancelled", "waiting"]


class DrainedAgents(Record):
    """The agents that finish their job and take no further one, or take jobs again."""

    agents: tuple[str, ...]
    draining: bool


def fleet_actions_router(store: Store, authorization: Authorization) -> APIRouter:
    """Return the routes; a browser may use them from pages of the lab alone."""
    router = APIRouter(
        prefix="/api/v1/fleet",
        tags=["fleet"],
        responses=described(*USUAL, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    )

    may_submit, may_administer = authorization.acting("submit"), authorization.acting("admin")

    @router.post("/requests/{identity}/cancel", operation_id="cancel_request", openapi_extra=WITH_TOKEN)
    async def cancel(identity: RequestId, visitor: Annotated[Visitor, Depends(may_submit)]) -> ChangedRequest:
        """End a request: its jobs are stopped on all agents, and what was measured is kept.

        The scope submit is for those that its actor has asked for, admin for all.
        """
        await asyncio.to_thread(cancel_request, identity, visitor, store)
        log.info("a request was cancelled", request=identity, by=visitor.name)
        return ChangedRequest(id=identity, state="cancelled")

    @router.post("/requests/{identity}/retry", operation_id="retry_request", openapi_extra=WITH_TOKEN)
    async def retry(identity: RequestId, visitor: Annotated[Visitor, Depends(may_submit)]) -> ChangedRequest:
        """Continue a request that has ended: what failed is tried again, what was measured is kept.

        The scope submit is for those that its actor has asked for, admin for all.
        """
        await asyncio.to_thread(_retry, identity, visitor, store)
        log.info("a request is tried again", request=identity, by=visitor.name)
        return ChangedRequest(id=identity, state="waiting")

    @router.post("/agents/{name}/drain", operation_id="drain_agent", openapi_extra=WITH_TOKEN)
    async def drain(name: AgentId, visitor: Annotated[Visitor, Depends(may_administer)]) -> DrainedAgents:
        """Have an agent finish its job and take no further one; needs the scope admin."""
        return await drained(name, visitor, draining=True)

    @router.post("/agents/{name}/resume", operation_id="resume_agent", openapi_extra=WITH_TOKEN)
    async def resume(name: AgentId, visitor: Annotated[Visitor, Depends(may_administer)]) -> DrainedAgents:
        """Have a drained agent take jobs again; needs the scope admin."""
        return await drained(name, visitor, draining=False)

    async def drained(name: str, visitor: Visitor, *, draining: bool) -> DrainedAgents:
        try:
            agents = await asyncio.to_thread(store.fleet.drain, name, draining=draining)
        except UsageError as fault:
            raise Problem(HTTPStatus.NOT_FOUND, fault.message, fault.hint) from None
        log.info("agents are drained" if draining else "agents take jobs again", agents=agents, by=visitor.name)
        return DrainedAgents(agents=tuple(agents), draining=draining)

    return router


def _of_visitor(identity: str, visitor: Visitor, store: Store) -> RequestInShort:
    """Return a request that a visitor may change; raises `Problem`."""
    work = store.fleet.in_short(identity)
    if work is None:
        raise Problem(HTTPStatus.NOT_FOUND, f"no request {identity} was submitted")
    if not visitor.may("admin") and work.trigger != asked_by(visitor.actor):
        raise Problem(
            HTTPStatus.FORBIDDEN, f"{visitor.actor} has not asked for {identity}", "a token with the scope admin may"
        )
    return work


def cancel_request(identity: str, visitor: Visitor, store: Store) -> None:
    """End a request of a visitor; raises `Problem`."""
    work = _of_visitor(identity, visitor, store)
    if not store.fleet.set_state(identity, "cancelled", f"by {visitor.actor}"):
        raise Problem(HTTPStatus.CONFLICT, f"{identity} is {work.state} already")


def _retry(identity: str, visitor: Visitor, store: Store) -> None:
    _of_visitor(identity, visitor, store)
    try:
        store.fleet.retry(identity)
    except UsageError as fault:
        raise Problem(HTTPStatus.CONFLICT, fault.message, fault.hint) from None
