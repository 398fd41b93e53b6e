"""Verdicts on bytes: exact ones, the answer of a case, and where profiles say that bytes were allocated."""

import json
import random
import struct

import pytest

from zerolap.engines.allocated import with_usual_names
from zerolap.engines.heap_profile import read_heap_profile
from zerolap.explain import explain_bytes
from zerolap.judge import MIN_BLOCKS, bytes_differ, case_answers, judge_cases, memory_answer
from zerolap.judge.cases import JudgedCase
from zerolap.records import (
    METRICS,
    AllocatingFrame,
    AllocationSite,
    AllocationSites,
    Measurement,
    Settings,
    TrialFailed,
    Validity,
    Verdict,
    VerdictWord,
)
from zerolap.server.used_memory import UsedMemory, client_bytes

VALID = Validity(valid=True, checks=[])
SETTINGS = Settings(
    engines=["counted"],
    min_effect={"counted": 0.005, "timed": 0.02, "memory": 0.0025},
    q=0.01,
    budget_seconds=None,
    seed=1,
)


def measurement(key_bytes: float, instructions: float = 1_000.0, **others: float) -> Measurement:
    metrics = {"memory_bytes_per_key": key_bytes, "used_memory_bytes": key_bytes * 16_000, **others}
    return Measurement(metrics={"instructions_per_op": instructions, **metrics}, validity=VALID)


def without_bytes(measured: Measurement) -> Measurement:
    return measured.model_copy(update={"metrics": {"instructions_per_op": measured.metrics["instructions_per_op"]}})


def judged(
    cases: dict[str, list[tuple[Measurement, Measurement]]], *, identical: bool = False
) -> dict[str, list[Verdict]]:
    blocks = {
        name: JudgedCase({"counted": ([base for base, _ in pairs], [head for _, head in pairs])}, identical)
        for name, pairs in cases.items()
    }
    return judge_cases(blocks, SETTINGS, {})


def of_metric(verdicts: list[Verdict], metric: str = "memory_bytes_per_key") -> Verdict:
    return next(verdict for verdict in verdicts if verdict.metric == metric)


@pytest.mark.parametrize("cases", [1, 12, 400])
def test_half_a_percent_of_a_key_is_found_among_any_number_of_cases(cases: int) -> None:
    chance = random.Random(cases)
    pairs = {f"null-{number}": [(measurement(187.0), measurement(187.0))] * MIN_BLOCKS for number in range(cases)}
    # What seeds draw differs from block to block, and the larger allocation with it.
    sizes = [187.0 * (1 + chance.uniform(-0.0005, 0.0005)) for _ in range(MIN_BLOCKS)]
    pairs["grown"] = [
        (measurement(size), measurement(size * (1.005 + chance.uniform(-0.00002, 0.00002)))) for size in sizes
    ]
    verdicts = judged(pairs)
    grown = of_metric(verdicts.pop("grown"))
    assert grown.verdict == "regression"
    assert grown.q is not None
    assert grown.q < 0.01
    assert 0.0048 < grown.low < grown.change < grown.high < 0.0052
    assert {of_metric(of_case).verdict for of_case in verdicts.values()} == {"identical"}


def test_less_than_what_matters_is_the_same() -> None:
    (verdicts,) = judged({"case": [(measurement(200.0), measurement(200.2))] * MIN_BLOCKS}).values()
    assert of_metric(verdicts).verdict == "same"


def test_a_statistic_that_a_server_keeps_once_is_no_change_of_its_data() -> None:
    pair = (
        measurement(100.0),
        measurement(100.0).model_copy(
            update={"metrics": {**measurement(100.0).metrics, "used_memory_bytes": 1_600_000.0 + 12_000}}
        ),
    )
    (verdicts,) = judged({"case": [pair] * MIN_BLOCKS}).values()
    assert of_metric(verdicts, "used_memory_bytes").verdict == "same"


def test_one_block_of_equal_bytes_is_enough_and_one_of_others_is_not() -> None:
    (equal,) = judged({"case": [(measurement(100.0), measurement(100.0))]}, identical=True).values()
    (other,) = judged({"case": [(measurement(100.0), measurement(120.0))]}, identical=True).values()
    assert of_metric(equal).verdict == "identical"
    assert of_metric(other).verdict == "unsure"
    assert not bytes_differ(measurement(100.0), measurement(100.1), 0.0025)
    assert bytes_differ(measurement(100.0), measurement(100.2), 0.0025)
    unused = [measurement(100.0, allocator_overhead_bytes=size) for size in (1e6, 2e6)]
    assert not bytes_differ(unused[0], unused[1], 0.0025)
    assert bytes_differ(measurement(100.0), without_bytes(measurement(100.0)), 0.0025)


def test_bytes_take_nothing_from_what_instructions_show() -> None:
    """The q of the other metrics is as without any memory."""
    with_memory = [(measurement(100.0, 1_000.0 + block), measurement(100.0, 1_006.0 + block)) for block in range(5)]
    without = [tuple(map(without_bytes, pair)) for pair in with_memory]
    pairs = with_memory, [(base, head) for base, head in without]
    first, second = (of_metric(judged({"case": of_case})["case"], "instructions_per_op") for of_case in pairs)
    assert first == second


