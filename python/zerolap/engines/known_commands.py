"""What commands a server knows."""

from collections.abc import Mapping
from pathlib import Path

from zerolap.server import start


def known_commands(program: Path, settings: Mapping[str, str], directory: Path) -> set[str]:
    """Return the names of all commands in lower case, those of loaded modules too.

    `directory` is empty; the server that is asked runs in it for a moment. Raises `TrialFailed` if it does not start.
    """
    reachable = directory / "server"
    reachable.mkdir()
    with start(program, settings, reachable, log=directory / "server.log") as server:
        reply = server.command("COMMAND")
    if isinstance(reply, dict):
        return {str(name).lower() for name in reply}
    entries = reply if isinstance(reply, list) else []
    return {entry[0].decode().lower() for entry in entries}
