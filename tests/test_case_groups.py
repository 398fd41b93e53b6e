"""Which cases are compared over their sizes: what their definitions state of the data, and what they send."""

from collections.abc import Mapping
from typing import Any

import pytest
from made_records import an_opportunity, counted_work

from zerolap.cases import load_cases
from zerolap.explain import size_groups, with_opportunities_of_group
from zerolap.explain.case_groups import MOST_CASES
from zerolap.explain.data_sizes import stated_sizes
from zerolap.records import Case, Dataset, Generator, Keys, WrittenClient


def a_case(*commands: str, dataset: Mapping[str, Any] | None = None, **fields: Any) -> Case:
    client = {name: fields.pop(name) for name in ("data_size", "keys") if name in fields}
    data = None if dataset is None else Dataset(name="data", **dataset)
    written = WrittenClient(commands=list(commands), **client)
    return Case(name="case", group="any", client=written.client, dataset=data, **fields)


def grouped(cases: Mapping[str, Case], parts: Mapping[str, float] | None = None) -> list[tuple[str, dict[str, float]]]:
    return [(group.unit, dict(group.sizes)) for group in size_groups(cases, parts or {})]


@pytest.mark.parametrize(
    ("load", "command", "elements", "length"),
    [
        (["HSET __key__ a __data__ b __data__"], "HGETALL __key__", 2, 2 * 101),
        (["RPUSH __key__ one two three"], "LRANGE __key__ 0 -1", 3, 11),
        (["ZADD __key__ 1 a 2 b"], "ZRANGE __key__ 0 -1", 2, 4),
        (["GEOADD __key__ 1 2 a 3 4 b"], "GEOPOS __key__ a", 2, 6),
        (["XADD __key__ * field __data__"], "XLEN __key__", 1, 106),
        (["SET __key__ __data__"], "GET __key__", 1, 100),
        # One key for the whole range.
        (["SADD members __key__"], "SISMEMBER members __key__", 50, 350),
        (["RPUSH queue job"], "LPOP queue", 50, 150),
        # Commands that write other values than that which is read, or none.
        (["SADD __key__ a b", "SADD others c d e", "EXPIRE __key__ 10"], "SMEMBERS __key__", 2, 2),
        (["SADD __key__ a b", "SADD __key__ c"], "SMEMBERS __key__", 3, 3),
    ],
)
def test_the_elements_of_a_value_are_those_that_fill_it(
    load: list[str], command: str, elements: float, length: float
) -> None:
    dataset = {"load": load, "keys": Keys(maximum=50, pattern="parallel"), "data_size": 100}
    sizes = stated_sizes(a_case(command, dataset=dataset))
    assert (sizes["elements"], sizes["bytes of the value"]) == (elements, length)


def test_setup_and_generated_points_fill_values_too() -> None:
    case = a_case("ZUNION 2 first second", setup=["ZADD first 1 a 2 b", "ZADD second 3 c"])
    assert stated_sizes(case)["elements"] == 3
    points = a_case("GEODIST places 1 2", dataset={"generator": Generator(kind="geo", key="places", count=5000)})
    assert stated_sizes(points)["elements"] == 5000


def test_commands_of_a_load_generator_are_sent_as_often_as_it_sends_them() -> None:
    client = WrittenClient(commands=["RPUSH __key__ a b"], keys=Keys(maximum=10)).client
    dataset = {"clients": [client.model_copy(update={"requests": 30})]}
    assert stated_sizes(a_case("LRANGE __key__ 0 -1", dataset=dataset))["elements"] == 6
    same_fields = [WrittenClient(commands=["HSET __key__ a b"], keys=Keys(maximum=10)).client]
    again = {"clients": [same_fields[0].model_copy(update={"requests": 30})]}
    assert stated_sizes(a_case("HGETALL __key__", dataset=again))["elements"] == 1


@pytest.mark.parametrize("line", ["EVAL \"return redis.call('SADD', KEYS[1], 1)\" 1 members", "RESTORE members 0 x"])
def test_what_a_script_or_a_dump_fills_is_not_stated(line: str) -> None:
    assert "elements" not in stated_sizes(a_case("SMEMBERS members", setup=[line]))


def test_a_request_has_arguments_and_bytes() -> None:
    sizes = stated_sizes(a_case('MSET __key__ __data__ "a key" __data__', data_size=100))
    assert (sizes["arguments"], sizes["bytes of the request"]) == (4, 7 + 100 + 5 + 100)


def members(number: int) -> Case:
    return a_case(f"SADD __key__ {' '.join(f'{place:04}' for place in range(number))}")


def test_cases_of_one_command_are_a_group_by_what_grows() -> None:
    cases = {"large": members(1000), "small": members(10), "middle": members(100), "other": a_case("GET __key__")}
    ((unit, sizes),) = grouped(cases)
    # The key is an argument too.
    assert unit == "arguments"
    assert sizes == pytest.approx({"small": 11, "middle": 101, "large": 1001})
    assert list(sizes) == ["small", "middle", "large"]


