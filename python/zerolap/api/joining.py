"""Agents that join a fleet: with a token, which is good for once, and a key that they have made."""

import asyncio
from http import HTTPStatus
from pathlib import Path
from typing import Final

import structlog
from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from zerolap.api.bodies import read_body
from zerolap.api.problems import Problem, too_many
from zerolap.fleet.setup import (
    AUTHORITY_PATH,
    JOIN_PATH,
    JoinReply,
    JoinRequest,
    add_agent,
    read_configuration,
    reload_bus,
    rotate_key,
    secret_digest,
)
from zerolap.records import FirstFault, UsageError
from zerolap.store import AdmittedAgent, Store
from zerolap.triggers import TriggerLimits
from zerolap.triggers.webhooks import MINUTE_SECONDS, Rate, network_of

LARGEST_REQUEST_BYTES: Final = 4096
HINT: Final = "zerolap fleet token makes another token"

log = structlog.get_logger("zerolap.api")


def joining_router(fleet: Path, store: Store, limits: TriggerLimits) -> APIRouter:
    """Return the routes by which agents join the fleet with this directory; both need no token of the API."""
    router = APIRouter()
    rate = Rate(limits.forged_per_minute_per_address, MINUTE_SECONDS)
    # The bus is told to reload by one after the other.
    admitting = asyncio.Lock()

    @router.get(AUTHORITY_PATH)
    async def authority() -> Response:
        """Send the certificate authority, by whose fingerprint an agent recognises the fleet."""
        content = await asyncio.to_thread((fleet / "ca.pem").read_bytes)
        return Response(content, media_type="application/x-pem-file")

    @router.post(JOIN_PATH)
    async def join(request: Request) -> JoinReply:
        """Add the agent that a token admits, with its public key, to configuration and bus."""
        if not rate.permits(network_of("" if request.client is None else request.client.host)):
            raise too_many("too many agents join from this address", rate.wait_seconds)
        content = await read_body(request, LARGEST_REQUEST_BYTES, limits.body_seconds)
        try:
            asked = JoinRequest.model_validate_json(content)
        except ValidationError as fault:
            detail = f"no request to join: {FirstFault.of(fault).what}"
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail) from fault
        admitted = await asyncio.to_thread(store.fleet.redeem_join_token, secret_digest(asked.secret))
        if admitted is None:
            raise Problem(HTTPStatus.FORBIDDEN, "the token is unknown, was used already, or has expired", HINT)
        try:
            async with admitting:
                answer = await asyncio.to_thread(_admit, fleet, admitted, asked.key)
                is_told = await asyncio.to_thread(reload_bus, fleet)
        except UsageError as fault:
            raise Problem(HTTPStatus.CONFLICT, fault.message, HINT) from fault
        log.info("an agent joined", agent=admitted.agent, platform=answer.platform, bus_is_told=is_told)
        return answer

    return router


def _admit(fleet: Path, admitted: AdmittedAgent, key: str) -> JoinReply:
    """Add an agent, or give it another key; raises `UsageError`."""
    if admitted.replaces:
        rotate_key(fleet, admitted.agent, key)
    else:
        add_agent(fleet, admitted.agent, admitted.lab, admitted.platform, admitted.kind, key)
    configuration = read_configuration(fleet)
    entry = configuration.agents[admitted.agent]
    place = entry.model_dump(exclude={"key"})
    return JoinReply(bus=configuration.bus, artifacts=configuration.artifacts, agent=admitted.agent, **place)
