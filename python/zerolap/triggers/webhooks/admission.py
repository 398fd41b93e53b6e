"""Admission of webhook deliveries: the content is read only after the signature was verified."""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from pydantic import SecretStr, ValidationError

from zerolap.records import FirstFault
from zerolap.triggers.settings import TriggerSettings
from zerolap.triggers.trigger import CommandTrigger, PullRequestTrigger, Trigger, pull_request_subject
from zerolap.triggers.webhooks.admission_state import AdmissionState, CurrentTriggers
from zerolap.triggers.webhooks.meaning import meaning_of
from zerolap.triggers.webhooks.outcomes import (
    UNSIGNED,
    Admitted,
    Cause,
    Ignored,
    NotAdmitted,
    Outcome,
    Refused,
    ignored,
    refused,
)
from zerolap.triggers.webhooks.payloads import (
    EVENTS,
    AnyEvent,
    CheckRunEvent,
    CheckSuiteEvent,
    PingEvent,
    PullRequestEvent,
)
from zerolap.triggers.webhooks.rates import network_of

MOST_DEPTH: Final = 32
LONGEST_LOGGED: Final = 100
EVENT_HEADER: Final = "x-github-event"
DELIVERY_HEADER: Final = "x-github-delivery"
SIGNATURE_HEADER: Final = "x-hub-signature-256"
TARGET_TYPE_HEADER: Final = "x-github-hook-installation-target-type"
TARGET_ID_HEADER: Final = "x-github-hook-installation-target-id"

COUNTED_AS_FORGED: Final = frozenset({Cause.NO_SIGNATURE, Cause.SIGNATURE})
"""The causes for which the limit on forged deliveries was already checked."""

_EVENT_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SIGNATURE: Final = re.compile(r"sha256=([0-9a-f]{64})")
_TARGET_ID: Final = re.compile(r"[0-9]{1,19}")
_PLAIN: Final = re.compile(r"[\x21-\x7e]{1,100}")

log = structlog.get_logger("zerolap.triggers")


@dataclass(frozen=True)
class Delivery:
    """A delivery as it came: headers by their names in lower case, the raw body, the address of the sender.

    `is_cut`: the body is larger than the limit, and may be missing.
    """

    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    address: str = ""
    is_cut: bool = False

    def header(self, name: str) -> str:
        """Return a header, empty if it is missing."""
        return self.headers.get(name, "")

    @property
    def identity(self) -> str:
        """The id that the sender gave it."""
        return self.header(DELIVERY_HEADER).lower()

    @property
    def digest(self) -> str:
        """The SHA-256 of the body."""
        return hashlib.sha256(self.body).hexdigest()


def admit(delivery: Delivery, settings: TriggerSettings, state: AdmissionState) -> Outcome:
    """Return and log the outcome of a delivery; the trigger of an admitted delivery is recorded.

    Unsigned deliveries of an address that has sent too many are not logged. Raises `EnvironmentMissing` if the store
    cannot be used.
    """
    event: AnyEvent | None = None
    outcome: Outcome
    try:
        _check_transport(delivery, settings, state)
        event = _read_event(delivery)
        outcome = _judged(event, delivery, settings, state)
    except NotAdmitted as end:
        outcome = end.outcome
    if _is_logged(outcome, delivery, state):
        log_outcome(outcome, delivery, event)
    return outcome


def _is_logged(outcome: Outcome, delivery: Delivery, state: AdmissionState) -> bool:
    """Whether a delivery is logged: a flood of forged deliveries must not fill the log."""
    if not isinstance(outcome, Refused) or outcome.cause not in UNSIGNED - COUNTED_AS_FORGED:
        return True
    return outcome.cause is not Cause.FORGED_LIMIT and state.forging_addresses.permits(network_of(delivery.address))


def log_outcome(outcome: Outcome, delivery: Delivery, event: AnyEvent | None = None) -> None:
    """Log the outcome of a delivery, without its signature and content."""
    known = {
        "delivery": logged(delivery.identity),
        "github_event": logged(delivery.header(EVENT_HEADER)),
        "address": logged(delivery.address),
    }
    if event is not None and event.repository is not None:
        known["repository"] = logged(event.repository.full_name)
    if event is not None and event.sender is not None:
        known["actor"] = logged(event.sender.login)
    match outcome:
        case Admitted():
            trigger = outcome.trigger
            log.info(
                "delivery admitted",
                trigger=outcome.identity,
                kind=trigger.kind,
                subject=logged(trigger.subject),
                **known,
            )
        case Ignored():
            log.info("delivery ignored", cause=outcome.cause.value, reason=logged(outcome.reason, 300), **known)
        case Refused():
            log.warning("delivery refused", cause=outcome.cause.value, reason=logged(outcome.reason, 300), **known)


