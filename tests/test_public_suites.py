"""Suites of the public format: what the reader makes of them, sound or faulty, and how they are made smaller."""

import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

from zerolap.cases import load_cases, scaled
from zerolap.cases._arguments import read_client
from zerolap.cases._document import read_document
from zerolap.records import Case, CaseFileError, Keys, parse_command

SUITES = os.environ.get("ZEROLAP_PUBLIC_SUITES") or None
needs_suites = pytest.mark.skipif(SUITES is None, reason="ZEROLAP_PUBLIC_SUITES is not set")

PRELOAD = "--key-minimum 1 --key-maximum 1000 --key-pattern P:P --ratio 1:0 -n allkeys -c 1 -t 1 --key-prefix k-"
CLIENT = "--key-minimum 1 --key-maximum 1000 --ratio 0:1 --key-prefix k- -c 5 -t 2 --test-time 60 --pipeline 3"
SUITE = f"""\
version: 0.4
name: one
description: reads
  strings
dbconfig:
  configuration-parameters:
    save: '""'
  check:
    keyspacelen: 1000
  preload_tool:
    tool: memtier_benchmark
    arguments: {PRELOAD}
  resources:
    requests:
      memory: 1g
  dataset_name: thousand
tested-groups:
- string
tested-commands:
- get
redis-topologies:
- oss-standalone
build-variants: [dockerhub]
clientconfig:
  run_image: image
  tool: memtier_benchmark
  arguments: {CLIENT}
  resources: {{requests: {{memory: 2g}}}}
priority: 7
"""


def suite(*changes: tuple[str, str]) -> str:
    """The sound suite with text replaced that must be there once."""
    text = SUITE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def read(directory: Path, *changes: tuple[str, str]) -> Case:
    (directory / "one.yml").write_text(suite(*changes))
    [case] = load_cases(directory / "one.yml")
    assert case.model_dump_json()
    assert case.digest
    return case


def warnings(case: Case) -> list[str]:
    """The warnings, each with its line and without its file, which it must name."""
    assert all(warning.startswith(f"{case.file}:") for warning in case.warnings)
    return [warning.removeprefix(f"{case.file}:") for warning in case.warnings]


def client(arguments: str) -> tuple[str, str]:
    """The change that gives the client other arguments."""
    return CLIENT, arguments


