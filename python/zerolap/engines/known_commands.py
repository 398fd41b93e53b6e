"""What commands a server knows."""

from collections.abc import Mapping
from pathlib import Path

from zerolap.server import RunningServer, start


def command_flags(server: RunningServer) -> dict[str, frozenset[str]]:
    """Return the flags of all commands, such as `write`, by name in upper case; those of loaded modules too."""
    reply = server.command("COMMAND")
    if isinstance(reply, dict):
        return {str(name).upper(): frozenset(map(str, entry["flags"])) for name, entry in reply.items()}
    entries = reply if isinstance(reply, list) else []
    return {entry[0].decode().upper(): frozenset(flag.decode() for flag in entry[2]) for entry in entries}


def known_commands(program: Path, settings: Mapping[str, str], directory: Path) -> set[str]:
    """Return the names of all commands in upper case.

    `directory` is empty; the server that is asked runs in it for a moment. Raises `TrialFailed` if it does not start.
    """
    reachable = directory / "server"
    reachable.mkdir()
    with start(program, settings, reachable, log=directory / "server.log") as server:
        return set(command_flags(server))
