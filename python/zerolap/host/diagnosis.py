"""The diagnosis of one subject of this machine."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How well the subject serves measuring."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


@dataclass(frozen=True)
class Diagnosis:
    """A subject, its state, what was found, what measuring lacks because of it, and how to fix it.

    `cost` and `remedy` are empty if the state is OK.
    """

    subject: str
    state: State
    found: str
    cost: str = ""
    remedy: str = ""


def fine(subject: str, found: str) -> Diagnosis:
    """Return a diagnosis with the state OK."""
    return Diagnosis(subject, State.OK, found)


def warning(subject: str, found: str, cost: str, remedy: str) -> Diagnosis:
    """Return a diagnosis with the state WARNING: measuring works, but worse."""
    return Diagnosis(subject, State.WARNING, found, cost, remedy)


def fine_if(is_fine: bool, subject: str, found: str, cost: str, remedy: str) -> Diagnosis:
    """Return a diagnosis with the state OK or WARNING."""
    return fine(subject, found) if is_fine else warning(subject, found, cost, remedy)


def missing(subject: str, found: str, cost: str, remedy: str) -> Diagnosis:
    """Return a diagnosis with the state MISSING: something cannot be measured at all."""
    return Diagnosis(subject, State.MISSING, found, cost, remedy)
