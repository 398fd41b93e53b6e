"""Which cases a change can affect: in doubt all of them."""

from pathlib import Path

import pytest
from simulated_fleet import made_up_cases
from toy_server import ToySource

from zerolap.build import CommandFiles, resolve
from zerolap.build.command_files import MOST_NAMES
from zerolap.records import Case, Changes, FileChange, RevisionSource
from zerolap.records.client import WrittenClient
from zerolap.triggers.affected import OWN_FILES, affected_cases

STRING, HASH, STREAM, GEO = (
    made_up_cases(1, group)[0].model_copy(update={"name": group}) for group in ("string", "hash", "stream", "geo")
)
SORTED_SET = STRING.model_copy(update={"name": "sorted-set", "group": "sorted-set"})
MIXED = STRING.model_copy(update={"name": "mixed", "group": "mixed", "groups": ("string", "hash")})
CASES = [STRING, HASH, STREAM, GEO, SORTED_SET, MIXED]


def changes(*files: str) -> Changes:
    return Changes(files=[FileChange(old_file=file, new_file=file, hunks=[]) for file in files])


def names(cases: list[Case]) -> list[str]:
    return [case.name for case in cases]


ALL = names(CASES)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["src/t_hash.c"], ["hash", "mixed"]),
        (["src/t_hash.c", "src/t_stream.c"], ["hash", "stream", "mixed"]),
        (["src/t_hash.c", "README.md", "tests/unit/type/hash.tcl"], ["hash", "mixed"]),
        (["src/geo.c"], ["geo"]),
        # Positions are members of sorted sets.
        (["src/t_zset.c"], ["geo", "sorted-set"]),
        (["README.md"], []),
        (["tests/helpers/bg_block_op.c", ".github/workflows/ci.yml", "COPYING", "redis.conf"], []),
        ([], []),
        # Of whatever else is built, nobody knows which commands execute it.
        (["src/server.c"], ALL),
        (["src/t_hash.c", "src/dict.c"], ALL),
        (["src/Makefile"], ALL),
        (["src/commands/hset.json"], ALL),
        (["deps/jemalloc/configure"], ALL),
        (["deps/jemalloc/VERSION"], ALL),
        (["CMakeLists.txt"], ALL),
        # Its functions look at every key that is written.
        (["src/multi.c"], ALL),
        # A file of the same name, which is part of something else.
        (["deps/other/t_hash.c"], ALL),
        (["t_hash.c"], ALL),
        # No case is of its commands.
        (["src/hyperloglog.c"], ALL),
    ],
)
def test_the_cases_of_changed_files_are_affected(files: list[str], expected: list[str]) -> None:
    assert names(affected_cases(CASES, changes(*files))) == expected


def test_both_names_of_a_moved_file_count() -> None:
    moved = Changes(files=[FileChange(old_file="src/server.c", new_file="src/t_hash.c", hunks=[])])
    assert names(affected_cases(CASES, moved)) == ALL
    new = Changes(files=[FileChange(old_file="", new_file="src/t_hash.c", hunks=[])])
    assert names(affected_cases(CASES, new)) == ["hash", "mixed"]


def test_no_file_has_a_group_that_every_command_is_part_of() -> None:
    assert not {"multi.c", "blocked.c", "script.c", "db.c", "object.c", "server.c", "networking.c"} & OWN_FILES.keys()


# By the commands that the files of a commit implement.

WORK = "static void work_command"
NEXT = "static void dbsize_command"


def sending(name: str, *commands: str, group: str = "generic") -> Case:
    client = WrittenClient(commands=list(commands)).client
    return Case(name=name, group=group, client=client)


SENDERS = [
    sending("works", "WORK key 100"),
    sending("works-in-a-script", "EVAL \"redis.call('work', KEYS[1], 100)\" 1 key"),
    sending("reads", "GET __key__", group="work"),
    sending("reads-and-works", "GET __key__", "WORK key 5", group="list"),
]


def with_file_of_its_own(source: ToySource, used_elsewhere: str = "") -> str:
    """Move the handler of WORK into a file, `src/labour.c`, and return the commit."""
    path = source.path / "src" / "commands.c"
    text = path.read_text()
    begin, end = text.index(WORK), text.index(NEXT)
    body = text[begin:end].removeprefix("static ")
    prototype = body.partition(" {")[0] + ";\n\n"
    path.write_text(f"{text[:begin]}{prototype}{used_elsewhere}{text[end:]}")
    (source.path / "src" / "labour.c").write_text(
        '#include "server.h"\n\nuint64_t last_work;\nNO_SANITIZE("alignment")\n' + body.replace("mix_word", "mixed")
    )
    return source.commit("a file of its own")


