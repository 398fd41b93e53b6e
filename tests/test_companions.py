"""Companions of cases in the lab's own format: clients that send or listen beside the measured one."""

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap

from zerolap.cases import json_schema, load_cases, scaled
from zerolap.cases._arguments import read_client
from zerolap.cli.case_selection import deployed
from zerolap.lab.selection import lacking
from zerolap.records import Case, CaseFileError, Client

CASES = """\
group: beside
cases:
  - name: enqueue
    commands: ["RPUSH queue __data__"]
    pipeline: 1
    expect: {reply: integer}
    companions:
      - {commands: ["BLPOP queue 0"], connections: 4}
  - name: enqueue-alone
    commands: ["RPUSH queue __data__"]
    pipeline: 1
  - name: publish
    commands: ["PUBLISH news:__key__ __data__"]
    keys: {prefix: "", maximum: 2}
    pipeline: 1
    expect: {reply: integer}
    companions:
      - {listen: ["news:__key__", "news:*"], listeners: 2}
  - name: publish-alone
    commands: ["PUBLISH news:__key__ __data__"]
    keys: {prefix: "", maximum: 2}
    pipeline: 1
"""


def read(tmp_path: Path, *companions: str, case: str = "") -> Case:
    path = tmp_path / "own.yml"
    path.write_text(
        "group: g\ndatasets:\n  d: {load: [SET __key__ v], keys: {prefix: 'p:', maximum: 1000}}\n"
        f"cases:\n  - name: a\n    commands: [GET __key__]\n    dataset: d\n    data_size: 5\n{case}"
        "    companions:\n" + "".join(f"      - {line}\n" for line in companions)
    )
    [read_case] = load_cases(path)
    return read_case


def companion(tmp_path: Path, line: str) -> Client:
    [client] = read(tmp_path, line).companions
    return client


