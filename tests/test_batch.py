"""Commands sent together, to a server that does not know the command that ends them."""

from pathlib import Path

import pytest

from zerolap.build import Program
from zerolap.records import TrialFailed
from zerolap.server import start

TOY_ARGUMENTS = ("--unixsocket", "{socket}")


def test_a_server_without_echo_carries_out_commands_sent_together(toy_program: Path, tmp_path: Path) -> None:
    program = Program(toy_program, TOY_ARGUMENTS)
    with start(program, {}, tmp_path, log=tmp_path / "log") as server:
        server.commands([["SET", f"key:{number}", "value"] for number in range(100)])
        assert server.count_keys() == 100
        with pytest.raises(TrialFailed, match="refused `RPUSH queue a`: ERR unknown command"):
            server.commands([["SET", "key:1", "value"], ["RPUSH", "queue", "a"], ["PING"]])
        with pytest.raises(TrialFailed, match="refused `LPOP queue`: ERR unknown command"):
            server.commands([["PING"], ["LPOP", "queue"]])