def test_names_of_cases_play_no_part() -> None:
    assert grouped({"sadd-10": members(10), "sadd-1000": members(10)}) == []


def test_the_parts_of_the_reply_are_a_size_where_no_data_is_stated() -> None:
    script = "EVAL 'for i = 1, 10 do redis.call(\"RPUSH\", KEYS[1], i) end' 1 __key__"
    case = a_case("LRANGE __key__ 0 -1", dataset={"load": [script]})
    ((unit, sizes),) = grouped({"a": case, "b": case}, {"a": 100.0, "b": 25.0})
    assert (unit, sizes) == ("parts of the reply", {"b": 25.0, "a": 100.0})


def test_the_size_is_what_grows_most_so_that_no_other_explains_the_cost() -> None:
    def hash_of(fields: int, data_size: int) -> Case:
        line = " ".join(f"field:{place:02} __data__" for place in range(fields))
        return a_case("HGETALL __key__", dataset={"load": [f"HSET __key__ {line}"], "data_size": data_size})

    ((unit, sizes),) = grouped({"small": hash_of(10, 12), "large": hash_of(50, 1012)})
    assert unit == "bytes of the value"
    assert sizes["large"] / sizes["small"] == pytest.approx(255.0)
    cases = {"small": hash_of(10, 92), "many": hash_of(90, 12), "long": hash_of(20, 1992)}
    ((unit, sizes),) = grouped(cases)
    assert (unit, sizes["small"]) == ("times the data of the smallest case", 1.0)


@pytest.mark.parametrize(
    ("line", "further"),
    [
        ("GEOSEARCH places FROMLONLAT 7 55 BYRADIUS 200 km", "GEOSEARCH places FROMLONLAT 7 55 BYBOX 200 200 km"),
        ("ZRANGE key 0 -1", "ZRANGE key 0 -1 withscores"),
        # How much is read or removed may be what the cost grows by.
        ("ZREMRANGEBYRANK key 0 9", "ZREMRANGEBYRANK key 0 999"),
        ("EVAL 'return 1' 0", "EVAL 'return 2' 0"),
        ("GET __key__", "STRLEN __key__"),
    ],
)
def test_what_does_something_else_is_no_group(line: str, further: str) -> None:
    cases = {"this": a_case(line), "other": a_case(further)}
    assert grouped(cases, {"this": 10.0, "other": 100.0}) == []


def test_cases_of_which_other_sizes_are_known_are_no_group() -> None:
    known = a_case("LINDEX list 5", setup=["RPUSH list a b c"])
    assert grouped({"known": known, "unknown": a_case("LINDEX list 5")}, {"known": 1.0, "unknown": 10.0}) == []


def test_numbers_that_are_written_are_data() -> None:
    cases = {"few": a_case("ZADD key 1 a 2 b"), "many": a_case("ZADD key 1 a 2 b 3 c 4 d 5 e 6 f")}
    assert [list(sizes) for _, sizes in grouped(cases)] == [["few", "many"]]


def test_cases_of_other_settings_are_no_group() -> None:
    cases = {"this": a_case("GET __key__"), "other": a_case("GET __key__", config={"maxmemory": "1gb"})}
    assert grouped(cases, {"this": 10.0, "other": 100.0}) == []


def test_too_many_cases_are_spread_over_all_sizes() -> None:
    cases = {f"case-{number:03}": members(number) for number in range(1, 101)}
    ((_, sizes),) = grouped(cases)
    assert len(sizes) == MOST_CASES
    assert {"case-001", "case-100"} <= set(sizes)


def test_sizes_of_the_public_format_and_of_the_own_suites_can_be_stated(tmp_path: Any) -> None:
    path = tmp_path / "lists.yml"
    path.write_text(
        "group: list\n"
        "datasets:\n"
        "  list-of-{length}:\n"
        '    load: ["RPUSH list __key__"]\n'
        '    keys: {minimum: 1, maximum: "{length}"}\n'
        "cases:\n"
        "  - name: all-{length}\n"
        "    matrix: {length: [10, 1000]}\n"
        "    dataset: list-of-{length}\n"
        '    commands: ["LRANGE list 0 -1"]\n'
        "    keys: {minimum: 1, maximum: 1}\n"
    )
    ((unit, sizes),) = grouped({case.name: case for case in load_cases(path)})
    assert (unit, sizes) == ("elements", {"all-10": 10.0, "all-1000": 1000.0})


def test_an_opportunity_of_a_group_takes_the_place_of_the_same_one_of_the_case() -> None:
    alone, other, of_group = (
        an_opportunity("write", 100.0),
        an_opportunity("read", 50.0),
        an_opportunity("write", 120.0),
    )
    work = counted_work(1000.0, alone, other)
    assert with_opportunities_of_group(work, [of_group]).opportunities == (other, of_group)