class TestReading:
    def test_a_sound_suite(self, tmp_path: Path) -> None:
        case = read(tmp_path)
        assert warnings(case) == []
        assert (case.name, case.description, case.group, case.priority) == ("one", "reads strings", "string", 7)
        assert case.cannot_run is None
        assert case.verbs == ["GET"]
        assert (case.client.connections, case.client.pipeline) == (10, 3)
        assert case.client.keys == Keys(prefix="k-", minimum=1, maximum=1000)
        assert case.config == {"save": '""'}
        assert case.topologies == ["oss-standalone"]
        assert case.memory_bytes == 1024**3
        assert case.dataset is not None
        assert case.dataset.name == "thousand"
        assert case.dataset.expect.keys == 1000
        assert [one.loading_requests for one in case.dataset.clients] == [1000]

    def test_preloading_for_a_time_fills_each_key_once(self, tmp_path: Path) -> None:
        case = read(tmp_path, ("-n allkeys -c", "--test-time 30 -c"))
        assert case.dataset is not None
        assert [one.loading_requests for one in case.dataset.clients] == [1000]

    def test_several_clients(self, tmp_path: Path) -> None:
        both = """clientconfigs:
- {tool: memtier_benchmark, arguments: "--ratio 0:1"}
- {tool: memtier_benchmark, arguments: "--command 'DEL __key__'"}
"""
        (tmp_path / "one.yml").write_text(SUITE[: SUITE.index("clientconfig:")] + both)
        [case] = load_cases(tmp_path)
        assert warnings(case) == []
        assert case.verbs == ["GET"]
        assert [companion.sent[0].name for companion in case.companions] == ["DEL"]

    def test_what_only_listens_is_not_what_is_measured(self, tmp_path: Path) -> None:
        both = """clientconfigs:
- {tool: pubsub-sub-bench, arguments: "-clients 5 -mode subscribe"}
- {tool: memtier_benchmark, arguments: "--command 'GET __key__'"}
"""
        (tmp_path / "one.yml").write_text(SUITE[: SUITE.index("clientconfig:")] + both)
        [case] = load_cases(tmp_path)
        assert case.verbs == ["GET"]
        assert [companion.listeners for companion in case.companions] == [5]
        alone = both.replace(both.splitlines()[2] + "\n", "")
        (tmp_path / "one.yml").write_text(SUITE[: SUITE.index("clientconfig:")] + alone)
        [case] = load_cases(tmp_path)
        assert case.cannot_run == ("arguments", "no client sends requests")

    def test_a_data_set_to_fetch_is_made_instead(self, tmp_path: Path) -> None:
        case = read(tmp_path, ("  check:\n", "  dataset: https://example.com/geo.rdb\n  check:\n"))
        assert case.dataset is not None
        assert case.dataset.generator is not None
        assert [w for w in warnings(case) if "https://example.com/geo.rdb" in w and w.startswith("8: ")]

    @pytest.mark.parametrize(
        ("text", "amount"),
        [("2g", 2 * 1024**3), ("1.5Gi", 1536 * 1024**2), ("100mb", 100 * 1024**2), ("4096", 4096), ("3 KB", 3072)],
    )
    def test_amounts_of_memory(self, tmp_path: Path, text: str, amount: int) -> None:
        case = read(tmp_path, ("memory: 1g", f"memory: {text}"))
        assert (case.memory_bytes, warnings(case)) == (amount, [])

    def test_both_formats_in_a_directory(self, tmp_path: Path) -> None:
        (tmp_path / "one.yml").write_text(SUITE)
        (tmp_path / "own.yml").write_text("group: g\ncases:\n  - {name: two, commands: [PING]}\n")
        (tmp_path / "defaults.yml").write_text("version: 0.1\nexporter: {}\n")
        assert [case.name for case in load_cases(tmp_path)] == ["one", "two"]


class TestInitCommands:
    def lines(self, directory: Path, value: object, name: str = "init_commands") -> list[list[bytes]]:
        given = yaml.safe_dump({name: value}, default_flow_style=True, width=10**6).strip()[1:-1]
        case = read(directory, ("  check:\n", f"  {given}\n  check:\n"))
        assert warnings(case) == []
        assert case.dataset is not None
        return [parse_command(line) for line in case.dataset.after_load]

    def test_as_a_text(self, tmp_path: Path) -> None:
        assert self.lines(tmp_path, "SET a b\n\nSET c d\n") == [[b"SET", b"a", b"b"], [b"SET", b"c", b"d"]]

    def test_as_a_list_of_texts(self, tmp_path: Path) -> None:
        found = self.lines(tmp_path, ["SET a 'b'", "EVAL \"return 'x y'\" 0"])
        assert found == [[b"SET", b"a", b"'b'"], [b"EVAL", b"return 'x y'", b"0"]]

    def test_as_a_list_of_lists(self, tmp_path: Path) -> None:
        words = ["SET", "", 'a"b', "\\x41", "é\r\n\t", "'", 5, "__key__", "a b"]
        assert self.lines(tmp_path, [words, ["PING"]]) == [[str(word).encode() for word in words], [b"PING"]]

    def test_thousands(self, tmp_path: Path) -> None:
        found = self.lines(tmp_path, [f"SADD s {number}" for number in range(5000)])
        assert len(found) == 5000
        assert found[-1] == [b"SADD", b"s", b"4999"]

    def test_a_script_of_several_lines(self, tmp_path: Path) -> None:
        script = "local a = \"b\"\nfor i = 1, 2 do\n  redis.call('SET', i, a)\nend"
        assert self.lines(tmp_path, script, "init_lua") == [[b"EVAL", script.encode(), b"0"]]

    def test_what_is_no_command_is_left_out(self, tmp_path: Path) -> None:
        lines = ["5", "{a: 1}", "[SET, k, yes]", "[SET, [k]]", "'SET \"a'", '""', "[]", "[SET, k, 1.5]"]
        text = "  init_commands:\n" + "".join(f"  - {line}\n" for line in lines)
        case = read(tmp_path, ("  check:\n", f"{text}  check:\n"))
        assert case.dataset is not None
        assert case.dataset.after_load == ["SET k 1.5"]
        places = [warning.split(": ")[0] for warning in warnings(case)]
        assert places == ["9", "10", "11", "12", "13"]


