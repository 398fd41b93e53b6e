"""From a label to the comment: the lab as a whole, with a played GitHub, real git, real builds and counted trials."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from github_state import APP
from simulated_fleet import PLATFORM, SimulatedFleet
from toy_server import CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from waiting import BUILD_PATIENCE_SECONDS, until
from webhook_payloads import REPOSITORY, label_trigger, merge_group, pull_request, rerequested
from zero_touch import NUMBER, PUBLIC_URL, Scene, zero_touch

from zerolap.engines.simulated import Simulated
from zerolap.store import Store
from zerolap.triggers import outbox
from zerolap.triggers.running import Triggers
from zerolap.triggers.settings import read_trigger_settings
from zerolap.triggers.webhooks.admission_state import stored_trigger

MOST_BYTES = 6 * 1024
APP_ID = 4711


@pytest.fixture
def scene(tmp_path: Path, toy: ToySource) -> Iterator[Scene]:
    with zero_touch(tmp_path, toy) as prepared:
        yield prepared


def regressing(source: ToySource) -> str:
    return source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))


def harmless(source: ToySource, text: str = "nothing") -> str:
    """Return a commit in which a source file has another comment."""
    source.git("checkout", "--quiet", "--force", source.first)
    path = source.path / "src" / "table.c"
    path.write_text(f"{path.read_text()}/* {text} */\n")
    return source.commit(text)


def not_built_yet(source: ToySource) -> str:
    """Return a commit whose build does not end by itself, so that it is measured until that is cancelled."""
    return source.changed(("Makefile", "\t$(CC) $(FINAL_CFLAGS)", "\tsleep 3600\n\t$(CC) $(FINAL_CFLAGS)"))


def documents(source: ToySource, text: str = "news") -> str:
    """Return a commit that no server is built from; equal ones of the same second are one commit."""
    source.git("checkout", "--quiet", "--force", source.first)
    (source.path / "NEWS.md").write_text(text)
    return source.commit("news")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_label_leads_to_a_comment_and_a_status(scene: Scene) -> None:
    head = regressing(scene.source)
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    scene.wait_for_status(head, "failure")
    # The comment is written before; one that was written while cases were measured has not all of it.
    comment = scene.wait_for_comment("more work")
    assert "GET" in comment
    assert f"{PUBLIC_URL}/comparisons/c-" in comment
    assert "commands.c#L" in comment
    assert len(comment.encode()) < MOST_BYTES
    assert len(scene.comments()) == 1
    # A permitted person accepts it.
    scene.write("/zerolap ack the checksum is worth it")
    accepted = scene.wait_for_comment("the checksum is worth it")
    assert len(scene.comments()) == 1
    assert "GET" in accepted
    scene.wait_for_status(head, "success")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_push_supersedes_what_runs(scene: Scene) -> None:
    first = not_built_yet(scene.source)
    scene.open_pull_request(first)
    scene.start()
    assert scene.label(first) == 202
    scene.wait_for_comment(first[:12])
    second = harmless(scene.source)
    scene.github.push(REPOSITORY, NUMBER, second)
    assert scene.label(second, "synchronize") == 202
    comment = scene.wait_for_comment("No change in")
    assert second[:12] in comment
    assert len(scene.comments()) == 1
    scene.wait_for_status(second, "success")
    # Nobody waits for what is not measured any more.
    scene.wait_for_status(first, "error")
    assert "superseded" in scene.statuses(first)[-1]["description"]


def test_what_no_case_can_be_affected_by_is_well(scene: Scene) -> None:
    head = documents(scene.source)
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    scene.wait_for_comment("No case can be affected by this change")
    scene.wait_for_status(head, "success")


@pytest.mark.slow
def test_a_fork_is_measured_as_it_was_when_it_was_labelled(scene: Scene) -> None:
    labelled = documents(scene.source)
    scene.open_pull_request(labelled)
    scene.start()
    assert scene.label(labelled, fork=True, actor="stranger") == 403
    assert scene.label(labelled, fork=True) == 202
    scene.wait_for_comment(labelled[:12])
    # What is pushed after the label is not even fetched.
    assert scene.label("c" * 40, "synchronize", fork=True, actor="stranger") == 202
    assert "c" * 7 not in scene.wait_for_comment("set it again")
    scene.wait_for_status("c" * 40, "pending")
    assert "set it again" in scene.statuses("c" * 40)[-1]["description"]
    # A permitted person looks at it, and sets the label again.
    seen = documents(scene.source, "other news")
    assert scene.label(seen, fork=True) == 202
    assert "set it again" not in scene.wait_for_comment(seen[:12])
    scene.wait_for_status(seen, "success")
    assert [status["state"] for status in scene.statuses(labelled)][-1] == "success"


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_command_measures_the_cases_that_it_names(scene: Scene) -> None:
    head = documents(scene.source)
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    scene.wait_for_comment("No case can be affected")
    scene.write("/zerolap run toy-s*")
    comment = scene.wait_for_comment("No change in 1 case")
    assert "toy-s\\*" in comment or "toy-s*" in comment
    scene.wait_until(lambda: scene.reactions() == 1)
    # What cannot be done is answered.
    scene.write("/zerolap run no-such-case")
    scene.wait_for_comment("no-such-case")
    scene.write("/zerolap dance")
    scene.wait_for_comment("The commands are")
    assert scene.reactions() == 1


def test_a_command_cancels(scene: Scene) -> None:
    head = not_built_yet(scene.source)
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    scene.wait_for_comment(head[:12])
    scene.write("/zerolap cancel")
    scene.wait_for_comment("cancelled by")
    scene.wait_for_status(head, "error")


@contextmanager
def application_scene(tmp_path: Path, toy: ToySource, setting: str = "") -> Iterator[Scene]:
    """Set up a lab that is an application of GitHub, with a further setting of its repository."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (tmp_path / "key.pem").touch(mode=0o600)
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    with zero_touch(tmp_path, toy, f'app_id = {APP_ID}\nprivate_key_file = "key.pem"') as scene:
        scene.github.install_app(str(APP_ID), public.decode())
        scene.settings.write_text(f"{scene.settings.read_text()}{setting}\n")
        yield scene


