"""JUnit and SARIF: what CI systems are told of each case, and that no text of others acts as part of a file."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import Zerolap
from hostile_texts import HOSTILE_TEXTS
from jsonschema import Draft202012Validator
from made_records import CULPRIT, a_case, a_comparison, a_verdict, an_invalid_case, changed
from stored_comparison import ID, recorded_comparison
from stored_run import RUN

from zerolap.fail_on import FailOn
from zerolap.records import RunReport
from zerolap.report.junit import comparison_junit, run_junit
from zerolap.report.pull_request.sarif import comparison_sarif
from zerolap.sheets import ChangedLines
from zerolap.store import Store

REGRESSION = a_case(
    "xadd-auto-id", a_verdict("regression", change=0.168, low=0.165, high=0.171, q=1e-09), findings=[CULPRIT]
)
CASES = [
    a_case("get-10B"),
    a_case("lpush", a_verdict("unsure", change=0.004, high=0.009, q=0.31)),
    an_invalid_case("hget-misses"),
    an_invalid_case("fcall", failure="the server exited with 139\nstack"),
    REGRESSION,
]
COMPARISON = a_comparison(CASES, skipped=[{"case": "cluster-get", "reason": "topology", "text": "3 processors needed"}])
CHANGED = (
    ChangedLines("src/server.c", 10, 12, "int main(void)"),
    ChangedLines("src/t_stream.c", 2200, 2230, "robj *createStreamIDString(streamID *id)"),
)
HOSTILE = [*(each.text for each in HOSTILE_TEXTS), "]]>", '"><failure/>', "a\x00b\x1b[2J\ud800\ufffe", "&amp;&lt;"]

LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": r"^[\w./~%-]+$"}},
                    "additionalProperties": False,
                },
                "region": {
                    "type": "object",
                    "required": ["startLine"],
                    "properties": {
                        "startLine": {"type": "integer", "minimum": 1},
                        "endLine": {"type": "integer", "minimum": 1},
                    },
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}
SARIF = Draft202012Validator(
    {
        "type": "object",
        "required": ["$schema", "version", "runs"],
        "properties": {
            "version": {"const": "2.1.0"},
            "runs": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["tool", "results"],
                    "properties": {
                        "results": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["message", "ruleId", "level"],
                                "properties": {
                                    "level": {"enum": ["error", "warning", "note", "none"]},
                                    "message": {"type": "object", "required": ["text"]},
                                    "locations": {"type": "array", "items": LOCATION},
                                    "relatedLocations": {"type": "array", "items": LOCATION},
                                },
                            },
                        }
                    },
                },
            },
        },
    }
)
"""What GitHub needs of SARIF 2.1.0, with no property that the format does not have in a place."""


def cases_of(text: str) -> dict[str, ElementTree.Element]:
    """Return the tests of a JUnit file by name; the numbers of the file are those of its tests."""
    suites = ElementTree.fromstring(text)
    tests = suites.findall("testsuite/testcase")
    for element in (suites, *suites.findall("testsuite")):
        counted = {"failures": "failure", "errors": "error", "skipped": "skipped"}
        assert element.attrib["tests"] == str(len(tests))
        for count, tag in counted.items():
            assert element.attrib[count] == str(sum(test.find(tag) is not None for test in tests))
    return {test.attrib["name"]: test for test in tests}


def outcomes(text: str) -> dict[str, str | None]:
    """Return by the name of each test whether it failed, was in error or skipped; None where it passed."""
    tags = ("failure", "error", "skipped")
    return {
        name: next((tag for tag in tags if test.find(tag) is not None), None) for name, test in cases_of(text).items()
    }


@pytest.mark.parametrize(
    ("when", "regression", "undecided"),
    [("never", None, None), ("work", "failure", None), ("time", None, None), ("unsure", "failure", "failure")],
)
def test_a_case_fails_where_the_gate_applies_to_it(when: FailOn, regression: str | None, undecided: str | None) -> None:
    assert outcomes(comparison_junit(COMPARISON, when)) == {
        "get-10B": None,
        "lpush": undecided,
        "hget-misses": "error",
        "fcall": "error",
        "xadd-auto-id": regression,
        "cluster-get": "skipped",
    }


def test_a_test_has_the_verdict_and_the_sentences_of_its_case() -> None:
    tests = cases_of(comparison_junit(COMPARISON, "never"))
    properties = {each.attrib["name"]: each.attrib["value"] for each in tests["xadd-auto-id"].iter("property")}
    assert (properties["verdict"], properties["work"]) == ("regression", "regression")
    assert "executes 16.8 % more instructions per request" in tests["xadd-auto-id"].findtext("system-out", "")
    assert tests["fcall"].find("error[@type='failed']") is not None
    assert tests["fcall"].findtext("error", "") == "the server exited with 139\nstack"
    assert "hit_rate is 0.12, expected >= 0.99" in tests["hget-misses"].findtext("error", "")


def test_a_run_passes_where_it_was_measured() -> None:
    assert set(outcomes(run_junit(RUN)).values()) <= {None, "error", "skipped"}
    failed = [case.model_copy(update={"failure": "exited with 1"}) for case in RUN.cases]
    report: RunReport = RUN.model_copy(update={"cases": failed})
    assert {outcomes(run_junit(report))[case.case] for case in failed} == {"error"}


def sarif(comparison: Any = COMPARISON, changed: tuple[ChangedLines, ...] = CHANGED, when: FailOn = "never") -> Any:
    document = json.loads(comparison_sarif(comparison, changed, when))
    SARIF.validate(document)
    return document["runs"][0]["results"]


def test_a_regression_is_at_the_changed_lines_that_are_its_reason() -> None:
    [result] = sarif()
    assert (result["ruleId"], result["level"]) == ("regression-of-work", "warning")
    assert "xadd-auto-id: XADD executes 16.8 % more instructions" in result["message"]["text"]
    assert CULPRIT.text in result["message"]["text"]
    [location] = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/t_stream.c"},
        "region": {"startLine": 2210, "endLine": 2210},
    }
    assert [result["level"] for result in sarif(when="regression")] == ["error"]


def test_without_known_lines_of_a_reason_a_regression_is_at_the_first_changed_line() -> None:
    [elsewhere] = sarif(changed=(ChangedLines("src/a file.c", 7, 6), ChangedLines("src/server.c", 1, 1)))
    assert elsewhere["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/a%20file.c"},
        "region": {"startLine": 6, "endLine": 6},
    }
    [nowhere] = sarif(changed=())
    assert nowhere["locations"] == []


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_others_acts_in_a_file(text: str) -> None:
    case = changed(REGRESSION, case=text, group=text, commands=[text], findings=[changed(CULPRIT, text=text)])
    invalid = an_invalid_case(text + "2", failure=text)
    comparison = a_comparison([case, invalid], skipped=[{"case": text, "reason": "topology", "text": text}])
    hostile = comparison.model_copy(update={"command_line": text})
    tests = ElementTree.fromstring(comparison_junit(hostile, "unsure")).findall("testsuite/testcase")
    assert [[child.tag for child in test] for test in tests] == [
        ["properties", "failure", "system-out"],
        ["properties", "error", "system-out"],
        ["skipped"],
    ]
    [result] = sarif(hostile, (ChangedLines(text, 1, 1),))
    assert not any(ord(character) < ord(" ") for character in result["message"]["text"])


def test_a_stored_comparison_is_written_for_ci(zerolap: Zerolap, tmp_path: Path) -> None:
    with Store.open(str(zerolap.store)) as store:
        comparison = recorded_comparison(store)
    words = ("explain", ID, "--store", zerolap.store, "--junit", "tests.xml", "--quiet")
    assert zerolap(*words).code == 0
    assert None in outcomes((tmp_path / "tests.xml").read_text()).values()
    gated = zerolap(*words, "--fail-on", "regression")
    assert gated.code == (1 if comparison.failing_cases("regression") else 0)
    failing = {name for name, outcome in outcomes((tmp_path / "tests.xml").read_text()).items() if outcome == "failure"}
    assert failing == {case.case for case in comparison.failing_cases("regression")}
