"""Servers: their specifications, what they support, and the lab's own passwords in their settings."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

from pydantic import PlainSerializer

from zerolap.records.base import Record
from zerolap.records.topology import Topology

LAB_PASSWORD: Final = "zerolap"
OF_A_PASSWORD: Final = frozenset({"requirepass", "masterauth"})
USER: Final = "user"
ADDED, REMOVED = re.compile(r"[>#].+", re.DOTALL), re.compile(r"[<!].+", re.DOTALL)
"""Rules of access control lists that name a password or its digest."""


def with_lab_passwords(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings with the lab's password in place of all that are not empty, also in the rules of a user.

    The lab starts these servers itself: neither requests and documents nor command lines hold a password of the user's.
    """
    return {name: _with_lab_password(name.lower(), value) for name, value in settings.items()}


def _with_lab_password(name: str, value: str) -> str:
    if name in OF_A_PASSWORD:
        return LAB_PASSWORD if value.strip("'\" ") else value
    if name != USER:
        return value
    rules = [f">{LAB_PASSWORD}" if ADDED.fullmatch(rule) else rule for rule in value.split()]
    return " ".join(dict.fromkeys(rule for rule in rules if not REMOVED.fullmatch(rule)))


Names: TypeAlias = Annotated[frozenset[str], PlainSerializer(sorted, return_type=list[str], when_used="json")]
"""Names in any order; sorted in JSON, so that equal ones are equal there."""


class Abilities(Record):
    """Names of commands in upper case, including those of loaded modules, and of settings in lower case.

    Subcommands stand beside their containers, as `XINFO STREAM`, where the server tells them.
    """

    commands: Names
    settings: Names

    def together_with(self, other: "Abilities") -> "Abilities":
        """Return what two servers accept together: the commands of either, the settings of both.

        A command that only one side lost is no reason to skip a case: its error replies are reported.
        """
        return Abilities(commands=self.commands | other.commands, settings=self.settings & other.settings)


class ServerSpec(Record):
    """A build, its topology, and the settings of its servers.

    `config` holds the settings of the case, overridden by the user's. The topology's settings override both, as its
    name stands for them.
    """

    build: str
    topology: Topology
    config: dict[str, str] = {}

    @property
    def settings(self) -> dict[str, str]:
        """All settings, those of the topology included."""
        return self.config | self.topology.settings

    @property
    def busy_threads(self) -> int:
        """The threads of all servers that each keep a processor busy under load."""
        return self.topology.model_copy(update={"settings": self.settings}).busy_threads
