"""The program with its modules imported: each call is a fork of this process, which saves the second that imports take.

`python preloaded.py SOCKET` listens on a Unix socket until its standard input is closed. A call is a connection with
three descriptors: a file with the call as JSON, standard output and standard error. It is answered by a line with the
number of the process, and one with its exit code. The processes that run tests share one.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from quick_stores import make_stores_quick
from waiting import wait_until

ADDRESS = "ZEROLAP_TESTS_PRELOADED"
"""The variable of the environment with the socket of the process that forks."""
ALLOCATIONS_OF_A_COLLECTION = 20_000
"""The seven hundred of Python take a fifth of the time of what makes many records, and find next to nothing."""


def call(
    arguments: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    on_start: Callable[[int], object] = lambda _process: None,
) -> tuple[int, str, str]:
    """Run the program to its end, and return its exit code, standard output and standard error.

    `on_start` is called with the number of its process.
    """
    with tempfile.TemporaryFile("w+") as asked, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        json.dump({"arguments": list(arguments), "directory": str(directory), "environment": dict(environment)}, asked)
        asked.flush()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(_listening()))
            socket.send_fds(connection, [b"c"], [file.fileno() for file in (asked, out, err)])
            with connection.makefile() as answers:
                on_start(int(answers.readline()))
                code = int(answers.readline())
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return code, texts[0], texts[1]


def start() -> None:
    """Start the process that forks, for this process and those that it starts; it ends with this one."""
    address = Path(tempfile.mkdtemp(prefix="zp-")) / "socket"
    environment = {**os.environ, "COLUMNS": "200"}
    process = subprocess.Popen([sys.executable, __file__, str(address)], stdin=subprocess.PIPE, env=environment)
    os.environ[ADDRESS] = str(address)
    atexit.register(_end, process, address.parent)


def _end(process: "subprocess.Popen[bytes]", directory: Path) -> None:
    process.communicate()
    shutil.rmtree(directory)


@functools.cache
def _listening() -> Path:
    """Return the socket of the process that forks, once it listens."""
    if ADDRESS not in os.environ:
        start()
    address = Path(os.environ[ADDRESS])
    wait_until(address.exists)
    return address


def _import_all() -> None:
    import zerolap

    for module in pkgutil.walk_packages(zerolap.__path__, "zerolap."):
        importlib.import_module(module.name)
    make_stores_quick()
    # Collections would write to the pages that forks share.
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_OF_A_COLLECTION)


class _Calls:
    """The connections of calls whose programs run, by the descriptor that tells when a program has ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._running: dict[int, tuple[int, socket.socket]] = {}

    def next_program(self) -> Sequence[int] | None:
        """Serve calls; return a call's descriptors in the process that is its program; none once no more come."""
        while True:
            ready, _, _ = select.select([self._listener, sys.stdin, *self._running], [], [])
            if sys.stdin in ready:
                return None
            for ended in self._running.keys() & set(ready):
                self._answer(ended)
            if self._listener in ready:
                connection, _ = self._listener.accept()
                _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
                program = os.fork()
                if program == 0:
                    self._close(connection)
                    return descriptors
                for descriptor in descriptors:
                    os.close(descriptor)
                connection.sendall(f"{program}\n".encode())
                self._running[os.pidfd_open(program)] = program, connection

    def _close(self, connection: socket.socket) -> None:
        self._listener.close()
        connection.close()
        for descriptor, (_, other) in self._running.items():
            os.close(descriptor)
            other.close()

    def _answer(self, ended: int) -> None:
        program, connection = self._running.pop(ended)
        os.close(ended)
        _, status = os.waitpid(program, 0)
        with connection:
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become_program(descriptors: Sequence[int]) -> None:
    """Be what a call asks for: its command line, directory, environment and outputs."""
    os.setsid()
    with open(descriptors[0]) as file:
        file.seek(0)
        asked = json.load(file)
    for descriptor, standard in ((os.open(os.devnull, os.O_RDONLY), 0), (descriptors[1], 1), (descriptors[2], 2)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.chdir(asked["directory"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None
    sys.argv = ["zerolap", *asked["arguments"]]


def _run_program() -> None:
    """Run the program, and end the process without freeing its memory, which takes longer than most calls."""
    from zerolap.cli import main as program

    try:
        program()
    except SystemExit as ended:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(cast("int", ended.code))


def main(address: str) -> None:
    """Serve calls, and be the program in a fork."""
    _import_all()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{address}-")
        listener.listen()
        os.rename(f"{address}-", address)
        descriptors = _Calls(listener).next_program()
    if descriptors is not None:
        _become_program(descriptors)
        _run_program()


if __name__ == "__main__":
    main(sys.argv[1])
