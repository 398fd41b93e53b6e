"""Servers that hold a socket of the machine's network reach nothing by it, whatever they try."""

import socket
import struct
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS

from zerolap.sandbox import Confinement, available, launch, process
from zerolap.sandbox.system_calls import system_call_filter
from zerolap.server import open_port

pytestmark = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")

HOSTILE = Path(__file__).parent / "hostile"
CONNECTIONS = 7
"""That the server accepts, one for each of its tricks but the last."""
LOOPBACK = "127.0.0.1"


def attacked(directory: Path) -> tuple[str, int]:
    """Run the server; return what it reports, and how many connections another server of the machine got."""
    (directory / "known.h").touch()
    program = directory / "connects"
    source = HOSTILE / "servers" / "connects.c"
    include = ["-I", HOSTILE / "src", "-I", directory]
    subprocess.run(["cc", "-o", program, *include, source], check=True)
    with ExitStack() as opened:
        canary = opened.enter_context(socket.create_server((LOOPBACK, 0)))
        port = opened.enter_context(open_port(LOOPBACK, program))
        for _ in range(CONNECTIONS):
            opened.enter_context(socket.create_connection((port.address, port.number)))
        with socket.create_connection((port.address, port.number)) as last:
            # Closed, it is reset.
            last.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        confinement = Confinement(
            read_only=[program], directory=directory, writable=[directory], listening=port.descriptor
        )
        command = [str(program), str(port.descriptor), str(canary.getsockname()[1])]
        with launch(command, environment={}, output=directory / "log", confinement=confinement) as server:
            server.wait(PATIENCE_SECONDS)
        canary.setblocking(False)
        reached = 0
        while True:
            try:
                opened.enter_context(canary.accept()[0])
            except BlockingIOError:
                return (directory / "log").read_text(), reached
            reached += 1


def test_a_server_opens_no_connection_by_a_socket_of_the_machine(compiler: None, tmp_path: Path) -> None:
    report, reached = attacked(tmp_path)
    assert report.startswith("accepted\n")
    assert "reached 0 in 11 attempts" in report, report
    assert reached == 0


def test_the_same_server_gets_out_without_the_filter_for_it(
    compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempts are real ones: they succeed where a filter lets processes connect."""
    monkeypatch.setattr(process, "system_call_filter", lambda **_: system_call_filter())
    report, reached = attacked(tmp_path)
    for attempt in ("connecting what was accepted", "sendto", "sendmsg", "sendmmsg", "connecting what listened"):
        assert f"REACHED: {attempt}\n" in report, report
    assert "REACHED: another port to listen on" in report, report
    assert reached >= 5