FAULTS = [
    ("misspelt top field", ("tested-groups:", "tested-group:"), 17, "unknown field", True),
    ("misspelt field", ("  dataset_name:", "  datasetname:"), 16, "datasetname", True),
    ("number as a setting", ("save: '\"\"'", "io-threads: 4"), 7, "expected text|settings are text; found 4", True),
    ("boolean as a setting", ("save: '\"\"'", "appendonly: no"), 7, "settings are text; found false", True),
    ("quotes in a setting", ("save: '\"\"'", "save: '\"'"), 7, "the setting is left out", True),
    ("list as a setting", ("save: '\"\"'", "save: [1, 2]"), 7, "the setting is left out", True),
    ("zero byte in a setting", ("save: '\"\"'", 'save: "a\\0b"'), 7, "the setting is left out", True),
    ("nothing as a setting", ("save: '\"\"'", "save:"), 7, "the value is missing", True),
    ("tag that no client sends", ("- get\n", "- hget\n"), 20, "no client sends `hget`", True),
    ("name unlike the file", ("name: one\n", "name: other\n"), 2, "the file is called `one`", True),
    ("name that is no text", ("name: one\n", "name: [one]\n"), 2, "expected text; found a list", True),
    ("number as text", ("keyspacelen: 1000", 'keyspacelen: "1000"'), 9, "found the text", True),
    ("number below 0", ("keyspacelen: 1000", "keyspacelen: -1"), 9, "expected a whole number; found -1", False),
    ("digit that is no number", ("keyspacelen: 1000", "keyspacelen: ²"), 9, "expected a whole number", False),
    ("endless number", ("keyspacelen: 1000", "keyspacelen: " + "9" * 5000), 9, "expected a whole number", False),
    ("list in place of fields", ("    keyspacelen: 1000", "    - 1000"), 8, "expected fields with values", False),
    ("amount of memory", ("memory: 1g", "memory: much"), 15, "expected an amount of memory", True),
    ("digit in an amount", ("memory: 1g", "memory: 1.²g"), 15, "expected an amount of memory", True),
    ("text in place of a list", ("tested-groups:\n- string", "tested-groups: string\n"), 17, "list of texts", True),
    ("given twice", ("priority: 7", "priority: 7\npriority: 8"), 30, "given twice", True),
    ("tool of the preload", ("tool: memtier_benchmark\n    arg", "tool: x\n    arg"), 11, "is loaded", False),
    ("arguments of the preload", (PRELOAD, "--no-such 1"), 12, "there is no argument --no-such", False),
    ("unknown placeholder", client("--command 'GET __kye__'"), 27, "`__kye__` is no placeholder", True),
    ("arguments as a list", client("[--ratio, '0:1']"), 27, "expected text; found a list", False),
    ("misspelt data set", ("  preload_tool:", "  preload_tol:"), 10, 'unknown field', False),
    ("misspelt check", ("    keyspacelen:", "    keyspacelength:"), 9, "unknown field", False),
    ("unknown part of the data", ("  check:\n", "  warm_keys: 3\n  check:\n"), 8, "unknown field", False),
    ("misspelt database", ("dbconfig:\n", "dbconfigs:\n"), 5, "unknown field", False),
    ("misspelt arguments", ("  arguments: " + CLIENT, "  argument: " + CLIENT), 27, "unknown field", False),
    ("unbalanced quotes", client("--command 'GET __key__"), 27, "cannot be split", False),
    ("unbalanced quotes of a command", client("--command 'GET \"a'"), 27, "never closed", False),
    ("unknown argument", client("--no-such 1"), 27, "there is no argument --no-such", False),
    ("nothing to send", client("--ratio 0:0"), 27, "not both 0", False),
    ("help in place of requests", client("--help"), 27, "ask for a text", False),
    ("zero byte in arguments", client('"--command \\"GET a\\0\\""'), 27, "zero byte", False),
    ("file that is not there", client("--monitor-input /no/such"), 27, "No such file", False),
    ("unknown tool", ("  tool: memtier_benchmark\n  arg", "  tool: x\n  arg"), 26, "`x` is a program", False),
    ("number of another tool", ("  tool: memtier_benchmark\n  arguments: " + CLIENT,
     "  tool: pubsub-sub-bench\n  arguments: -max-number-channels-per-subscriber x"), 27, "number", False),
    ("clientconfig without anything", ("clientconfig:\n", "other:\n"), 1, "no tool is given", False),
    ("no clients", ("clientconfig:\n", "clientconfigs: []\nother:\n"), 24, "no client sends", False),
    ("text in place of clients", ("clientconfig:\n", "clientconfigs: a\nother:\n"), 24, "expected a list", False),
    ("text in place of a client", ("clientconfig:\n", "clientconfig: a\nother:\n"), 24, "fields with values", False),
]  # fmt: skip


