"""Names of commits: those that stand for several are refused, and those that stand for none come with a reason."""

import os
import subprocess
from pathlib import Path

import pytest
from command_line import Zerolap
from toy_server import CASES, ToySource, git_environment

from zerolap.build import commit_of, commits_of, enclosing_repository, required_commit, resolve
from zerolap.build.revision_name import absence_hint
from zerolap.build.source import export
from zerolap.records import BuildFailed, RevisionSource, UsageError
from zerolap.triggers import commit_of_ref


@pytest.fixture
def both(toy: ToySource) -> str:
    """Make `both` a tag of the first commit, and a branch of another one; return that."""
    head = toy.commit("second")
    toy.git("tag", "both", toy.first)
    toy.git("branch", "both", head)
    return head


def refused(toy: ToySource, name: str) -> UsageError:
    with pytest.raises(UsageError, match=f"`{name}` is ambiguous") as raised:
        commit_of(toy.path, name)
    return raised.value


def test_a_tag_and_a_branch_of_a_name(toy: ToySource, both: str) -> None:
    error = refused(toy, "both")
    assert f"`refs/tags/both` ({toy.first[:12]})" in error.message
    assert f"`refs/heads/both` ({both[:12]})" in error.message
    assert error.hint == "write the one that is meant: refs/tags/both or refs/heads/both"
    refused(toy, "both~1")
    assert commit_of(toy.path, "refs/tags/both") == toy.first
    assert commit_of(toy.path, "refs/heads/both~1") == toy.first
    assert commit_of(toy.path, both) == both


def test_a_setting_of_the_repository_hides_no_other_meaning(toy: ToySource, both: str) -> None:
    toy.git("config", "core.warnAmbiguousRefs", "false")
    refused(toy, "both")


def test_names_of_one_commit_are_not_ambiguous(toy: ToySource) -> None:
    toy.git("tag", "equal")
    toy.git("branch", "equal")
    assert commit_of(toy.path, "equal") == toy.git("rev-parse", "HEAD")


def test_every_place_that_takes_a_name_refuses_it(toy: ToySource, both: str) -> None:
    with pytest.raises(UsageError, match="ambiguous"):
        resolve("both", toy.path)
    with pytest.raises(UsageError, match="ambiguous"):
        resolve(f"{toy.path}@both", None)
    for text in (f"{toy.first}..both", f"both..{both}", f"tags:both..{both}"):
        with pytest.raises(UsageError, match="ambiguous"):
            commits_of(toy.path, text)
    refs = {"refs/tags/both": toy.first, "refs/heads/both": both}
    with pytest.raises(UsageError, match="ambiguous"):
        commit_of_ref("both", refs, "the remote")
    assert commit_of_ref("refs/heads/both", refs, "the remote") == both
    ended = Zerolap(toy.path)("history", "ack", "both", "--repo", str(toy.path), "--reason", "wanted")
    assert ended.code == 2
    assert "ambiguous" in ended.err


def test_a_branch_called_as_a_full_name_is_another(toy: ToySource, both: str) -> None:
    toy.git("branch", "refs/heads/both", toy.first)
    assert commit_of(toy.path, "refs/heads/both") == both


def test_a_ref_called_as_a_hash(toy: ToySource) -> None:
    head = toy.commit("second")
    toy.git("update-ref", f"refs/tags/{head}", toy.first)
    toy.git("update-ref", f"refs/tags/{head[:9]}", toy.first)
    # Git takes a hash in full for that of the commit.
    assert commit_of(toy.path, head) == head
    error = refused(toy, head[:9])
    assert f"`refs/tags/{head[:9]}` ({toy.first[:12]})" in error.message
    assert f"({head[:12]})" in error.message


def test_a_branch_called_head(toy: ToySource) -> None:
    head = toy.commit("second")
    toy.git("update-ref", "refs/heads/HEAD", toy.first)
    assert commit_of(toy.path, "HEAD") == head


def test_the_beginning_of_several_hashes(tmp_path: Path) -> None:
    environment = git_environment() | {
        f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }

    def git(*arguments: str, text: str = "") -> str:
        command = ["git", "-C", str(tmp_path), *arguments]
        return subprocess.run(
            command, env=environment, input=text, capture_output=True, text=True, check=True
        ).stdout.strip()

    git("init", "--quiet")
    tree = git("mktree")
    stream = "".join(
        f"commit refs/heads/trunk\ncommitter x <x> {number} +0000\ndata 1\nx\n" for number in range(1000, 2500)
    )
    git("fast-import", "--quiet", text=stream)
    assert tree
    commits = git("rev-list", "--all").split()
    beginnings = [commit[:4] for commit in commits]
    twice = next(beginning for beginning in beginnings if beginnings.count(beginning) > 1)
    alike = [commit for commit in commits if commit.startswith(twice)]
    with pytest.raises(UsageError, match=f"`{twice}` is ambiguous") as raised:
        commit_of(tmp_path, twice)
    assert all(f"`{commit[:12]}`" in raised.value.message for commit in alike)
    assert commit_of(tmp_path, alike[0][:12]) == alike[0]


