"""What suites of many versions need of case files: matrices in parts, data sets by value, commands that may lack."""

from pathlib import Path
from typing import cast

import pytest

from zerolap.cases import case_file_of, json_schema, load_cases
from zerolap.lab.selection import select_possible
from zerolap.records import Abilities, Case, CaseFileError
from zerolap.server import CommandRefused, RunningServer, known_commands
from zerolap.server.ability_queries import command_names

DATASETS = """
group: some
datasets:
  strings-{size}B-{kind}:
    load: ["SET __key__ __data__"]
    keys: {maximum: 9}
    data_size: "{size}"
  plain:
    setup: [SET one 1]
cases:
"""
KNOWN = Abilities(
    commands=frozenset({"GET", "SET", "XINFO", "XINFO STREAM", "CLIENT", "EXPIRETIME"}), settings=frozenset({"hz"})
)


def load(directory: Path, text: str) -> list[Case]:
    (directory / "some.yml").write_text(text)
    return load_cases(directory / "some.yml")


def test_a_list_of_matrices_has_the_points_of_each(tmp_path: Path) -> None:
    cases = load(
        tmp_path,
        f"""{DATASETS}
  - name: get-{{size}}
    matrix:
      - {{size: 10, encoding: embstr}}
      - {{size: [100, 1000], encoding: raw}}
    dataset: strings-{{size}}B-{{encoding}}
    commands: [GET __key__]
    expect: {{encoding: ["{{encoding}}", int]}}
""",
    )
    assert [(case.name, case.client.data_size, case.expect.encoding) for case in cases] == [
        ("get-10", 10, ["embstr", "int"]),
        ("get-100", 100, ["raw", "int"]),
        ("get-1000", 1000, ["raw", "int"]),
    ]
    for case in cases:
        (tmp_path / "shown.yml").write_text(case_file_of(case))
        (again,) = load_cases(tmp_path / "shown.yml")
        assert again.digest == case.digest
        assert again.expect == case.expect


@pytest.mark.parametrize(
    ("name", "loaded"), [("strings-70B-raw", 70), ("plain", None), ("strings-{bytes}B-raw", 5), ("{which}", None)]
)
def test_a_data_set_is_named_with_its_values(tmp_path: Path, name: str, loaded: int | None) -> None:
    (case,) = load(
        tmp_path,
        f"""{DATASETS}
  - name: get-{{bytes}}-{{which}}
    matrix: {{bytes: [5], which: [plain]}}
    dataset: "{name}"
    commands: [GET key]
""",
    )
    assert case.dataset is not None
    assert case.dataset.data_size == (32 if loaded is None else loaded)
    assert "{" not in case.dataset.name


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ("dataset: strings-70B", 'no data set "strings-70B"'),
        ("matrix: []", 'field "matrix": expected at least one entry'),
        ("matrix: [7]", 'field "matrix[0]": expected fields with values'),
        ("matrix: [{a: []}]", "expected at least one entry; found none"),
        ("expect: {encoding: rew}", "expected one of raw, embstr, int, "),
    ],
)
def test_what_is_wrong_with_them_is_named(tmp_path: Path, fields: str, error: str) -> None:
    with pytest.raises(CaseFileError) as raised:
        load(tmp_path, f"{DATASETS}\n  - name: get\n    commands: [GET key]\n    {fields}\n")
    assert error in raised.value.message


def test_only_a_case_expects_an_encoding(tmp_path: Path) -> None:
    text = DATASETS.replace("setup: [SET one 1]", "setup: [SET one 1]\n    expect: {encoding: raw}")
    with pytest.raises(CaseFileError, match="only a case expects an encoding"):
        load(tmp_path, f"{text}\n  - {{name: get, commands: [GET key], dataset: plain}}\n")


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("commands: [GET key]", None),
        ("commands: [XINFO STREAM key]", None),
        # Of a container whose subcommands the server does not tell, all are sent.
        ("commands: [CLIENT NO-TOUCH on]", None),
        ("commands: [GET key], needs: [expiretime]", None),
        ("commands: [GET key], config: {hz: 10}", None),
        ("commands: [HGET key field]", "HGET"),
        ("commands: [XINFO GROUPS key]", "XINFO GROUPS"),
        ("commands: [FUNCTION STATS]", "FUNCTION STATS"),
        ("commands: [GET key], setup: [HSET key field value]", "HSET"),
        ("commands: [GET key], needs: [WAITAOF]", "WAITAOF"),
        ("commands: [GET key], companions: [{commands: [BLPOP key 0]}]", "BLPOP"),
        ("commands: [GET key], config: {hertz: 10}", "hertz"),
    ],
)
def test_a_case_is_skipped_for_a_server_that_lacks_what_it_needs(tmp_path: Path, case: str, reason: str | None) -> None:
    cases = load(tmp_path, f"group: some\nunknown_commands: skip\ncases: [{{name: one, {case}}}]")
    for sends_all in (False, True):
        selection = select_possible(cases, KNOWN, quick=True, sends_all=sends_all)
        texts = [skipped.text for skipped in selection.skipped]
        assert len(texts) == (reason is not None)
        assert all(str(reason) in text for text in texts)
    sent = load(tmp_path, f"group: some\ncases: [{{name: one, {case}}}]")
    if "companions" not in case:
        assert select_possible(sent, KNOWN, quick=True).skipped == []


def test_the_schema_knows_the_fields() -> None:
    schema = json_schema()
    assert schema["properties"]["unknown_commands"]["enum"] == ["send", "skip"]
    template = schema["$defs"]["CaseTemplate"]["properties"]
    assert {"needs", "matrix"} <= set(template)
    assert [form["type"] for form in template["matrix"]["anyOf"]] == ["object", "array"]
    assert "listpack" in str(schema["$defs"]["Expect"]["properties"]["encoding"])


class AskedServer:
    """Answers as a server before Redis 7, whose COMMAND has no subcommands."""

    def command(self, *words: str) -> list[object]:
        match words:
            case ["COMMAND"]:
                return [[name, 2, [b"readonly"], 1, 1, 1, []] for name in (b"get", b"xinfo", b"object")]
            case ["XINFO", "HELP"]:
                return [
                    b"XINFO <subcommand> [<arg> ...]. Subcommands are:",
                    b"CONSUMERS <key> <groupname>",
                    b"    Show consumers of <groupname>.",
                    b"STREAM <key> [FULL [COUNT <count>]",
                    b"HELP",
                    b"    Prints this help.",
                ]
        raise CommandRefused("ERR unknown")


def test_subcommands_of_old_servers_are_those_of_their_help() -> None:
    names = command_names(cast(RunningServer, AskedServer()))
    assert names == ["GET", "XINFO", "XINFO CONSUMERS", "XINFO HELP", "XINFO STREAM", "OBJECT"]
    assert [known.group for known in known_commands(cast(RunningServer, AskedServer()))] == [""] * len(names)
