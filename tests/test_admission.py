"""A delivery is admitted only if it is signed, new, well-formed and permitted; what it leads to is recorded once."""

import dataclasses
import json
import subprocess
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hostile_deliveries import HOSTILE_LIMITS, hostilities
from structlog.testing import capture_logs
from webhook_payloads import (
    HEAD,
    LABEL,
    LABEL_ALL,
    MAINTAINER,
    REPOSITORY,
    SECRET,
    STRANGER,
    Payload,
    commented,
    delivery,
    label_trigger,
    labelled,
    merge_group,
    person,
    pull_request,
    pushed,
    real_payload,
    rerequested,
    retargeted,
    settings_of_tests,
    signature,
)

from zerolap.store import Post, Store
from zerolap.triggers.comment_commands import Acknowledge, InvalidCommand, Run
from zerolap.triggers.names import ref_fault
from zerolap.triggers.settings import TriggerLimits, TriggerSettings
from zerolap.triggers.trigger import (
    CommandTrigger,
    PullRequestTrigger,
    PushTrigger,
    RelabelTrigger,
    TagTrigger,
    Trigger,
    UnmeasuredTrigger,
    WithdrawalTrigger,
    read_trigger,
    trigger_json,
)
from zerolap.triggers.webhooks.admission import Delivery, admit, logged
from zerolap.triggers.webhooks.admission_state import AdmissionState
from zerolap.triggers.webhooks.outcomes import STATUS, UNSIGNED, Admitted, Cause, Ignored, Outcome, Refused
from zerolap.triggers.webhooks.rates import MOST_KEYS, Rate

OTHER_HEAD = "c" * 40
ZERO = "0" * 40
REF_NAMES = r"""
unstable 7.0 feature/x-y a@b größe -x a..b .a a/.b a.lock a.lock/b a~1 a^ a:b a? a* a[b a\b /a a/ a//b a. a@{b HEAD
@{-1} a]b {a} x.LOCK a/@/b a.b.c … a#b a%b 'a $(a) `a`
"""


class Gate:
    """Admits deliveries to a store."""

    def __init__(self, store: Store, settings: TriggerSettings) -> None:
        self.store = store
        self.settings = settings
        self.state = AdmissionState(store.triggers, settings.limits)
        for rate in (self.state.repositories, self.state.actors, self.state.forging_addresses):
            # However long a test takes, no rate recovers in it.
            rate._clock = lambda: 0.0

    def take(self, event: str, payload: Payload, **headers: str | None) -> Outcome:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return admit(delivery(event, payload, named), self.settings, self.state)

    def admitted(self, event: str, payload: Payload) -> Trigger:
        outcome = self.take(event, payload)
        assert isinstance(outcome, Admitted), outcome
        return outcome.trigger

    def cause(self, event: str, payload: Payload, **headers: str | None) -> Cause:
        outcome = self.take(event, payload, **headers)
        assert not isinstance(outcome, Admitted)
        return outcome.cause


@pytest.fixture
def gate(store: Store) -> Gate:
    return Gate(store, settings_of_tests())


# What events mean.


def test_a_label_has_the_head_of_the_payload_measured(gate: Gate) -> None:
    trigger = gate.admitted("pull_request", labelled())
    assert trigger == label_trigger(delivery=trigger.delivery)
    stored = next(iter(gate.store.triggers.in_state("waiting")), None)
    assert stored is not None
    assert (stored.subject, stored.kind, stored.state, stored.actor) == (
        "redis/redis#12",
        "pull request",
        "waiting",
        MAINTAINER,
    )
    assert read_trigger(stored.document) == trigger
    assert stored.delivery == trigger.delivery


def test_another_label_has_all_cases_measured(gate: Gate) -> None:
    trigger = gate.admitted("pull_request", labelled(label=LABEL_ALL))
    assert isinstance(trigger, PullRequestTrigger)
    assert trigger.scope == "all"


def test_a_fork_that_was_deleted_is_still_a_fork(gate: Gate) -> None:
    payload = labelled()
    payload["pull_request"]["head"]["repo"] = None
    trigger = gate.admitted("pull_request", payload)
    assert isinstance(trigger, PullRequestTrigger)
    assert (trigger.is_fork, trigger.head_repository) == (True, None)


