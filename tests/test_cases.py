"""Case files: what they hold, how faulty ones are reported, and the core suite against a real server."""

import random
import re
import shutil
import socket
import statistics
import subprocess
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import pytest
from waiting import wait_until

from zerolap.cases import core_suite, json_schema, load_cases, scaled, select
from zerolap.records import (
    STANDALONE,
    Case,
    CaseFileError,
    Dataset,
    Expect,
    Keys,
    UsageError,
    WrittenClient,
    parse_command,
)

EXAMPLE = """\
group: stream
datasets:
  strings-{size}B:
    load: ["SET __key__ __data__"]
    keys: {minimum: 1, maximum: 1000, pattern: parallel}
    data_size: "{size}"
    expect: {keys: 1000}
cases:
  - name: xadd-auto-id
    description: appends to streams, the id chosen by the server
    commands: ["XADD stream:__key__ * field __data__"]
    keys: {minimum: 1, maximum: 100, pattern: random}
    data_size: 10
    connections: 20
    pipeline: 16
    state: grows
    expect: {reply: bulk, errors: 0}
  - name: get-{size}B
    group: string
    matrix: {size: [10, 100]}
    dataset: strings-{size}B
    commands: ["GET __key__", {command: "SET __key__ __data__", ratio: 3}]
    expect: {hit_rate: ">= 0.99"}
  - name: zrange-10
    setup: ["ZADD z 1 a 2 b"]
    commands: ["zrange z 0 -1 WITHSCORES", "ZADD z 1 a", "ZRANGE z 0 0"]
    config: {save: "", io-threads: 4, appendonly: no}
"""


def load(tmp_path: Path, text: str) -> list[Case]:
    path = tmp_path / "own.yml"
    path.write_text(text)
    return load_cases(path)


def problems(tmp_path: Path, text: str) -> list[str]:
    """The problems of a file, without its directory."""
    with pytest.raises(CaseFileError) as raised:
        load(tmp_path, text)
    error = raised.value
    return [line.replace(f"{tmp_path}/", "") for line in (error.details or error.message).splitlines()]


def one_case(*lines: str) -> str:
    """A file whose case starts in line 3; the lines given start at line 4."""
    return "\n".join(["group: g", "cases:", "  - name: one", *(f"    {line}" for line in lines)]) + "\n"


GET = "commands: [GET k]"