@pytest.mark.slow
def test_an_application_makes_checks(tmp_path: Path, toy: ToySource) -> None:
    with application_scene(tmp_path, toy) as scene:
        head = documents(scene.source)
        scene.open_pull_request(head)
        scene.start()
        assert scene.label(head) == 202
        scene.wait_until(lambda: [check["conclusion"] for check in scene.checks(head)] == ["success"])
        [comment] = scene.github.bodies(REPOSITORY, NUMBER, f"{APP}[bot]")
        assert "No case can be affected" in comment
        assert scene.statuses(head) == []


@pytest.mark.slow
def test_a_check_can_be_required(tmp_path: Path, toy: ToySource) -> None:
    """What is not measured gets a neutral check, what is measured its own, and a person can have it run again."""
    with application_scene(tmp_path, toy, "check_unlabelled = true") as scene:
        head, queued = documents(scene.source), scene.source.first
        scene.open_pull_request(head)
        scene.start()

        def wait_for(sha: str, conclusion: str, title: str) -> None:
            scene.wait_until(
                lambda: (
                    [(check["conclusion"], title in check["output"]["title"]) for check in scene.checks(sha)]
                    == [(conclusion, True)]
                )
            )

        assert scene.send("merge_group", merge_group(head=queued)) == 202
        wait_for(queued, "neutral", "before they enter the merge queue")
        opened = pull_request("opened", number=NUMBER, head=head, fork=False, actor="stranger")
        assert scene.send("pull_request", opened) == 202
        wait_for(head, "neutral", "no label")
        assert scene.label(head) == 202
        wait_for(head, "success", "No case can be affected")
        writes = len(scene.github.asked("checks/update"))
        assert scene.send("check_run", rerequested("check_run", head=head, app=APP_ID)) == 202
        triggers = scene.stored_triggers(lambda kinds: kinds.count("pull request") == 2)
        assert triggers == ["not measured", "not measured", "pull request", "pull request"]
        # The text is the same, and GitHub waits for it nevertheless.
        scene.wait_until(lambda: len(scene.github.asked("checks/update")) > writes)
        assert scene.send("check_suite", rerequested("check_suite", head=queued, app=APP_ID)) == 202
        scene.wait_until(lambda: len(scene.github.asked("checks/update")) > writes + 1)
        wait_for(queued, "neutral", "before they enter the merge queue")
        assert scene.label(head, "unlabeled") == 202
        scene.stored_triggers(lambda kinds: "withdrawn" in kinds)
        wait_for(head, "success", "No case can be affected")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_a_lab_that_is_killed_goes_on_where_it_was(scene: Scene) -> None:
    head = regressing(scene.source)
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    scene.wait_for_comment(head[:12])
    scene.kill()
    scene.start()
    scene.wait_for_comment("more work")
    scene.wait_for_status(head, "failure")
    assert len(scene.comments()) == 1


