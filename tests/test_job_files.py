"""The files that an agent sends and fetches for a job, over HTTP."""

import asyncio
import hashlib
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from zerolap.api import application, files
from zerolap.fleet import Conductor, ServedPlatform, uploads
from zerolap.fleet.in_process import InProcess
from zerolap.fleet.setup.attempt_tokens import Tokens
from zerolap.fleet.turns import new_attempt
from zerolap.records import (
    STANDALONE,
    Abilities,
    BinarySource,
    Block,
    Build,
    BuildSpec,
    Case,
    LoadJob,
    ServerSpec,
    TrialsJob,
    WrittenClient,
)
from zerolap.store import Artifact, Attempt, Store

TOKENS = Tokens(b"secret")
LARGE_BYTES = 96 << 20
BUILD = Build(build=BuildSpec(content="0" * 64).digest, version="7.0.15", build_id="", flags="")


@asynccontextmanager
async def sending(store: Store, *agents: str) -> AsyncIterator[list["Sender"]]:
    """Give each of these agents a job that is under way, and what it needs to send files for it."""
    conductor = Conductor(store, InProcess(), [ServedPlatform("alpha", builder="alpha")], tokens=TOKENS)
    transport = httpx.ASGITransport(application(conductor, store))
    async with httpx.AsyncClient(transport=transport, base_url="http://lab") as client:
        senders = []
        for agent in agents:
            given = new_attempt("c-1", "alpha", LoadJob(request="c-1", attempt="a-1", address="127.0.0.1:1"))
            attempt = replace(given, state="claimed", agent=agent)
            conductor.intake.open([attempt])
            senders.append(Sender(conductor, attempt, client))
        yield senders


@dataclass(frozen=True)
class Sender:
    """An agent that carries out an attempt."""

    conductor: Conductor
    attempt: Attempt
    client: httpx.AsyncClient

    async def send(self, digest: str, packed: bytes) -> int:
        """Send a file and return the answer's code."""
        headers = {"Authorization": f"Bearer {TOKENS.token_for(self.attempt.id)}"}
        return (await self.client.put(f"/blobs/{digest}", content=packed, headers=headers)).status_code


async def statuses(store: Store, *sent: tuple[str, bytes]) -> list[int]:
    """Send files at the same time for a job that is under way, by their digests, and return the answers' codes."""
    async with sending(store, "alpha-1") as [sender]:
        return list(await asyncio.gather(*(sender.send(*file) for file in sent)))


def test_a_file_is_stored_under_its_digest(store: Store) -> None:
    digest = hashlib.sha256(b"content").hexdigest()
    wrong = [(digest, zlib.compress(b"other")), (digest, b"not compressed"), ("0", zlib.compress(b"content"))]
    assert asyncio.run(statuses(store, *wrong)) == [400, 400, 400]
    assert not store.blobs.has(digest)
    assert asyncio.run(statuses(store, (digest, zlib.compress(b"content")))) == [204]


def test_a_file_is_in_the_store_once_a_report_refers_to_it_and_gone_with_its_attempt(store: Store) -> None:
    packed = {content: zlib.compress(content) for content in (b"of a report", b"of nothing")}
    digests = {content: hashlib.sha256(content).hexdigest() for content in packed}

    async def test() -> None:
        async with sending(store, "alpha-1") as [sender]:
            kept = store.builds_directory.parent / "uploads" / sender.attempt.id
            for content, digest in digests.items():
                assert await sender.send(digest, packed[content]) == 204
                assert not store.blobs.has(digest)
            assert sender.conductor.intake.uploads.store(sender.attempt.id, digests[b"of a report"])
            assert kept.is_dir()
            sender.conductor.intake.close("c-1")
            while kept.exists():
                await asyncio.sleep(0.01)
        assert store.blobs.get(digests[b"of a report"]) == b"of a report"
        assert not store.blobs.has(digests[b"of nothing"])

    asyncio.run(test())


def test_files_of_attempts_that_ended_while_there_was_no_conductor_are_removed(store: Store) -> None:
    digest, packed = hashlib.sha256(b"content").hexdigest(), zlib.compress(b"content")
    directory = store.builds_directory.parent / "uploads"

    async def test() -> None:
        async with sending(store, "alpha-1", "alpha-2") as senders:
            for sender in senders:
                assert await sender.send(digest, packed) == 204
        Conductor(store, InProcess(), [], tokens=TOKENS).intake.recall([senders[0].attempt])
        assert [path.name for path in directory.iterdir()] == [senders[0].attempt.id]

    asyncio.run(test())