def verdict(metric: str, word: VerdictWord, change: float = 0.0) -> Verdict:
    return Verdict(
        metric=metric, engine=METRICS[metric].engine, verdict=word, base=100.0, head=100.0 * (1 + change),
        change=change, low=change - 0.001, high=change + 0.001, q=None, samples=5, pairs=5,
        min_effect=0.0025, detectable=0.0025,
    )  # fmt: skip


def test_memory_is_the_verdict_where_work_and_time_have_not_changed() -> None:
    grown = verdict("memory_bytes_per_key", "regression", 0.05)
    answers = case_answers([verdict("instructions_per_op", "identical"), grown], VALID)
    assert (answers.verdict, answers.deciding) == ("regression", "memory_bytes_per_key")
    assert (answers.work, answers.memory) == ("identical", "regression")
    unsure = case_answers([verdict("cpu_ns_per_op", "unsure"), grown], VALID)
    assert (unsure.verdict, unsure.time) == ("regression", "unsure")


def test_memory_turns_no_change_of_time_or_work_into_another() -> None:
    grown = verdict("memory_bytes_per_key", "regression", 0.05)
    for metric, of_answer in (("cpu_ns_per_op", "time"), ("instructions_per_op", "work")):
        answers = case_answers([verdict(metric, "improvement", -0.1), grown], VALID)
        assert (answers.verdict, answers.deciding, answers.memory) == ("improvement", metric, "regression"), of_answer


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({}, (None, None)),
        ({"memory_bytes_per_key": "identical", "used_memory_bytes": "same"}, ("identical", "memory_bytes_per_key")),
        ({"memory_bytes_per_key": "same", "used_memory_bytes": "regression"}, ("regression", "used_memory_bytes")),
        ({"memory_bytes_per_key": "same", "client_memory_bytes": "regression"}, ("regression", "client_memory_bytes")),
        ({"memory_bytes_per_key": "improvement", "used_memory_bytes": "regression"}, ("unsure", "used_memory_bytes")),
        (
            {"memory_bytes_per_key": "improvement", "used_memory_bytes": "improvement"},
            ("improvement", "memory_bytes_per_key"),
        ),
        ({"memory_bytes_per_key": "unsure", "used_memory_bytes": "same"}, ("unsure", "memory_bytes_per_key")),
        # What decides nothing, and a process whose size is open beside bytes that are exact.
        ({"memory_bytes_per_key": "same", "allocator_overhead_bytes": "regression"}, ("same", "memory_bytes_per_key")),
        ({"memory_bytes_per_key": "same", "rss_bytes": "unsure"}, ("same", "memory_bytes_per_key")),
        ({"rss_bytes": "unsure"}, (None, None)),
        ({"rss_bytes": "same"}, ("same", "rss_bytes")),
    ],
)  # fmt: skip
def test_the_answer_on_memory(words: dict[str, VerdictWord], expected: tuple[str | None, str | None]) -> None:
    changes = {"regression": 0.05, "improvement": -0.05}
    assert memory_answer([verdict(name, word, changes.get(word, 0.0)) for name, word in words.items()]) == expected


def test_a_process_that_is_larger_beyond_doubt_is_a_regression_though_the_allocator_counts_the_same() -> None:
    verdicts = [verdict("memory_bytes_per_key", "identical"), verdict("rss_bytes", "regression", 0.2)]
    assert memory_answer(verdicts) == ("regression", "rss_bytes")


def test_what_servers_say_of_their_memory() -> None:
    jemalloc = {
        "used_memory": "1000", "used_memory_peak": "1500", "allocator_allocated": "900", "allocator_active": "1200",
        "mem_allocator": "jemalloc-5.3.0", "lazyfree_pending_objects": "3",
    }  # fmt: skip
    assert UsedMemory.of(jemalloc) == UsedMemory(1000, 1500, 300, 3)
    # Other allocators are shown with the size of the process.
    assert UsedMemory.of({**jemalloc, "mem_allocator": "libc"}) == UsedMemory(1000, 1500, None, 3)
    assert UsedMemory.of({"used_memory": "x" * 100}) is None
    assert UsedMemory.of({}) is None


def test_the_memory_of_the_loads_clients_is_not_that_of_the_labs() -> None:
    lines = (
        "id=3 addr=/s:0 name= qbuf=26 tot-mem=1928 events=r cmd=client|list user=default",
        "id=4 addr=/s:0 name= qbuf=0 tot-mem=18000 events=r cmd=get user=default",
        "id=5 addr=/s:0 name= qbuf=0 tot-mem=20000 events=r cmd=info user=default",
    )
    assert client_bytes("\n".join(lines).encode()) == 18000
    assert client_bytes(lines[0].encode()) is None
    assert client_bytes(b"\xff\x00 = = tot-mem=99999999999999999999 cmd=") is None
    assert client_bytes(7) is None


