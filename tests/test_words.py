"""Each word has one sense: `scripts/check_words.py` finds second definitions and names in another sense."""

import ast
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "check_words.py"


def loaded() -> Any:
    """Return the script as a module."""
    specification = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[SCRIPT.stem] = module
    specification.loader.exec_module(module)
    return module


check_words = loaded()


def test_a_second_definition_is_found_also_within_a_row_of_several_terms() -> None:
    glossary = "| word | meaning |\n|---|---|\n| work, time | both |\n| time, again | another |\n| place | once |\n"
    [fault] = check_words.terms_defined_twice(glossary)
    assert "`time` is defined 2 times" in fault


def faults_of(package: str, code: str, stem: str = "module") -> list[str]:
    return list(check_words.other_senses(package, "source.py", stem, ast.parse(code)))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def place_of(case): ...", "place_of"),
        ("class KnownPlaces: ...", "KnownPlaces"),
        ("class Known:\n    first_place: int", "first_place"),
        ("async def sweep(): ...", "sweep"),
    ],
)
def test_names_in_another_sense_are_found(code: str, name: str) -> None:
    [fault] = faults_of("build", code)
    assert f"`{name}`" in fault


def test_the_name_of_a_file_is_checked() -> None:
    assert faults_of("host", "", stem="sweeps")


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("lab", "class JobPlace: ..."),
        ("explain", "def in_place_of(callee): ..."),
        ("judge", "by_string_places = True"),
        ("queries", "class Commit:\n    place: int"),
    ],
)
def test_names_in_the_sense_of_the_glossary_and_of_documents_are_no_fault(package: str, code: str) -> None:
    assert faults_of(package, code) == []


def test_each_file_that_everyday_changes_begin_in_exists() -> None:
    """The table of CONTRIBUTING.md names files by their paths in the package or in the repository."""
    root = SCRIPT.parent.parent
    rows = [line for line in (root / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    paths = {path for row in rows for path in re.findall(r"`([\w-]+/[\w/.-]*)`", row) if "VERB" not in path}
    assert len(paths) > 60
    assert (
        sorted(path for path in paths if not any((each / path).exists() for each in (root, root / "python/zerolap")))
        == []
    )
