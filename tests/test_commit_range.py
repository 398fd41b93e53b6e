"""Which commits a range names, in real repositories, and what a hostile repository cannot make of it."""

import subprocess
from pathlib import Path

import pytest

from zerolap.build import RangedCommit, commits_of, revision_source
from zerolap.records import UsageError

pytestmark = pytest.mark.usefixtures("compiler")

DAY_SECONDS = 86_400
FIRST_DAY = 1_704_110_400
"""2024-01-01T12:00:00Z, the time of the first commit; each other one is a day later."""


class Repository:
    """A git repository whose commits are named by letters."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ids: dict[str, str] = {}
        self._days = 0
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, given: str = "") -> str:
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, "-C", str(self.path), *arguments]
        return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, name: str, *parents: str, subject: str | None = None, author: str = "test") -> str:
        """Return a new commit on top of others; a name that is given is found in `ids`."""
        tree = self.git("write-tree")
        options = [word for parent in parents for word in ("-p", self.ids[parent])]
        moment = f"{FIRST_DAY + self._days * DAY_SECONDS} +0200"
        self._days += 1
        identity = f"{author} <test@example.com> {moment}"
        text = f"tree {tree}\n" + "".join(f"parent {option}\n" for option in options[1::2])
        message = f"commit {name}" if subject is None else subject
        text += f"author {identity}\ncommitter {identity}\n\n{message}\n"
        self.ids[name] = self.git("hash-object", "-t", "commit", "-w", "--stdin", given=text)
        return self.ids[name]

    def branch(self, name: str, commit: str) -> None:
        self.git("update-ref", f"refs/heads/{name}", self.ids[commit])

    def tag(self, name: str, commit: str, *, annotated: bool = False) -> None:
        options = ["--annotate", "--message", "a release"] if annotated else []
        self.git("tag", *options, name, self.ids[commit])

    def names(self, text: str) -> str:
        """Return the letters of the commits of a range, in order."""
        letters = {commit: name for name, commit in self.ids.items()}
        return "".join(letters[ranged.revision.commit] for ranged in commits_of(self.path, text))

    def ranged(self, text: str) -> dict[str, RangedCommit]:
        letters = {commit: name for name, commit in self.ids.items()}
        return {letters[ranged.revision.commit]: ranged for ranged in commits_of(self.path, text)}

    def refuses(self, text: str, *parts: str) -> None:
        """Assert that a range is wrong usage, and what the message and its hint hold."""
        with pytest.raises(UsageError) as refused:
            commits_of(self.path, text)
        for part in parts:
            assert part in f"{refused.value.message}\n{refused.value.hint}"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A branch A-B-M-C with x-y merged by M, as `main`."""
    made = Repository(tmp_path / "repository")
    made.commit("A")
    made.commit("B", "A")
    made.commit("x", "A")
    made.commit("y", "x")
    made.commit("M", "B", "y")
    made.commit("C", "M")
    made.branch("main", "C")
    made.branch("topic", "y")
    return made


# A..B


def test_a_range_is_its_base_and_the_first_parents_up_to_its_head(repository: Repository) -> None:
    assert repository.names("main~3..main") == "ABMC"
    assert repository.names(f"{repository.ids['B']}..main~1") == "BM"
    assert repository.names(f"{repository.ids['A'][:10]}..main") == "ABMC"
    assert repository.names("topic~2..topic") == "Axy"


def test_commits_have_their_parents_times_and_subjects(repository: Repository) -> None:
    merge = repository.ranged("main~3..main")["M"]
    assert merge.revision.parents == (repository.ids["B"], repository.ids["y"])
    assert (merge.revision.time, merge.revision.subject) == ("2024-01-05T12:00:00Z", "commit M")
    assert merge.source.name == repository.ids["M"][:12]
    assert merge.revision.repository == str(repository.path)


def test_a_range_of_a_commit_with_itself_is_that_commit(repository: Repository) -> None:
    assert repository.names("main..main") == "C"