def test_names_at_github_are_the_same_in_capitals(store: Store) -> None:
    gate = Gate(store, settings_of_tests(name="Redis/REDIS", actors=["MainTainer"]))
    trigger = gate.admitted("pull_request", labelled())
    assert (trigger.repository, trigger.subject) == ("Redis/REDIS", "redis/redis#12")


def test_labels_are_the_same_in_capitals(store: Store) -> None:
    gate = Gate(store, settings_of_tests(labels={"Perf: GRÖSSE": "all"}, accept_labels=["Perf: OK"]))
    trigger = gate.admitted("pull_request", labelled(label="perf: größe"))
    assert isinstance(trigger, PullRequestTrigger)
    assert (trigger.label, trigger.scope) == ("Perf: GRÖSSE", "all")
    opened = gate.admitted("pull_request", pull_request("opened", number=13, labels=["PERF: grösse"]))
    assert isinstance(opened, PullRequestTrigger)
    accepted = gate.admitted("pull_request", labelled(label="PERF: ok"))
    assert isinstance(accepted, CommandTrigger)
    withdrawn = gate.admitted("pull_request", pull_request("unlabeled", label="pErF: GröSSe"))
    assert isinstance(withdrawn, WithdrawalTrigger)


@pytest.mark.parametrize("events", [("opened", "labeled"), ("labeled", "opened")])
def test_a_pull_request_that_is_opened_with_its_labels_is_measured_once(gate: Gate, events: tuple[str, str]) -> None:
    payloads = {
        "opened": pull_request("opened", labels=[LABEL, LABEL_ALL]),
        "labeled": pull_request("labeled", labels=[LABEL, LABEL_ALL], label=LABEL_ALL),
    }
    gate.admitted("pull_request", payloads[events[0]])
    assert gate.cause("pull_request", payloads[events[1]]) == Cause.SEEN
    # After another push, and after it was removed, the label means the commit of that time.
    gate.admitted("pull_request", labelled(head=OTHER_HEAD))
    gate.admitted("pull_request", pull_request("unlabeled", label=LABEL, head=OTHER_HEAD))
    gate.admitted("pull_request", labelled(head=OTHER_HEAD))


def test_a_narrower_label_at_the_opening_adds_nothing(gate: Gate) -> None:
    gate.admitted("pull_request", pull_request("opened", labels=[LABEL, LABEL_ALL]))
    assert gate.cause("pull_request", labelled()) == Cause.SEEN


def test_who_is_not_permitted_does_not_keep_others_from_setting_the_label(store: Store) -> None:
    gate = Gate(store, settings_of_tests(permission="write"))
    asked = gate.admitted("pull_request", pull_request("opened", labels=[LABEL], actor=STRANGER))
    assert isinstance(asked, PullRequestTrigger)
    assert asked.needs_permission == "write"
    by_maintainer = gate.admitted("pull_request", labelled())
    assert isinstance(by_maintainer, PullRequestTrigger)
    assert by_maintainer.needs_permission is None


def test_a_branch_of_a_fork_may_be_called_head(gate: Gate) -> None:
    payload = labelled()
    payload["pull_request"]["head"]["ref"] = "HEAD"
    gate.admitted("pull_request", payload)
    everything = Gate(gate.store, settings_of_tests(branches=["*"], tags=["*"]))
    assert everything.cause("push", pushed("refs/heads/HEAD")) == Cause.REF
    assert everything.cause("push", pushed("refs/tags/HEAD")) == Cause.REF


@pytest.mark.parametrize("action", ["opened", "reopened"])
def test_a_pull_request_that_is_opened_with_the_label_is_measured(gate: Gate, action: str) -> None:
    trigger = gate.admitted("pull_request", pull_request(action, labels=["bug", LABEL, LABEL_ALL]))
    assert isinstance(trigger, PullRequestTrigger)
    assert (trigger.label, trigger.scope) == (LABEL_ALL, "all")


def test_a_push_to_a_labelled_pull_request_of_the_repository_supersedes(gate: Gate) -> None:
    gate.admitted("pull_request", labelled(fork=False))
    push = pull_request("synchronize", head=OTHER_HEAD, fork=False, labels=[LABEL], actor="colleague")
    trigger = gate.admitted("pull_request", push)
    assert isinstance(trigger, PullRequestTrigger)
    assert (trigger.head, trigger.actor, trigger.is_fork) == (OTHER_HEAD, "colleague", False)
    newest = gate.store.triggers.of_subject(trigger.subject)[0]
    assert read_trigger(newest.document) == trigger


