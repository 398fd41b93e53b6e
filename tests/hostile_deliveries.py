"""Deliveries that are forged, replayed, oversized, malformed or not permitted, each with the cause of its refusal."""

import copy
import hashlib
import hmac
import json
import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from webhook_payloads import (
    LABEL,
    MAINTAINER,
    STRANGER,
    Payload,
    commented,
    delivery,
    labelled,
    person,
    pull_request,
    pushed,
    repository,
    signature,
)

from zerolap.triggers.settings import TriggerLimits
from zerolap.triggers.webhooks.admission import Delivery
from zerolap.triggers.webhooks.outcomes import Cause

HOSTILE_LIMITS = TriggerLimits(
    deliveries_per_minute_per_repository=1_000_000,
    deliveries_per_minute_per_actor=1_000_000,
    submissions_per_hour_per_actor=1_000_000,
    commands_per_hour_per_actor=1_000_000,
    forged_per_minute_per_address=1_000_000,
    body_mib=0.125,
)
"""Limits under which every delivery is judged by itself, and oversized ones are small enough for a test."""


@dataclass(frozen=True)
class Attack:
    """A delivery, what it tries, and the cause for which it has to lead to nothing."""

    name: str
    delivery: Delivery
    cause: Cause


@dataclass(frozen=True)
class Hostilities:
    """`accepted` are in order and come first; the attacks replay some of them."""

    accepted: list[Delivery]
    attacks: list[Attack]


def hostilities(count: int = 1_000, seed: int = 1) -> Hostilities:
    """Return as many attacks, all kinds of them equally often, in an order that the seed decides."""
    chance = random.Random(seed)
    accepted = [delivery("pull_request", labelled(number=number)) for number in range(1, 9)]
    kinds = [_forged, _replayed, _oversized, _misheaded, _no_json, _misshapen, _unpermitted]
    attacks: list[Attack] = []
    while len(attacks) < count:
        attacks += [kind(chance, accepted) for kind in kinds]
    attacks = attacks[:count]
    chance.shuffle(attacks)
    return Hostilities(accepted, attacks)


def _payload(chance: random.Random) -> tuple[str, Payload]:
    """Return an event that would be admitted."""
    commit = f"{chance.getrandbits(160):040x}"
    choices: list[Callable[[], tuple[str, Payload]]] = [
        lambda: ("pull_request", labelled(number=chance.randrange(1, 10_000), head=commit)),
        lambda: ("push", pushed(after=commit)),
        lambda: ("issue_comment", commented("/zerolap ack it is as wanted")),
    ]
    return chance.choice(choices)()


def _forged(chance: random.Random, _: list[Delivery]) -> Attack:
    event, payload = _payload(chance)
    body = json.dumps(payload).encode()
    right = signature(body)
    sha1 = hmac.new(b"guess", body, hashlib.sha1).hexdigest()
    at = chance.randrange(7, len(right))
    forms: dict[str, tuple[dict[str, str | None], Cause]] = {
        "no signature": ({"x-hub-signature-256": None}, Cause.NO_SIGNATURE),
        "an empty signature": ({"x-hub-signature-256": ""}, Cause.NO_SIGNATURE),
        "only SHA-1": ({"x-hub-signature-256": None, "x-hub-signature": f"sha1={sha1}"}, Cause.NO_SIGNATURE),
        "SHA-1 as SHA-256": ({"x-hub-signature-256": f"sha1={sha1}"}, Cause.SIGNATURE),
        "another secret": ({"x-hub-signature-256": signature(body, "guess")}, Cause.SIGNATURE),
        "an empty secret": ({"x-hub-signature-256": signature(body, "")}, Cause.SIGNATURE),
        "of another body": ({"x-hub-signature-256": signature(body + b" ")}, Cause.SIGNATURE),
        "cut off": ({"x-hub-signature-256": right[:at]}, Cause.SIGNATURE),
        "one digit changed": (
            {"x-hub-signature-256": right[:at] + ("0" if right[at] != "0" else "1") + right[at + 1 :]},
            Cause.SIGNATURE,
        ),
        "two signatures": ({"x-hub-signature-256": f"{right},{right}"}, Cause.SIGNATURE),
        "no hexadecimal digits": ({"x-hub-signature-256": "sha256=" + "é" * 64}, Cause.SIGNATURE),
    }
    name, (headers, cause) = chance.choice(list(forms.items()))
    return Attack(f"forged: {name}", delivery(event, body, headers), cause)


def _replayed(chance: random.Random, accepted: list[Delivery]) -> Attack:
    first = chance.choice(accepted)
    event, payload = _payload(chance)
    forms = {
        "the same delivery": first,
        "its id in capitals": Delivery(
            {**first.headers, "x-github-delivery": first.headers["x-github-delivery"].upper()}, first.body
        ),
        "its body under another id": Delivery({**first.headers, "x-github-delivery": _uuid(chance)}, first.body),
        "its id with another body": delivery(event, payload, {"x-github-delivery": first.headers["x-github-delivery"]}),
    }
    name = chance.choice(list(forms))
    return Attack(f"replayed: {name}", forms[name], Cause.REPLAY)