def test_the_branch_is_all_first_parents_of_head(repository: Repository) -> None:
    assert repository.names("branch") == "ABMC"


def test_ends_that_are_no_range_of_the_branch_are_refused(repository: Repository) -> None:
    repository.refuses("main..main~2", "holds no commits", "the older one first")
    repository.refuses("topic..main", "`topic` is no first parent of `main`", "git merge-base topic main", "tags:A..B")
    repository.refuses("main~3..nothing", "no revision `nothing`")
    repository.refuses("nothing..main", "no revision `nothing`")
    for text in ("main", "..main", "main..", "main~2...main", "", "..", "tags:", "tags:1.0.0", "dates:2024-01-01"):
        repository.refuses(text, "is no range of commits", "A..B")


def test_options_of_git_are_no_revisions(repository: Repository, tmp_path: Path) -> None:
    written = tmp_path / "written"
    repository.refuses(f"--output={written}..main", "no revision")
    repository.refuses(f"main~3..--output={written}", "no revision")
    repository.refuses(f"tags:--all..--output={written}", "no revision")
    repository.refuses(f"dates:--output={written}..2024-01-01", "is no date")
    assert not written.exists()


def test_a_directory_without_a_repository_and_one_without_commits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a git repository"):
        commits_of(tmp_path, "A..B")
    empty = Repository(tmp_path / "empty")
    empty.refuses("branch", "no revision `HEAD`")
    empty.refuses("main~1..main", "no revision `main~1`")


# tags:A..B


@pytest.fixture
def released(tmp_path: Path) -> Repository:
    """Releases 1.0.0, 1.2.0, 1.10.0 of `main`, 1.2.1 of a maintained branch made after 1.10.0, and pre-releases."""
    made = Repository(tmp_path / "released")
    for name, parents in {"A": "", "B": "A", "C": "B", "D": "C", "p": "B", "E": "D"}.items():
        made.commit(name, *parents)
    made.branch("main", "E")
    made.branch("1.2", "p")
    made.tag("1.0.0", "A")
    made.tag("v1.2.0", "B", annotated=True)
    made.tag("1.10-rc1", "C")
    made.tag("1.10.0-rc2", "C")
    made.tag("1.10.0", "D", annotated=True)
    made.tag("1.2.1", "p")
    made.tag("nightly", "E")
    return made


def test_releases_are_in_the_order_of_their_versions_without_pre_releases(released: Repository) -> None:
    assert released.names("tags:1.0.0..1.10.0") == "ABpD"
    assert released.names("tags:v1.2.0..1.2.1") == "Bp"
    assert released.ranged("tags:1.0.0..1.10.0")["B"].tags == ("v1.2.0",)
    assert released.ranged("tags:1.0.0..1.10.0")["B"].source.name == "v1.2.0"


def test_the_last_one_may_be_a_branch_with_the_releases_before_it(released: Repository) -> None:
    assert released.names("tags:1.0.0..main") == "ABpDE"
    # 1.10.0 is older than this commit, though not its ancestor; 1.0.0 is left out as it is below.
    assert released.names("tags:v1.2.0..1.2") == "Bp"
    assert released.names(f"tags:1.0.0..{released.ids['C']}") == "ABC"


def test_a_range_that_holds_no_releases_is_refused(released: Repository) -> None:
    released.refuses("tags:1.10.0..1.0.0", "holds no releases", "the older one first")
    released.refuses(f"tags:1.10.0..{released.ids['C']}", "holds no releases", "the older one first")
    released.refuses("tags:main..1.10.0", "`main` is no release")
    released.refuses("tags:nightly..1.10.0", "`nightly` is no release")
    released.refuses("tags:1.0.0..9.9.9", "no revision `9.9.9`")


def test_releases_are_named_one_by_one(released: Repository) -> None:
    assert released.names("tags:1.10.0,1.0.0") == "AD"
    assert released.names("tags:v1.2.0, 1.2.1,v1.2.0") == "Bp"
    released.refuses("tags:1.0.0,1.1.9", "no revision `1.1.9`", "did you mean")
    released.refuses("tags:1.0.0,main", "`main` is no release")
    for text in ("tags:,1.0.0", "tags:1.0.0,", "tags:1.0.0,1.2.0..1.10.0"):
        released.refuses(text, "is no range of commits", "tags:A,B,C")


