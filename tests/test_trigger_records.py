"""What the store keeps of triggers: each once, in the order of recording, in both databases."""

import hashlib
from dataclasses import replace

import pytest

from zerolap.store import ApiToken, Post, Store, StoredAcknowledgement, StoredDelivery, StoredTrigger

SUBJECT = "redis/redis#12"
HEAD = "a" * 40


@pytest.fixture
def store(either_store: Store) -> Store:
    return either_store


def trigger(identity: str, *, kind: str = "push", delivery: str | None = None, created: float = 1.0) -> StoredTrigger:
    return StoredTrigger(
        id=identity,
        repository="redis/redis",
        subject=SUBJECT,
        kind=kind,
        document='{"text": "\\u0000 \N{ROCKET}"}',
        actor="maintainer",
        delivery=delivery,
        created=created,
    )


def delivery(identity: str, body: str, received: float = 0.0) -> StoredDelivery:
    return StoredDelivery(identity, "redis/redis", hashlib.sha256(body.encode()).hexdigest(), received)


def test_a_trigger_is_recorded_once_with_its_delivery(store: Store) -> None:
    first = delivery("d-1", "body")
    assert store.triggers.add(trigger("t-1", delivery="d-1"), first)
    assert not store.triggers.add(trigger("t-2", delivery="d-1"), delivery("d-1", "another body"))
    assert not store.triggers.add(trigger("t-3", delivery="d-2"), delivery("d-2", "body"))
    assert store.triggers.in_state("waiting") == [trigger("t-1", delivery="d-1")]
    assert store.triggers.knows("d-1", "")
    assert store.triggers.knows("", first.digest)
    assert not store.triggers.knows("d-2", "")


def test_a_delivery_whose_trigger_is_recorded_already_is_not_recorded(store: Store) -> None:
    assert store.triggers.add(trigger("t-1"))
    assert not store.triggers.add(trigger("t-1", delivery="d-1"), delivery("d-1", "body"))
    assert not store.triggers.knows("d-1", "")


def test_triggers_without_a_delivery_are_recorded_once_too(store: Store) -> None:
    assert store.triggers.add(trigger("t-1"))
    assert not store.triggers.add(trigger("t-1"))
    assert store.triggers.add(trigger("t-2"))


def test_a_trigger_is_found_by_its_id(store: Store) -> None:
    store.triggers.add(trigger("t-1"))
    assert store.triggers.with_id("t-1") == trigger("t-1")
    assert store.triggers.with_id("t-") is None


def test_old_deliveries_are_forgotten_and_their_triggers_kept(store: Store) -> None:
    store.triggers.add(trigger("t-1", delivery="d-1"), delivery("d-1", "1"))
    store.triggers.add(trigger("t-2", delivery="d-2"), delivery("d-2", "2", received=29 * 86_400.0))
    assert store.triggers.knows("d-1", "")
    store.triggers.add(trigger("t-3", delivery="d-3"), delivery("d-3", "3", received=30 * 86_400.0 + 1))
    assert [store.triggers.knows(f"d-{number}", "") for number in (1, 2, 3)] == [False, True, True]
    assert [stored.delivery for stored in store.triggers.in_state("waiting")] == [None, "d-2", "d-3"]


def test_a_trigger_ends_once(store: Store) -> None:
    store.triggers.add(trigger("t-1"))
    store.triggers.add(trigger("t-2"))
    assert store.triggers.end("t-1", "failed", "a reason with \0")
    assert not store.triggers.end("t-1", "done")
    [failed] = store.triggers.in_state("failed")
    assert failed.reason == "a reason with \N{REPLACEMENT CHARACTER}"
    assert [waiting.id for waiting in store.triggers.in_state("waiting")] == ["t-2"]


def test_tries_are_counted_until_a_trigger_is_put_back_or_ends(store: Store) -> None:
    store.triggers.add(trigger("t-1"))
    assert [store.triggers.begin("t-1") for _ in range(3)] == [1, 2, 3]
    [waiting] = store.triggers.in_state("waiting")
    assert waiting.tries == 3
    store.triggers.put_back("t-1")
    assert store.triggers.begin("t-1") == 1


