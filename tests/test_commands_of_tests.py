"""Which commands the tests of a change send, from lines of Tcl."""

import pytest

from zerolap.build import commands_of_tests
from zerolap.records import Changes, FileChange, Hunk

KNOWN = {"GET", "SET", "CLUSTER", "BLPOP", "HSET", "XADD"}


def changes(*lines: str, file: str = "tests/unit/type/string.tcl") -> Changes:
    hunk = Hunk(old_start=1, old_lines=0, new_start=1, new_lines=len(lines), text="\n".join(lines))
    return Changes(files=[FileChange(old_file=file, new_file=file, hunks=[hunk])])


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("+        r set key value", ["SET"]),
        ("+    assert_equal {a} [r get key]", ["GET"]),
        ("+    assert_error {*ERR*} {r XADD key * a b}", ["XADD"]),
        ("+ $rd blpop list 0", ["BLPOP"]),
        ("+ [$master get key] eq {}", ["GET"]),
        ("+ R 0 cluster info", ["CLUSTER"]),
        ("+ [srv -1 client] set key 1", ["SET"]),
        ("+ set value [r get key]; r set key $value", ["GET", "SET"]),
        ("+ set key value", []),
        ("+ # a comment: r set key value", []),
        ("+ r nosuchcommand key", []),
        ("+ r set-something key", []),
        ("+ after set", []),
        ("- r set key value", []),
    ],
)
def test_a_command_is_what_a_client_of_the_tests_is_given(line: str, sent: list[str]) -> None:
    assert sorted(commands_of_tests(changes(line), KNOWN)) == sent


def test_only_new_lines_of_tests_in_tcl_are_read() -> None:
    for file in ("src/string.tcl", "tests/unit/string.c", "tests/string.tcl.md"):
        assert commands_of_tests(changes("+r set key value", file=file), KNOWN) == []


def test_commands_of_most_lines_come_first() -> None:
    lines = ["+r hset h a 1", "+r get a", "+r hset h b 2"]
    assert commands_of_tests(changes(*lines), KNOWN) == ["HSET", "GET"]


def test_tests_that_never_end_are_read_in_part() -> None:
    assert commands_of_tests(changes("+" + "[" * 2_000_000 + "r get key]"), KNOWN) == []
    assert commands_of_tests(changes(*["+ a test"] * 30_000, "+r get key"), KNOWN) == []
    many = {f"COMMAND{number}" for number in range(500)}
    assert len(commands_of_tests(changes(*(f"+r {command} key" for command in many)), many)) == 50
    # Whatever a line holds, it takes no long time.
    hostile = ["+" + "[r " * 300] * 2_000 + ["+[" + " " * 990] * 2_000
    assert commands_of_tests(changes(*hostile), KNOWN) == []