def logged(text: str, longest: int = LONGEST_LOGGED) -> str:
    """Return a foreign text as one short line of ASCII characters."""
    if _PLAIN.fullmatch(text):
        return text
    shown = "".join(character if " " <= character <= "~" else "?" for character in text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


# What can be checked without reading the body.


def _check_transport(delivery: Delivery, settings: TriggerSettings, state: AdmissionState) -> None:
    if delivery.is_cut or len(delivery.body) > settings.limits.body_bytes:
        raise refused(Cause.TOO_LARGE, f"the body has more than {settings.limits.body_bytes} bytes")
    if _EVENT_NAME.fullmatch(delivery.header(EVENT_HEADER)) is None:
        raise refused(Cause.EVENT_HEADER, "the name of the event is missing or none")
    if _UUID.fullmatch(delivery.identity) is None:
        raise refused(Cause.DELIVERY_ID, "the id of the delivery is missing or no UUID")
    _check_signature(delivery, settings.github.webhook_secret, state)
    media_type = delivery.header("content-type").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise refused(Cause.CONTENT_TYPE, "set the content type of the webhook to application/json")
    if delivery.header(EVENT_HEADER) not in EVENTS:
        raise ignored(Cause.EVENT, "the event is not one that is worked on")


def _check_signature(delivery: Delivery, secret: SecretStr | None, state: AdmissionState) -> None:
    header = delivery.header(SIGNATURE_HEADER)
    match = _SIGNATURE.fullmatch(header)
    key = "" if secret is None else secret.get_secret_value()
    right = hmac.new(key.encode(), delivery.body, hashlib.sha256).hexdigest()
    if key and match is not None and hmac.compare_digest(match[1], right):
        return
    # Only after the signature: valid deliveries from the address of a forger are still admitted.
    if not state.forging_addresses.permits(network_of(delivery.address)):
        raise refused(Cause.FORGED_LIMIT, "too many deliveries from this address have no valid signature")
    if not header:
        raise refused(Cause.NO_SIGNATURE, "no signature by SHA-256")
    raise refused(Cause.SIGNATURE, "the signature does not match the body")


# The body.


class _NotPermittedJson(ValueError):
    pass


def _read_event(delivery: Delivery) -> AnyEvent:
    try:
        content = json.loads(
            delivery.body.decode("utf-8"), object_pairs_hook=_without_duplicates, parse_constant=_no_constant
        )
        if not _is_shallow(content):
            raise _NotPermittedJson("it is nested too deeply")
    except RecursionError:
        raise refused(Cause.JSON, "the body is not usable JSON: it is nested too deeply") from None
    except _NotPermittedJson as fault:
        raise refused(Cause.JSON, f"the body is not usable JSON: {fault}") from None
    except ValueError:
        raise refused(Cause.JSON, "the body is not JSON in UTF-8") from None
    try:
        return EVENTS[delivery.header(EVENT_HEADER)].model_validate(content)
    except ValidationError as fault:
        raise refused(Cause.SHAPE, f"the payload has not the form of its event: {FirstFault.of(fault)}") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        # JSON readers differ in which of two equal members they use.
        raise _NotPermittedJson("an object has two members of one name")
    return members


def _no_constant(name: str) -> None:
    raise _NotPermittedJson(f"it has the number {name}")


def _is_shallow(content: object) -> bool:
    level = [content]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return True
    return False


# The trigger, and whether the sender may cause it.


def _judged(event: AnyEvent, delivery: Delivery, settings: TriggerSettings, state: AdmissionState) -> Outcome:
    if state.knows(delivery.identity, delivery.digest):
        raise refused(Cause.REPLAY, "the delivery was accepted before")
    repository = None if event.repository is None else settings.repository(event.repository.full_name)
    if repository is None and not isinstance(event, PingEvent):
        raise refused(Cause.REPOSITORY, "the repository is not one of the permitted ones")
    _check_target(event, delivery, settings)
    if isinstance(event, PingEvent) or repository is None:
        raise ignored(Cause.EVENT, "the webhook reaches the lab")
    # The actor first, so that one who floods a repository does not use up its limit.
    if not state.actors.permits(event.sender.login.lower()):
        raise refused(Cause.ACTOR_LIMIT, "too many deliveries of this actor in a minute")
    if not state.repositories.permits(repository.name.lower()):
        raise refused(Cause.REPOSITORY_LIMIT, "too many deliveries of this repository in a minute")
    meaning = meaning_of(event, delivery.identity, repository, _current(event, state), own_app=settings.github.app_id)
    _check_limits(meaning, settings, state)
    identity = state.accept(meaning, delivery.identity, delivery.digest)
    if identity is None:
        raise refused(Cause.REPLAY, "the delivery was accepted at the same time")
    return Admitted(meaning, identity)


def _check_target(event: AnyEvent, delivery: Delivery, settings: TriggerSettings) -> None:
    """Check the optional headers that name the repository or App of the webhook."""
    kind, target = delivery.header(TARGET_TYPE_HEADER), delivery.header(TARGET_ID_HEADER)
    if not kind and not target:
        return
    if _TARGET_ID.fullmatch(target) is None:
        raise refused(Cause.TARGET, "the id of what the webhook belongs to is no number")
    of_repository = kind == "repository" and event.repository is not None and event.repository.id != int(target)
    of_application = kind == "integration" and settings.github.app_id not in (None, int(target))
    if of_repository or of_application:
        raise refused(Cause.TARGET, "the webhook belongs to another repository or application")


def _current(event: AnyEvent, state: AdmissionState) -> CurrentTriggers:
    match event:
        case PullRequestEvent():
            return state.current(pull_request_subject(event.repository.full_name, event.number))
        case CheckRunEvent() | CheckSuiteEvent():
            return state.current_at(event.repository.full_name, event.check.head_sha)
        case _:
            return CurrentTriggers()


def _check_limits(trigger: Trigger, settings: TriggerSettings, state: AdmissionState) -> None:
    limits = settings.limits
    if isinstance(trigger, PullRequestTrigger):
        most, cause = limits.submissions_per_hour_per_actor, Cause.SUBMISSION_LIMIT
    elif isinstance(trigger, CommandTrigger):
        most, cause = limits.commands_per_hour_per_actor, Cause.COMMAND_LIMIT
    else:
        return
    if state.of_last_hour(trigger.actor, trigger.kind) >= most:
        raise refused(cause, f"the actor has caused {most} of these triggers in the last hour")