class TestReading:
    def test_a_case_has_what_its_file_holds(self, tmp_path: Path) -> None:
        xadd = load(tmp_path, EXAMPLE)[0]
        assert (xadd.name, xadd.group, xadd.state, xadd.client.data_size) == ("xadd-auto-id", "stream", "grows", 10)
        assert xadd.client.keys == Keys(minimum=1, maximum=100, pattern="random")
        assert xadd.expect == Expect(reply="bulk")
        assert (Path(xadd.file).name, xadd.line) == ("own.yml", 9)

    def test_data_sets_and_cases_share_fields_by_merge_keys(self, tmp_path: Path) -> None:
        text = """\
group: g
datasets:
  small: &small {load: ["SET __key__ __data__"], keys: {minimum: 1, maximum: 10}, data_size: 3}
  large: {<<: *small, keys: {minimum: 1, maximum: 1000}}
cases:
  - &read {name: read-small, dataset: small, commands: ["GET __key__"], pipeline: 4}
  - {<<: *read, name: read-large, dataset: large}
"""
        small, large = load(tmp_path, text)
        assert (large.name, large.verbs, large.client.pipeline) == ("read-large", ["GET"], 4)
        assert small.dataset is not None
        assert large.dataset is not None
        assert (large.dataset.load, large.dataset.data_size) == (small.dataset.load, 3)
        assert (small.dataset.keys.maximum, large.dataset.keys.maximum) == (10, 1000)

    def test_a_matrix_expands_name_data_set_and_sizes(self, tmp_path: Path) -> None:
        _, ten, hundred, _ = load(tmp_path, EXAMPLE)
        assert [ten.name, hundred.name] == ["get-10B", "get-100B"]
        assert hundred.group == "string"
        assert hundred.dataset == Dataset(
            name="strings-100B",
            load=["SET __key__ __data__"],
            keys=Keys(minimum=1, maximum=1000, pattern="parallel"),
            data_size=100,
            expect=Expect(keys=1000),
        )

    def test_a_matrix_of_two_axes_is_a_product(self, tmp_path: Path) -> None:
        text = one_case(GET).replace("one", "p{p}-{q}") + "    matrix: {p: [1, 2], q: [a, b]}\n    pipeline: '{p}'\n"
        cases = load(tmp_path, text)
        assert [(case.name, case.client.pipeline) for case in cases] == [
            ("p1-a", 1),
            ("p1-b", 1),
            ("p2-a", 2),
            ("p2-b", 2),
        ]

    def test_a_case_inherits_range_and_size_of_its_data_set_but_draws_at_random(self, tmp_path: Path) -> None:
        hundred = load(tmp_path, EXAMPLE)[2]
        assert hundred.client.keys == Keys(minimum=1, maximum=1000, pattern="random")
        assert hundred.client.data_size == 100

    def test_a_case_overrides_single_fields_of_its_data_sets_keys(self, tmp_path: Path) -> None:
        text = EXAMPLE.replace("    group: string\n", "    keys: {minimum: 500}\n")
        assert load(tmp_path, text)[2].client.keys == Keys(minimum=500, maximum=1000)

    def test_commands_are_text_or_have_a_ratio(self, tmp_path: Path) -> None:
        xadd, get, *_ = load(tmp_path, EXAMPLE)
        assert [command.ratio for command in xadd.client.commands] == [1]
        sent = [(command.line, command.ratio) for command in get.client.commands]
        assert sent == [("GET __key__", 1), ("SET __key__ __data__", 3)]

    def test_verbs_are_first_words_once_in_order(self, tmp_path: Path) -> None:
        assert load(tmp_path, EXAMPLE)[3].verbs == ["ZRANGE", "ZADD"]

    def test_server_settings_are_taken_as_written(self, tmp_path: Path) -> None:
        assert load(tmp_path, EXAMPLE)[3].config == {"save": "", "io-threads": "4", "appendonly": "no"}

    def test_defaults(self, tmp_path: Path) -> None:
        (case,) = load(tmp_path, one_case(GET))
        client = WrittenClient(commands=["GET k"]).client
        assert case == Case(name="one", group="g", client=client, file=case.file, line=3)
        assert (case.topology, case.state, client.connections, client.pipeline) == (STANDALONE, "stable", 20, 16)
        assert client.keys == Keys(prefix="key:", minimum=1, maximum=1, pattern="random")

    def test_braces_twice_stand_for_themselves_and_hash_tags_with_keys_need_none(self, tmp_path: Path) -> None:
        (case,) = load(tmp_path, one_case('commands: ["GET {{tag}}:a", "GET {__key__}:a", "SET k {}"]'))
        assert [one.line for one in case.client.commands] == ["GET {tag}:a", "GET {__key__}:a", "SET k {}"]

    def test_a_directory_is_read_whole_and_other_formats_passed_over(self, tmp_path: Path) -> None:
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "b.yaml").write_text(one_case(GET).replace("one", "two"))
        (tmp_path / "a.yml").write_text(one_case(GET))
        (tmp_path / "defaults.yml").write_text("version: 0.1\nexporter: {}\n")
        (tmp_path / "notes.txt").write_text("not a case")
        assert [case.name for case in load_cases(tmp_path)] == ["one", "two"]

    def test_nothing_to_read_is_wrong_usage(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no case file"):
            load_cases(tmp_path)
        with pytest.raises(UsageError, match="no such file or directory"):
            load_cases(tmp_path / "absent")


DATASET_D = "group: g\ndatasets:\n  d:\n    load: [SET __key__ v]\n"
USING_D = "cases:\n  - {name: a, dataset: d, commands: [GET k]}\n"

FAULTS = {
    "unknown field": (
        one_case(GET, "piepline: 4"),
        'own.yml:5: field "piepline": unknown field (did you mean "pipeline"?)',
    ),
    "unknown field at the top": (
        "group: g\ndatsets: {}\ncases: [{name: a, commands: [PING]}]\n",
        'own.yml:2: field "datsets": unknown field (did you mean "datasets"?)',
    ),
    "unknown field without a near one": (
        one_case(GET, "keys: {zzz: 1}"),
        'own.yml:5: field "keys.zzz": unknown field; known are prefix, minimum, maximum, pattern',
    ),
    "number wanted": (
        one_case(GET, 'pipeline: "16"'),
        'own.yml:5: field "pipeline": expected a whole number; found "16"',
    ),
    "whole number wanted": (
        one_case(GET, "data_size: 1.5"),
        'own.yml:5: field "data_size": expected a whole number; found 1.5',
    ),
    "number from text": (
        one_case(GET, "matrix: {s: [ten]}", 'data_size: "{s}"').replace("one", "one-{s}"),
        'own.yml:6: field "data_size": expected a whole number; found "ten"',
    ),
    "text wanted": (
        one_case(GET, "description: 12"),
        'own.yml:5: field "description": expected text; found 12 (put it in quotes)',
    ),
    "list wanted": (one_case("commands: GET k"), 'own.yml:4: field "commands": expected a list; found "GET k"'),
    "truth wanted": (
        one_case(GET, "random_data: 1"),
        'own.yml:5: field "random_data": expected true or false; found 1',
    ),
    "fields wanted": (one_case(GET, "keys: [1]"), 'own.yml:5: field "keys": expected fields with values; found a list'),
    "too small": (one_case(GET, "connections: 0"), 'own.yml:5: field "connections": expected at least 1; found 0'),
    "word of a list": (
        one_case(GET, "keys:", "  pattern: gaus"),
        'own.yml:6: field "keys.pattern": expected one of random, sequential, parallel; found "gaus"',
    ),
    "near word": (
        one_case(GET, "state: grow"),
        'own.yml:5: field "state": expected one of stable, grows, drains; found "grow" (did you mean "grows"?)',
    ),
    "missing field": (one_case("pipeline: 1"), 'own.yml:3: field "commands": missing'),
    "missing cases": ("\ngroup: g\n", 'own.yml:2: field "cases": missing'),
    "missing group": (
        "cases:\n  - name: a\n    commands: [PING]\n",
        'own.yml:2: field "group": missing (give it in the case, or at the top for all cases of the file)',
    ),
    "missing value": (one_case(GET, "pipeline:"), 'own.yml:5: field "pipeline": the value is missing'),
    "given twice": (
        one_case(GET, "pipeline: 1", "pipeline: 2"),
        'own.yml:6: field "pipeline": given twice, first in line 5',
    ),
    "unknown data set": (
        EXAMPLE.replace("dataset: strings-{size}B", "dataset: string-{size}B"),
        'own.yml:21: field "dataset": no data set "string-{size}B" in this file; it has strings-{size}B'
        ' (did you mean "strings-{size}B"?)',
    ),
    "placeholder without matrix": (
        one_case(GET).replace("one", "one-{size}B"),
        'own.yml:3: field "name": the matrix has no values for {size} (write {{size}} for the text {size} itself)',
    ),
    "placeholder near one of the matrix": (
        one_case(GET, "matrix: {size: [1]}", 'data_size: "{sise}"').replace("one", "one-{size}"),
        'own.yml:6: field "data_size": the matrix has no values for {sise} (did you mean "size"?)',
    ),
    "data set needs another axis": (
        DATASET_D.replace("[SET __key__ v]", "['SET __key__ {size}']") + USING_D,
        'own.yml:6: field "dataset": the data set needs {size}, for which the case\'s matrix has no values',
    ),
    "axis not in the name": (
        one_case(GET, "matrix: {size: [1, 2]}"),
        "own.yml:5: field \"matrix.size\": the case's name must contain {size}, to distinguish the cases",
    ),
    "axis without values": (
        one_case(GET, "matrix: {size: []}").replace("one", "one-{size}"),
        'own.yml:5: field "matrix.size": expected at least one entry; found none',
    ),
    "bad bound": (
        one_case(GET, 'expect: {hit_rate: "about 1"}'),
        'own.yml:5: field "expect.hit_rate": expected a bound from 0 to 1 such as ">= 0.99"; found "about 1"',
    ),
    "bound above 1": (
        one_case(GET, 'expect: {hit_rate: ">= 99"}'),
        'own.yml:5: field "expect.hit_rate": expected a bound from 0 to 1 such as ">= 0.99"; found ">= 99"',
    ),
    "keys expected by a case": (
        one_case(GET, "expect: {keys: 1}"),
        'own.yml:5: field "expect.keys": only a data set expects a number of keys',
    ),
    "no commands": (one_case("commands: []"), 'own.yml:4: field "commands": expected at least one entry; found none'),
    "empty command": (one_case("commands: [GET k, '']"), 'own.yml:4: field "commands[1]": the command is empty'),
    "command of another type": (
        one_case("commands:", "  - GET k", "  - 5"),
        'own.yml:6: field "commands[1]": expected a command or {command: ..., ratio: ...}; found 5',
    ),
    "empty range": (
        one_case(GET, "keys:", "  minimum: 5", "  maximum: 2"),
        'own.yml:6: field "keys.minimum": minimum 5 is above maximum 2',
    ),
    "data with affix": (
        one_case("commands: [SET k v-__data__]"),
        'own.yml:4: field "commands[0]": __data__ must be a whole argument; found "v-__data__"',
    ),
    "key twice in an argument": (
        one_case("commands: ['GET __key__:__key__']"),
        'own.yml:4: field "commands[0]": an argument takes __key__ once; found "__key__:__key__"',
    ),
    "placeholder as command": (
        one_case("commands: [__key__ a]"),
        'own.yml:4: field "commands[0]": the first word must be a command, not a placeholder',
    ),
    "placeholder in setup": (
        one_case(GET, "setup: [SET __key__ v]"),
        'own.yml:5: field "setup[0]": __key__ is filled in only under commands and load; setup is sent as it is',
    ),
    "unbalanced quotes": (
        one_case("commands: ['GET \"k']"),
        'own.yml:4: field "commands[0]": unbalanced quotes: nothing closes GET "k',
    ),
    "ratio below 1": (
        one_case("commands:", "  - command: GET k", "    ratio: 0"),
        'own.yml:6: field "commands[0].ratio": expected at least 1; found 0',
    ),
    "name with a space": (
        one_case(GET).replace("one", "one more"),
        'own.yml:3: field "name": expected letters, digits, ".", "_" and "-"; found "one more"',
    ),
    "name twice": (
        one_case(GET) + "  - name: one\n    commands: [PING]\n",
        'own.yml:5: field "name": case "one" exists already, at own.yml:3',
    ),
    "data set without content": (
        "group: g\ndatasets:\n  d: {data_size: 3}\n" + USING_D,
        'own.yml:3: field "datasets.d": expected setup, load or generator; found none of them',
    ),
    "data set with a hit rate": (
        DATASET_D + '    expect: {hit_rate: ">= 1"}\n' + USING_D,
        'own.yml:5: field "datasets.d.expect.hit_rate": only a case expects a hit rate',
    ),
    "data set that no case uses": (
        DATASET_D + "    lod: [x]\n" + USING_D.replace("dataset: d, ", ""),
        'own.yml:5: field "datasets.d.lod": unknown field (did you mean "load"?)',
    ),
    "a case that is text": (
        "group: g\ncases:\n  - foo\n",
        'own.yml:3: field "cases[0]": expected fields with values; found "foo"',
    ),
    "refers to itself": (one_case("commands: &c [*c]"), 'own.yml:4: field "commands[0]": refers to itself'),
    "a list instead of fields": ("- a\n", "own.yml:1: expected the fields group, datasets and cases"),
    "empty file": ("# nothing\n", "own.yml:1: the file is empty; expected cases"),
}  # fmt: skip


class TestFaults:
    @pytest.mark.parametrize(("text", "expected"), FAULTS.values(), ids=FAULTS)
    def test_names_line_field_and_what_was_expected(self, tmp_path: Path, text: str, expected: str) -> None:
        with pytest.raises(CaseFileError) as raised:
            load(tmp_path, text)
        error = raised.value
        message = f"{error.message} ({error.hint})" if error.hint else error.message
        assert message.replace(f"{tmp_path}/", "") == expected
        assert error.details == ""
        assert error.exit_code == 2

    @pytest.mark.parametrize(
        ("text", "line"),
        [("group: g\ncases: [a\n", 3), ("group: g\ncases:\n  - name: a: b\n", 3), ("group: g\n\x01\n", 2)],
    )
    def test_yaml_that_is_none_is_reported_with_its_line(self, tmp_path: Path, text: str, line: int) -> None:
        (problem,) = problems(tmp_path, text)
        assert problem.startswith(f"own.yml:{line}: not valid YAML: ")

    def test_tabs_are_pointed_out(self, tmp_path: Path) -> None:
        with pytest.raises(CaseFileError) as raised:
            load(tmp_path, "group: g\ncases:\n\t- name: a\n")
        assert raised.value.hint == "indent with spaces, not with tabs"

    def test_bytes_that_are_not_utf8_are_reported_with_their_line(self, tmp_path: Path) -> None:
        path = tmp_path / "own.yml"
        path.write_bytes(b"group: g\ncases: \xff\n")
        with pytest.raises(CaseFileError, match=r"own\.yml:2: not UTF-8 text"):
            load_cases(path)

    def test_all_problems_of_a_file_are_reported_at_once_in_order_of_lines(self, tmp_path: Path) -> None:
        text = one_case("pipeline: 0", "state: grow") + "  - name: two\n    comands: [PING]\n"
        with pytest.raises(CaseFileError) as raised:
            load(tmp_path, text)
        assert raised.value.message.endswith('own.yml:3: field "commands": missing (and 4 more)')
        found = [re.findall(r'own\.yml:(\d+): field "(\w+)"', line)[0] for line in problems(tmp_path, text)]
        assert found == [("3", "commands"), ("4", "pipeline"), ("5", "state"), ("6", "commands"), ("7", "comands")]

    def test_a_problem_of_a_template_is_reported_once(self, tmp_path: Path) -> None:
        text = one_case(GET, "matrix: {s: [1, 2, 3]}", "pipeline: 0").replace("one", "one-{s}")
        assert len(problems(tmp_path, text)) == 1

    def test_an_unused_data_set_with_placeholders_is_no_problem(self, tmp_path: Path) -> None:
        text = EXAMPLE.replace("pattern: parallel", 'pattern: "{p}"').replace("    dataset: strings-{size}B\n", "")
        assert len(load(tmp_path, text)) == 4

    def test_a_name_may_not_occur_in_two_files(self, tmp_path: Path) -> None:
        (tmp_path / "a.yml").write_text(one_case(GET))
        (tmp_path / "b.yml").write_text("# b\n" + one_case(GET))
        with pytest.raises(CaseFileError, match=r'b\.yml:4: .* "one" exists already, at .*a\.yml:3'):
            load_cases(tmp_path)

    def test_problems_of_all_files_are_reported_at_once(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / f"{name}.yml").write_text(one_case(GET, "pipeline: 0").replace("one", name))
        with pytest.raises(CaseFileError) as raised:
            load_cases(tmp_path)
        assert re.findall(r"\w\.yml:\d", raised.value.details) == ["a.yml:5", "b.yml:5"]


class TestParseCommand:
    @pytest.mark.parametrize(
        ("line", "arguments"),
        [
            ("SET  key\tvalue ", [b"SET", b"key", b"value"]),
            (r'SET k "a b\x00\xfFc\n\"\q"', [b"SET", b"k", b'a b\x00\xffc\n"q']),
            (r"SET k 'it\'s \n'", [b"SET", b"k", rb"it's \n"]),
            ('SET k ""', [b"SET", b"k", b""]),
            (r"SET k a\b", [b"SET", b"k", rb"a\b"]),
            ('SET k pre"fix"', [b"SET", b"k", b"prefix"]),
            ("SET k é", [b"SET", b"k", "é".encode()]),
            ("", []),
        ],
    )
    def test_reads_as_redis_cli(self, line: str, arguments: list[bytes]) -> None:
        assert parse_command(line) == arguments

    @pytest.mark.parametrize("line", ['GET "a', "GET 'a", 'GET "a\\"', 'GET "a"b'])
    def test_refuses_unbalanced_quotes(self, line: str) -> None:
        with pytest.raises(UsageError, match="quote"):
            parse_command(line)


def case_over(keys: Keys, dataset: Dataset) -> Case:
    return Case(name="a", group="g", client=WrittenClient(commands=["GET __key__"], keys=keys).client, dataset=dataset)


class TestScaled:
    def test_scales_data_set_and_case_alike(self) -> None:
        keys = Keys(minimum=1, maximum=10_000)
        small = scaled(
            case_over(keys, Dataset(name="d", load=["SET __key__ v"], keys=keys, expect=Expect(keys=10_003))), 0.1
        )
        assert small.dataset is not None
        assert (small.client.keys.minimum, small.client.keys.maximum) == (1, 1000)
        assert small.dataset.keys == small.client.keys
        assert small.dataset.expect.keys == 1003

    @pytest.mark.parametrize(
        ("given", "wanted"),
        [((501, 1000), (51, 100)), ((1, 2000), (1, 200)), ((1001, 2000), (101, 200)), ((7, 7), (2, 2))],
    )
    def test_a_range_keeps_its_place_in_the_loaded_one(self, given: tuple[int, int], wanted: tuple[int, int]) -> None:
        dataset = Dataset(name="d", load=["SET __key__ v"], keys=Keys(minimum=1, maximum=1000))
        small = scaled(case_over(Keys(minimum=given[0], maximum=given[1]), dataset), 0.1)
        assert (small.client.keys.minimum, small.client.keys.maximum) == wanted

    def test_at_least_one_key_stays(self) -> None:
        keys = Keys(minimum=5, maximum=14)
        small = scaled(case_over(keys, Dataset(name="d", load=["SET __key__ v"], keys=keys)), 0.001)
        assert (small.client.keys.minimum, small.client.keys.maximum) == (5, 5)

    def test_keys_that_do_not_depend_on_the_range_stay_expected(self) -> None:
        keys = Keys(minimum=1, maximum=1000)
        small = scaled(
            case_over(keys, Dataset(name="d", load=["SADD s __key__"], keys=keys, expect=Expect(keys=1))), 0.1
        )
        assert small.dataset is not None
        assert small.dataset.expect.keys == 1

    def test_what_setup_fills_is_not_scaled(self) -> None:
        case = case_over(Keys(maximum=1000), Dataset(name="d", setup=["SET key:1 v"]))
        assert scaled(case, 0.1) == case

    @pytest.mark.parametrize("factor", [0, -1, 1.5])
    def test_the_factor_is_above_0_and_at_most_1(self, factor: float) -> None:
        with pytest.raises(ValueError, match="factor"):
            scaled(core_suite()[0], factor)


class TestSelect:
    def test_without_options_all_cases_are_chosen(self) -> None:
        assert select(core_suite(), [], [], []) == core_suite()

    def test_options_narrow_and_values_of_one_widen(self) -> None:
        def names(**options: list[str]) -> list[str]:
            return [case.name for case in select(core_suite(), **options)]

        assert names(patterns=["zadd", "get-*"]) == ["get-100B", "zadd"]
        assert names(commands=["lpop"]) == ["rpush-lpop"]
        assert names(patterns=["*100*"], groups=["list"]) == ["lrange-100"]

    @pytest.mark.parametrize(
        ("options", "message", "hint"),
        [
            ({"patterns": ["get-100B", "gett-100B"]}, 'no case matches "gett-100B"', 'did you mean "get-100B"?'),
            ({"patterns": ["geo"]}, 'no case matches "geo"', "did you mean geosearch-100km?"),
            ({"commands": ["xad"]}, 'no command matches "XAD"', 'did you mean "XADD"?'),
            ({"groups": ["streams"]}, 'no group matches "streams"', 'did you mean "stream"?'),
            ({"patterns": ["get*"], "groups": ["list"]}, "no case matches all of: case get*, group list", ""),
        ],
    )
    def test_no_match_names_near_misses(self, options: dict[str, list[str]], message: str, hint: str) -> None:
        with pytest.raises(UsageError) as raised:
            select(core_suite(), **options)
        assert raised.value.message == message
        assert raised.value.hint == f"{hint} `zerolap suites list` shows all cases".strip()


class TestTypes:
    def test_the_digest_follows_what_is_measured_and_nothing_else(self, tmp_path: Path) -> None:
        case = load(tmp_path, EXAMPLE)[1]
        same = {"name": "b", "group": "h", "description": "d", "file": "f", "line": 1, "expect": Expect()}
        assert case.model_copy(update=same).digest == case.digest
        assert case.dataset is not None
        renamed = case.dataset.model_copy(update={"name": "other", "expect": Expect()})
        assert case.model_copy(update={"dataset": renamed}).digest == case.digest
        assert renamed.digest == case.dataset.digest
        larger = case.dataset.model_copy(update={"data_size": 11})
        written = WrittenClient.of(case.client)
        changes: list[dict[str, object]] = [
            {"client": written.model_copy(update={"pipeline": 1}).client},
            {"client": written.model_copy(update={"ratios": [1, 1]}).client},
            {"dataset": larger},
        ]
        digests = {case.model_copy(update=change).digest for change in changes}
        assert len(digests | {case.digest}) == 4

    @pytest.mark.parametrize(
        ("bound", "rate", "holds"),
        [
            (">= 0.99", 0.99, True),
            (">= 0.99", 0.98, False),
            ("<=0.5", 0.5, True),
            ("> .5", 0.5, False),
            (None, 0, True),
        ],
    )
    def test_a_hit_rate_is_held_against_its_bound(self, bound: str | None, rate: float, holds: bool) -> None:
        assert Expect(hit_rate=bound).hit_rate_holds(rate) is holds

    def test_a_case_survives_json(self) -> None:
        for case in core_suite():
            assert Case.model_validate_json(case.model_dump_json()) == case

    def test_the_schema_names_every_field_and_refuses_others(self) -> None:
        schema = json_schema()
        case = schema["$defs"]["CaseTemplate"]
        assert {"matrix", "name", "commands", "dataset", "expect", "config"} <= set(case["properties"])
        assert case["required"] == ["name", "commands"]
        assert all(model["additionalProperties"] is False for model in [schema, *schema["$defs"].values()])
        assert case["properties"]["pipeline"]["anyOf"][0] == {"type": "integer", "minimum": 1}
        assert "null" not in str(schema["$defs"]["DatasetEntry"])


class Connection:
    """Speaks RESP2 with the server, so that a reply's type is seen as it is on the wire."""

    TYPES: ClassVar = {b"+": "status", b"-": "error", b":": "integer", b"$": "bulk", b"*": "array"}

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._stream = self._socket.makefile("rb")

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def ask(self, commands: list[list[bytes]]) -> list[tuple[str, Any]]:
        request = b"".join(
            b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in command)
            for command in commands
        )
        self._socket.sendall(request)
        return [self._reply() for _ in commands]

    def _reply(self) -> tuple[str, Any]:
        line = self._stream.readline()
        kind = self.TYPES[line[:1]]
        if kind == "bulk":
            return (kind, self._stream.read(int(line[1:]) + 2)[:-2]) if int(line[1:]) >= 0 else ("null", None)
        if kind == "array":
            return (kind, [self._reply() for _ in range(int(line[1:]))]) if int(line[1:]) >= 0 else ("null", None)
        return kind, int(line[1:]) if kind == "integer" else line[1:-2]

    def stat(self, name: str) -> int:
        ((_, info),) = self.ask([[b"INFO", b"stats"]])
        return int(re.findall(rb"%b:(\d+)" % name.encode(), info)[0])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no redis-server on the PATH")
    directory = tmp_path_factory.mktemp("server")
    path = directory / "socket"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(directory)]
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as process:
        try:
            await_server(path)
            yield path
        finally:
            process.kill()