def test_a_push_does_not_make_up_for_a_label_that_nobody_permitted_has_set(gate: Gate) -> None:
    assert gate.cause("pull_request", labelled(fork=False, actor=STRANGER)) == Cause.ACTOR
    push = pull_request("synchronize", head=OTHER_HEAD, fork=False, labels=[LABEL], actor=STRANGER)
    assert gate.cause("pull_request", push) == Cause.ACTOR


@pytest.mark.parametrize("actor", [STRANGER, MAINTAINER])
def test_a_push_to_a_labelled_fork_needs_the_label_again(gate: Gate, actor: str) -> None:
    gate.admitted("pull_request", labelled())
    trigger = gate.admitted("pull_request", pull_request("synchronize", head=OTHER_HEAD, labels=[LABEL], actor=actor))
    assert trigger == RelabelTrigger(
        repository=REPOSITORY, number=12, actor=actor, head=OTHER_HEAD, label=LABEL, delivery=trigger.delivery
    )
    # The label that is set again is for the new head, and a push of somebody else ends that too.
    again = gate.admitted("pull_request", labelled(head=OTHER_HEAD))
    assert isinstance(again, PullRequestTrigger)
    assert again.head == OTHER_HEAD


def test_a_push_that_the_label_was_set_after_does_not_end_it(gate: Gate) -> None:
    gate.admitted("pull_request", labelled(head=OTHER_HEAD))
    late = pull_request("synchronize", head=OTHER_HEAD, labels=[LABEL], actor=STRANGER)
    assert gate.cause("pull_request", late) == Cause.SEEN


def test_a_label_that_is_removed_withdraws(gate: Gate) -> None:
    gate.admitted("pull_request", labelled(fork=False))
    trigger = gate.admitted("pull_request", pull_request("unlabeled", label=LABEL, actor=STRANGER))
    assert isinstance(trigger, WithdrawalTrigger)
    assert trigger.cause == "label removed"
    # The label has to be set by a permitted person again, also for pushes to the repository itself.
    push = pull_request("synchronize", fork=False, labels=[LABEL], actor=STRANGER)
    assert gate.cause("pull_request", push) == Cause.ACTOR
    assert gate.cause("pull_request", pull_request("unlabeled", label="bug")) == Cause.LABEL


def test_a_label_that_is_removed_leaves_what_another_has_measured(gate: Gate) -> None:
    measured = gate.admitted("pull_request", labelled(fork=False))
    one_left = pull_request("unlabeled", label=LABEL_ALL, labels=["bug", LABEL])
    assert gate.cause("pull_request", one_left) == Cause.LABEL
    assert [stored.kind for stored in gate.store.triggers.of_subject(measured.subject)] == ["pull request"]
    none_left = pull_request("unlabeled", label=LABEL, labels=["bug"])
    assert isinstance(gate.admitted("pull_request", none_left), WithdrawalTrigger)


def test_a_pull_request_that_is_closed_is_withdrawn_if_it_was_measured(gate: Gate) -> None:
    assert gate.cause("pull_request", pull_request("closed", number=7)) == Cause.LABEL
    gate.admitted("pull_request", labelled())
    trigger = gate.admitted("pull_request", pull_request("closed"))
    assert isinstance(trigger, WithdrawalTrigger)
    assert trigger.cause == "closed"


def test_what_github_has_to_be_asked_is_said(store: Store) -> None:
    gate = Gate(store, settings_of_tests(permission="write"))
    known = gate.admitted("pull_request", labelled(number=1))
    unknown = gate.admitted("pull_request", labelled(number=2, actor="colleague", fork=False))
    assert isinstance(known, PullRequestTrigger)
    assert isinstance(unknown, PullRequestTrigger)
    assert (known.needs_permission, unknown.needs_permission) == (None, "write")
    # As long as GitHub has not said so, a push does not count as one after a permitted label.
    push = pull_request("synchronize", number=2, fork=False, labels=[LABEL], actor=STRANGER)
    pushed_early = gate.admitted("pull_request", push)
    assert isinstance(pushed_early, PullRequestTrigger)
    assert pushed_early.needs_permission == "write"