def test_a_search_takes_two_revisions_and_no_other_range(repository: Repository) -> None:
    with pytest.raises(UsageError, match="no first parent") as raised:
        commits_of(repository.path, "topic..main", takes_releases=False)
    assert "tags:" not in raised.value.hint
    with pytest.raises(UsageError, match="no revision `tags:topic`"):
        commits_of(repository.path, "tags:topic..main", takes_releases=False)


def test_several_tags_of_a_commit_name_it_in_the_order_of_their_versions(released: Repository) -> None:
    released.tag("2.0.0", "E")
    released.tag("1.11.0", "E")
    last = released.ranged("tags:1.10.0..2.0.0")["E"]
    assert (last.tags, last.source.name) == (("1.11.0", "2.0.0"), "1.11.0")


def test_a_pre_release_names_its_commit_and_is_no_release(released: Repository) -> None:
    candidate = released.ranged("main~3..main")["C"]
    assert (candidate.tags, candidate.pre_release, candidate.source.name) == ((), "1.10.0-rc2", "1.10.0-rc2")
    last = released.ranged("tags:1.0.0..1.10.0-rc2")["C"]
    assert (last.tags, last.source.name) == ((), "1.10.0-rc2")
    # A tag of a release goes before it, and one that is no version names nothing.
    released.tag("1.10.0-rc9", "D")
    assert released.ranged("main~3..main")["D"].source.name == "1.10.0"
    assert released.ranged("main~3..main")["E"].source.name == released.ids["E"][:12]


@pytest.mark.parametrize("name", ["7.2-rc1", "8.0-m01", "v9.0.0-alpha.2", "7.4-rc1-int", "2.0.0rc1", "2.0.0+build5"])
def test_what_is_a_pre_release(released: Repository, name: str) -> None:
    released.tag(name, "E")
    assert released.ranged("main~1..main")["E"].pre_release == name


@pytest.mark.parametrize("name", ["rc1", "1-rc1", "nightly-2024", "7.2-", "7.2-1", f"7.2-{'x' * 90}", "7.2-r\u2028c"])
def test_what_is_no_pre_release(released: Repository, name: str) -> None:
    released.tag(name, "E")
    assert released.ranged("main~1..main")["E"].pre_release == ""


def test_a_tag_named_as_a_branch_is_a_release(released: Repository) -> None:
    released.branch("1.10.0", "A")
    assert released.ranged("tags:1.0.0..v1.2.0")["A"].tags == ("1.0.0",)
    assert released.ranged("main~3..main")["D"].tags == ("1.10.0",)


def test_tags_of_what_is_no_commit_are_no_releases(released: Repository) -> None:
    tree = released.git("rev-parse", "main^{tree}")
    released.git("tag", "1.1.0", tree)
    released.git("tag", "--annotate", "--message", "a tree", "1.1.1", tree)
    assert released.names("tags:1.0.0..v1.2.0") == "AB"
    released.refuses("tags:1.1.0..1.10.0", "no revision `1.1.0`")


# dates:FROM..TO


def test_dates_are_whole_days_in_utc_with_both_ends(repository: Repository) -> None:
    # Commits of `main` are of the 1st, 2nd, 5th and 6th, at noon.
    assert repository.names("dates:2024-01-02..2024-01-05") == "BM"
    assert repository.names("dates:2024-01-02T12:00:00Z..2024-01-05T11:59:59Z") == "B"
    assert repository.names("dates:2024-01-02T13:00:00+01:00..2024-01-05T14:00:00+02:00") == "BM"
    assert repository.names("dates:0001-01-01..9999-12-31") == "ABMC"
    assert repository.names("dates:1969-12-31T23:00:00-05:00..2024-01-01") == "A"


