"""What commands and settings a server knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zerolap.build import Program
from zerolap.records import TrialFailed
from zerolap.server import RunningServer, start

NOT_LISTED = frozenset({"include", "loadmodule", "rename-command", "user"})
"""Settings that every server takes and CONFIG GET does not tell of."""


@dataclass(frozen=True)
class ServerAbilities:
    """Names of commands in upper case, those of loaded modules too, and of settings in lower case."""

    commands: frozenset[str]
    settings: frozenset[str]

    def together_with(self, other: "ServerAbilities") -> "ServerAbilities":
        """Return what two servers take together: commands of either, settings of both."""
        return ServerAbilities(self.commands | other.commands, self.settings & other.settings)


def server_abilities(program: Program, settings: Mapping[str, str], directory: Path) -> ServerAbilities:
    """Ask a server that runs for a moment in `directory`, which is empty; raises `TrialFailed` if it does not start."""
    reachable = directory / "server"
    reachable.mkdir()
    with start(program, settings, reachable, log=directory / "server.log") as server:
        return ServerAbilities(frozenset(command_flags(server)), _settings(server))


def command_flags(server: RunningServer) -> dict[str, frozenset[str]]:
    """Return the flags of all commands, such as `write`, by name in upper case; raises `TrialFailed` if odd."""
    try:
        reply = server.command("COMMAND")
        if isinstance(reply, dict):
            return {str(name).upper(): frozenset(map(str, entry["flags"])) for name, entry in reply.items()}
        entries = reply if isinstance(reply, list) else []
        return {entry[0].decode().upper(): frozenset(flag.decode() for flag in entry[2]) for entry in entries}
    except (TypeError, KeyError, IndexError, AttributeError) as odd:
        raise TrialFailed(f"the server does not say which commands it knows: {odd}") from odd


def _settings(server: RunningServer) -> frozenset[str]:
    reply = server.command("CONFIG", "GET", "*")
    names = reply if isinstance(reply, dict) else (reply[::2] if isinstance(reply, list) else [])
    told = {name.decode() if isinstance(name, bytes) else str(name) for name in names}
    return frozenset(name.lower() for name in told) | NOT_LISTED