def test_a_refused_trigger_permits_nothing(store: Store) -> None:
    gate = Gate(store, settings_of_tests(permission="write"))
    gate.admitted("pull_request", labelled(actor=STRANGER, fork=False))
    [waiting] = gate.store.triggers.in_state("waiting")
    gate.store.triggers.end(waiting.id, "refused", "no permission")
    assert gate.state.current(waiting.subject).head is None


def test_another_base_is_another_comparison(gate: Gate) -> None:
    gate.admitted("pull_request", labelled())
    # Whoever edits it: the head is the one that the label was set for.
    trigger = gate.admitted("pull_request", retargeted(actor=STRANGER))
    assert isinstance(trigger, PullRequestTrigger)
    assert (trigger.head, trigger.needs_permission) == (HEAD, None)
    assert gate.cause("pull_request", retargeted(head=OTHER_HEAD, actor=STRANGER)) == Cause.LABEL
    edited = retargeted() | {"changes": {"title": {"from": "x"}}}
    assert gate.cause("pull_request", edited) == Cause.ACTION


def test_a_retargeted_pull_request_that_nobody_permitted_is_not_measured(gate: Gate) -> None:
    assert gate.cause("pull_request", retargeted(fork=False, actor=STRANGER)) == Cause.ACTOR


@pytest.mark.parametrize("kind", ["check_run", "check_suite"])
def test_a_check_is_run_again(gate: Gate, kind: str) -> None:
    first = gate.admitted("pull_request", labelled(actor=MAINTAINER))
    assert gate.cause(kind, rerequested(kind)) == Cause.LABEL
    gate.store.triggers.set_post(Post(first.subject, "check", HEAD))
    again = gate.admitted(kind, rerequested(kind))
    assert isinstance(first, PullRequestTrigger)
    assert again == first.model_copy(update={"delivery": again.delivery})
    assert gate.cause(kind, rerequested(kind, actor=STRANGER)) == Cause.ACTOR
    assert gate.cause(kind, rerequested(kind, app=4712)) == Cause.EVENT
    assert gate.cause(kind, rerequested(kind, head=OTHER_HEAD)) == Cause.LABEL
    assert gate.cause(kind, rerequested(kind) | {"action": "completed"}) == Cause.ACTION


def test_a_merge_group_gets_a_check(gate: Gate) -> None:
    trigger = gate.admitted("merge_group", merge_group())
    assert isinstance(trigger, UnmeasuredTrigger)
    assert (trigger.head, trigger.subject) == (HEAD, "redis/redis#queue:aaaaaaaaaaaa")
    assert gate.cause("merge_group", merge_group("destroyed")) == Cause.ACTION


@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize"])
def test_a_pull_request_without_a_label_gets_a_check_where_that_is_set(store: Store, action: str) -> None:
    payload = pull_request(action, labels=["bug"], actor=STRANGER)
    assert Gate(store, settings_of_tests()).cause("pull_request", payload) == Cause.LABEL
    gate = Gate(store, settings_of_tests(check_unlabelled=True))
    trigger = gate.admitted("pull_request", pull_request(action, labels=["bug"], actor=STRANGER))
    assert isinstance(trigger, UnmeasuredTrigger)
    assert (trigger.head, trigger.subject) == (HEAD, "redis/redis#12")
    assert gate.state.current(trigger.subject).head is None


def test_pushes_to_chosen_branches_are_measured(gate: Gate) -> None:
    trigger = gate.admitted("push", pushed(before=ZERO, actor=STRANGER))
    assert trigger == PushTrigger(
        repository=REPOSITORY,
        branch="unstable",
        before=None,
        after=HEAD,
        actor=STRANGER,
        delivery=trigger.delivery,
    )
    assert trigger.subject == "redis/redis@unstable"
    assert gate.cause("push", pushed("refs/heads/unstable2")) == Cause.REF
    assert gate.cause("push", pushed(after=ZERO)) == Cause.REF


def test_a_tag_is_measured_at_its_commit(gate: Gate) -> None:
    payload = pushed("refs/tags/7.4.0", before=ZERO, after="d" * 40)
    payload["head_commit"] = {"id": HEAD}
    trigger = gate.admitted("push", payload)
    assert isinstance(trigger, TagTrigger)
    assert (trigger.tag, trigger.commit, trigger.subject) == ("7.4.0", HEAD, "redis/redis@tag:7.4.0")
    assert gate.cause("push", pushed("refs/tags/8.0")) == Cause.REF
    created = {"ref": "7.4.0", "ref_type": "tag", "repository": payload["repository"], "sender": person("x")}
    assert gate.cause("create", created) == Cause.EVENT


