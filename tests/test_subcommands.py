"""A container command such as XINFO is named with its subcommand: in selection, documents and counts."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Zerolap

from zerolap.build import Program
from zerolap.cases import load_cases, select
from zerolap.records import UsageError, verb_of
from zerolap.server import RunningServer, start
from zerolap.server.statistics import StatisticsReader, rows_of

CASES = """\
group: stream
cases:
  - {name: about-stream, setup: ["XADD s 1-1 f v"], commands: ["xinfo stream s"], expect: {reply: array}}
  - {name: about-groups, commands: ["XINFO GROUPS s"], expect: {errors: 1000000}}
  - {name: setting, commands: ["CONFIG GET save"]}
"""


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("xinfo stream s", "XINFO STREAM"),
        ("Client 'no-evict' on", "CLIENT NO-EVICT"),
        ("COMMAND", "COMMAND"),
        ("OBJECT __key__", "OBJECT"),
        ("GET stream", "GET"),
    ],
)
def test_a_subcommand_is_part_of_the_name(line: str, verb: str) -> None:
    assert verb_of(line) == verb


@pytest.fixture
def cases_file(tmp_path: Path) -> Path:
    path = tmp_path / "own.yml"
    path.write_text(CASES)
    return path


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("XINFO", ["about-stream", "about-groups"]),
        ("xinfo stream", ["about-stream"]),
        ("XINFO S*", ["about-stream"]),
        ("*G*", ["about-groups", "setting"]),
        ("config*", ["setting"]),
    ],
)
def test_containers_subcommands_and_globs_select(cases_file: Path, pattern: str, names: list[str]) -> None:
    assert [case.name for case in select(load_cases(cases_file), commands=[pattern])] == names


def test_an_unknown_subcommand_is_answered_with_the_nearest(cases_file: Path) -> None:
    with pytest.raises(UsageError, match="XINFO STREM") as raised:
        select(load_cases(cases_file), commands=["xinfo strem"])
    assert 'did you mean "XINFO STREAM"?' in raised.value.hint


@pytest.mark.parametrize(
    ("verbs", "rows", "counted"),
    [
        (["XINFO STREAM"], {"xinfo|stream": 1, "xinfo|groups": 2}, [1]),
        (["XINFO STREAM"], {"xinfo": 3, "get": 4}, [3]),
        (["XINFO STREAM"], {"xinfo": 3, "xinfo|stream": 1}, [1]),
        (["XINFO STREAM"], {"xinfo": 3, "xinfo|groups": 2}, []),
        (["XINFO STREAM", "XINFO GROUPS"], {"xinfo": 3}, [3]),
        (["FT.CURSOR"], {"FT.CURSOR|READ": 5}, [5]),
        (["GET"], {"get": 4, "getex": 1}, [4]),
    ],
)
def test_rows_of_servers_with_and_without_subcommands(
    verbs: list[str], rows: dict[str, int], counted: list[int]
) -> None:
    assert rows_of(verbs, {f"cmdstat_{name}": row for name, row in rows.items()}) == counted


@pytest.fixture
def server(redis_server: Path, tmp_path: Path) -> Iterator[RunningServer]:
    directory = tmp_path / "server"
    directory.mkdir()
    with start(Program(redis_server), {}, directory, log=tmp_path / "server.log") as running:
        yield running


def test_only_the_subcommand_is_counted(server: RunningServer) -> None:
    version = server.info("server")["redis_version"]
    if int(version.partition(".")[0]) < 7:
        pytest.skip("before Redis 7 servers do not count subcommands")
    server.command("XADD", "s", "1-1", "f", "v")
    with contextlib.closing(StatisticsReader(server.socket, ["XINFO STREAM"])) as statistics:
        before = statistics.read().calls
        for _ in range(3):
            server.command("XINFO", "STREAM", "s")
            server.command("XINFO", "GROUPS", "s")
        assert statistics.read().calls - before == 3


def test_a_counted_subcommand(zerolap: Zerolap, redis_server: Path, cases_file: Path) -> None:
    asked = ["--engine", "counted", "--quick", "--command", "XINFO STREAM", "--json", "-"]
    ended = zerolap("run", "--cases", cases_file, *asked, "--server", redis_server)
    assert ended.code == 0, ended.err
    [case] = ended.document()["cases"]
    assert case["commands"] == ["XINFO STREAM"]
    assert case["failure"] is None
    assert case["validity"]["valid"] is True, case["validity"]
    [executed] = [check for check in case["validity"]["checks"] if check["check"] == "executed"]
    assert executed["limit"] == f"= {executed['value']:.0f}"
