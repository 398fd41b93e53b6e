"""Which commands and settings a server supports."""

from collections.abc import Mapping
from pathlib import Path

from zerolap.build import Program
from zerolap.records import Abilities, TrialFailed
from zerolap.server import RunningServer, start

NOT_LISTED = frozenset({"include", "loadmodule", "rename-command", "user"})
"""Settings that every server accepts but CONFIG GET does not list."""


def server_abilities(program: Program, settings: Mapping[str, str], directory: Path) -> Abilities:
    """Start the server briefly in the empty `directory` and query it; raises `TrialFailed` if it does not start."""
    server_directory = directory / "server"
    server_directory.mkdir()
    with start(program, settings, server_directory, log=directory / "server.log") as server:
        return Abilities(commands=frozenset(command_flags(server)), settings=_settings(server))


def command_flags(server: RunningServer) -> dict[str, frozenset[str]]:
    """Return the flags of all commands, such as `write`, by name in upper case.

    Raises `TrialFailed` if the reply to COMMAND has an unknown form.
    """
    try:
        reply = server.command("COMMAND")
        if isinstance(reply, dict):
            return {str(name).upper(): frozenset(map(str, entry["flags"])) for name, entry in reply.items()}
        entries = reply if isinstance(reply, list) else []
        return {entry[0].decode().upper(): frozenset(flag.decode() for flag in entry[2]) for entry in entries}
    except (TypeError, KeyError, IndexError, AttributeError) as fault:
        raise TrialFailed(f"the server's reply to COMMAND cannot be read: {fault}") from fault


def _settings(server: RunningServer) -> frozenset[str]:
    reply = server.command("CONFIG", "GET", "*")
    names = reply if isinstance(reply, dict) else (reply[::2] if isinstance(reply, list) else [])
    listed = {name.decode() if isinstance(name, bytes) else str(name) for name in names}
    return frozenset(name.lower() for name in listed) | NOT_LISTED