def affected_by(source: ToySource, file: str, commit: str) -> list[str]:
    revision = resolve(commit, source.path)
    assert isinstance(revision, RevisionSource)
    return names(affected_cases(SENDERS, changes(file), CommandFiles([revision])))


def test_cases_are_selected_by_the_commands_that_they_send(compiler: None, tmp_path: Path) -> None:
    source = ToySource(tmp_path / "toy")
    # What is said of it is no use of it.
    commit = with_file_of_its_own(source, "/* See work_command(). */\n// work_command\n/*\n * work_command\n */\n\n")
    assert affected_by(source, "src/labour.c", commit) == ["works", "works-in-a-script", "reads-and-works"]
    # What others call may be part of any command, and so may what is not there.
    assert affected_by(source, "src/table.c", commit) == names(SENDERS)
    assert affected_by(source, "src/absent.c", commit) == names(SENDERS)
    assert affected_by(source, "src/labour.c", source.first) == names(SENDERS)


@pytest.mark.parametrize(
    "use",
    [
        "void use_it(void) { work_command(NULL, NULL, 0); }\n\n",
        "void use_it(void) { last_work = 1; }\n\n",
        "void (*later)(struct client *, struct slice *, int) = work_command;\n\n",
        "void use_it(void **use) {\n    *use = work_command;\n}\n\n",
        "void use_it(void) {\n    /* at once */ work_command(NULL, NULL, 0);\n}\n\n",
        '#include "labour.c"\n\n',
    ],
)
def test_a_file_that_others_use_affects_all_cases(compiler: None, tmp_path: Path, use: str) -> None:
    source = ToySource(tmp_path / "toy")
    assert affected_by(source, "src/labour.c", with_file_of_its_own(source, use)) == names(SENDERS)


def test_a_known_file_is_selected_by_command_and_group(compiler: None, tmp_path: Path) -> None:
    source = ToySource(tmp_path / "toy")
    (source.path / "src" / "sort.c").write_text("void sortCommand(client *c) {\n    addReply(c);\n}\n")
    (source.path / "src" / "server.c").write_text(
        'struct redisCommand table[] = {\n    {"sort",sortCommand,-2,"wm"},\n};\n'
    )
    commit = source.commit("a table of commands")
    revision = resolve(commit, source.path)
    assert isinstance(revision, RevisionSource)
    cases = [
        sending("sorts", "SORT list:__key__ LIMIT 0 10"),
        sending("of-the-group", "LRANGE x 0 -1", group="sort"),
        sending("lists", "LRANGE x 0 -1", group="list"),
    ]
    assert names(affected_cases(cases, changes("src/sort.c"), CommandFiles([revision]))) == ["sorts", "of-the-group"]


def test_a_description_in_json_names_the_command_and_its_container(compiler: None, tmp_path: Path) -> None:
    source = ToySource(tmp_path / "toy")
    commands = source.path / "src" / "commands"
    commands.mkdir()
    (commands / "stir.json").write_text('{\n    "STIR": {\n        "function": "stirCommand"\n    }\n}\n')
    described = '{\n    "SLOWLY": {\n        "container": "MIX",\n        "function": "mixCommand"\n    }\n}\n'
    (commands / "mix-slowly.json").write_text(described)
    # Branches of the preprocessor open more braces than they close.
    stir = "void stirCommand(client *c) {\n#ifdef FAST\n    if (c) {\n#else\n    if (!c) {\n#endif\n    }\n}\n\n"
    kitchen = (
        f"static int spoons(void) {{\n    return 1;\n}}\n\n{stir}void mixCommand(client *c) {{\n    spoons();\n}}\n"
    )
    (source.path / "src" / "kitchen.c").write_text(kitchen)
    revision = resolve(source.commit("a kitchen"), source.path)
    assert isinstance(revision, RevisionSource)
    kitchens = CommandFiles([revision])
    assert kitchens.commands("src/kitchen.c") == {"STIR", "MIX"}
    assert kitchens.is_own("src/kitchen.c")


def test_a_tree_that_would_keep_git_busy_affects_all_cases(compiler: None, tmp_path: Path) -> None:
    source = ToySource(tmp_path / "toy")
    functions = "".join(f"void f{number}(void) {{\n}}\n" for number in range(MOST_NAMES + 1))
    (source.path / "src" / "many.c").write_text(functions)
    (source.path / "src" / "open.c").write_text("/* " * 200_000)
    commit = source.commit("hostile")
    for file in ("src/many.c", "src/open.c"):
        assert affected_by(source, file, commit) == names(SENDERS)
