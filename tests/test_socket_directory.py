"""Sockets of servers whose directory has a longer path than sockets can have."""

import os
from pathlib import Path

import pytest
from command_line import Zerolap
from toy_server import CASES

from zerolap.build import Program
from zerolap.records import EnvironmentMissing
from zerolap.sandbox import prepared_socket, socket_directory, socket_path
from zerolap.server import start


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    directory = tmp_path / ("y" * 200)
    directory.mkdir()
    return directory


def test_a_server_in_a_deep_directory(redis_server: Path, deep: Path) -> None:
    own = deep / "server"
    own.mkdir()
    with start(Program(redis_server), {}, own, log=deep / "log") as server:
        assert server.command("PING") == b"PONG"
        assert len(os.fsencode(server.socket)) <= socket_directory.LONGEST_SOCKET_PATH_BYTES
        place = server.socket.parent
        assert place.stat().st_mode & 0o777 == 0o700
    assert not place.exists()


@pytest.mark.usefixtures("valgrind")
def test_a_case_is_counted_and_checked_below_a_deep_tmpdir(zerolap: Zerolap, toy_program: Path, deep: Path) -> None:
    arguments = ["--server", toy_program, "--cases", CASES, "--engine", "counted", "--quick", "--store", zerolap.store]
    ended = zerolap("run", "toy-get", *arguments, "--json", "-", environment={"TMPDIR": str(deep)})
    assert ended.code == 0, ended
    [case] = ended.document()["cases"]
    assert case["validity"]["valid"]
    assert list(deep.iterdir()) == []


def test_a_path_that_is_short_enough_stays(tmp_path: Path) -> None:
    directory = Path("/") / ("x" * (socket_directory.LONGEST_SOCKET_PATH_BYTES - len("/socket") - 1))
    assert socket_path(directory) == directory / "socket"
    assert socket_path(directory / "y").parent != directory / "y"
    with prepared_socket(tmp_path) as path:
        assert path == tmp_path / "socket"


def test_only_a_directory_of_this_user_alone_is_used(
    deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_to_others, linked, private = (tmp_path / name for name in ("open", "linked", "private"))
    for parent in (open_to_others, linked, private):
        parent.mkdir()
    own = f"zerolap-{os.geteuid()}"
    (open_to_others / own).mkdir(mode=0o700)
    (open_to_others / own).chmod(0o777)
    (linked / own).symlink_to(private)
    places = [str(open_to_others), str(linked)]
    monkeypatch.setattr(socket_directory, "SHORT_DIRECTORIES", (*places, str(private)))
    assert socket_path(deep / ("y" * 100)).is_relative_to(private / own)
    monkeypatch.setattr(socket_directory, "SHORT_DIRECTORIES", tuple(places))
    with pytest.raises(EnvironmentMissing, match="too long paths") as raised:
        socket_path(deep / ("y" * 100))
    assert "TMPDIR" in raised.value.hint