def test_triggers_of_a_subject_and_of_an_actor_are_counted(store: Store) -> None:
    for number, kind in enumerate(["push", "command", "push"]):
        store.triggers.add(trigger(f"t-{number}", kind=kind, created=float(number)))
    assert [stored.id for stored in store.triggers.of_subject(SUBJECT)] == ["t-2", "t-1", "t-0"]
    assert [stored.id for stored in store.triggers.of_subject(SUBJECT, ["push"], limit=1)] == ["t-2"]
    assert store.triggers.of_subject("redis/redis#13") == []
    store.triggers.end("t-1", "refused")
    assert [stored.id for stored in store.triggers.of_subject(SUBJECT, limit=1, states=["refused", "done"])] == ["t-1"]
    assert store.triggers.count_of_actor("maintainer", ["push"], 0.0) == 2
    assert store.triggers.count_of_actor("maintainer", ["push", "command"], 1.0) == 2
    assert store.triggers.count_of_actor("stranger", ["push"], 0.0) == 0


def test_triggers_of_a_repository_are_listed_in_any_letter_case(store: Store) -> None:
    store.triggers.add(trigger("t-1"))
    assert [stored.id for stored in store.triggers.listed(10, repository="Redis/REDIS")] == ["t-1"]
    assert store.triggers.listed(10, repository="redis/other") == []


def test_acknowledgements_are_kept_by_head_and_case(store: Store) -> None:
    of_all = StoredAcknowledgement(SUBJECT, "redis/redis", HEAD, None, "maintainer", "worth it", 1.0)
    of_case = StoredAcknowledgement(SUBJECT, "redis/redis", HEAD, "get", "maintainer", "a trade", 2.0)
    store.triggers.acknowledge(of_all)
    store.triggers.acknowledge(of_case)
    store.triggers.acknowledge(StoredAcknowledgement(SUBJECT, "redis/redis", "b" * 40, None, "x", "another head", 3.0))
    store.triggers.acknowledge(of_case)
    assert store.triggers.acknowledgements(SUBJECT, HEAD) == [of_all, of_case]


def test_tokens_are_known_by_their_digest(store: Store) -> None:
    token = ApiToken("ci", hashlib.sha256(b"token").hexdigest(), "maintainer", ("submit", "read"), 1.0)
    assert store.triggers.add_token(token)
    assert not store.triggers.add_token(ApiToken("ci", "another", "x", ()))
    assert store.triggers.token(token.digest) == token
    assert store.triggers.token("another") is None
    store.triggers.used_token("ci", 5.0)
    assert [stored.last_used for stored in store.triggers.tokens()] == [5.0]
    assert store.triggers.remove_token("ci")
    assert not store.triggers.remove_token("ci")
    assert store.triggers.token(token.digest) is None


def test_what_was_seen_of_a_remote_is_recorded_with_its_triggers(store: Store) -> None:
    store.triggers.saw("/a/remote", {"refs/heads/main": HEAD, "refs/tags/1": HEAD}, [trigger("t-1")])
    store.triggers.saw("/a/remote", {"refs/heads/main": "b" * 40}, [trigger("t-1"), trigger("t-2")])
    store.triggers.saw("/another", {})
    assert store.triggers.watched("/a/remote") == {"refs/heads/main": "b" * 40, "refs/tags/1": HEAD}
    assert store.triggers.watched("/another") == {}
    assert [stored.id for stored in store.triggers.in_state("waiting")] == ["t-1", "t-2"]
    store.triggers.lost_refs("/a/remote", ["refs/tags/1"])
    assert list(store.triggers.watched("/a/remote")) == ["refs/heads/main"]


def test_posts_are_replaced(store: Store) -> None:
    assert store.triggers.post(SUBJECT, "comment") is None
    waiting = Post(SUBJECT, "comment", not_before=7.0)
    store.triggers.set_post(waiting)
    assert store.triggers.post(SUBJECT, "comment") == waiting
    written = Post(SUBJECT, "comment", external_id="1", digest="d", posted=8.0)
    store.triggers.set_post(written)
    check = Post(SUBJECT, "check", HEAD, "2", "e", 9.0)
    store.triggers.set_post(check)
    assert store.triggers.posts(SUBJECT) == [check, written]


def test_what_is_asked_for_again_during_a_writing_stays_to_be_written(store: Store) -> None:
    check = Post(SUBJECT, "check", HEAD, digest="first")
    assert store.triggers.set_written(check, read_digest="")
    store.triggers.write_again(SUBJECT, "check", HEAD)
    written = replace(check, digest="second", external_id="2")
    assert not store.triggers.set_written(written, read_digest="first")
    kept = store.triggers.post(SUBJECT, "check", HEAD)
    assert kept is not None
    assert (kept.external_id, kept.digest in {"first", "second"}) == ("2", False)
    assert store.triggers.set_written(written, read_digest=kept.digest)
    assert store.triggers.post(SUBJECT, "check", HEAD) == written
