"""Mirrors of remotes: what is fetched, what is refused, and what is told of a remote that cannot be read."""

import shutil
import subprocess
from pathlib import Path

import pytest

from zerolap.build import repository_page, run_git
from zerolap.records import EnvironmentMissing, UsageError
from zerolap.triggers.mirror import CommitAbsent, Mirror, RemoteUnreachable


class Remote:
    """A git repository with a file, on the branch `main`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")
        self.first = self.commit("first")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, "-C", str(self.path), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, content: str) -> str:
        (self.path / "file.c").write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", content)
        return self.git("rev-parse", "HEAD")

    def rewrite(self) -> str:
        """Replace the last commit, and forget it."""
        self.git("commit", "--quiet", "--amend", "--message", "rewritten")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "--quiet", "--prune=now")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def remote(compiler: None, tmp_path: Path) -> Remote:
    return Remote(tmp_path / "remote")


@pytest.fixture
def mirror(remote: Remote, tmp_path: Path) -> Mirror:
    return Mirror.below(tmp_path / "mirrors", str(remote.path))


def test_refs_are_commits_also_of_annotated_tags(remote: Remote, mirror: Mirror) -> None:
    remote.git("tag", "light")
    remote.git("tag", "--annotate", "--message", "a release", "v1.0")
    remote.git("branch", "topic/one")
    names = ["refs/heads/main", "refs/heads/topic/one", "refs/tags/light", "refs/tags/v1.0"]
    assert mirror.refs() == dict.fromkeys(names, remote.first)


@pytest.mark.parametrize("missing", ["refs", "objects", "config"])
def test_a_mirror_whose_making_was_interrupted_is_made_whole(remote: Remote, mirror: Mirror, missing: str) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", str(mirror.directory)], check=True)
    remove = mirror.directory / missing
    shutil.rmtree(remove) if remove.is_dir() else remove.unlink()
    assert mirror.refs() == {"refs/heads/main": remote.first}
    mirror.fetch([remote.first])
    assert mirror.revision(remote.first) == remote.first


def test_commits_come_with_their_history(remote: Remote, mirror: Mirror) -> None:
    second = remote.commit("second")
    third = remote.commit("third")
    assert not mirror.has(second)
    mirror.fetch([third])
    assert mirror.has(second)
    assert mirror.merge_base(third, second) == second
    assert mirror.parent(second) == remote.first
    assert mirror.commits_between(remote.first, third) == [second, third]
    assert mirror.is_ancestor(remote.first, third)
    assert not mirror.is_ancestor(third, remote.first)
    assert mirror.revision(third[:10]) == third
    source = mirror.source(third)
    assert source.revision is not None
    assert (source.name, source.revision.commit, source.revision.subject) == (third[:12], third, "third")


def test_what_is_here_is_not_fetched_again(remote: Remote, mirror: Mirror) -> None:
    mirror.fetch([remote.first])
    remote.path.rename(remote.path.with_name("away"))
    mirror.fetch([remote.first])
    with pytest.raises(RemoteUnreachable, match="does not appear to be a git repository"):
        mirror.fetch(["c" * 40])


def test_a_commit_that_only_a_pull_request_has_is_fetched(remote: Remote, mirror: Mirror) -> None:
    head = remote.commit("of a fork")
    remote.git("update-ref", "refs/pull/7/head", head)
    remote.git("reset", "--quiet", "--hard", remote.first)
    mirror.fetch([head, remote.first], ["refs/pull/7/head"])
    assert mirror.merge_base(head, remote.first) == remote.first


def test_a_commit_that_a_branch_has_left_is_absent(remote: Remote, mirror: Mirror) -> None:
    left = remote.commit("second")
    kept = remote.rewrite()
    mirror.fetch([kept])
    assert not mirror.can_have(left)
    with pytest.raises(CommitAbsent, match=left[:12]):
        mirror.fetch([left, kept])


def test_a_fetch_leaves_no_loose_objects(remote: Remote, mirror: Mirror) -> None:
    # They would be written one by one: after a kill, a commit could be there without its files.
    mirror.fetch([remote.first])
    objects = mirror.directory / "objects"
    assert [path.name for path in objects.iterdir() if len(path.name) == 2] == []
    assert list((objects / "pack").glob("*.pack"))


def test_commits_of_no_common_history_have_no_merge_base(remote: Remote, mirror: Mirror) -> None:
    remote.git("checkout", "--quiet", "--orphan", "other")
    other = remote.commit("other")
    mirror.fetch([remote.first, other])
    assert mirror.merge_base(remote.first, other) is None
    assert mirror.parent(other) is None


def test_names_that_git_would_not_take_are_left_out(remote: Remote, mirror: Mirror) -> None:
    # Written past git: a remote may send any names.
    packed = remote.path / ".git" / "packed-refs"
    names = ["refs/heads/fine", "refs/heads/-option", "refs/notes/commits", "refs/heads/with\x7f"]
    packed.write_text("".join(f"{remote.first} {name}\n" for name in sorted(names)))
    assert set(mirror.refs()) <= {"refs/heads/main", "refs/heads/fine"}


def test_hooks_of_the_mirror_do_not_run(remote: Remote, mirror: Mirror, tmp_path: Path) -> None:
    mirror.fetch([remote.first])
    hook = mirror.directory / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    mirror.fetch([remote.commit("second")])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "remote_name", ["ext::sh -c 'touch {}/ran'", "--upload-pack=touch {}/ran", "fd::17", "foreign://host/path"]
)
def test_other_transports_do_not_run(compiler: None, tmp_path: Path, remote_name: str) -> None:
    mirror = Mirror.below(tmp_path / "mirrors", remote_name.format(tmp_path))
    with pytest.raises(RemoteUnreachable):
        mirror.refs()
    with pytest.raises(RemoteUnreachable):
        mirror.fetch(["c" * 40])
    assert not (tmp_path / "ran").exists()


def test_a_password_in_a_url_is_not_shown(compiler: None, tmp_path: Path) -> None:
    mirror = Mirror.below(tmp_path / "mirrors", "http://somebody:secret@127.0.0.1:1/repository.git")
    with pytest.raises(RemoteUnreachable) as raised:
        mirror.refs()
    assert "secret" not in f"{raised.value} {raised.value.details} {mirror.directory}"
    assert mirror.shown == "http://127.0.0.1:1/repository.git"


def test_a_mirror_of_an_earlier_version_has_the_page_of_its_remote_once_it_is_used(
    remote: Remote, compiler: None, tmp_path: Path
) -> None:
    mirror = Mirror.below(tmp_path / "mirrors", "http://somebody:secret@127.0.0.1:1/repository.git")
    Mirror(str(remote.path), mirror.directory).fetch([remote.first])
    run_git(mirror.directory, "config", "--unset", "remote.origin.url")
    assert repository_page(str(mirror.directory)) is None
    mirror.fetch([remote.first])
    assert repository_page(str(mirror.directory)) == "http://127.0.0.1:1/repository"


def test_the_environment_of_a_git_command_does_not_lead_elsewhere(
    remote: Remote, mirror: Mirror, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {tmp_path}/ran")
    mirror.fetch([remote.first])
    monkeypatch.delenv("GIT_DIR")
    assert mirror.has(remote.first)
    assert not (tmp_path / "elsewhere").exists()


def test_a_commit_that_is_not_here_is_no_source(remote: Remote, mirror: Mirror) -> None:
    mirror.fetch([remote.first])
    with pytest.raises(UsageError):
        mirror.source("c" * 40)


def test_git_is_needed(remote: Remote, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(remote.path))
    with pytest.raises(EnvironmentMissing, match="git is not installed"):
        mirror.refs()