@pytest.mark.parametrize("moment", ["yesterday", "2024-13-01", "2024-01-1", "1704110400", "", "2024-01-01 and more"])
def test_what_is_no_date_is_refused(repository: Repository, moment: str) -> None:
    """Git takes any words for a date, those that it does not know for the present."""
    repository.refuses(f"dates:{moment}..2024-02-01", "is no")
    repository.refuses(f"dates:2024-01-01..{moment}", "is no")


def test_dates_without_commits_are_refused(repository: Repository) -> None:
    repository.refuses("dates:2020-01-01..2020-12-31", "holds no commits")
    repository.refuses("dates:2024-02-01..2024-01-01", "holds no commits")


# What a hostile repository holds.

BREAKS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u2028", "\u2029", "\r"]


@pytest.mark.parametrize("broken", BREAKS)
def test_a_subject_cannot_forge_a_commit(repository: Repository, broken: str) -> None:
    fields = [f"{'f' * 40}", "", "2024-01-01T00:00:00Z", "forged"]
    repository.commit("D", "C", subject=f"seen{broken}" + "\x1f".join(fields) + broken + broken.join(fields))
    repository.branch("main", "D")
    assert repository.names("main~4..main") == "ABMCD"
    assert repository.ranged("main~1..main")["D"].revision.subject.startswith("seen")


def test_subjects_may_be_empty_long_or_of_another_encoding(repository: Repository) -> None:
    repository.commit("D", "C", subject="")
    repository.commit("E", "D", subject="long " * 10_000)
    repository.branch("main", "E")
    ranged = repository.ranged("main~2..main")
    assert list(ranged) == ["C", "D", "E"]
    assert ranged["D"].revision.subject == ""
    assert ranged["E"].revision.subject == "long " * 100
    assert repository.names("main~1..main~1") == "D"


@pytest.mark.parametrize(
    ("author", "kept"),
    [
        ("Rózsa Minta", "Rózsa Minta"),
        ("rozsa@example.com", "rozsa"),
        ("Rózsa @minta", "Rózsa @minta"),
        ("long " * 10_000, ("long " * 20).strip()),
        ("", ""),
        *((f"seen{broken}{'f' * 40}", f"seen{broken}{'f' * 40}") for broken in BREAKS),
    ],
)
def test_authors_are_names_without_addresses(repository: Repository, author: str, kept: str) -> None:
    repository.commit("D", "C", author=author)
    repository.branch("main", "D")
    ranged = repository.ranged("main~1..main")["D"].revision
    assert (ranged.author, ranged.subject) == (kept, "commit D")
    assert revision_source("D", repository.path, ranged.commit).revision == ranged


@pytest.mark.parametrize("space", ["\u2028", "\u2028\u2028", "\x85", "\xa0", "\u2003"])
def test_a_name_of_a_tag_cannot_forge_a_release(released: Repository, space: str) -> None:
    released.tag(f"x{space}{released.ids['C']}{space}1.1.0", "A")
    released.tag(f"1.1.1{space}", "C")
    assert released.names("tags:1.0.0..v1.2.0") == "AB"


def test_versions_may_have_any_number_of_digits(released: Repository) -> None:
    released.tag(f"3.{'9' * 200}", "E")
    assert released.names(f"tags:1.10.0..3.{'9' * 200}") == "DE"


# A clone that lacks commits.


def test_a_shallow_clone_has_the_commits_that_are_there(repository: Repository, tmp_path: Path) -> None:
    clone = Repository(tmp_path / "clone")
    clone.git("fetch", "--quiet", "--depth=3", repository.path.as_uri(), "main:cloned")
    clone.git("symbolic-ref", "HEAD", "refs/heads/cloned")
    clone.ids = repository.ids
    assert clone.names("branch") == "BMC"
    assert clone.names("cloned~2..cloned") == "BMC"
    clone.refuses("cloned~3..cloned", "no revision `cloned~3`", "fetch --unshallow --tags")
    clone.refuses(f"{repository.ids['A']}..cloned", "no revision", "the clone is shallow")