def test_commands_of_permitted_people_are_taken(gate: Gate) -> None:
    trigger = gate.admitted("issue_comment", commented("Thanks!\n\n/zerolap ack it is worth it"))
    assert isinstance(trigger, CommandTrigger)
    assert trigger.command == Acknowledge(reason="it is worth it")
    assert trigger.subject == "redis/redis#12"
    unknown = gate.admitted("issue_comment", commented("/zerolap dance"))
    assert isinstance(unknown, CommandTrigger)
    assert isinstance(unknown.command, InvalidCommand)
    assert gate.cause("issue_comment", commented("/zerolap cancel", on_pull_request=False)) == Cause.NO_COMMAND
    assert gate.cause("issue_comment", commented("/zerolap cancel", action="edited")) == Cause.ACTION


def test_a_permitted_person_accepts_by_a_label(store: Store) -> None:
    gate = Gate(store, settings_of_tests(accept_labels=["perf: accepted"]))
    accepted = labelled(label="perf: accepted")
    assert gate.cause("pull_request", accepted | {"sender": person(STRANGER)}) == Cause.ACTOR
    trigger = gate.admitted("pull_request", accepted)
    assert isinstance(trigger, CommandTrigger)
    assert (trigger.number, trigger.comment) == (12, None)
    assert trigger.command == Acknowledge(reason="label perf: accepted")
    assert read_trigger(trigger_json(trigger)) == trigger


def test_the_lab_does_not_command_itself(gate: Gate) -> None:
    assert gate.cause("issue_comment", commented("/zerolap cancel", kind="Bot")) == Cause.OWN_COMMENT
    by_application = commented("/zerolap cancel")
    by_application["comment"]["performed_via_github_app"] = {"id": 4711}
    assert gate.cause("issue_comment", by_application) == Cause.OWN_COMMENT
    assert gate.cause("issue_comment", commented("<!-- zerolap -->\n/zerolap cancel")) == Cause.NO_COMMAND


def test_a_ping_is_answered(gate: Gate) -> None:
    outcome = gate.take("ping", {"hook_id": 1, "zen": "Keep it logically awesome."})
    assert isinstance(outcome, Ignored)


@pytest.mark.parametrize(
    "trigger",
    [
        WithdrawalTrigger(repository="a/b", number=1, actor="x", cause="closed"),
        CommandTrigger(repository="a/b", number=1, actor="x", comment=5, command=Run(patterns=("geo*",))),
        TagTrigger(repository="a/b", tag="7.0", commit=HEAD),
    ],
)
def test_triggers_are_read_as_they_were_written(trigger: Trigger) -> None:
    assert read_trigger(trigger_json(trigger)) == trigger


# The real payloads.


def test_the_real_label_is_admitted(store: Store) -> None:
    body = real_payload("event_webhook_labelled_pr.json")
    gate = Gate(
        store,
        settings_of_tests(
            name="filipecosta90/redis", actors=["filipecosta90"], labels={"action:run-benchmark": "affected"}
        ),
    )
    headers = {"x-github-hook-installation-target-id": "181364294"}
    outcome = admit(delivery("pull_request", body, headers), gate.settings, gate.state)
    assert isinstance(outcome, Admitted)
    trigger = outcome.trigger
    assert isinstance(trigger, PullRequestTrigger)
    # The repository is a fork of another, but the pull request does not come from a fork of it.
    assert (trigger.number, trigger.is_fork, trigger.base_ref) == (9, False, "unstable")
    assert trigger.head == "a3448f39efb8900f6f66778783461cf49de94b4f"
    assert trigger.base_sha == "f827bb773a22eaa265c96c8781f254bdf39cf218"


def test_the_real_push_is_admitted(store: Store) -> None:
    body = real_payload("event_webhook_pushed_repo.json")
    gate = Gate(store, settings_of_tests(name="filipecosta90/redis", branches=["unstable*"]))
    headers = {"x-github-hook-installation-target-id": "181364294"}
    outcome = admit(delivery("push", body, headers), gate.settings, gate.state)
    assert isinstance(outcome, Admitted)
    assert isinstance(outcome.trigger, PushTrigger)
    assert outcome.trigger.after == "921489d5392a13e10493c6578a27b4bd5324a929"
    assert outcome.trigger.before == "572abee6f17753fe2af59aeb7c3dd42baee66e1b"


