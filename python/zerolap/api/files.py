"""The files of jobs: sources and builds go to agents, builds and what measurements refer to come from them."""

import asyncio
import re
import tempfile
import zlib
from typing import Final

from fastapi import APIRouter, Header, HTTPException, Request, Response

from zerolap.fleet import Conductor, Grant
from zerolap.store import Attempt, BlobDamaged, Store

DIGEST: Final = re.compile(r"[0-9a-f]{64}")
BUILD: Final = re.compile(r"b-[0-9a-f]{32}")
MOST_SENT_BYTES: Final = 1 << 29
"""Compressed, in one request."""
FILES_AT_ONCE: Final = 2
"""How many files are packed, or checked and stored, at a time: each may be in memory as a whole."""


def files_router(conductor: Conductor, store: Store) -> APIRouter:
    """Return the routes; each takes the token of an attempt, `Authorization: Bearer TOKEN`."""
    router = APIRouter()
    uploads = conductor.intake.uploads
    directory = store.builds_directory.parent
    room = asyncio.Semaphore(FILES_AT_ONCE)

    def granted(authorization: str) -> Grant:
        scheme, _, token = authorization.partition(" ")
        grant = conductor.grant(token) if scheme == "Bearer" else None
        if grant is None:
            raise HTTPException(401, "no token of a job that is under way")
        return grant

    @router.get("/blobs/{digest}")
    async def blob(digest: str, authorization: str = Header("")) -> Response:
        """Send the source of a build, compressed with zlib."""
        if digest not in granted(authorization).archives:
            raise HTTPException(403, "the job does not need this file")
        return await _compressed(digest)

    @router.get("/builds/{build}")
    async def build(build: str, authorization: str = Header("")) -> Response:
        """Send the packed build that a job measures, compressed with zlib."""
        grant = granted(authorization)
        if BUILD.fullmatch(build) is None or build not in grant.builds:
            raise HTTPException(403, "the job does not need this build")
        builder = conductor.roster.builder_of(grant.attempt.platform)
        artifact = (await asyncio.to_thread(store.fleet.artifacts, [build], builder)).get(build)
        if artifact is None or artifact.blob is None:
            raise HTTPException(404, "the build is not in the store")
        return await _compressed(artifact.blob)

    @router.put("/blobs/{digest}", status_code=204)
    async def put_blob(digest: str, request: Request, authorization: str = Header("")) -> Response:
        """Take a file that the events of a job refer to, compressed with zlib."""
        attempt = granted(authorization).attempt
        if DIGEST.fullmatch(digest) is None:
            raise HTTPException(400, "not a digest")
        directory.mkdir(parents=True, exist_ok=True)
        try:
            is_right = await received(attempt, digest, request)
        finally:
            if attempt.id not in conductor.intake.attempts:
                uploads.discard(attempt.id)
        if not is_right:
            raise HTTPException(400, "the content does not match its digest, or is too large")
        return Response(status_code=204)

    async def received(attempt: Attempt, digest: str, request: Request) -> bool:
        # On the disk, as nothing limits how many are sent at the same time, and how long that takes.
        with tempfile.TemporaryFile(dir=directory) as packed:
            async for piece in request.stream():
                if packed.tell() + len(piece) > MOST_SENT_BYTES or not uploads.has_room(attempt, len(piece)):
                    raise HTTPException(413, "more than a job, or an agent in an hour, may send")
                await asyncio.to_thread(packed.write, piece)
            async with room:
                return await asyncio.to_thread(uploads.receive, attempt.id, digest, packed)

    async def _compressed(digest: str) -> Response:
        try:
            async with room:
                packed = await asyncio.to_thread(lambda: zlib.compress(store.blobs.get(digest), 1))
        except BlobDamaged as damaged:
            raise HTTPException(404, damaged.message) from damaged
        return Response(packed, media_type="application/zlib")

    return router