def await_server(path: Path) -> None:
    def answers() -> bool:
        try:
            Connection(path).close()
        except OSError:
            return False
        return True

    wait_until(answers)


@pytest.fixture
def connection(server: Path) -> Iterator[Connection]:
    connection = Connection(server)
    connection.ask([[b"FLUSHALL"], [b"CONFIG", b"RESETSTAT"]])
    yield connection
    connection.close()


def filled(line: str, keys: Iterator[str], data_size: int) -> list[bytes]:
    """The command as the load generator sends it."""
    arguments = []
    for argument in parse_command(line):
        if argument == b"__data__":
            arguments.append(b"x" * data_size)
        else:
            arguments.append(argument.replace(b"__key__", next(keys).encode()) if b"__key__" in argument else argument)
    return arguments


def fill(connection: Connection, case: Case) -> None:
    """Set up and load as the lab does, in the order that the format states."""
    dataset = case.dataset
    commands = []
    if dataset is not None:
        commands += [parse_command(line) for line in dataset.setup]
        for line in dataset.load:
            numbers = range(dataset.keys.minimum, dataset.keys.maximum + 1)
            keys = (f"{dataset.keys.prefix}{number}" for number in numbers)
            commands += [filled(line, keys, dataset.data_size) for _ in numbers]
    commands += [parse_command(line) for line in case.setup]
    for start in range(0, len(commands), 500):
        kinds = {kind for kind, _ in connection.ask(commands[start : start + 500])}
        assert "error" not in kinds
        if dataset is not None and dataset.expect.reply is not None:
            assert kinds == {dataset.expect.reply}


