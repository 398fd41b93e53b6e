"""The story of the demonstration decides by what GitHub has seen, not by what a look happens to meet."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from github_description import NotInstalled, description_path
from github_state import LAB
from played_github import PlayedGitHub
from webhook_payloads import REPOSITORY

STORY = Path(__file__).parent.parent / "demo" / "story.py"


@pytest.fixture
def story() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("demo_story", STORY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo_story"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["demo_story"]


def test_a_text_that_stayed_for_a_moment_counts(
    story: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        description_path()
    except NotInstalled as reason:
        pytest.skip(str(reason))
    monkeypatch.setenv("NO_PROXY", "*")
    with PlayedGitHub.started() as github:
        github.add_repository(REPOSITORY)
        github.add_pull_request(REPOSITORY, story.NUMBER, "a" * 40, "b" * 40)
        number = github.comment(REPOSITORY, story.NUMBER, LAB, "Waiting")
        for text in ("Building", "Running: 1 of 2 jobs", "No change"):
            github.edit_comment(REPOSITORY, number, text)
        told = story.Story(told_by(story, github.url), None, "b" * 40)
        assert told.wait_for("it is built", lambda body: body == "Building") == "Building"
        assert told.wait_for("it is measured", lambda body: "No change" in body) == "No change"
    assert "Running: 1 of 2 jobs" in capsys.readouterr().out


def told_by(story: ModuleType, url: str) -> object:
    """Return the client of the story's GitHub, without the lab."""
    client = object.__new__(story.GitHub)
    client._address = url
    return client
