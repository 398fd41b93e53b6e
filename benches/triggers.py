"""What webhooks cost and refuse, and what the comment is and costs that they lead to.

`python -m benches.triggers`. Deliveries come at a fixed rate, and hostile ones, over HTTP to another process. The
server has a store in SQLite on disk. A delivery is late if the one before it is: its time counts from the moment at
which it was due.
"""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI, Request
from hostile_deliveries import HOSTILE_LIMITS, hostilities
from webhook_payloads import delivery as signed, labelled, pushed, settings_of_tests

from benches.figures import Figure, show_figures, write_figures
from benches.trigger_comments import markup_figure, overhead_figure, size_figure
from benches.trigger_floods import wait_figure
from zerolap.api.webhooks import webhooks_router
from zerolap.cli.logging import set_up_logs
from zerolap.store import Store
from zerolap.triggers.webhooks.admission import Delivery, logged
from zerolap.triggers.webhooks.outcomes import STATUS

PER_SECOND = 50
SECONDS = 20
HOSTILE = 1_000
PAYLOAD_BYTES = 24_000
"""As large as the payload of a labelled pull request is at GitHub."""
BARE_PER_SECOND = 10
"""The same deliveries, sent beside the others to a route that only reads them: what client, HTTP and machine cost."""
WARM_UP = 20
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure the figures and write them."""
    figures: dict[str, Figure] = {}
    with tempfile.TemporaryDirectory(prefix="zerolap-bench-", dir=".") as name:
        directory = Path(name).resolve()
        with _server(directory / "timed") as server:
            figures |= asyncio.run(_timed(server))
        with _server(directory / "hostile") as server:
            figures |= asyncio.run(_refused(server))
        figures["holder_wait_under_flood_s"] = wait_figure(directory / "flooded")
    figures["markup_attacks"] = markup_figure()
    figures["comment_kib"] = size_figure()
    figures["label_to_comment_overhead_s"] = overhead_figure()
    show_figures(figures)
    print(write_figures("triggers", figures))


@dataclass(frozen=True)
class Server:
    """A server of webhooks: the URL that deliveries go to, the directory of its store, the file of its log."""

    url: str
    directory: Path
    log: Path
    process: int

    def cpu_seconds(self) -> float:
        """Return the processor time that it has used."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    def entries(self) -> list[dict[str, str]]:
        """Return what it has logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


class Sender:
    """Sends deliveries over connections that are kept open; costs far less than what it measures."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, delivery: Delivery, path: str = "") -> int:
        """Return the status of the answer."""
        lines = [f"POST {self._parts.path}{path} HTTP/1.1", f"Host: {self._parts.netloc}"]
        lines += [f"{name}: {value}" for name, value in delivery.headers.items()]
        lines += [f"Content-Length: {len(delivery.body)}", "", ""]
        reader, writer = self._idle.pop() if self._idle else await self._connected()
        writer.write("\r\n".join(lines).encode("latin-1") + delivery.body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"\r\ncontent-length: (\d+)\r\n", head)
        await reader.readexactly(0 if length is None else int(length[1]))
        if "\r\nconnection: close\r\n" in head:
            writer.close()
        else:
            self._idle.append((reader, writer))
        return int(head.split(" ", 2)[1])

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self._parts.hostname, self._parts.port)