# What is refused.


def test_a_thousand_hostile_deliveries_lead_to_nothing_and_are_logged(store: Store) -> None:
    gate = Gate(store, settings_of_tests(HOSTILE_LIMITS))
    hostile = hostilities()
    assert len(hostile.attacks) == 1_000
    for first in hostile.accepted:
        assert isinstance(admit(first, gate.settings, gate.state), Admitted)
    recorded = len(store.triggers.in_state("waiting"))
    wrong = []
    with capture_logs() as entries:
        for attack in hostile.attacks:
            outcome = admit(attack.delivery, gate.settings, gate.state)
            if isinstance(outcome, Admitted) or outcome.cause != attack.cause:
                wrong.append((attack.name, outcome))
    assert wrong == []
    assert len(store.triggers.in_state("waiting")) == recorded
    expected = Counter((logged(attack.delivery.identity), attack.cause.value) for attack in hostile.attacks)
    assert Counter((entry["delivery"], entry["cause"]) for entry in entries) == expected
    assert all(entry["reason"] for entry in entries)
    # Every cause that a single delivery can have is among them.
    stateful = {Cause.TOO_SLOW, Cause.FORGED_LIMIT, Cause.REPOSITORY_LIMIT, Cause.ACTOR_LIMIT}
    stateful |= {Cause.SUBMISSION_LIMIT, Cause.COMMAND_LIMIT}
    assert {attack.cause for attack in hostile.attacks} >= set(STATUS) - stateful


def test_logs_show_no_secret_and_stay_on_their_line(gate: Gate) -> None:
    stolen = signature(b"x", "guess")
    with capture_logs() as entries:
        gate.take("push", pushed(), x_github_delivery="evil\r\n{}", x_hub_signature_256=stolen)
        gate.take("push\x1b[2J\n", pushed())
        gate.take("push", pushed(), x_hub_signature_256=stolen)
        gate.take("push", pushed("refs/heads/a\nb"))
        gate.take("push", pushed())
    text = json.dumps(entries)
    assert len(entries) == 5
    assert SECRET not in text
    assert stolen not in text
    assert signature(b"") not in text
    for entry in entries:
        for value in entry.values():
            assert str(value).isascii()
            assert str(value).isprintable()
            assert len(str(value)) <= 301
    assert SECRET not in repr(gate.settings)


def test_nothing_of_an_unsigned_delivery_is_read(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: Any, **__: Any) -> None:
        raise AssertionError("the body was read")

    monkeypatch.setattr("zerolap.triggers.webhooks.admission.json.loads", unreadable)
    assert gate.cause("push", pushed(), x_hub_signature_256=signature(b"x")) == Cause.SIGNATURE
    with pytest.raises(AssertionError, match="the body was read"):
        gate.take("push", pushed())


@pytest.mark.parametrize("cause", sorted(UNSIGNED))
def test_who_has_not_signed_learns_nothing(cause: Cause) -> None:
    assert Refused(cause, "the reason").response == STATUS[cause].phrase
    assert "reason" not in Refused(cause, "the reason").response


def test_a_delivery_that_was_not_accepted_may_come_again(gate: Gate) -> None:
    sent = delivery("pull_request", labelled(actor=STRANGER))
    refused = admit(sent, gate.settings, gate.state)
    assert isinstance(refused, Refused)
    permitting = settings_of_tests(actors=[STRANGER])
    assert isinstance(admit(sent, permitting, gate.state), Admitted)
    again = admit(sent, permitting, gate.state)
    assert isinstance(again, Refused)
    assert again.cause == Cause.REPLAY


def test_replays_are_refused_after_a_restart(gate: Gate, tmp_path: Path) -> None:
    sent = delivery("pull_request", labelled())
    assert isinstance(admit(sent, gate.settings, gate.state), Admitted)
    with Store.open(str(tmp_path / "store")) as reopened:
        outcome = admit(sent, gate.settings, AdmissionState(reopened.triggers))
    assert isinstance(outcome, Refused)
    assert outcome.cause == Cause.REPLAY


