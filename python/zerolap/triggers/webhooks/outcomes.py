"""What becomes of a webhook delivery: it is admitted, ignored or refused, for one cause of a fixed list."""

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, TypeAlias

from zerolap.triggers.trigger import Trigger


class Cause(StrEnum):
    """Why a delivery leads to nothing."""

    # Refused before the signature was checked, or because of it.
    TOO_LARGE = "too large"
    TOO_SLOW = "too slow"
    EVENT_HEADER = "event header"
    DELIVERY_ID = "delivery id"
    NO_SIGNATURE = "no signature"
    SIGNATURE = "signature"
    FORGED_LIMIT = "forged too often"
    # Refused although it is signed.
    CONTENT_TYPE = "content type"
    JSON = "JSON"
    SHAPE = "shape"
    REPLAY = "replay"
    REPOSITORY = "repository"
    TARGET = "target"
    ACTOR = "actor"
    REPOSITORY_LIMIT = "repository limit"
    ACTOR_LIMIT = "actor limit"
    SUBMISSION_LIMIT = "submission limit"
    COMMAND_LIMIT = "command limit"
    # Ignored: it is in order, and asks for nothing.
    EVENT = "event"
    ACTION = "action"
    LABEL = "label"
    REF = "ref"
    NO_COMMAND = "no command"
    OWN_COMMENT = "own comment"
    SEEN = "seen"


STATUS: Final = MappingProxyType(
    {
        Cause.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        Cause.TOO_SLOW: HTTPStatus.REQUEST_TIMEOUT,
        Cause.EVENT_HEADER: HTTPStatus.BAD_REQUEST,
        Cause.DELIVERY_ID: HTTPStatus.BAD_REQUEST,
        Cause.NO_SIGNATURE: HTTPStatus.UNAUTHORIZED,
        Cause.SIGNATURE: HTTPStatus.UNAUTHORIZED,
        Cause.FORGED_LIMIT: HTTPStatus.TOO_MANY_REQUESTS,
        Cause.CONTENT_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        Cause.JSON: HTTPStatus.BAD_REQUEST,
        Cause.SHAPE: HTTPStatus.UNPROCESSABLE_ENTITY,
        Cause.REPLAY: HTTPStatus.CONFLICT,
        Cause.REPOSITORY: HTTPStatus.FORBIDDEN,
        Cause.TARGET: HTTPStatus.FORBIDDEN,
        Cause.ACTOR: HTTPStatus.FORBIDDEN,
        Cause.REPOSITORY_LIMIT: HTTPStatus.TOO_MANY_REQUESTS,
        Cause.ACTOR_LIMIT: HTTPStatus.TOO_MANY_REQUESTS,
        Cause.SUBMISSION_LIMIT: HTTPStatus.TOO_MANY_REQUESTS,
        Cause.COMMAND_LIMIT: HTTPStatus.TOO_MANY_REQUESTS,
    }
)
"""The answers to deliveries that are refused, by cause."""

UNSIGNED: Final = frozenset(
    {
        Cause.TOO_LARGE,
        Cause.TOO_SLOW,
        Cause.EVENT_HEADER,
        Cause.DELIVERY_ID,
        Cause.NO_SIGNATURE,
        Cause.SIGNATURE,
        Cause.FORGED_LIMIT,
    }
)
"""Causes for which nobody knows who has sent the delivery: the answer does not tell the reason."""


@dataclass(frozen=True)
class Admitted:
    """The trigger is recorded, under the id `identity`."""

    trigger: Trigger
    identity: str


@dataclass(frozen=True)
class Ignored:
    """The delivery is in order and asks for nothing."""

    cause: Cause
    reason: str


@dataclass(frozen=True)
class Refused:
    """The delivery is not taken; `reason` is for the log, and for a sender who has signed it."""

    cause: Cause
    reason: str

    @property
    def status(self) -> HTTPStatus:
        """The status of the answer."""
        return STATUS[self.cause]

    @property
    def answer(self) -> str:
        """What the sender is told: one who has not signed learns nothing."""
        return self.status.phrase if self.cause in UNSIGNED else self.reason


Outcome: TypeAlias = Admitted | Ignored | Refused


class NotAdmitted(Exception):
    """Ends the admission of a delivery with its outcome."""

    def __init__(self, outcome: Ignored | Refused) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


def ignored(cause: Cause, reason: str) -> NotAdmitted:
    """Return what ends the admission of a delivery that asks for nothing."""
    return NotAdmitted(Ignored(cause, reason))


def refused(cause: Cause, reason: str) -> NotAdmitted:
    """Return what ends the admission of a delivery that is not taken."""
    return NotAdmitted(Refused(cause, reason))
