"""The files of jobs: sources and builds go to agents, builds and what measurements refer to come from them."""

import asyncio
import hashlib
import re
import zlib
from typing import Final

from fastapi import APIRouter, Header, HTTPException, Request, Response

from zerolap.fleet import Conductor, Grant
from zerolap.store import BlobDamaged, Store

DIGEST: Final = re.compile(r"[0-9a-f]{64}")
BUILD: Final = re.compile(r"b-[0-9a-f]{32}")
MOST_SENT_BYTES: Final = 1 << 29
"""Compressed, in one request."""
MOST_BLOB_BYTES: Final = 1 << 31
MOST_BYTES_PER_ATTEMPT: Final = 1 << 32
UNPACKED_PIECE_BYTES: Final = 1 << 20


def files_router(conductor: Conductor, store: Store) -> APIRouter:
    """Return the routes; each takes the token of an attempt, `Authorization: Bearer TOKEN`."""
    router = APIRouter()
    sent_bytes: dict[str, int] = {}

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
        if BUILD.fullmatch(build) is None or build not in granted(authorization).builds:
            raise HTTPException(403, "the job does not need this build")
        artifact = (await asyncio.to_thread(store.fleet.artifacts, [build])).get(build)
        if artifact is None or artifact.blob is None:
            raise HTTPException(404, "the build is not in the store")
        return await _compressed(artifact.blob)

    @router.put("/blobs/{digest}", status_code=204)
    async def put_blob(digest: str, request: Request, authorization: str = Header("")) -> Response:
        """Take a file that the events of a job refer to, compressed with zlib."""
        grant = granted(authorization)
        if DIGEST.fullmatch(digest) is None:
            raise HTTPException(400, "not a digest")
        packed = bytearray()
        async for piece in request.stream():
            packed += piece
            sent = sent_bytes[grant.attempt.id] = sent_bytes.get(grant.attempt.id, 0) + len(piece)
            if len(packed) > MOST_SENT_BYTES or sent > MOST_BYTES_PER_ATTEMPT:
                raise HTTPException(413, "more than a job may send")
        content = await asyncio.to_thread(_unpacked, bytes(packed))
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            raise HTTPException(400, "the content does not match its digest")
        await asyncio.to_thread(store.blobs.put, content)
        for ended in [attempt for attempt in sent_bytes if attempt not in conductor.intake.attempts]:
            del sent_bytes[ended]
        return Response(status_code=204)

    async def _compressed(digest: str) -> Response:
        try:
            content = await asyncio.to_thread(store.blobs.get, digest)
        except BlobDamaged as damaged:
            raise HTTPException(404, damaged.message) from damaged
        packed = await asyncio.to_thread(zlib.compress, content, 1)
        return Response(packed, media_type="application/zlib")

    return router


def _unpacked(packed: bytes) -> bytes | None:
    """Return the content; none if it is damaged or larger than a blob may be."""
    unpacker = zlib.decompressobj()
    content = bytearray()
    try:
        while packed:
            content += unpacker.decompress(packed, UNPACKED_PIECE_BYTES)
            packed = unpacker.unconsumed_tail
            if len(content) > MOST_BLOB_BYTES:
                return None
        return bytes(content + unpacker.flush()) if unpacker.eof else None
    except zlib.error:
        return None
