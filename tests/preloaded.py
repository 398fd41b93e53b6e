"""The program with its modules imported: each call is a fork of this process, which saves the second that imports take.

`python preloaded.py SOCKET` listens on a Unix socket until its standard input is closed. A call is a connection with
three descriptors: a file with the call as JSON, standard output and standard error. It is answered by the exit code.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

LONGEST_CODE = 16


def call(arguments: Sequence[str], directory: Path, environment: Mapping[str, str]) -> tuple[int, str, str]:
    """Run the program to its end, and return its exit code, standard output and standard error."""
    with tempfile.TemporaryFile("w+") as asked, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        json.dump({"arguments": list(arguments), "directory": str(directory), "environment": dict(environment)}, asked)
        asked.flush()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(_listening()))
            socket.send_fds(connection, [b"c"], [file.fileno() for file in (asked, out, err)])
            code = int(connection.recv(LONGEST_CODE))
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return code, texts[0], texts[1]


@functools.cache
def _listening() -> Path:
    """Start the process that forks, and return its socket; it ends with this process, which holds its input."""
    address = Path(tempfile.mkdtemp(prefix="zp-")) / "socket"
    command = [sys.executable, __file__, str(address)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "COLUMNS": "200"}
    )
    assert process.stdin is not None
    assert process.stdout is not None
    atexit.register(_end, process)
    assert process.stdout.readline() == b"ready\n"
    return address


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.communicate()


def _import_all() -> None:
    import zerolap

    for module in pkgutil.walk_packages(zerolap.__path__, "zerolap."):
        importlib.import_module(module.name)
    # Collections would write to the pages that forks share.
    gc.collect()
    gc.freeze()


def _next_call(listener: socket.socket) -> socket.socket | None:
    """Return the connection of a call in a process of its own; none once standard input is closed."""
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            return None
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return connection
        connection.close()


def _program_of(connection: socket.socket) -> list[str] | None:
    """Become the program of a call, and return its command line; none once it has ended, in the process that waits."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
    program = os.fork()
    if program:
        _, status = os.waitpid(program, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        return None
    connection.close()
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
    return ["zerolap", *asked["arguments"]]


def main(address: str) -> None:
    """Serve calls, and be the program in a fork."""
    _import_all()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        # The processes that wait for programs are waited for by nobody.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        connection = _next_call(listener)
    if connection is not None and (command := _program_of(connection)) is not None:
        from zerolap.cli import main as program

        sys.argv = command
        program()


if __name__ == "__main__":
    main(sys.argv[1])
