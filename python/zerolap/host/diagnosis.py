"""What was found out about one subject of this machine."""

from dataclasses import asdict, dataclass
from enum import StrEnum


class State(StrEnum):
    """How good it is for measuring."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


@dataclass(frozen=True)
class Diagnosis:
    """A subject, how it stands, what was found, what that costs and what to do.

    `cost` and `remedy` are empty where all is well.
    """

    subject: str
    state: State
    found: str
    cost: str = ""
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the fields as plain text, by name."""
        return {name: str(value) for name, value in asdict(self).items()}


def fine(subject: str, found: str) -> Diagnosis:
    """Return that all is well."""
    return Diagnosis(subject, State.OK, found)


def warning(subject: str, found: str, cost: str, remedy: str) -> Diagnosis:
    """Return that measuring works, at a cost."""
    return Diagnosis(subject, State.WARNING, found, cost, remedy)


def missing(subject: str, found: str, cost: str, remedy: str) -> Diagnosis:
    """Return that something cannot be done at all."""
    return Diagnosis(subject, State.MISSING, found, cost, remedy)
