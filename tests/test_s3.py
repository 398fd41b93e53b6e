"""Blobs in an S3-compatible server: of a store, and as a conductor and its agents use them."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from free_ports import free_port
from simulated_fleet import SimulatedFleet, made_up_cases
from waiting import wait_until

from zerolap.documents import read_comparison
from zerolap.records import EnvironmentMissing
from zerolap.store import BlobDamaged, Store, open_blobs

SCRIPT = Path(__file__).parent.parent / "scripts" / "s3-server"
BUCKET = "zerolap"


def _is_listening(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty bucket of a real server."""
    found = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"no S3-compatible server: {found.stderr.strip()}")
    port = free_port()
    options = ["-backend", "memory", "-initialbucket", BUCKET, "-host", f"127.0.0.1:{port}"]
    command = ["setpriv", "--pdeathsig", "KILL", found.stdout.strip(), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: _is_listening(port))
            for name in list(os.environ):
                if name.startswith("AWS_"):
                    monkeypatch.delenv(name)
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
            monkeypatch.setenv("AWS_REGION", "us-east-1")
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
            yield f"s3://{BUCKET}/lab"
        finally:
            server.kill()


def test_blobs_are_kept_and_found(bucket: str, tmp_path: Path) -> None:
    blobs = open_blobs(bucket, tmp_path)
    digest = blobs.put(b"a call graph")
    assert blobs.put(b"a call graph") == digest
    assert (blobs.has(digest), blobs.has("0" * 64)) == (True, False)
    assert open_blobs(bucket, tmp_path).get(digest) == b"a call graph"
    with pytest.raises(BlobDamaged):
        blobs.get("0" * 64)


def test_a_bucket_that_is_not_there_is_reported(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentMissing, match="cannot write to the blobs at s3://missing"):
        open_blobs("s3://missing/lab", tmp_path).put(b"content")


def test_a_conductor_keeps_its_blobs_there(bucket: str, tmp_path: Path, redis_server: Path) -> None:
    with Store.open(str(tmp_path / "store")) as local:
        store = Store(local._database, open_blobs(bucket, tmp_path))
        fleet = SimulatedFleet(store, redis_server)
        request = fleet.submit(made_up_cases(2))

        async def scenario(fleet: SimulatedFleet) -> None:
            assert await fleet.ended(request) == ["done"]

        fleet.run(scenario)
        assert [case.verdict for case in read_comparison(store, request.id).cases] == ["same", "same"]
        assert not (tmp_path / "store" / "blobs").exists()
