"""Files of jobs over HTTPS, by the token of the attempt."""

import asyncio
import ssl
import zlib
from pathlib import Path
from typing import Final

import httpx

from zerolap.build import Builds, pack_build, unpack_build
from zerolap.fleet.messages import OfferedJob
from zerolap.records import BuildDone, BuildJob, EnvironmentMissing, Event, LoadJob, TrialDone
from zerolap.sandbox import remove
from zerolap.store import COMPRESSION_LEVEL, open_blobs

KEPT_BUILDS: Final = 100
"""The most builds that are kept, each of some 20 MB, with the placements that were linked of them."""
TRIES: Final = 20
RETRY_SECONDS: Final = 1.0
TIMEOUT_SECONDS: Final = 120.0
CLIENT_ERROR, SERVER_ERROR = 400, 500


class FilesOverHttp:
    """Fetches sources and builds, and sends builds and what measurements refer to.

    `address` is the URL of `zerolap serve`. The blobs of a job are below `directory` as long as it is under way; of
    `builds` those that were used last are kept.
    """

    def __init__(self, address: str, trust: ssl.SSLContext | None, directory: Path, builds: Builds) -> None:
        self._directory = directory
        self._blobs = open_blobs(None, directory)
        self._builds = builds
        self._client = httpx.AsyncClient(
            base_url=address, verify=True if trust is None else trust, timeout=TIMEOUT_SECONDS, trust_env=False
        )

    async def fetch(self, offered: OfferedJob) -> None:
        """Bring here the source of a build, or the builds that are measured; raises `EnvironmentMissing`."""
        job = offered.job
        if isinstance(job, LoadJob):
            return
        if isinstance(job, BuildJob):
            if self._builds.find(job.spec.digest) is None:
                content = zlib.decompress(await self._get(f"/blobs/{job.source.archive}", offered.token))
                await asyncio.to_thread(self._blobs.put, content)
            return
        for build in sorted(job.builds):
            if self._builds.find(build) is None:
                packed = zlib.decompress(await self._get(f"/builds/{build}", offered.token))
                await asyncio.to_thread(unpack_build, self._builds, build, packed)
            self._builds.use(build)

    async def send(self, offered: OfferedJob, event: Event) -> Event:
        """Send what an event refers to; a build is packed and sent, and its digest put into the event."""
        if isinstance(event, BuildDone):
            packed = await asyncio.to_thread(pack_build, self._builds, event.build.build)
            digest = await asyncio.to_thread(self._blobs.put, packed)
            await self._put(digest, packed, offered.token)
            return event.model_copy(update={"artifact": digest})
        if isinstance(event, TrialDone):
            digests = [digest for measurement in event.measurements.values() for digest in measurement.blobs]
            for digest in dict.fromkeys(digests):
                await self._put(digest, await asyncio.to_thread(self._blobs.get, digest), offered.token)
        return event

    async def clear(self) -> None:
        """Remove what was kept for a job, and builds that were not used for long."""
        await asyncio.to_thread(remove, self._directory)
        await asyncio.to_thread(self._builds.remove_unused, KEPT_BUILDS)

    async def close(self) -> None:
        """End the connections."""
        await self._client.aclose()

    async def _get(self, path: str, token: str) -> bytes:
        return (await self._sent("GET", path, token, None)).content

    async def _put(self, digest: str, content: bytes, token: str) -> None:
        # As the store keeps it.
        packed = await asyncio.to_thread(zlib.compress, content, COMPRESSION_LEVEL)
        await self._sent("PUT", f"/blobs/{digest}", token, packed)

    async def _sent(self, method: str, path: str, token: str, content: bytes | None) -> httpx.Response:
        """Return the response to a request, which is repeated while the server cannot be reached."""
        fault = ""
        for _ in range(TRIES):
            try:
                headers = {"Authorization": f"Bearer {token}"}
                response = await self._client.request(method, path, headers=headers, content=content)
            except httpx.TransportError as lost:
                fault = str(lost) or type(lost).__name__
            else:
                if response.status_code < CLIENT_ERROR:
                    return response
                fault = f"{response.status_code} {response.text[:200]}"
                if response.status_code < SERVER_ERROR:
                    break
            await asyncio.sleep(RETRY_SECONDS)
        raise EnvironmentMissing(f"{method} {self._client.base_url}{path.lstrip('/')} failed: {fault}")
