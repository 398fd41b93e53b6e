"""`zerolap comment`: stored comparisons become one comment, which is found again whoever runs the command."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import Ended, Zerolap
from github_state import LAB, TOKEN, WORKFLOW
from made_records import CULPRIT, PLATFORM, SERVER, a_case, a_comparison, a_time, a_work, changed
from played_github import PlayedGitHub
from stored_comparison import record_document
from toy_server import CHECKSUM_ONCE, CHECKSUM_TWICE, ToySource

from zerolap.build import resolve
from zerolap.records import BASE, HEAD, BuildSpec, ResolvedServer, Side
from zerolap.store import Store

REPOSITORY, NUMBER = "octo/server", 7
REGRESSION = a_case("toy-get", a_work("regression", 0.1), a_time("regression", 0.04), findings=[CULPRIT])
IN_COMMANDS = changed(CULPRIT, function="get_command", file="commands.c", lines=None)
WORKFLOW_TOKEN, FORK_TOKEN = "ghs_workflow", "ghs_fork"


@dataclass
class Scene:
    """A store with comparisons, and GitHub."""

    zerolap: Zerolap
    github: PlayedGitHub
    source: ToySource
    head: str

    def record(self, identity: str, platform: str = "laptop", **changes: Any) -> None:
        """Record a comparison of the commits."""
        base = changed(SERVER, name=self.source.first[:12], commit=self.source.first)
        comparison = a_comparison(
            changes.pop("cases", [REGRESSION]),
            **{
                "id": identity,
                "base": base,
                "head": changed(base, name=self.head[:12], commit=self.head),
                "platform": changed(PLATFORM, name=platform),
                **changes,
            },
        )
        servers: dict[Side, ResolvedServer] = {
            side: ResolvedServer(source=resolve(commit, self.source.path), variant="", spec=BuildSpec(content=commit))
            for side, commit in ((BASE, self.source.first), (HEAD, self.head))
        }
        with Store.open(str(self.zerolap.store)) as store:
            record_document(store, comparison, servers)

    def comment(self, *arguments: str, token: str = WORKFLOW_TOKEN, **environment: str) -> Ended:
        return self.zerolap(
            *("comment", *arguments, "--store", self.zerolap.store),
            environment={
                "GITHUB_TOKEN": token,
                "GITHUB_API_URL": self.github.url,
                "GITHUB_SERVER_URL": "https://github.example",
                "GITHUB_REPOSITORY": REPOSITORY,
                **environment,
            },
        )

    def bodies(self, author: str = WORKFLOW) -> list[str]:
        return self.github.bodies(REPOSITORY, NUMBER, author)


@pytest.fixture
def scene(zerolap: Zerolap, toy: ToySource) -> Iterator[Scene]:
    with PlayedGitHub.started() as github:
        github.add_repository(REPOSITORY)
        head = toy.changed(("commands.c", CHECKSUM_ONCE, CHECKSUM_TWICE))
        github.add_pull_request(REPOSITORY, NUMBER, head, toy.first)
        github.give_workflow_token(WORKFLOW_TOKEN)
        github.give_workflow_token(FORK_TOKEN, is_read_only=True)
        yield Scene(zerolap, github, toy, head)
        assert github.violations == []


def test_a_comment_is_written_once_and_kept_up_to_date(scene: Scene) -> None:
    scene.record("c-1")
    first = scene.comment("latest", "--pull-request", str(NUMBER), "--report-url", "https://ci.example/run/1")
    assert first.code == 0, first.err
    assert first.out.startswith(f"https://github.example/{REPOSITORY}/pull/{NUMBER}#issuecomment-")
    (body,) = scene.bodies()
    assert "**XADD does 10 % more work and takes 4 % longer**" in body
    assert f"https://github.example/{REPOSITORY}/compare/{scene.source.first}...{scene.head}" in body
    assert "https://ci.example/run/1" in body
    scene.record("c-2", cases=[a_case("toy-get", a_work("same", 0.0), a_time("same", 0.0))])
    second = scene.comment("c-2", "--pull-request", str(NUMBER))
    assert second.out == first.out
    (body,) = scene.bodies()
    assert "No change in 1 case" in body


def test_a_dry_run_needs_neither_github_nor_a_token(scene: Scene) -> None:
    scene.record("c-1")
    nowhere = {"GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_REPOSITORY": ""}
    shown = scene.comment("latest", "--dry-run", token="", **nowhere)
    assert shown.code == 0, shown.err
    assert "**XADD does 10 % more work and takes 4 % longer**" in shown.out
    assert f"/OWNER/NAME/compare/{scene.source.first}...{scene.head}" in shown.out
    # It is what would be written.
    assert scene.comment("c-1", "--pull-request", str(NUMBER)).code == 0
    printed = scene.comment("c-1", "--pull-request", str(NUMBER), "--dry-run", token="")
    assert scene.bodies() == [printed.out.rstrip("\n")] or scene.bodies() == [printed.out]
    scene.comment("c-1").fails_with(2, "--pull-request")


def test_platforms_share_a_comment_and_markers_do_not(scene: Scene) -> None:
    scene.record("c-1", "x86")
    scene.record("c-2", "arm")
    assert scene.comment("c-1", "c-2", "--pull-request", str(NUMBER)).code == 0
    assert scene.comment("c-1", "--pull-request", str(NUMBER), "--marker", "nightly").code == 0
    both, nightly = scene.bodies()
    assert "`x86`" in both
    assert "`arm`" in both
    assert "`arm`" not in nightly


def test_the_changed_lines_are_linked(scene: Scene) -> None:
    scene.record("c-1", cases=[a_case("toy-get", a_work("regression", 0.1), findings=[IN_COMMANDS])])
    assert scene.comment("c-1", "--pull-request", str(NUMBER)).code == 0
    assert f"/blob/{scene.head}/src/commands.c#L" in scene.bodies()[0]


def test_the_token_of_a_person(scene: Scene, tmp_path: Path) -> None:
    scene.record("c-1")
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    arguments = ["c-1", "--pull-request", str(NUMBER), "--token-file", str(file)]
    assert [scene.comment(*arguments, token="").code for _ in range(2)] == [0, 0]
    assert len(scene.bodies(LAB)) == 1


@pytest.mark.slow
def test_what_cannot_be_written(scene: Scene) -> None:
    scene.record("c-1")
    number = ("--pull-request", str(NUMBER))
    scene.comment("c-1", *number, token=FORK_TOKEN).fails_with(4, "Resource not accessible", "fork")
    scene.comment("c-1", *number, token="").fails_with(2, "GITHUB_TOKEN")
    scene.comment("c-1", *number, GITHUB_REPOSITORY="").fails_with(2, "--repository")
    scene.comment("c-1", *number, GITHUB_REPOSITORY="../..").fails_with(2, "no repository")
    scene.comment("c-1", *number, "--marker", "--> x").fails_with(2, "--marker")
    scene.comment("c-1", *number, GITHUB_API_URL="http://example.org").fails_with(2, "https")
    scene.comment("c-7", *number).fails_with(2, "c-7")
    scene.record("c-3", head=changed(SERVER, commit="f" * 40))
    scene.comment("c-1", "c-3", *number).fails_with(2, "other commits")
    scene.record("c-4", head=changed(SERVER, commit=None))
    scene.comment("c-4", *number).fails_with(2, "two commits")
    assert scene.bodies() == []


def test_a_comparison_that_was_interrupted_is_reported_as_such(scene: Scene) -> None:
    scene.record("c-1", state="interrupted")
    assert scene.comment("c-1", "--pull-request", str(NUMBER)).code == 0
    assert "interrupted" in scene.bodies()[0]