def drawn(keys: Keys, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    while True:
        yield f"{keys.prefix}{draw.randint(keys.minimum, keys.maximum)}"


ENCODINGS = {
    "get-100B": ("string:1", "raw"),
    "hset": ("user:1", "listpack"),
    "hgetall-20-fields": ("user:1", "listpack"),
    "rpush-lpop": ("queue", "quicklist"),
    "lrange-100": ("list:1", "quicklist"),
    "sismember": ("members", "hashtable"),
    "zadd": ("leaderboard", "skiplist"),
    "zrange-100-withscores": ("ranking", "listpack"),
    "geosearch-100km": ("places", "skiplist"),
    "set-ex-100B": ("session:1", "raw"),
    "eval": ("counter:1", "int"),
}


class TestCoreSuite:
    @pytest.mark.parametrize("factor", [1, 0.1])
    @pytest.mark.parametrize("case", core_suite(), ids=lambda case: case.name)
    def test_what_a_case_expects_holds_on_a_real_server(
        self, case: Case, factor: float, connection: Connection
    ) -> None:
        case = scaled(case, factor)
        fill(connection, case)
        ((_, keys_before),) = connection.ask([[b"DBSIZE"]])
        if case.dataset is not None:
            assert keys_before == case.dataset.expect.keys
        hits, misses = connection.stat("keyspace_hits"), connection.stat("keyspace_misses")
        client = case.client
        keys = drawn(client.keys, seed=1)
        cycle = [command.line for command in client.sent for _ in range(command.ratio)]
        replies = []
        for _ in range(150):
            requests = [filled(cycle[index % len(cycle)], keys, client.data_size) for index in range(client.pipeline)]
            replies += connection.ask(requests)
        assert [value for kind, value in replies if kind == "error"] == []
        assert case.expect.reply is None or {kind for kind, _ in replies} == {case.expect.reply}
        if case.expect.hit_rate is not None:
            hits, misses = connection.stat("keyspace_hits") - hits, connection.stat("keyspace_misses") - misses
            assert case.expect.hit_rate_holds(hits / (hits + misses))
        assert case.expect.hit_rate_holds(sum(value not in (None, []) for _, value in replies) / len(replies))
        if case.state == "stable":
            assert connection.ask([[b"DBSIZE"]]) == [("integer", keys_before)]
        if case.name in ENCODINGS:
            key, encoding = ENCODINGS[case.name]
            assert connection.ask([[b"OBJECT", b"ENCODING", key.encode()]]) == [("bulk", encoding.encode())]

    def test_sizes_are_as_the_descriptions_say(self, connection: Connection) -> None:
        def mean(name: str, command: str) -> float:
            connection.ask([[b"FLUSHALL"]])
            (case,) = select(core_suite(), [name])
            fill(connection, case)
            keys = drawn(case.client.keys, seed=2)
            values = [value for _, value in connection.ask([filled(command, keys, 0) for _ in range(500)])]
            counts = [len(value) if isinstance(value, list) else value for value in values]
            assert all(isinstance(count, int) for count in counts)
            return statistics.fmean(counts)

        assert mean("hgetall-20-fields", "HGETALL __key__") == 40
        assert mean("lrange-100", "LRANGE __key__ 0 -1") == 100
        assert mean("rpush-lpop", "LLEN queue") == 1000
        assert mean("sismember", "SCARD members") == 16_000
        assert mean("zadd", "ZCARD leaderboard") == 16_000
        assert mean("zrange-100-withscores", "ZRANGE ranking 0 -1 WITHSCORES") == 200
        geosearch = select(core_suite(), ["geosearch-100km"])[0].client.commands[0].line
        assert 38 < mean("geosearch-100km", geosearch) < 44

    def test_loads_are_small(self) -> None:
        for case in core_suite():
            if case.dataset is not None:
                assert case.dataset.keys.count * len(case.dataset.load) <= 20_000

    def test_every_case_says_what_it_exercises(self) -> None:
        for case in core_suite():
            assert re.fullmatch(r"[A-Z].+\.", case.description), case.name


def test_the_suite_is_part_of_the_package() -> None:
    assert (resources.files("zerolap.cases") / "suites" / "core.yml").is_file()


def test_the_documented_example_works(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "cases.md").read_text()
    first, *_ = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    assert [case.name for case in load(tmp_path, first)] == ["get-100B-own", "get-1000B-own", "session-refresh"]


def test_the_documented_fields_are_all_fields() -> None:
    page = (Path(__file__).parent.parent / "docs" / "cases.md").read_text()
    documented = set(re.findall(r"^\| `([a-z_.]+)`", page, flags=re.MULTILINE))
    schema = json_schema()
    for model in schema["$defs"].values():
        assert set(model["properties"]) <= {name.rpartition(".")[2] for name in documented}
