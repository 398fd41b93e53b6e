"""What a server supports."""

from typing import Annotated, TypeAlias

from pydantic import PlainSerializer

from zerolap.records.base import Record

Names: TypeAlias = Annotated[frozenset[str], PlainSerializer(sorted, return_type=list[str], when_used="json")]
"""Names in any order; sorted in JSON, so that equal ones are equal there."""


class Abilities(Record):
    """Names of commands in upper case, including those of loaded modules, and of settings in lower case."""

    commands: Names
    settings: Names

    def together_with(self, other: "Abilities") -> "Abilities":
        """Return what two servers accept together: the commands of either, the settings of both.

        A command that only one side lost is no reason to skip a case: its error replies are reported.
        """
        return Abilities(commands=self.commands | other.commands, settings=self.settings & other.settings)