def test_a_delivery_that_comes_many_times_at_once_counts_once(gate: Gate) -> None:
    sent = delivery("pull_request", labelled())
    outcomes: list[Outcome] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(admit(sent, gate.settings, gate.state))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(type(outcome).__name__ for outcome in outcomes) == {"Admitted": 1, "Refused": 7}
    assert len(gate.store.triggers.in_state("waiting")) == 1


def test_deliveries_are_forgotten_after_a_month(store: Store) -> None:
    settings = settings_of_tests()
    now = [1_000_000.0]
    state = AdmissionState(store.triggers, clock=lambda: now[0])
    old = delivery("pull_request", labelled())
    assert isinstance(admit(old, settings, state), Admitted)
    now[0] += 31 * 86_400
    admit(delivery("pull_request", labelled()), settings, state)
    assert not store.triggers.knows(old.identity, old.digest)
    assert store.triggers.in_state("waiting")[0].delivery is None


# Limits.


def test_forgers_are_told_to_wait_and_others_at_their_address_are_heard(store: Store) -> None:
    gate = Gate(store, settings_of_tests(TriggerLimits(forged_per_minute_per_address=3)))
    causes = [gate.cause("push", pushed(), x_hub_signature_256=None) for _ in range(5)]
    assert causes == [Cause.NO_SIGNATURE] * 3 + [Cause.FORGED_LIMIT] * 2
    gate.admitted("push", pushed())


def test_deliveries_of_an_actor_and_of_a_repository_are_limited(store: Store) -> None:
    gate = Gate(
        store,
        settings_of_tests(TriggerLimits(deliveries_per_minute_per_actor=2, deliveries_per_minute_per_repository=3)),
    )
    # Forged ones do not count.
    for _ in range(5):
        gate.take("push", pushed(actor="a"), x_hub_signature_256=signature(b"x"))
    gate.admitted("push", pushed(actor="a"))
    gate.admitted("push", pushed(actor="a"))
    assert gate.cause("push", pushed(actor="A")) == Cause.ACTOR_LIMIT
    gate.admitted("push", pushed(actor="b"))
    assert gate.cause("push", pushed(actor="c")) == Cause.REPOSITORY_LIMIT


def test_what_a_person_causes_in_an_hour_is_limited(store: Store) -> None:
    gate = Gate(
        store, settings_of_tests(TriggerLimits(submissions_per_hour_per_actor=2, commands_per_hour_per_actor=1))
    )
    gate.admitted("pull_request", labelled())
    gate.admitted("pull_request", labelled())
    assert gate.cause("pull_request", labelled()) == Cause.SUBMISSION_LIMIT
    gate.admitted("issue_comment", commented("/zerolap cancel"))
    assert gate.cause("issue_comment", commented("/zerolap cancel")) == Cause.COMMAND_LIMIT
    # What ends work is never held up.
    gate.admitted("pull_request", pull_request("unlabeled", label=LABEL))


def test_a_rate_recovers_and_forgets_old_keys() -> None:
    now = [0.0]
    rate = Rate(2, 60.0, clock=lambda: now[0])
    assert [rate.permits("a") for _ in range(3)] == [True, True, False]
    now[0] = 30.0
    assert [rate.permits("a") for _ in range(2)] == [True, False]
    for number in range(MOST_KEYS + 1):
        rate.permits(str(number))
    assert rate.permits("a")


# Names.


@pytest.mark.parametrize("name", [*REF_NAMES.split(), "a\x7fb", "", "a\tb", "a b"])
def test_refs_are_those_that_git_takes(name: str, compiler: None, tmp_path: Path) -> None:
    # Outside of a repository `@{-1}` stands for no other branch, and is refused too.
    command = ["git", "check-ref-format", "--branch", name]
    checked = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)
    assert (ref_fault(name) is None) == (checked.returncode == 0), checked.stderr


@pytest.mark.parametrize("name", ["x" * 256, "\x85", "a\ud800", "@"])
def test_some_names_are_not_taken_though_git_does(name: str, gate: Gate) -> None:
    assert gate.cause("push", pushed(f"refs/heads/{name}")) == Cause.SHAPE


def test_a_delivery_shows_neither_headers_nor_body() -> None:
    sent = Delivery({"x-hub-signature-256": "sha256=f00"}, b"the body", "192.0.2.1")
    assert "f00" not in repr(sent)
    assert "body" not in repr(sent)
    assert dataclasses.is_dataclass(sent)