def test_a_mistyped_name_has_near_ones(toy: ToySource) -> None:
    for tag in ("7.0.15", "7.2.4"):
        toy.git("tag", tag)
    with pytest.raises(UsageError, match=r"no revision `7\.0\.51`") as raised:
        required_commit(toy.path, "7.0.51")
    assert "did you mean 7.0.15" in raised.value.hint
    with pytest.raises(UsageError) as raised:
        resolve("trnuk~2", toy.path)
    assert "did you mean trunk" in raised.value.hint


def test_a_clone_without_the_older_commits(toy: ToySource, tmp_path: Path) -> None:
    toy.commit("second")
    clone = tmp_path / "clone of it"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{toy.path}", clone], env=git_environment(), check=True
    )
    deepens = f"git -C '{clone}' fetch --unshallow --tags"
    with pytest.raises(UsageError) as raised:
        resolve("HEAD~1", clone)
    assert deepens in raised.value.hint
    with pytest.raises(UsageError) as raised:
        commits_of(clone, "HEAD~1..HEAD")
    assert deepens in raised.value.hint
    subprocess.run(deepens, env=git_environment(), shell=True, check=True, capture_output=True)
    assert isinstance(resolve("HEAD~1", clone), RevisionSource)


def test_a_clone_without_all_files(toy: ToySource, tmp_path: Path) -> None:
    toy.git("config", "uploadpack.allowFilter", "true")
    clone, origin = tmp_path / "clone", tmp_path / "origin"
    toy.path.rename(origin)
    command = ["git", "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{origin}", clone]
    subprocess.run(command, env=git_environment(), check=True)
    origin.rename(toy.path)
    source = resolve("HEAD", clone)
    assert isinstance(source, RevisionSource)
    (tmp_path / "exported").mkdir()
    with pytest.raises(BuildFailed) as raised:
        export(source, tmp_path / "exported")
    assert raised.value.hint == f"the clone is partial, without all files: git -C {clone} fetch --refetch --no-filter"


def test_the_repository_of_the_working_directory(
    toy: ToySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy.path)
    assert enclosing_repository() == Path()
    monkeypatch.chdir(toy.path / "src")
    assert enclosing_repository() == toy.path.resolve()
    monkeypatch.chdir(toy.path / ".git")
    assert enclosing_repository() == Path()
    monkeypatch.chdir(tmp_path)
    assert enclosing_repository() is None
    monkeypatch.chdir(toy.path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert enclosing_repository() is None


def test_compare_in_a_checkout_takes_its_revisions(toy: ToySource, tmp_path: Path) -> None:
    ended = Zerolap(toy.path)("compare", "HEAD", "HAED", "toy-get", "--cases", str(CASES))
    assert ended.code == 2
    assert "`HAED` names no server" in ended.err
    assert "no revision `HAED` in the repository `.`" in ended.err
    # Nothing comes before the error.
    assert ended.err.startswith("error: ")
    ended = Zerolap(tmp_path)("compare", "HEAD", "trunk", "toy-get", "--cases", str(CASES))
    assert "no git repository is given" in ended.err
    ended = Zerolap(tmp_path)("compare", "HEAD", "trunk", "--repo", str(tmp_path / "nothing"))
    assert ended.err.startswith(f"error: there is no directory `{tmp_path / 'nothing'}`")


def test_an_ancestor_before_the_root_has_the_oldest_as_its_hint(toy: ToySource) -> None:
    toy.commit("second")
    hint = absence_hint(toy.path, "HEAD~99")
    assert hint == "the oldest is HEAD~1"
    assert commit_of(toy.path, hint.split()[-1]) == toy.first
    assert absence_hint(toy.path, "nothing~99") == ""


def test_a_directory_that_is_also_a_branch_is_reported(toy: ToySource) -> None:
    (toy.path / "trunk").mkdir()
    ended = Zerolap(toy.path)("compare", "trunk", "HEAD", "toy-get", "--cases", str(CASES))
    assert "warning: `trunk` is taken for the path, and is also the revision" in ended.err


def test_no_name_of_a_server_needs_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "server"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert os.fspath(resolve("server", enclosing_repository()).path) == str(program)  # type: ignore[union-attr]