async def _timed(server: Server) -> dict[str, Figure]:
    """Send deliveries at a fixed rate, whether or not earlier ones were answered; all have to be accepted."""
    deliveries = [_padded(number) for number in range(WARM_UP + PER_SECOND * SECONDS)]
    sender = Sender(server.url)
    for delivery in deliveries[:WARM_UP]:
        await sender.send(delivery)
    cpu_before, began = server.cpu_seconds(), time.perf_counter() + 0.1
    sending = [
        asyncio.create_task(_answered_ms(sender, delivery, began + number / PER_SECOND))
        for number, delivery in enumerate(deliveries[WARM_UP:])
    ]
    beside = [
        asyncio.create_task(_answered_ms(sender, deliveries[0], began + number / BARE_PER_SECOND, "/bare"))
        for number in range(BARE_PER_SECOND * SECONDS)
    ]
    samples = [await task for task in sending]
    bare = [round(await task, 3) for task in beside]
    cpu_ms = (server.cpu_seconds() - cpu_before) / (len(samples) + len(bare)) * 1e3
    with Store.open(str(server.directory)) as store:
        recorded = len(store.triggers.in_state("waiting"))
    if recorded != len(deliveries):
        raise SystemExit(f"{recorded} of {len(deliveries)} deliveries are recorded")
    ordered = sorted(samples)
    raw = [round(sample, 3) for sample in samples]
    bare_p99 = sorted(bare)[int(0.99 * (len(bare) - 1))]
    notes = [
        f"{PER_SECOND} a second for {SECONDS} s, {PAYLOAD_BYTES} bytes each, SQLite on disk",
        f"a bare route beside it: {bare_p99:.3g} ms",
    ]
    return {
        "webhook_ms_p99": Figure(
            ordered[int(0.99 * (len(ordered) - 1))], "ms", raw, len(raw), {"bare route": bare}, notes
        ),
        "webhook_ms_p50": Figure(ordered[len(ordered) // 2], "ms", raw, len(raw)),
        "webhook_cpu_ms": Figure(
            cpu_ms, "ms a request", [cpu_ms], len(raw), notes=["of the server, bare route included"]
        ),
    }


async def _refused(server: Server) -> dict[str, Figure]:
    """Send hostile deliveries; one counts as refused if it led to nothing and its reason is in the log."""
    hostile = hostilities(HOSTILE)
    sender = Sender(server.url)
    for delivery in hostile.accepted:
        await sender.send(delivery)
    before = len(server.entries())
    statuses = [await sender.send(attack.delivery) for attack in hostile.attacks]
    with Store.open(str(server.directory)) as store:
        recorded = len(store.triggers.in_state("waiting")) - len(hostile.accepted)
    entries = server.entries()[before:]
    in_log = Counter((entry["delivery"], entry["cause"]) for entry in entries if entry.get("reason"))
    refused, missed = 0, []
    for attack, status in zip(hostile.attacks, statuses, strict=True):
        line = (logged(attack.delivery.identity), attack.cause.value)
        if in_log[line] > 0 and status == STATUS.get(attack.cause, HTTPStatus.OK):
            in_log[line] -= 1
            refused += 1
        else:
            missed.append(f"{attack.name}: {status}")
    if recorded:
        missed.append(f"{recorded} led to something")
    causes = sorted(Counter(attack.cause.value for attack in hostile.attacks).items())
    return {"refused": Figure(refused - recorded, f"of {HOSTILE}", causes, HOSTILE, notes=missed[:10])}


async def _answered_ms(sender: Sender, delivery: Delivery, due: float, path: str = "") -> float:
    await asyncio.sleep(due - time.perf_counter())
    status = await sender.send(delivery, path)
    answered = time.perf_counter()
    if status != HTTPStatus.ACCEPTED:
        raise SystemExit(f"a delivery was answered with {status}")
    return (answered - due) * 1e3


def _padded(number: int) -> Delivery:
    event, payload = ("pull_request", labelled(number=number + 1)) if number % 2 else ("push", pushed())
    return signed(event, payload | {"padding": "x" * (PAYLOAD_BYTES - len(json.dumps(payload)))})


@contextlib.contextmanager
def _server(directory: Path) -> Iterator[Server]:
    """Start a server of webhooks with a new store; it ends with this process."""
    directory.mkdir()
    log = directory / "log"
    command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "benches.triggers", "serve", str(directory)]
    here = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here / "python"), str(here / "tests")])}
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, env=environment) as process,
    ):
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            yield Server(f"http://127.0.0.1:{port}/webhooks/github", directory, log, process.pid)
        finally:
            process.terminate()


def serve(directory: Path) -> None:
    """Serve webhooks, and write the port to standard output."""
    set_up_logs()
    with Store.open(str(directory)) as store:
        app = FastAPI(openapi_url=None)
        app.include_router(webhooks_router(store, settings_of_tests(HOSTILE_LIMITS)))

        @app.post("/webhooks/github/bare", status_code=HTTPStatus.ACCEPTED)
        async def bare(request: Request) -> None:
            await request.body()

        configuration = uvicorn.Config(
            app, port=0, log_config=None, access_log=False, lifespan="off", ws="none", timeout_keep_alive=120
        )
        asyncio.run(_Announcing(configuration).serve())


class _Announcing(uvicorn.Server):
    async def startup(self, sockets: Sequence[object] | None = None) -> None:
        await super().startup()
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", directory_of_store]:
            serve(Path(directory_of_store))
        case _:
            main()