class TestMergedFields:
    """Suites are read as PyYAML reads them, with `<<`."""

    def test_a_data_set_of_another_mapping_is_loaded(self, tmp_path: Path) -> None:
        whole = read(tmp_path)
        parts = SUITE.split("dbconfig:\n")[1].split("tested-groups:", maxsplit=1)[0]
        document = SUITE.replace(f"dbconfig:\n{parts}", f"x-base: &base\n{parts}dbconfig:\n  <<: *base\n")
        (tmp_path / "one.yml").write_text(document)
        [merged] = load_cases(tmp_path / "one.yml")
        assert (merged.dataset, merged.config, merged.digest) == (whole.dataset, whole.config, whole.digest)
        assert warnings(merged) == ['5: field "x-base": unknown field']
        assert merged.cannot_run is None

    @pytest.mark.parametrize(
        "text",
        [
            "a: &a {x: 1, y: {z: 2}}\nb: {<<: *a, y: 3}\nc: {y: 3, <<: *a}",
            "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, x: 3}\nd: {e: {<<: *b}}",
            "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b]}\nd: {<<: [*b, *a], z: 5}",
            "a: &a {x: 1}\nb: &b {x: 2}\nc:\n  <<: *a\n  <<: *b",
            "a: {'<<': 4, x: 1}\nb: {x: 1, x: 2}",
        ],
    )
    def test_all_forms_are_read_as_pyyaml_reads_them(self, text: str) -> None:
        assert read_document(text, "f").data == yaml.safe_load(text)

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("a: &a {<<: *a}", 'f:1: field "a.<<": refers to itself'),
            ("a: &a {<<: &b {<<: *a}}", 'f:1: field "a.<<": refers to itself'),
            ("a: {<<: 5}", 'f:1: field "a.<<": expected fields to merge, or a list of such'),
            ("a: {<<: [{x: 1}, 5]}", 'f:1: field "a.<<": expected fields to merge, or a list of such'),
        ],
    )
    def test_what_cannot_be_merged_is_named(self, text: str, problem: str) -> None:
        assert [str(found) for found in read_document(text, "f").problems] == [problem]

    def test_what_is_merged_is_bounded(self) -> None:
        many = ", ".join(f"k{number}: 1" for number in range(2000))
        text = f"a: &a {{{many}}}\n" + "".join(f"b{number}: {{<<: *a}}\n" for number in range(2000))
        document = read_document(text, "f")
        assert [str(problem) for problem in document.problems] == ["f:1: it holds more than 1,000,000 values"]
        assert document.values < 1_010_000

    def test_merges_of_merges_take_no_time_that_multiplies(self) -> None:
        text = "a0: &a0 {x: 1}\n"
        text += "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 60))
        assert read_document(text, "f").data["a59"] == {"x": 1}