class TestFile:
    def test_what_sends_has_the_keys_and_values_of_the_case(self, tmp_path: Path) -> None:
        client = companion(tmp_path, "{commands: [SET __key__ __data__, {command: GET x, ratio: 3}]}")
        assert [(command.line, command.ratio) for command in client.sent] == [("SET __key__ __data__", 1), ("GET x", 3)]
        assert (client.key_prefix, client.key_minimum, client.key_maximum, client.data_size) == ("p:", 1, 1000, 5)
        assert (client.connections, client.pipeline, client.listeners) == (1, 1, 0)
        assert not client.is_driven

    def test_what_sends_has_keys_and_values_of_its_own(self, tmp_path: Path) -> None:
        fields = "connections: 3, pipeline: 4, data_size: 6, random_data: true, keys: {prefix: x, pattern: parallel}"
        client = companion(tmp_path, f"{{commands: [SET __key__ __data__], {fields}}}")
        assert (client.connections, client.pipeline, client.data_size, client.random_data) == (3, 4, 6, True)
        assert (client.key_prefix, client.key_maximum, client.sent[0].key_pattern) == ("x", 1000, "P")

    def test_what_blocks_is_driven_by_the_measured_client(self, tmp_path: Path) -> None:
        assert companion(tmp_path, "{commands: [blpop queue 0], connections: 3}").is_driven

    def test_listeners_take_channels_and_patterns_in_turn(self, tmp_path: Path) -> None:
        client = companion(tmp_path, "{listen: ['news:__key__', 'a b', 'n*'], listeners: 6}")
        assert client.listening == ["SUBSCRIBE news:__key__", 'SUBSCRIBE "a b"', "PSUBSCRIBE n*"]
        assert (client.connections, client.listeners, client.sent, client.is_driven) == (0, 6, [], True)
        assert companion(tmp_path, "{listen: [a, b]}").listeners == 2

    def test_a_matrix_reaches_companions(self, tmp_path: Path) -> None:
        path = tmp_path / "own.yml"
        path.write_text(
            "group: g\ncases:\n  - name: a-{n}\n    matrix: {n: [2, 3]}\n    commands: [PING]\n"
            '    companions: [{commands: ["GET {n}"], connections: "{n}"}]\n'
        )
        clients = [client for case in load_cases(path) for client in case.companions]
        assert [(client.sent[0].line, client.connections) for client in clients] == [("GET 2", 2), ("GET 3", 3)]

    def test_companions_are_part_of_what_is_sent(self, tmp_path: Path) -> None:
        two, three = (read(tmp_path, f"{{listen: [a], listeners: {number}}}") for number in (2, 3))
        assert two.digest != three.digest
        assert Case.model_validate_json(two.model_dump_json()) == two

    def test_ranges_over_the_data_set_shrink_with_it(self, tmp_path: Path) -> None:
        case = read(tmp_path, "{commands: [GET __key__]}", "{commands: [GET __key__], keys: {prefix: x}}")
        assert [client.key_maximum for client in scaled(case, 0.1).companions] == [100, 1000]

    def test_what_is_not_driven_is_left_out_of_counting(self, tmp_path: Path) -> None:
        case = read(tmp_path, "{commands: [GET x]}", "{commands: [BLPOP x 0]}", "{listen: [x]}")
        assert case.limits == ["counted without the clients beside it that work at their own pace: GET x"]

    def test_the_schema_describes_them(self) -> None:
        entry = json_schema()["$defs"]["CompanionEntry"]
        assert set(entry["properties"]) >= {"commands", "connections", "pipeline", "listen", "listeners"}
        assert "null" not in str(entry)

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ("{}", 'field "companions[0]": expected commands or listen; found none of them'),
            ("{commands: [PING], listen: [a]}", 'field "companions[0].listen": a companion sends commands or listens'),
            ("{listen: [a], pipeline: 2}", 'field "companions[0].pipeline": only a companion with commands has it'),
            ("{commands: [PING], listeners: 2}", 'field "companions[0].listeners": only a companion with listen has'),
            ("{listen: [a, b], listeners: 1}", 'field "companions[0].listeners": expected at least 2, one for each'),
            ("{listen: [__data__]}", 'field "companions[0].listen[0]": __data__ is no part of a channel'),
            ("{commands: [GET 'a]}", 'field "companions[0].commands[0]": unbalanced quotes'),
            ("{commands: [PING], conections: 2}", 'field "companions[0].conections": unknown field'),
            ("{commands: [PING], keys: {maxmum: 2}}", 'field "companions[0].keys.maxmum": unknown field'),
            ("{commands: [PING], keys: {minimum: 2000}}", 'field "companions[0].keys.minimum": minimum 2000 is above'),
            ("{commands: [PING], connections: 0}", 'field "companions[0].connections": expected at least 1; found 0'),
        ],
    )
    def test_faults_are_reported_with_their_place(self, tmp_path: Path, line: str, text: str) -> None:
        with pytest.raises(CaseFileError) as raised:
            read(tmp_path, line)
        assert f"own.yml:10: {text}" in raised.value.message

    def test_a_cluster_has_no_single_server_to_send_to(self, tmp_path: Path) -> None:
        with pytest.raises(CaseFileError, match=r"companions\[0\]\.commands.*3 primaries"):
            read(tmp_path, "{commands: [GET x]}", case="    topology: cluster-3\n")

    @pytest.mark.parametrize(
        ("line", "topology", "is_skipped"),
        [
            ("{commands: [BLPOP x 0]}", "cluster-3", True),
            ("{commands: [BLPOP x 0]}", "replicas-1", False),
            ("{listen: [a, 'b*']}", "cluster-3", False),
        ],
    )
    def test_a_topology_of_the_command_line_without_a_single_server_skips_what_needs_one(
        self, tmp_path: Path, line: str, topology: str, is_skipped: bool
    ) -> None:
        [case] = deployed([read(tmp_path, line)], topology, None)
        reason = lacking(case, quick=True)
        assert (reason is not None) is is_skipped
        if reason is not None:
            assert reason[0] == "topology"
            assert "`cluster-3` has 3 primaries" in reason[1]

    @pytest.mark.parametrize("listens", ["SSUBSCRIBE a", "CLIENT TRACKING ON BCAST"])
    def test_what_only_one_node_pushes_needs_a_single_server(self, listens: str) -> None:
        assert read_client(
            ["--listen", listens, "--listeners", "1", "--listen-only", "--test-time", "1"]
        ).needs_one_server


def test_the_documented_example_works(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "cases.md").read_text()
    [example] = [text for text in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL) if "companions:" in text]
    path = tmp_path / "own.yml"
    path.write_text(example)
    assert [len(case.companions) for case in load_cases(path)] == [1, 2]


@pytest.fixture(scope="module")
def counted(redis_server: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The cases of the file, run once, by name."""
    directory = tmp_path_factory.mktemp("companions")
    cases = directory / "own.yml"
    cases.write_text(CASES)
    asked = ["--cases", cases, "--engine", "counted", "--quick", "--server", redis_server, "--json", "-"]
    ended = Zerolap(directory)("run", *asked)
    assert ended.code == 0, ended.err
    return {case["case"]: case for case in ended.document()["cases"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["enqueue", "publish"])
def test_companions_work_while_the_case_is_counted(counted: dict[str, Any], name: str) -> None:
    case, alone = counted[name], counted[f"{name}-alone"]
    assert case["failure"] is None
    assert case["validity"]["valid"] is True, case["validity"]
    [executed] = [check for check in case["validity"]["checks"] if check["check"] == "executed"]
    assert executed["limit"] == f"= {executed['value']:.0f}"
    assert case["metrics"]["instructions_per_op"] > alone["metrics"]["instructions_per_op"]
