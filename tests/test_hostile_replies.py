"""Servers that answer what no reader should have to take: the trial fails, and nothing else does."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from simulated_fleet import SimulatedFleet, made_up_cases
from waiting import PATIENCE_SECONDS

from zerolap.build import Program
from zerolap.records import TrialFailed
from zerolap.resp_frames import FrameBounds, FrameReader, ServerLost, UnreadableReply
from zerolap.server import CommandRefused, RunningServer, start
from zerolap.server.ability_queries import server_abilities
from zerolap.server.connection import CommandConnection
from zerolap.store import Store

SERVER = """
import socket, sys, threading
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
said = sys.argv[2].encode().decode("unicode_escape").encode("latin-1")
times = int(sys.argv[3])

def answer(connection):
    while received := connection.recv(1 << 16):
        if b"PING" in received:
            connection.sendall(b"+PONG\\r\\n")
            continue
        for _ in range(times):
            connection.sendall(said)

while True:
    threading.Thread(target=answer, args=[listening.accept()[0]], daemon=True).start()
"""
ENDLESS = 1 << 40
NEVER_ENDS = r"*10737418240\r\n"
WELL_FORMED_COMMAND = r"*1\r\n*3\r\n$3\r\nget\r\n:2\r\n*1\r\n+readonly\r\n"


def program_that_says(directory: Path, said: str, times: int = 1) -> Program:
    """Return a server that answers PING, and everything else by the bytes that `said` escapes, so many times."""
    script = directory / "server.py"
    script.write_text(SERVER)
    return Program(Path(sys.executable).resolve(), (str(script), "{socket}", said, str(times)))


@contextmanager
def server_that_says(directory: Path, said: str, times: int = 1) -> Iterator[RunningServer]:
    own = directory / "server"
    own.mkdir()
    with start(program_that_says(directory, said, times), {}, own, log=directory / "log") as server:
        yield server


@pytest.mark.parametrize(
    ("said", "times", "why"),
    [
        (r"@x\r\n", 1, "is not RESP"),
        (r"*1\r\n", 100_000, "nested more than 100 deep"),
        (r"$10737418240\r\n", 1, "value of 10,737,418,240 bytes"),
        (NEVER_ENDS, 1, "has not ended after|was lost"),
        ("+" * 1000, ENDLESS, "line of more than"),
        (r"|0\r\n", 100_000, "nested more than 100 deep"),
        (r"%1000000000\r\n" + r"+a\r\n" * 1000, ENDLESS, "more than"),
        (r"*1\r\n*3\r\n$3\r\n\xff\xfe\x00\r\n:2\r\n*0\r\n", 1, "a name"),
        (r"*1\r\n+x\r\n", 1, "unknown form"),
        (r":1\r\n", 1, "is no list"),
        (r"-ERR no\r\n", 1, "refused `COMMAND`"),
    ],
)
def test_what_is_no_reply_to_command_fails_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, times: int, why: str
) -> None:
    # Only of a reply that never ends the end is not waited for; and none of these servers dies.
    monkeypatch.setattr("zerolap.server.connection.REPLY_SECONDS", 1 if said == NEVER_ENDS else PATIENCE_SECONDS)
    monkeypatch.setattr("zerolap.server.running_server.DYING_SECONDS", 0)
    with pytest.raises(TrialFailed, match=why):
        server_abilities(program_that_says(tmp_path, said, times), {}, tmp_path)


def test_a_well_formed_reply_is_read(tmp_path: Path) -> None:
    abilities = server_abilities(program_that_says(tmp_path, WELL_FORMED_COMMAND), {}, tmp_path)
    assert abilities.commands == {"GET"}


def test_fields_of_info_that_are_no_numbers_fail_the_question_alone(tmp_path: Path) -> None:
    with server_that_says(tmp_path, r"$12\r\nkeys:99999x\n\r\n") as server:
        assert server.info("stats") == {"keys": "99999x"}
        with pytest.raises(TrialFailed, match="`DBSIZE` is no number"):
            server.count_keys()


def test_the_replies_of_many_commands_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerolap.server.batch.MOST_BYTES", 1 << 20)
    with (
        server_that_says(tmp_path, r"+OK\r\n" * 1000, ENDLESS) as server,
        pytest.raises(TrialFailed, match="more than 1,048,576 bytes"),
    ):
        server.commands([["SET", "a", "1"]])


def test_a_message_that_comes_byte_by_byte_has_its_time() -> None:
    left, right = socket.socketpair()
    has_ended = threading.Event()

    def trickle() -> None:
        while not has_ended.wait(0.01):
            left.sendall(b"a")

    with left, right:
        right.settimeout(PATIENCE_SECONDS)
        left.sendall(b"+")
        trickling = threading.Thread(target=trickle)
        trickling.start()
        with pytest.raises(UnreadableReply, match=r"has not ended after 0\.2 s"):
            FrameReader(right, bounds=FrameBounds(seconds=0.2)).next_frame()
        has_ended.set()
        trickling.join()


def test_values_are_bounded_by_number() -> None:
    with pytest.raises(UnreadableReply, match="more than 10 values"):
        FrameReader(None, b"*11\r\n" + b"_\r\n" * 11, bounds=FrameBounds(values=10)).next_frame()


def test_a_connection_is_made_again_after_a_failure(redis_server: Path, tmp_path: Path) -> None:
    own = tmp_path / "server"
    own.mkdir()
    with start(Program(redis_server), {}, own, log=tmp_path / "log") as server:
        with closing(CommandConnection(server.socket)) as connection:
            assert connection.call("ECHO", b"\xff") == b"\xff"
            with pytest.raises(CommandRefused, match="ERR unknown"):
                connection.call("NO-SUCH-COMMAND")
            identity = connection.call("CLIENT", "ID")
            server.command("CLIENT", "KILL", "ID", str(identity))
            assert connection.call("PING") == b"PONG"
            with pytest.raises(ServerLost):
                connection.call("SHUTDOWN", "NOSAVE")
        with pytest.raises(TrialFailed, match="the server was lost"):
            server.command("PING")


def test_a_server_whose_replies_cannot_be_read_ends_no_agent(
    compiler: None, redis_server: Path, tmp_path: Path
) -> None:
    program = tmp_path / "hostile-server"
    source = Path(__file__).parent / "hostile" / "servers" / "replies.c"
    subprocess.run(["cc", "-o", program, source], check=True)
    with Store.open(str(tmp_path / "store")) as store:
        fleet = SimulatedFleet(store, redis_server)
        hostile = fleet.submit(made_up_cases(1), head=program)

        async def scenario(fleet: SimulatedFleet) -> None:
            assert await fleet.ended(hostile) == ["done"]
            after = fleet.submit(made_up_cases(1))
            assert await fleet.ended(after) == ["done"]

        fleet.run(scenario)
