"""The outcome of a webhook delivery: it is admitted, ignored or refused, for one cause of a fixed list."""

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
    # Ignored: it is valid and requires no work.
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
"""Causes where the sender is unknown: the answer does not contain the reason."""


@dataclass(frozen=True)
class Admitted:
    """The trigger is recorded, under the id `identity`."""

    trigger: Trigger
    identity: str


@dataclass(frozen=True)
class Ignored:
    """The delivery is valid and requires no work."""

    cause: Cause
    reason: str


@dataclass(frozen=True)
class Refused:
    """The delivery is not accepted; `reason` is logged, and is the answer to a signed delivery."""

    cause: Cause
    reason: str

    @property
    def status(self) -> HTTPStatus:
        """The status of the answer."""
        return STATUS[self.cause]

    @property
    def response(self) -> str:
        """The text of the answer; it contains the reason only if the delivery is signed."""
        return self.status.phrase if self.cause in UNSIGNED else self.reason


Outcome: TypeAlias = Admitted | Ignored | Refused


class NotAdmitted(Exception):
    """Ends the admission of a delivery with its outcome."""

    def __init__(self, outcome: Ignored | Refused) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


def ignored(cause: Cause, reason: str) -> NotAdmitted:
    """Return the exception for a delivery that requires no work."""
    return NotAdmitted(Ignored(cause, reason))


def refused(cause: Cause, reason: str) -> NotAdmitted:
    """Return the exception for a delivery that is not accepted."""
    return NotAdmitted(Refused(cause, reason))
