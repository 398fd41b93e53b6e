"""What is planted can be put into the release, and its cases are valid."""

import subprocess
from pathlib import Path

import pytest
from planted import CASES, Planted, Replacement, all_planted

from zerolap.cases import core_suite, load_cases

DEMO = Path(__file__).parent.parent / ".demo" / "redis"
RELEASE = "HEAD~1"
PLANTED = dict(all_planted())


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The directory `src` of Redis 7.0.15 as it was released."""
    if not (DEMO / ".git").exists():
        pytest.skip("the sources of the demonstration are not there: make demo downloads them")
    archive = subprocess.run(["git", "-C", DEMO, "archive", RELEASE, "src"], check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "--extract", "--directory", tmp_path], input=archive.stdout, check=True)
    return tmp_path / "src"


def test_each_pattern_of_the_posts_is_planted() -> None:
    assert len(PLANTED) >= 12
    assert len({planted.detector for planted in PLANTED.values()}) >= 8


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_it_can_be_put_into_the_release(planted: Planted, release: Path) -> None:
    replacements = planted.slow or planted.fixed
    before = {replacement.file: (release / replacement.file).read_text() for replacement in replacements}
    for replacement in replacements:
        replacement.apply(release)
    assert all((release / file).read_text() != text for file, text in before.items())


def test_a_text_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server.c").write_text("int a;\nint a;\n")
    for text in ("int a;", "int b;"):
        with pytest.raises(ValueError, match=f"server.c has . times: {text}"):
            Replacement("server.c", text, "").apply(tmp_path)


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_it_is_in_the_release_or_put_there(planted: Planted) -> None:
    assert bool(planted.slow) != bool(planted.fixed)
    assert planted.functions


def test_its_cases_are_valid() -> None:
    known = {case.name for case in [*core_suite(), *load_cases(CASES)]}
    assert {case for planted in PLANTED.values() for case in (planted.case, *planted.beside)} <= known
