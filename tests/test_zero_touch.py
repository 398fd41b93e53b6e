"""From a label to the comment: the lab as a whole, with a played GitHub, real git, real builds and counted trials."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_server import CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource
from webhook_payloads import REPOSITORY, commented
from zero_touch import NUMBER, PUBLIC_URL, Scene, zero_touch

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("valgrind")]


@pytest.fixture
def scene(tmp_path: Path, toy: ToySource) -> Iterator[Scene]:
    with zero_touch(tmp_path, toy) as prepared:
        yield prepared


def test_a_label_leads_to_a_comment_and_a_status(scene: Scene) -> None:
    head = scene.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head) == 202
    comment = scene.wait_for_comment("more work")
    assert "GET" in comment
    assert f"{PUBLIC_URL}/comparisons/c-" in comment
    assert "commands.c#L" in comment
    assert len(comment.encode()) < 6144
    assert len(scene.comments()) == 1
    from waiting import wait_until

    wait_until(lambda: [one["state"] for one in scene.statuses(head)][-1:] == ["failure"], scene.check)
    # A permitted person accepts it.
    payload = commented("/zerolap ack the checksum is worth it")
    payload["issue"]["number"] = NUMBER
    payload["comment"]["id"] = scene.github.comment(REPOSITORY, NUMBER, "maintainer", payload["comment"]["body"])
    assert scene.send("issue_comment", payload) == 202
    accepted = scene.wait_for_comment("the checksum is worth it")
    assert len(scene.comments()) == 1
    assert "GET" in accepted
    wait_until(lambda: [one["state"] for one in scene.statuses(head)][-1:] == ["success"], scene.check)


def test_a_push_supersedes_what_runs(scene: Scene) -> None:
    first = scene.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    scene.open_pull_request(first)
    scene.start()
    assert scene.label(first) == 202
    scene.source.git("checkout", "--quiet", first)
    scene.source.replace("commands.c", CHECKSUM_TWICE, CHECKSUM_ONCE)
    second = scene.source.commit("as it was")
    scene.github.push(REPOSITORY, NUMBER, second)
    assert scene.label(second, "synchronize") == 202
    comment = scene.wait_for_comment("unchanged")
    assert second[:7] in comment
    assert len(scene.comments()) == 1


def test_a_fork_is_measured_as_it_was_when_it_was_labelled(scene: Scene) -> None:
    head = scene.source.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
    scene.open_pull_request(head)
    scene.start()
    assert scene.label(head, fork=True, actor="stranger") == 403
    assert scene.label(head, fork=True) == 202
    scene.wait_for_comment("zerolap")
    assert scene.label("c" * 40, "synchronize", fork=True, actor="stranger") in (200, 202)
    comment = scene.wait_for_comment("set it again")
    assert "c" * 7 not in comment