def test_an_agent_has_an_amount_of_bytes_for_all_its_attempts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytes(1000)
    digest, packed = hashlib.sha256(content).hexdigest(), zlib.compress(content)
    monkeypatch.setattr(uploads, "MOST_BYTES_PER_AGENT", 2 * len(packed))
    monkeypatch.setattr(uploads, "HOUR_SECONDS", 1e9)

    async def test() -> None:
        async with sending(store, "alpha-1", "alpha-1", "alpha-1", "alpha-2") as [*attempts, other]:
            assert [await sender.send(digest, packed) for sender in attempts] == [204, 204, 413]
            assert await other.send(digest, packed) == 204

    asyncio.run(test())


def test_what_is_much_larger_unpacked_takes_no_memory(store: Store) -> None:
    content = bytes(LARGE_BYTES)
    digest, packed = hashlib.sha256(content).hexdigest(), zlib.compress(content)
    del content
    tracemalloc.start()
    try:
        answers = asyncio.run(statuses(store, *[("0" * 64, packed)] * 4, (digest, packed)))
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answers == [400] * 4 + [204]
    assert most_bytes < LARGE_BYTES / 4


def test_a_file_and_the_files_of_a_job_are_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytes(1000)
    digest, packed = hashlib.sha256(content).hexdigest(), zlib.compress(content)
    monkeypatch.setattr(uploads, "MOST_BLOB_BYTES", len(content) - 1)
    assert asyncio.run(statuses(store, (digest, packed))) == [400]
    monkeypatch.setattr(uploads, "MOST_BLOB_BYTES", len(content))
    monkeypatch.setattr(files, "MOST_SENT_BYTES", len(packed) - 1)
    assert asyncio.run(statuses(store, (digest, packed))) == [413]
    monkeypatch.setattr(files, "MOST_SENT_BYTES", len(packed))
    monkeypatch.setattr(uploads, "MOST_BYTES_PER_ATTEMPT", 2 * len(packed))
    assert asyncio.run(statuses(store, *[(digest, packed)] * 2)) == [204, 204]
    assert 413 in asyncio.run(statuses(store, *[(digest, packed)] * 3))


async def fetched(store: Store, platform: str) -> tuple[int, bytes]:
    """Fetch the build for a job that measures it on a platform, and return the answer's code and content."""
    platforms = [ServedPlatform(name, builder=f"{name}-build") for name in ("alpha", "beta")]
    conductor = Conductor(store, InProcess(), platforms, tokens=TOKENS)
    client = WrittenClient(commands=["GET __key__"]).client
    job = TrialsJob(
        request="c-1",
        case=Case(name="case", group="made up", client=client),
        servers={"base": ServerSpec(build=BUILD.build, topology=STANDALONE)},
        engine="counted",
        blocks=(Block(number=0, seed=1),),
    )
    attempt = new_attempt("c-1", platform, job)
    conductor.intake.open([attempt])
    headers = {"Authorization": f"Bearer {TOKENS.token_for(attempt.id)}"}
    transport = httpx.ASGITransport(application(conductor, store))
    async with httpx.AsyncClient(transport=transport, base_url="http://lab", headers=headers) as http:
        response = await http.get(f"/builds/{BUILD.build}")
        return response.status_code, zlib.decompress(response.content) if response.is_success else b""


def test_a_platform_is_sent_what_its_own_builder_has_made(store: Store, tmp_path: Path) -> None:
    def add(builder: str) -> None:
        none = Abilities(commands=frozenset(), settings=frozenset())
        store.fleet.add_artifact(Artifact(BUILD, builder, store.blobs.put(f"of {builder}".encode()), none))

    store.record_build(BUILD, BinarySource(name="server", path=tmp_path))
    add("alpha-build")
    assert asyncio.run(fetched(store, "alpha")) == (200, b"of alpha-build")
    assert asyncio.run(fetched(store, "beta")) == (404, b"")
    add("beta-build")
    assert asyncio.run(fetched(store, "alpha")) == (200, b"of alpha-build")
    assert asyncio.run(fetched(store, "beta")) == (200, b"of beta-build")