@pytest.mark.slow
def test_a_label_that_came_just_before_a_kill_is_worked_on(scene: Scene) -> None:
    head = documents(scene.source)
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    scene.kill()
    scene.start()
    scene.wait_for_comment("No case can be affected")
    assert len(scene.comments()) == 1


@pytest.mark.slow
def test_a_github_that_is_away_at_the_end_is_told_when_it_is_back(scene: Scene) -> None:
    head = documents(scene.source)
    scene.open_pull_request(head)
    scene.start()
    scene.github.misbehave("error", count=3, method="POST", path="/comments")
    scene.github.misbehave("closes_afterwards", method="POST", path="/statuses")
    assert scene.label(head) == 202
    scene.wait_for_comment("No case can be affected")
    scene.wait_for_status(head, "success")
    assert len(scene.comments()) == 1


@pytest.mark.slow
def test_two_platforms_share_a_comment(tmp_path: Path, toy: ToySource, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one of them reports stays when the other reports later; their servers are built, their trials made up."""
    west_may_measure = threading.Event()
    west = Simulated(
        changes={"toy-get": 0.1},
        on_trial=lambda _job, _block: _require(west_may_measure.wait(2 * BUILD_PATIENCE_SECONDS)),
    )
    head = regressing(toy)
    monkeypatch.setattr(outbox, "FIRST_UPDATE_SECONDS", 0.5)
    with zero_touch(tmp_path, toy) as scene, Store.open(str(scene.zerolap.store)) as store:
        scene.open_pull_request(head)
        fleet = SimulatedFleet(
            store, tmp_path, Simulated(changes={"toy-get": 0.1}), agents=1, further_platforms={"west": west}
        )
        triggers = Triggers(store, read_trigger_settings(scene.settings), tmp_path / "mirrors")

        async def until_commented(part: str) -> None:
            await until(lambda: any(part in body for body in scene.comments()), BUILD_PATIENCE_SECONDS)

        async def scenario(fleet: SimulatedFleet) -> None:
            await fleet.until(lambda: len(store.fleet.platforms()) == 2)
            working = asyncio.create_task(triggers.run())
            own = {"repository": REPOSITORY, "head_repository": REPOSITORY, "is_fork": False}
            label = label_trigger(**own, number=NUMBER, head=head, base_sha=toy.first)
            store.triggers.add(stored_trigger(label, "a label", time.time()))
            try:
                await until_commented(f"`{PLATFORM}`: done")
                [partly] = scene.comments()
                assert "`west`: " in partly
                assert "`west`: done" not in partly
                assert f"more work on `{PLATFORM}`" in partly
            finally:
                west_may_measure.set()
            await until_commented("more work on both platforms")
            working.cancel()

        fleet.run(scenario)
        [comment] = scene.comments()
        assert comment.count(": done") == 2


def _require(condition: bool) -> None:
    assert condition


@pytest.mark.slow
def test_a_comment_that_was_removed_meanwhile_is_written_again(scene: Scene) -> None:
    head = not_built_yet(scene.source)
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    scene.wait_for_comment(head[:12])
    with scene.github.lock:
        [number] = scene.github.repositories[REPOSITORY].comments
    scene.github.delete_comment(REPOSITORY, number)
    scene.write("/zerolap cancel")
    scene.wait_for_comment("cancelled by")
    assert len(scene.comments()) == 1
