"""Which commands of a server the suites cover: what is covered, excused and missing, and the verb that says so."""

from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from made_records import PLATFORM
from stored_run import SPEC

from zerolap.cases import core_suite, excused_commands, load_cases, packaged_suites
from zerolap.documents import CoverageInput, coverage_of
from zerolap.judge import faults_of
from zerolap.records import (
    Case,
    CaseFacts,
    Check,
    CheckedCase,
    CheckReport,
    CommandCoverage,
    CommandFacts,
    CoverageReport,
    Excuse,
    ExecutedCalls,
    Fault,
    Held,
    HeldOverTime,
    KnownCommand,
    MeasuredServer,
    container_of,
)
from zerolap.report import sheet_markdown
from zerolap.sheets import coverage_sheet

FEWEST_CASES = 450
MOST_EXCUSED = 25
SERVER = MeasuredServer(name="server", commit=None, version="7.0.15", build=SPEC.digest, build_id="", flags="")
KNOWN = [
    KnownCommand(name=name, group="some")
    for name in ("GET", "PLANTED", "SHUTDOWN", "XINFO", "XINFO STREAM", "DEBUG JMAP")
]
EXCUSES = {"SHUTDOWN": Excuse(reason="ends", text="it ends"), "DEBUG": Excuse(reason="internal", text="for tests")}
CASES = """
group: some
cases:
  - {name: read, commands: [GET key]}
  - {name: ask, commands: [XINFO STREAM key]}
"""


@pytest.fixture
def cases(tmp_path: Path) -> list[Case]:
    (tmp_path / "some.yml").write_text(CASES)
    return load_cases(tmp_path / "some.yml")


def checked(name: str, calls: dict[str, ExecutedCalls], *faults: Fault) -> CheckedCase:
    held = Held(keys=0)
    command = CommandFacts(
        command=next(iter(calls), "GET").partition(" ")[0],
        writes=False,
        requests=600,
        errors={},
        nothing_share_first=0,
        nothing_share=0,
        nothing_share_after=0,
        missing_share=0,
        life_seconds=None,
        example="",
        encodings={"raw": 600},
    )
    facts = CaseFacts(
        commands=[command],
        held=HeldOverTime(empty=held, loaded=held, before_burst=held, after_burst=held, left=held),
        client_share=0.5,
        server_share=1,
        sampled_requests=600,
        burst_requests=5000,
        ops_per_sec=1e5,
        factor=1,
        seconds=None,
        requests=None,
        has_dataset=False,
        calls=calls,
    )
    return CheckedCase(case=name, group="some", faults=list(faults), warnings=[], facts=facts)


def report(cases: list[Case], *of_check: CheckedCase) -> CoverageReport:
    checks = []
    if of_check:
        check = CheckReport(
            id="k-1",
            schema="zerolap.check/1",
            created="2026-11-28T00:00:00Z",
            command_line="zerolap suites check",
            server=SERVER,
            platform=PLATFORM,
            cases=list(of_check),
        )
        checks = [check]
    return coverage_of(CoverageInput(KNOWN, cases, EXCUSES, checks), SERVER, "2026-11-28T00:00:00Z", "zerolap")


def of(document: CoverageReport, name: str) -> CommandCoverage:
    return next(command for command in document.commands if command.command == name)


def test_a_command_that_nothing_names_is_missing_and_one_that_a_case_names_is_covered(cases: list[Case]) -> None:
    document = report(cases)
    words = {command.command: command.coverage for command in document.commands}
    assert words == {
        "GET": "covered",
        "PLANTED": "missing",
        "SHUTDOWN": "excused",
        "XINFO": "covered",
        "XINFO STREAM": "covered",
        "DEBUG JMAP": "excused",
    }
    assert [command.command for command in document.uncovered] == ["PLANTED"]
    assert (document.commands_counts.known, document.commands_counts.covered) == (4, 2)
    assert (document.subcommands_counts.covered, document.subcommands_counts.excused) == (1, 1)
    assert "PLANTED" in sheet_markdown(coverage_sheet(document)).partition("Excused")[0]


@pytest.mark.parametrize(
    ("calls", "faults", "reason"),
    [
        (ExecutedCalls(calls=999), [], "999 calls"),
        (ExecutedCalls(calls=5000, failed=1), [], "1 failed"),
        (ExecutedCalls(calls=5000, rejected=2), [], "2 rejected"),
        (
            ExecutedCalls(calls=5000),
            [Fault(kind="expectation", text="encoding is raw; expected int")],
            "encoding is raw",
        ),
    ],
)
def test_a_check_that_does_not_prove_a_command_leaves_it_uncovered(
    cases: list[Case], calls: ExecutedCalls, faults: list[Fault], reason: str
) -> None:
    document = report(cases, checked("read", {"GET": calls}, *faults))
    assert of(document, "GET").coverage == "unproven"
    assert reason in of(document, "GET").text
    # Of the other case nothing is known.
    assert of(document, "XINFO STREAM").coverage == "unproven"
    assert len(document.uncovered) == 4