class TestFaults:
    @pytest.mark.parametrize(
        ("change", "line", "text", "runs"), [one[1:] for one in FAULTS], ids=[one[0] for one in FAULTS]
    )
    def test_each_is_reported_with_its_line(
        self, tmp_path: Path, change: tuple[str, str], line: int, text: str, runs: bool
    ) -> None:
        case = read(tmp_path, change)
        matching = [warning for warning in warnings(case) if re.search(text, warning)]
        assert [warning.split(":")[0] for warning in matching] == [str(line)], case.warnings
        assert (case.cannot_run is None) is runs
        assert all(len(warning) < 1000 for warning in case.warnings)

    def test_settings_are_taken_as_they_were_meant(self, tmp_path: Path) -> None:
        case = read(tmp_path, ("save: '\"\"'", "appendonly: no\n    io-threads: 4\n    list: [1]\n    none:"))
        assert case.config == {"appendonly": "no", "io-threads": "4"}

    def test_nested_quotes(self, tmp_path: Path) -> None:
        case = read(tmp_path, client("""'"--command" "EVAL \\"return 1\\" 0"'"""), ("- get\n", "- eval\n"))
        assert warnings(case) == []
        assert case.verbs == ["EVAL"]
        [command] = case.client.commands
        assert parse_command(command.line) == [b"EVAL", b"return 1", b"0"]

    def test_a_copy_keeps_its_own_name(self, tmp_path: Path) -> None:
        for name in ("a-copy", "one", "z-copy"):
            (tmp_path / f"{name}.yml").write_text(SUITE)
        cases = load_cases(tmp_path)
        assert [case.name for case in cases] == ["a-copy", "one", "z-copy"]
        assert [len(case.warnings) for case in cases] == [2, 0, 2]

    def test_two_files_of_one_name(self, tmp_path: Path) -> None:
        (tmp_path / "deep").mkdir()
        for place in (tmp_path, tmp_path / "deep"):
            (place / "one.yml").write_text(SUITE)
        with pytest.raises(CaseFileError, match="exists already"):
            load_cases(tmp_path)

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (b"clientconfig: \xff", "not UTF-8"),
            (b"clientconfig: {", "not valid YAML"),
            (b"clientconfig: " + b"[" * 3000 + b"]" * 3000, "nested too deeply"),
        ],
    )
    def test_a_file_that_cannot_be_read_is_an_error(self, tmp_path: Path, content: bytes, text: str) -> None:
        (tmp_path / "one.yml").write_bytes(content)
        with pytest.raises(CaseFileError, match=text):
            load_cases(tmp_path)