def profile(*places: tuple[int, int, list[int]], table: list[str]) -> bytes:
    rows = [{"tb": size, "tbk": blocks, "eb": size, "ebk": blocks, "fs": frames} for size, blocks, frames in places]
    return json.dumps({"dhatFileVersion": 2, "pps": rows, "ftbl": ["[root]", *table]}).encode()


TABLE = [
    "0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so)",
    "0x18D9F9: zmalloc_usable (zmalloc.c:159)",
    "0x18A674: _sdsnewlen (sds.c:117)",
    "0x1A0918: createStringObject (object.c:124)",
    "0x17A474: dictAddRaw (dict.c:349)",
]


def test_a_profile_names_who_decides_what_is_allocated() -> None:
    content = profile((1600, 16, [1, 2, 3, 4]), (2400, 100, [1, 2, 5]), (400, 4, [1, 2, 3, 4]), table=TABLE)
    first, second = read_heap_profile(content)
    assert (first.bytes, first.blocks, first.frames[0].function) == (2400, 100, "dictAddRaw")
    assert (second.bytes, second.blocks) == (2000, 20)
    assert second.frames[0] == AllocatingFrame(function="_sdsnewlen", file="sds.c", line=117)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{" * 100_000, b'{"pps": [{"eb": -1, "fs": []}], "ftbl": []}', b'{"pps": {}, "ftbl": [1]}'],
)
def test_a_profile_that_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(TrialFailed, match="no whole profile"):
        read_heap_profile(content)


def test_a_profile_may_name_anything() -> None:
    content = profile((64, 1, [1, 999]), (64, 1, [-1]), (64, 1, [2]), table=["0xZ" * 10_000, "x: (" + "(" * 5_000])
    assert len(read_heap_profile(content)) == 1


def sites(keys: int, *held: tuple[int, int, list[tuple[str, str, int]]]) -> AllocationSites:
    return AllocationSites(
        keys=keys,
        sites=[
            AllocationSite(
                bytes=size,
                blocks=blocks,
                frames=[AllocatingFrame(function=name, file=file, line=line) for name, file, line in chain],
            )
            for size, blocks, chain in held
        ],
    )


STRING = [("_sdsnewlen", "sds.c", 117), ("createStringObject", "object.c", 63), ("setCommand", "t_string.c", 5)]
ENTRY = [("dictAddRaw", "dict.c", 349), ("dbAdd", "db.c", 190)]


def test_the_site_that_grew_is_named_with_its_bytes_a_key() -> None:
    base, head = (
        sites(100, (4_900, 100, STRING), (2_400, 100, ENTRY)),
        sites(100, (5_700, 100, STRING), (2_400, 100, ENTRY)),
    )
    (finding,) = explain_bytes(base, head)
    assert finding.text == "`createStringObject` allocates 57 instead of 49 bytes a key by `_sdsnewlen` (object.c:63)."
    assert (finding.function, finding.lines, finding.share_of_change) == ("createStringObject", [63], 1.0)


def test_a_function_of_strings_that_the_commit_changed_is_named_itself() -> None:
    base, head = sites(100, (4_900, 100, STRING)), sites(100, (5_700, 100, STRING))
    (finding,) = explain_bytes(base, head, frozenset({"_sdsnewlen"}))
    assert finding.text == "`_sdsnewlen` allocates 57 instead of 49 bytes a key (sds.c:117)."
    assert finding.in_diff


def test_another_number_of_blocks_is_stated() -> None:
    (finding,) = explain_bytes(sites(100, (2_400, 100, ENTRY)), sites(100, (4_800, 200, ENTRY)))
    assert finding.text == "`dictAddRaw` allocates 48 instead of 24 bytes a key in 2 instead of 1 blocks (dict.c:349)."


def test_an_allocator_in_the_program_gets_the_usual_names() -> None:
    names = b"\0je_malloc\0je_free\0je_mallctl\0main\0"
    places = [names.index(name) for name in (b"je_malloc\0", b"je_free\0", b"je_mallctl\0", b"main\0")]
    table = b"".join(struct.pack("<IBBHQQ", place, 0x12, 0, 1, 0x1000, 16) for place in places)
    header, section = 64, struct.Struct("<IIQQQQIIQQ")
    sections_at = header + len(names) + len(table)
    elf = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01", 2, 62, 1, 0, 0, sections_at, 0, 64, 56, 0, 64, 2, 0)
    program = elf + names + table
    program += section.pack(0, 3, 0, 0, header, len(names), 0, 0, 1, 0)
    program += section.pack(0, 2, 0, 0, header + len(names), len(table), 0, 1, 8, 24)
    renamed = with_usual_names(program)
    assert len(renamed) == len(program)
    entries = [struct.unpack_from("<I", renamed, header + len(names) + 24 * place)[0] for place in range(4)]
    assert [names[entry:].partition(b"\0")[0] for entry in entries] == [b"malloc", b"free", b"je_mallctl", b"main"]
    for broken in (b"", b"\x7fELF\x02\x01", program[:200], program.replace(struct.pack("<H", 64), b"\xff\xff")):
        assert len(with_usual_names(broken)) == len(broken)
