"""Which cases a change can affect: in doubt all of them."""

import pytest
from simulated_fleet import made_up_cases

from zerolap.records import Case, Changes, FileChange
from zerolap.triggers.affected import GROUPS, affected_cases

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
    assert not {"multi.c", "blocked.c", "script.c", "db.c", "object.c", "server.c", "networking.c"} & GROUPS.keys()