class TestScaling:
    def large(self, directory: Path) -> Case:
        loaded = PRELOAD.replace("--key-maximum 1000", "--key-maximum 1000000")
        asked = CLIENT.replace("--key-minimum 1 --key-maximum 1000", "--key-minimum 500001 --key-maximum 600000")
        return read(directory, (PRELOAD, loaded), client(asked))

    def test_small_data_sets_stay(self, tmp_path: Path) -> None:
        case = read(tmp_path)
        assert case.quick_factor == 1.0
        smaller = scaled(case, 1.0)
        assert smaller.client == case.client
        assert smaller.dataset is not None
        assert case.dataset is not None
        assert smaller.dataset.clients == case.dataset.clients

    def test_ranges_keep_their_place_and_requests_shrink(self, tmp_path: Path) -> None:
        case = self.large(tmp_path)
        assert case.quick_factor == pytest.approx(0.02)
        smaller = scaled(case, 0.02)
        assert smaller.dataset is not None
        [loading] = smaller.dataset.clients
        assert (loading.key_minimum, loading.key_maximum, loading.loading_requests) == (1, 20_000, 20_000)
        assert (smaller.client.key_minimum, smaller.client.key_maximum) == (10_001, 12_000)
        assert "12000" in smaller.client.slice_arguments()
        # What is sent at last is what counts.
        assert read_client(smaller.client.slice_arguments()).key_maximum == 12_000

    def test_a_range_never_becomes_empty(self, tmp_path: Path) -> None:
        case = read(tmp_path, client(CLIENT.replace("--key-maximum 1000", "--key-maximum 1")))
        smaller = scaled(case, 0.001)
        assert (smaller.client.key_minimum, smaller.client.key_maximum) == (1, 1)

    def test_without_a_data_set_nothing_changes(self, tmp_path: Path) -> None:
        (tmp_path / "one.yml").write_text(
            "name: one\nclientconfig: {tool: memtier_benchmark, arguments: --ratio 1:0 -n 10}\n"
        )
        [case] = load_cases(tmp_path)
        assert case.quick_factor == 1.0
        assert scaled(case, 0.1) == case

    def test_the_generator_shrinks(self, tmp_path: Path) -> None:
        case = read(tmp_path, ("  check:\n", "  dataset: https://example.com/geo.rdb\n  check:\n"))
        factor = case.quick_factor
        assert 0 < factor < 0.1
        smaller = scaled(case, factor)
        assert smaller.dataset is not None
        assert smaller.dataset.generator is not None
        assert 1000 < smaller.dataset.generator.count < 100_000

    @pytest.mark.parametrize("factor", [0.0, -1.0, 1.5])
    def test_a_factor_out_of_range(self, tmp_path: Path, factor: float) -> None:
        with pytest.raises(ValueError, match="factor"):
            scaled(read(tmp_path), factor)


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return load_cases(Path(SUITES or ""))


@needs_suites
class TestAllPublicSuites:
    def test_each_is_read(self, cases: list[Case]) -> None:
        files = [path for path in Path(SUITES or "").glob("*.yml") if "clientconfig" in path.read_text()]
        assert len(cases) == len(files)
        assert len({case.name for case in cases}) == len(cases)

    def test_client_arguments_survive_a_round_trip(self, cases: list[Case]) -> None:
        for case in cases:
            loading = case.dataset.clients if case.dataset is not None else []
            assert case.is_public
            for one in (case.client, *case.companions, *loading):
                again = read_client(one.arguments())
                assert again.model_copy(update={"warnings": one.warnings}) == one, case.name

    def test_each_can_be_made_smaller(self, cases: list[Case]) -> None:
        for case in cases:
            smaller = scaled(case, case.quick_factor)
            assert smaller.client.key_minimum <= smaller.client.key_maximum
            read_client(smaller.client.slice_arguments())

    def test_init_commands_are_sent_as_they_stand(self, cases: list[Case]) -> None:
        by_name = {case.name: case for case in cases}
        for path in Path(SUITES or "").glob("*.yml"):
            document = yaml.safe_load(path.read_text())
            given = document.get("dbconfig", {}).get("init_commands") if "clientconfig" in document else None
            if not isinstance(given, list):
                continue
            dataset = by_name[document["name"]].dataset
            assert dataset is not None
            sent = [parse_command(line) for line in dataset.after_load]
            for item, words in zip(given, sent, strict=False):
                plain = [str(word) for word in item] if isinstance(item, list) else shlex.split(item)
                if isinstance(item, list) or '"' in item:
                    assert words == [word.encode() for word in plain], path.name