def _oversized(chance: random.Random, _: list[Delivery]) -> Attack:
    event, payload = _payload(chance)
    size = HOSTILE_LIMITS.body_bytes + chance.choice([1, 1_000, 100_000])
    body = json.dumps(payload).encode()
    padded = body + b" " * (size - len(body))
    headers = {} if chance.random() < 0.5 else {"x-hub-signature-256": None}
    return Attack("oversized", delivery(event, padded, headers), Cause.TOO_LARGE)


def _misheaded(chance: random.Random, _: list[Delivery]) -> Attack:
    event, payload = _payload(chance)
    forms: dict[str, tuple[dict[str, str | None], Cause]] = {
        "no event": ({"x-github-event": None}, Cause.EVENT_HEADER),
        "an event with markup": ({"x-github-event": "push<script>"}, Cause.EVENT_HEADER),
        "a path as event": ({"x-github-event": "../../push"}, Cause.EVENT_HEADER),
        "an endless event": ({"x-github-event": "p" * 5_000}, Cause.EVENT_HEADER),
        "no id": ({"x-github-delivery": None}, Cause.DELIVERY_ID),
        "no UUID": ({"x-github-delivery": f"1' OR '{chance.random()}"}, Cause.DELIVERY_ID),
        "an endless id": ({"x-github-delivery": _uuid(chance) * 100}, Cause.DELIVERY_ID),
        "a form": ({"content-type": "application/x-www-form-urlencoded"}, Cause.CONTENT_TYPE),
        "no content type": ({"content-type": None}, Cause.CONTENT_TYPE),
        "text": ({"content-type": "text/plain; x=application/json"}, Cause.CONTENT_TYPE),
    }
    name, (headers, cause) = chance.choice(list(forms.items()))
    return Attack(f"headers: {name}", delivery(event, payload, headers), cause)


def _no_json(chance: random.Random, _: list[Delivery]) -> Attack:
    event, payload = _payload(chance)
    text = json.dumps(payload)
    deep = '{"y":' * 200 + "1" + "}" * 200
    forms = {
        "cut off": text[: chance.randrange(1, len(text))].encode(),
        "empty": b"",
        "two documents": f"{text}{text}".encode(),
        "a member twice": f'{{"repository": {{}}, {text[1:]}'.encode(),
        "a number that is none": f'{{"x": NaN, {text[1:]}'.encode(),
        "deep lists": f'{{"x": {"[" * 100}{"]" * 100}, {text[1:]}'.encode(),
        "very deep lists": f'{{"x": {"[" * 50_000}'.encode(),
        "deep objects": f'{{"x": {deep}, {text[1:]}'.encode(),
        "UTF-16": text.encode("utf-16"),
        "no UTF-8": text.encode().replace(b"id", b"\xff\xfe", 1),
        "a byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "an endless number": f'{{"x": {"9" * 5_000}, {text[1:]}'.encode(),
        "bytes": chance.randbytes(200),
    }
    name = chance.choice(list(forms))
    return Attack(f"no JSON: {name}", delivery(event, forms[name]), Cause.JSON)


WRONG_COMMITS = ["--upload-pack=reboot", "HEAD", "a" * 39, "A" * 40, "a" * 41, "a" * 40 + "\n", 12, None, ["a" * 40]]
WRONG_REFS = [
    "refs/heads/",
    "refs/heads/-f",
    "refs/heads/a..b",
    "refs/heads/x.lock",
    "refs/heads/a b",
    "refs/heads/a\n",
]
WRONG_REFS += ["refs/heads/a\\b", "refs/heads/@", "refs/heads/a@{1}", "refs/heads/.a", "refs/notes/a", "unstable"]
WRONG_REFS += ["refs/heads/" + "x" * 300, "refs/heads/\ud800", "refs/heads/a\x00", "refs/heads/a:b", "refs/heads/a//b"]
WRONG_NAMES = ["redis", "redis/redis/x", "../redis", "redis/..", "redis/re dis", "redis/redis\n", "-o/x", 7, None]
WRONG_NUMBERS = [-1, 0, 1.5, "12", True, 1 << 31, None, [12]]
WRONG_LOGINS = ["", "a b", "a\nb", "<b>", "x" * 200, "$(reboot)", 7, None]


