"""Regimes: ways of counting a case besides its own, such as with large values or beside idle connections."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from zerolap.records.base import Record
from zerolap.records.fields import Number, Positive

RegimeChoice: TypeAlias = Literal["auto", "all", "none"]
"""Which regimes a comparison counts: those that what changed calls for, all of all cases, or none."""

MOST_IDLE: Final = 5_000
"""Connections that stay idle beside a case: each is a file of the lab."""
MOST_WARM: Final = 10_000_000

State: TypeAlias = Literal["stable", "grows", "drains"]


def _at_most(most: int) -> AfterValidator:
    def check(number: int) -> int:
        if number > most:
            text = f"expected at most {most:,}; found {number:,}"
            raise PydanticCustomError("zerolap", "{text}", {"text": text})
        return number

    return AfterValidator(check)


class AppliesTo(Record):
    """The cases to which a regime applies: those for which all that is stated here holds.

    `commands` are names or globs, one of which a command of the case matches; `states` those of the case's data.
    With `values` its commands or those that load its data carry `__data__`; with `loaded_keys` its data set has
    commands that are sent for each key.
    """

    commands: list[str] = Field(default_factory=list)
    states: list[State] = Field(default_factory=list)
    values: bool = False
    loaded_keys: bool = False


class RegimeEntry(Record):
    """A regime in a file: to which cases it applies, and what it changes of them.

    Values get `data_size` bytes, the keys of a data set are multiplied by `keys_times`, and are as few as make at most
    `most_data_bytes` of values. `load` are commands for each key that follow those of the data set, `setup` commands
    after the case's own. `beside` are sent in turn with each round of the case's commands, as requests like these.
    `idle_connections` are open beside the measured ones. Before measuring begins, `warm_requests` are sent: `warm_with`
    in turn, or the case's own.
    """

    description: str = ""
    applies: AppliesTo = AppliesTo()
    data_size: Positive | None = None
    most_data_bytes: Positive | None = None
    keys_times: Positive = 1
    load: list[str] = Field(default_factory=list)
    setup: list[str] = Field(default_factory=list)
    beside: list[str] = Field(default_factory=list)
    idle_connections: Annotated[Number, _at_most(MOST_IDLE)] = 0
    warm_requests: Annotated[Number, _at_most(MOST_WARM)] = 0
    warm_with: list[str] = Field(default_factory=list)
    protocol: Literal["resp2", "resp3"] | None = None
    config: dict[str, str] = Field(default_factory=dict)


class Regime(RegimeEntry):
    """A regime with its name."""

    name: str


class CaseRegimes(Record):
    """What a case file states of regimes: those of its own, and the names or globs of those that a case has or not.

    Without `only` a case has all that apply to it.
    """

    own: list[Regime] = Field(default_factory=list)
    only: list[str] | None = None
    without: list[str] = Field(default_factory=list)

    def takes(self, name: str) -> bool:
        """Return whether a case may be counted in the regime of that name."""
        is_chosen = self.only is None or _matches(name, self.only)
        return is_chosen and not _matches(name, self.without)


class InRegime(Record):
    """The regime that a case is counted in besides its own circumstances: its name, the case, what is done beside it.

    Of its commands the last are `beside` those of the case. `is_added`: nobody asked for it, the lab has chosen it.
    """

    name: str
    of: str
    beside: int = 0
    idle_connections: int = 0
    warm_requests: int = 0
    warm_with: list[str] = []
    is_added: bool = False


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def name_in_regime(case: str, regime: str) -> str:
    """Return the name of a case in a regime: `get-100B@300-connections`."""
    return f"{case}@{regime.replace(' ', '-')}"
