"""Payloads as GitHub sends them, with the fields that are used and some that are not, and deliveries of them."""

import hashlib
import hmac
import itertools
import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from zerolap.triggers.settings import GitHubSettings, RepositorySettings, TriggerLimits, TriggerSettings
from zerolap.triggers.trigger import PullRequestTrigger
from zerolap.triggers.webhooks.admission import Delivery

SECRET = "a secret of the tests, and of nobody else"
REPOSITORY = "redis/redis"
REPOSITORY_ID = 156018
LABEL = "action run:benchmarks"
LABEL_ALL = "action run:all-benchmarks"
MAINTAINER = "maintainer"
STRANGER = "stranger"
HEAD = "a" * 40
BASE = "b" * 40
_numbers = itertools.count(1)

Payload = dict[str, Any]


def settings_of_tests(limits: TriggerLimits | None = None, **repository: Any) -> TriggerSettings:
    """Return settings with one repository, one permitted person and a branch that is measured."""
    fields: dict[str, Any] = {"name": REPOSITORY, "actors": [MAINTAINER], "branches": ["unstable"], "tags": ["7.*"]}
    return TriggerSettings(
        github=GitHubSettings(webhook_secret_file=SecretStr(SECRET), app_id=4711, private_key_file=Path("a-key.pem")),
        repository=(RepositorySettings.model_validate(fields | repository),),
        limits=limits or TriggerLimits(),
    )


def label_trigger(**changes: Any) -> PullRequestTrigger:
    """Return what a label on a pull request of a fork leads to."""
    fields = {
        "repository": REPOSITORY,
        "number": 12,
        "actor": MAINTAINER,
        "head": HEAD,
        "base_ref": "unstable",
        "base_sha": BASE,
        "head_repository": "stranger/redis",
        "is_fork": True,
        "label": LABEL,
        "scope": "affected",
    }
    return PullRequestTrigger.model_validate({**fields, **changes})


def labelled(
    *,
    number: int = 12,
    actor: str = MAINTAINER,
    head: str = HEAD,
    fork: bool = True,
    label: str = LABEL,
    **changes: Any,
) -> Payload:
    """Return the payload of a label that was set on a pull request."""
    return (
        pull_request("labeled", number=number, actor=actor, head=head, fork=fork, labels=[label], label=label) | changes
    )


def pull_request(
    action: str,
    *,
    number: int = 12,
    actor: str = MAINTAINER,
    head: str = HEAD,
    fork: bool = True,
    labels: list[str] | None = None,
    label: str | None = None,
) -> Payload:
    """Return the payload of something that happened to a pull request."""
    head_repository = {"id": 99, "full_name": "stranger/redis"} if fork else repository()
    content: Payload = {
        "action": action,
        "number": number,
        "pull_request": {
            "number": number,
            "state": "closed" if action == "closed" else "open",
            "title": "`$(reboot)` <b>x</b>",
            "labels": [{"id": _label_id(name), "name": name, "color": "65D94A"} for name in labels or []],
            "head": {"ref": "topic", "sha": head, "repo": head_repository},
            "base": {"ref": "unstable", "sha": BASE, "repo": repository()},
            # Each event has its own time: no two bodies are equal.
            "updated_at": f"moment {next(_numbers)}",
        },
        "repository": repository(),
        "sender": person(actor),
    }
    return content if label is None else content | {"label": {"id": _label_id(label), "name": label}}


def pushed(
    ref: str = "refs/heads/unstable", *, before: str = BASE, after: str = HEAD, actor: str = MAINTAINER
) -> Payload:
    """Return the payload of a push."""
    is_deleted = not after.strip("0")
    return {
        "ref": ref,
        "before": before,
        "after": after,
        "deleted": is_deleted,
        "created": not before.strip("0"),
        "head_commit": None if is_deleted else {"id": after, "message": "moment"},
        "repository": repository() | {"pushed_at": next(_numbers)},
        "sender": person(actor),
    }


def retargeted(head: str = HEAD, **changes: Any) -> Payload:
    """Return the payload of a labelled pull request that got another base."""
    content = pull_request("edited", head=head, labels=[LABEL], **changes)
    return content | {"changes": {"base": {"ref": {"from": "7.4"}, "sha": {"from": "d" * 40}}}}


def rerequested(kind: str, *, head: str = HEAD, actor: str = MAINTAINER, app: int = 4711) -> Payload:
    """Return the payload of a person who presses "Re-run" at a check run or a check suite."""
    check = {"id": next(_numbers), "head_sha": head, "app": {"id": app}, "pull_requests": []}
    return {"action": "rerequested", kind: check, "repository": repository(), "sender": person(actor)}


def merge_group(action: str = "checks_requested", *, head: str = HEAD) -> Payload:
    """Return the payload of a merge queue that asks for the checks of a group."""
    group = {
        "head_sha": head,
        "head_ref": f"refs/heads/gh-readonly-queue/unstable/pr-12-{BASE}",
        "base_sha": BASE,
        "base_ref": "refs/heads/unstable",
    }
    sender = person("github-merge-queue[bot]", "Bot")
    return {"action": action, "merge_group": group, "repository": repository(), "sender": sender}


def commented(
    body: str, *, actor: str = MAINTAINER, action: str = "created", kind: str = "User", on_pull_request: bool = True
) -> Payload:
    """Return the payload of a comment."""
    link = {"pull_request": {"url": "https://api.github.com/"}} if on_pull_request else {}
    number = next(_numbers)
    return {
        "action": action,
        "issue": {"number": 12, **link},
        "comment": {"id": number, "body": body, "user": person(actor, kind), "performed_via_github_app": None},
        "repository": repository(),
        "sender": person(actor, kind),
    }


def repository(name: str = REPOSITORY, identity: int = REPOSITORY_ID) -> Payload:
    """Return a repository in a payload."""
    return {"id": identity, "full_name": name, "private": False}


def person(login: str, kind: str = "User") -> Payload:
    """Return a person in a payload."""
    return {"login": login, "id": 1, "type": kind}


def signature(body: bytes, secret: str = SECRET) -> str:
    """Return the header that proves that a body comes from who knows the secret."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def delivery(
    event: str, payload: Payload | bytes, headers: Mapping[str, str | None] | None = None, address: str = "127.0.0.1"
) -> Delivery:
    """Return a signed delivery with an id of its own; `headers` are added, those that are none left out."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    known: dict[str, str | None] = {
        "content-type": "application/json",
        "x-github-event": event,
        "x-github-delivery": str(uuid.uuid4()),
        "x-hub-signature-256": signature(body),
        "x-github-hook-installation-target-type": "repository",
        "x-github-hook-installation-target-id": str(REPOSITORY_ID),
    }
    chosen = known | dict(headers or {})
    return Delivery({name: value for name, value in chosen.items() if value is not None}, body, address)


def real_payload(name: str) -> bytes:
    """Return one of the real payloads that are kept beside the public suites, or skip the test."""
    suites = os.environ.get("ZEROLAP_PUBLIC_SUITES", "")
    path = Path(suites).parent / "webhooks" / name
    if not suites or not path.exists():
        pytest.skip("ZEROLAP_PUBLIC_SUITES names no directory with ../webhooks beside it")
    return path.read_bytes()


def _label_id(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