def _misshapen(chance: random.Random, _: list[Delivery]) -> Attack:
    of_pull_request: list[tuple[list[str], list[Any]]] = [
        (["pull_request", "head", "sha"], WRONG_COMMITS),
        (["pull_request", "base", "sha"], WRONG_COMMITS),
        (["pull_request", "head", "ref"], ["-x", "a..b", "", 7]),
        (["pull_request", "head", "repo", "full_name"], WRONG_NAMES),
        (["pull_request", "labels"], [None, "x", {"x": 1}, [1], [{"id": 1}], [{"id": 1, "name": 1}]]),
        (["pull_request", "state"], ["OPEN", 1, None]),
        (["pull_request", "number"], WRONG_NUMBERS),
        (["pull_request"], [None, [], "x"]),
        (["pull_request", "base", "repo", "id"], [1, "156018"]),
        (["label"], [None, {}, {"id": 1, "name": ""}, "x"]),
        (["number"], WRONG_NUMBERS),
        (["sender", "login"], WRONG_LOGINS),
        (["sender"], [None, [], {}]),
        (["repository", "full_name"], WRONG_NAMES),
        (["action"], [None, 7, ""]),
    ]
    of_push: list[tuple[list[str], list[Any]]] = [
        (["ref"], WRONG_REFS),
        (["after"], WRONG_COMMITS),
        (["before"], WRONG_COMMITS),
        (["head_commit"], [{}, {"id": "x"}, "x"]),
        (["deleted"], [None, "no", 0, True]),
    ]
    of_comment: list[tuple[list[str], list[Any]]] = [
        (["comment", "body"], [None, 7, ["/zerolap cancel"]]),
        (["comment", "id"], [None, "1", -1]),
        (["issue", "number"], WRONG_NUMBERS),
        (["issue"], [None, []]),
    ]
    forms: list[tuple[str, Payload, list[tuple[list[str], list[Any]]]]] = [
        ("pull_request", labelled(), of_pull_request),
        ("push", pushed(), of_push),
        ("issue_comment", commented("/zerolap cancel"), of_comment),
    ]
    event, payload, places = chance.choice(forms)
    place, values = chance.choice(places)
    value = chance.choice(values)
    body = json.dumps(_changed(payload, place, value)).encode()
    if chance.random() < 0.1:
        body = chance.choice([b"[]", b"7", b'"x"', b"null", b"{}"]) + b" " * chance.randrange(1, 100_000)
    return Attack(f"shape: {event} {'.'.join(place)} = {value!r:.40}", delivery(event, body), Cause.SHAPE)


def _unpermitted(chance: random.Random, _: list[Delivery]) -> Attack:
    number = chance.randrange(1_000, 10_000)
    forms = dict(_unpermitted_forms(number))
    name = chance.choice(list(forms))
    attack, cause = forms[name]
    return Attack(f"not permitted: {name}", attack, cause)


def _unpermitted_forms(number: int) -> Iterator[tuple[str, tuple[Delivery, Cause]]]:
    elsewhere = repository("stranger/redis", 99)
    of_fork = labelled(number=number) | {"repository": elsewhere}
    of_fork["pull_request"] = of_fork["pull_request"] | {
        "base": {"ref": "unstable", "sha": "b" * 40, "repo": elsewhere}
    }
    no_target: dict[str, str | None] = {
        "x-github-hook-installation-target-type": None,
        "x-github-hook-installation-target-id": None,
    }
    yield "a label in another repository", (delivery("pull_request", of_fork, no_target), Cause.REPOSITORY)
    push = pushed() | {"repository": elsewhere}
    yield "a push to another repository", (delivery("push", push, no_target), Cause.REPOSITORY)
    yield "a label of a stranger", (delivery("pull_request", labelled(number=number, actor=STRANGER)), Cause.ACTOR)
    opened = pull_request("opened", number=number, actor=STRANGER, labels=[LABEL])
    yield "opened with the label by a stranger", (delivery("pull_request", opened), Cause.ACTOR)
    reopened = pull_request("reopened", number=number, actor=STRANGER, labels=[LABEL])
    yield "reopened by a stranger", (delivery("pull_request", reopened), Cause.ACTOR)
    pushed_to = pull_request("synchronize", number=number, actor=STRANGER, labels=[LABEL], fork=False)
    yield "a push after a label of nobody", (delivery("pull_request", pushed_to), Cause.ACTOR)
    for verb in ("ack it is fine", "run *", "cancel", "reboot"):
        comment = commented(f"/zerolap {verb}", actor=STRANGER)
        yield f"{verb} by a stranger", (delivery("issue_comment", comment), Cause.ACTOR)
    target: dict[str, str | None] = {"x-github-hook-installation-target-id": "99"}
    yield "another webhook", (delivery("pull_request", labelled(number=number), target), Cause.TARGET)
    no_number: dict[str, str | None] = {"x-github-hook-installation-target-id": "x' --"}
    yield "a target that is none", (delivery("push", pushed(), no_number), Cause.TARGET)
    yield "another label", (delivery("pull_request", labelled(number=number, label="bug")), Cause.LABEL)
    yield "another branch", (delivery("push", pushed("refs/heads/topic")), Cause.REF)
    bot = commented("/zerolap cancel", kind="Bot")
    yield "an application's comment", (delivery("issue_comment", bot), Cause.OWN_COMMENT)
    edited = commented("/zerolap cancel", action="edited")
    yield "an edited comment", (delivery("issue_comment", edited), Cause.ACTION)
    quoted = commented("> /zerolap cancel")
    yield "a quoted command", (delivery("issue_comment", quoted), Cause.NO_COMMAND)
    by_bot = labelled(number=number) | {"sender": person(f"{MAINTAINER}[bot]", "Bot")}
    yield "a label of an application", (delivery("pull_request", by_bot), Cause.ACTOR)


def _changed(payload: Payload, place: list[str], value: Any) -> Payload:
    """Return a payload with another value at a place."""
    changed = copy.deepcopy(payload)
    inner = changed
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return changed


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))
