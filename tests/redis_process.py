"""A Redis server of the tests' own: a real redis-server on a port of this machine, which keeps what it has taken."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import redis
from free_ports import free_port
from waiting import is_stopped, wait_until

PASSWORD = "pa55-wörd/@#%"
PASSWORD_IN_URL = "pa55-w%C3%B6rd%2F%40%23%25"


class RedisProcess:
    """A redis-server with a password; it can be killed, frozen and started again. `arguments` are further ones."""

    def __init__(self, program: Path, directory: Path, port: int, arguments: Sequence[str | Path] = ()) -> None:
        self.port = port
        self.url = f"redis://:{PASSWORD_IN_URL}@127.0.0.1:{port}"
        self.client = redis.Redis(port=port, password=PASSWORD, decode_responses=True)
        self._program = program
        self._directory = directory
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextlib.contextmanager
    def on_a_port(
        cls, program: Path, directory: Path, arguments: Sequence[str | Path] = ()
    ) -> Iterator["RedisProcess"]:
        """Yield a server that is not started, and kill it at the end."""
        directory.mkdir()
        port = free_port()
        server = cls(program, directory, port, arguments)
        try:
            yield server
        finally:
            server.kill()
            server.client.close()

    def start(self) -> None:
        """Start it and wait until it answers."""
        # The kernel ends the server with the tests, also where they are killed.
        command: list[str | Path] = ["setpriv", "--pdeathsig", "KILL", self._program]
        command += ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", self._directory]
        command += ["--requirepass", PASSWORD, "--appendonly", "yes", "--save", "", *self._arguments]
        with (self._directory / "log").open("ab") as output:
            process = self._process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

        def answers() -> bool:
            assert process.poll() is None, (self._directory / "log").read_text(errors="replace")
            try:
                return bool(self.client.ping())
            except redis.ConnectionError:
                return False

        wait_until(answers)

    def kill(self) -> None:
        """End it without a chance to write anything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Let it do nothing for a while: connections are kept, and nothing is answered."""
        assert self._process is not None
        number = self._process.pid
        os.kill(number, signal.SIGSTOP)
        wait_until(lambda: is_stopped(number))
        try:
            yield
        finally:
            os.kill(number, signal.SIGCONT)

    def entries(self, stream: str) -> list[dict[str, str]]:
        """Return the entries of a stream."""
        entries: Any = self.client.xrange(stream)
        return [fields for _, fields in entries]