def test_a_check_proves_commands_with_calls_and_encodings(cases: list[Case]) -> None:
    enough = ExecutedCalls(calls=1000)
    document = report(cases, checked("read", {"GET": enough}), checked("ask", {"XINFO STREAM": enough}))
    assert of(document, "GET") == CommandCoverage(
        command="GET", group="some", coverage="covered", cases=["read"], calls=1000, encodings=["raw"]
    )
    assert [of(document, name).coverage for name in ("XINFO", "XINFO STREAM")] == ["covered", "covered"]


def test_all_suites_are_sound_together_and_excuse_few_commands() -> None:
    cases = load_cases(Path("all"))
    assert len(cases) >= FEWEST_CASES
    assert {case.name for case in core_suite()} <= {case.name for case in cases}
    assert len(packaged_suites()) >= 20
    assert len({container_of(name) for name in excused_commands() if " " not in name}) <= MOST_EXCUSED
    measured = {verb for case in cases for verb in case.verbs}
    assert measured.isdisjoint(excused_commands())


def test_a_server_is_held_against_all_suites(redis_server: Path, zerolap: Zerolap) -> None:
    ended = zerolap("suites", "coverage", "--server", redis_server, "--json", "-")
    document: dict[str, Any] = ended.document()
    missing = [command["command"] for command in document["commands"] if command["coverage"] == "missing"]
    assert (missing, ended.code) == ([], 0)
    assert document["commands_counts"]["excused"] <= MOST_EXCUSED


def test_a_suite_that_leaves_commands_out_fails(redis_server: Path, zerolap: Zerolap) -> None:
    ended = zerolap("suites", "coverage", "--server", redis_server, "--suite", "core")
    assert ended.code == 1
    assert "nothing was measured" in ended.out
    uncovered = ended.out.partition("Excused")[0]
    assert "PFMERGE" in uncovered
    assert "HGETALL" not in uncovered


def test_a_server_that_does_not_list_its_commands_is_an_error(toy_program: Path, zerolap: Zerolap) -> None:
    zerolap("suites", "coverage", "--server", toy_program).fails_with(4, "COMMAND")


@pytest.mark.slow
def test_what_a_check_of_a_server_proves_is_covered(redis_server: Path, zerolap: Zerolap, tmp_path: Path) -> None:
    (tmp_path / "own.yml").write_text(
        "group: own\n"
        "cases:\n"
        "  - {name: int, setup: [SET k 1], commands: [INCR k], expect: {reply: integer, encoding: int}}\n"
        "  - {name: not-int, setup: [SET j abc], commands: [GET j], expect: {encoding: int}}\n"
        "  - {name: of-container, commands: [CLIENT ID], expect: {reply: integer}}\n"
    )
    common = ("--server", redis_server, "--cases", tmp_path / "own.yml", "--json", "-")
    measured = zerolap("suites", "coverage", *common, "--measure")
    commands = {command["command"]: command for command in measured.document()["commands"]}
    assert (
        commands["INCR"]["coverage"] == commands["CLIENT ID"]["coverage"] == commands["CLIENT"]["coverage"] == "covered"
    )
    assert commands["INCR"]["calls"] >= 1000
    assert commands["INCR"]["encodings"] == ["int"]
    assert commands["GET"]["coverage"] == "unproven"
    assert "embstr" in commands["GET"]["text"]
    again = zerolap("suites", "coverage", *common, "--check", *measured.document()["checks"])
    assert again.document()["commands"] == measured.document()["commands"]


def test_a_case_that_declares_misses_is_judged_by_its_own_bound() -> None:
    facts = checked("read", {"GET": ExecutedCalls(calls=5000)}).facts
    assert facts is not None
    [command] = facts.commands
    missing = command.model_copy(update={"nothing_share_first": 1.0, "nothing_share": 1.0, "nothing_share_after": 1.0})
    found = facts.model_copy(update={"commands": [missing], "burst_found": 0})
    assert [fault.kind for fault in faults_of(found)] == ["misses"]
    for holds, kinds in ((True, []), (False, ["expectation"])):
        bound = Check(check="hit_rate", ok=holds, value=0.0, limit="<= 0.01")
        assert [fault.kind for fault in faults_of(found.model_copy(update={"checks": [bound]}))] == kinds


def test_coverage_is_a_page_too(redis_server: Path, zerolap: Zerolap, tmp_path: Path) -> None:
    page = tmp_path / "coverage.html"
    ended = zerolap("suites", "coverage", "--server", redis_server, "--suite", "string", "--html", page)
    assert ended.code == 1
    assert "zerolap.coverage/1" in page.read_text()
    assert "strings-100B" in page.read_text()


def test_measuring_and_a_stored_check_exclude_each_other(zerolap: Zerolap) -> None:
    zerolap("suites", "coverage", "--measure", "--check", "k-1").fails_with(2, "two ways to prove")
    zerolap("suites", "coverage", "--check", "k-1").fails_with(2, "k-1")
