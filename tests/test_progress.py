"""How it stands with a pull request, as it follows from the triggers and requests in the store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from made_records import PLATFORM, a_case, a_comparison, a_work, changed
from simulated_fleet import made_up_cases
from test_notifying import Known
from toy_server import ToySource
from webhook_payloads import LABEL, MAINTAINER, REPOSITORY, STRANGER, label_trigger

from zerolap.build import resolve
from zerolap.documents import FalseAlarmRecord
from zerolap.lab import Options, SubmissionOptions, comparison_request, on_platforms
from zerolap.records import RequestedServer, RequestState
from zerolap.report.pull_request.check_run import check_output
from zerolap.sheets import PullRequestState
from zerolap.store import Store
from zerolap.triggers.comment_commands import InvalidCommand, Run
from zerolap.triggers.settings import checked_settings
from zerolap.triggers.trigger import CommandTrigger, RelabelTrigger, RequiredPermission, Trigger
from zerolap.triggers.webhooks.admission_state import stored_trigger
from zerolap.triggers.work import ON_REQUEST

NUMBER = 12
SUBJECT = f"{REPOSITORY}#{NUMBER}"
MANY = 101
"""More triggers than are read at once."""


class Pull:
    """A pull request of which nothing is carried out: the test says what comes of it."""

    def __init__(self, directory: Path, source: ToySource) -> None:
        self.source = source
        self.store = Store.open(str(directory / "store"))
        settings = checked_settings({"repository": [{"name": REPOSITORY, "clone_url": str(source.path)}]}, directory)
        self.head = source.commit("what is proposed")
        self.progress_reader = Known(self.store, settings, directory / "mirrors", FalseAlarmRecord(self.store))
        self.progress_reader.made_up = {}
        self._count = 0

    def labelled(
        self, head: str, actor: str = MAINTAINER, needs_permission: RequiredPermission | None = None
    ) -> Trigger:
        """Return the trigger by which a head is measured."""
        base = self.source.first
        return label_trigger(actor=actor, head=head, base_sha=base, number=NUMBER, needs_permission=needs_permission)

    def label(self, head: str) -> None:
        """Have a head measured, on the platform `arm`, with no change."""
        self._worked_on(self.add(self.labelled(head)), head, SUBJECT, "done")

    def run(self, pattern: str, state: RequestState) -> None:
        """Have the cases measured that a command names."""
        trigger = CommandTrigger(
            repository=REPOSITORY, number=NUMBER, actor=MAINTAINER, comment=1, command=Run(patterns=(pattern,))
        )
        self._worked_on(self.add(trigger), self.head, f"{SUBJECT}{ON_REQUEST}{pattern}", state)

    def add(self, trigger: Trigger) -> str:
        """Record a trigger and return its id."""
        self._count += 1
        stored = stored_trigger(trigger, f"trigger {self._count}", float(self._count))
        assert self.store.triggers.add(stored)
        return stored.id

    def state(self, earlier_head: str = "") -> PullRequestState:
        """Return how it stands."""
        state = self.progress_reader.pull_request(SUBJECT, earlier_head)
        assert state is not None
        return state

    def conclusion(self) -> str | None:
        """Return the conclusion of the head's check."""
        return check_output(self.state(), "regression").conclusion

    def _worked_on(self, identity: str, head: str, topic: str, state: RequestState) -> None:
        base, compared = (
            RequestedServer(source=resolve(commit, self.source.path)) for commit in (self.source.first, head)
        )
        asked = comparison_request(base, compared, made_up_cases(1), Options(engines=["counted"]))
        [request] = on_platforms(asked, ["arm"], self.store.blobs, SubmissionOptions("pull", topic))
        self.store.submit([request])
        case = a_case("get", a_work("same", 0.0))
        comparison = a_comparison([case], id=request.id, platform=changed(PLATFORM, name="arm"))
        self.progress_reader.made_up[request.id] = comparison
        self.store.fleet.set_state(request.id, state)
        self.store.triggers.end(identity, "done", "", [request])


@pytest.fixture
def pull(compiler: None, tmp_path: Path) -> Iterator[Pull]:
    prepared = Pull(tmp_path, ToySource(tmp_path / "remote"))
    with prepared.store:
        yield prepared


def test_strangers_do_not_take_the_place_of_what_is_measured(pull: Pull) -> None:
    pull.label(pull.head)
    pull.run("get*", "done")
    measured = pull.state()
    assert [platform.name for platform in measured.platforms] == ["arm", "arm: get*"]
    strange = CommandTrigger(
        repository=REPOSITORY,
        number=NUMBER,
        actor=STRANGER,
        comment=2,
        command=InvalidCommand(reply="no such command"),
        needs_permission="write",
    )
    reopened = pull.labelled("c" * 40, STRANGER, "write")
    for _ in range(MANY):
        for trigger in (strange, reopened):
            pull.store.triggers.end(pull.add(trigger), "refused", "no permission")
    assert pull.state() == measured
    pushed = RelabelTrigger(repository=REPOSITORY, number=NUMBER, actor=STRANGER, head="d" * 40, label=LABEL)
    for _ in range(MANY):
        pull.add(pushed)
    assert pull.state().platforms == measured.platforms
    assert pull.state().needs_approval


@pytest.mark.parametrize("state", ["superseded", "cancelled", "failed"])
def test_cases_that_are_asked_for_again_take_the_place_of_what_came_to_nothing(pull: Pull, state: RequestState) -> None:
    pull.label(pull.head)
    pull.run("get*", state)
    assert pull.conclusion() == "neutral"
    pull.run("set*", "done")
    assert pull.conclusion() == "neutral"
    pull.run("get*", "done")
    assert [platform.name for platform in pull.state().platforms] == ["arm", "arm: get*", "arm: set*"]
    assert pull.conclusion() == "success"


def test_a_push_to_a_fork_asks_for_approval_of_the_new_head(pull: Pull) -> None:
    pull.label(pull.head)
    pushed = "d" * 40
    pull.add(RelabelTrigger(repository=REPOSITORY, number=NUMBER, actor=STRANGER, head=pushed, label=LABEL))
    newest, earlier = pull.state().at_newest_head, pull.state(pull.head)
    checks = {state.commits.head: check_output(state, "regression") for state in (newest, earlier)}
    assert {head: check.conclusion for head, check in checks.items()} == {
        pushed: "action_required",
        pull.head: "success",
    }
    assert "Compared" not in checks[pushed].summary
    # It is measured once the label is set again.
    pull.head = pull.source.commit("what is pushed")
    pull.label(pull.head)
    assert pull.state().at_newest_head == pull.state()
    assert pull.conclusion() == "success"
