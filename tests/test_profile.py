"""`zerolap profile`: the table, the document and the files of stacks that are stored, and one look at a real server."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from command_line import Zerolap, path_without
from engine_place import CHECK_CASES
from machine import CHECKS_OF_THE_MACHINE
from stored_comparison import ID
from stored_run import STACKS, stored_run
from stored_stacks import COSTS, GET, HOSTILE, lined, planted_stacks, recorded_stacks, stack_table
from toy_server import CASES, SOURCE, ToySource

from zerolap.engines import missing_for_sampling
from zerolap.queries import QuerySources, read_case_stacks
from zerolap.records import PROFILE_SCHEMA, CaseProfile, TracedCase, TracedThread
from zerolap.report import document_json
from zerolap.store import Store

RUN_ID = "r-4f1a"


@pytest.fixture
def zerolap(tmp_path: Path, store: Store) -> Zerolap:
    """The command line over the store of the test."""
    return Zerolap(tmp_path, tmp_path / "store")


@pytest.fixture
def sampling() -> None:
    missing = missing_for_sampling()
    if missing is not None:
        pytest.skip(missing.reason)


def stored(zerolap: Zerolap, *words: str | Path) -> list[str | Path]:
    """Return the words of a look at what the store has."""
    return ["profile", "--store", zerolap.store, "--stored", *words]


# Stored stacks


def test_functions_have_their_shares_and_their_time_in_a_request(zerolap: Zerolap, store: Store) -> None:
    stored_run(store)
    ended = zerolap(*stored(zerolap, RUN_ID, "--json", "-"))
    assert ended.code == 0, ended
    profile = CaseProfile.model_validate_json(ended.out)
    assert (profile.schema_, profile.case, profile.side, profile.thread) == (PROFILE_SCHEMA, "get-100B", "head", None)
    assert (profile.samples, profile.passes, profile.events) == (100, 1, ["cpu-clock"])
    assert (profile.cpu_ns_per_op, profile.cpu_measured) == (1211.2, "timed")
    assert [(thread.name, thread.share) for thread in profile.threads] == [("redis-server", 1.0)]
    functions = {function.function: function for function in profile.functions}
    assert list(functions)[:2] == ["dictFind", "writeToClient"]
    assert functions["dictFind"].own_cpu_ns_per_op == pytest.approx(0.6 * 1211.2)
    assert (functions["lookupKey"].own_share, functions["lookupKey"].inclusive_share) == (0.1, 0.7)
    assert profile.sources == []


def test_the_table_shows_as_many_functions_as_asked_for(zerolap: Zerolap, store: Store) -> None:
    stored_run(store)
    ended = zerolap(*stored(zerolap, "latest", "--top", "1"))
    assert ended.code == 0, ended
    assert ended.out.startswith("get-100B of ./src/redis-server\n100 samples in 1 pass by cpu-clock\n")
    assert "1,211 CPU ns per request in timed trials\n" in ended.out
    assert "dictFind  60.0 %  726.7        60.0 %  726.7  dictFind.c\n" in ended.out
    assert "writeToClient" not in ended.out
    assert "3 more functions: --top 4 lists all\n" in ended.out
    assert f"zerolap profile --stored {RUN_ID} get-100B --output stacks.svg" in ended.out


def test_lines_are_those_of_the_costliest_functions_or_of_the_named_one(zerolap: Zerolap, store: Store) -> None:
    code = [(10, "    if (hash(key) == kept_hash)", 300), (11, "\treturn\x1b[2J it;", 50)]
    table = lined(stack_table(GET["base"]), *code)
    recorded_stacks(store, {"get": {"base": table, "head": table}}, {"get": (1000.0, 2000.0)})
    ended = zerolap(*stored(zerolap, ID))
    assert ended.code == 0, ended
    heading = "dictFind  server.c, 40.0 % of all samples, split by line\n"
    assert f"{heading}   share   ns  line  code\n  75.0 %  600    10  if (hash(key) == kept_hash)\n" in ended.out
    assert "\x1b" not in ended.out
    narrow = zerolap(*stored(zerolap, ID), environment={"COLUMNS": "45"})
    assert "  10  if (hash(key) ==\n" + 21 * " " + "kept_hash)\n" in narrow.out
    asked = zerolap(*stored(zerolap, ID, "--lines", "write", "--json", "-"))
    assert [(source["function"], source["lines"]) for source in asked.document()["sources"]] == [("write", [])]
    asked = zerolap(*stored(zerolap, ID, "--lines", "dictFind", "--json", "-"))
    [source] = asked.document()["sources"]
    assert [(line["line"], line["share"], line["cpu_ns_per_op"]) for line in source["lines"]] == [
        (10, 0.75, 600.0),
        (11, 0.125, 100.0),
    ]
    unknown = zerolap(*stored(zerolap, ID, "--lines", "dictFnd"))
    unknown.fails_with(2, "no function `dictFnd`", "did you mean dictFind?")


def test_the_costliest_line_is_shown_after_as_many_equal_ones_as_there_is_room_for(
    zerolap: Zerolap, store: Store
) -> None:
    equal = [(line, f"step({line});", 10) for line in range(1, 15)]
    table = lined(stack_table(GET["base"]), *equal, (15, "costly();", 200))
    recorded_stacks(store, {"get": {"base": table, "head": table}}, {"get": (1000.0, 2000.0)})
    [source] = zerolap(*stored(zerolap, ID, "--json", "-")).document()["sources"]
    assert [line["line"] for line in source["lines"]] == [*range(1, 12), 15]
    assert source["left_out"] == 3


def test_a_thread_has_its_own_shares_and_its_part_of_the_time(zerolap: Zerolap, store: Store) -> None:
    lines = {"main;get": 60, "main;write": 20, "bio;close": 20}
    table = lined(stack_table(lines, threads={"bio": "bio_close"}), (10, "get();", 30), function="get")
    recorded_stacks(store, {"get": {"base": table, "head": table}}, {"get": (1000.0, 1000.0)})
    whole = zerolap(*stored(zerolap, ID, "--json", "-")).document()
    threads = [(thread["name"], thread["samples"], thread["cpu_ns_per_op"]) for thread in whole["threads"]]
    assert threads == [("server", 80, 800.0), ("bio_close", 20, 200.0)]
    ended = zerolap(*stored(zerolap, ID, "--thread", "server", "--json", "-", "--output", "x.folded.txt"))
    profile = ended.document()
    assert (profile["thread"], profile["samples"]) == ("server", 80)
    shares = {function["function"]: function["own_share"] for function in profile["functions"]}
    assert shares == {"get": 0.75, "write": 0.25, "main": 0.0}
    times = {function["function"]: function["own_cpu_ns_per_op"] for function in profile["functions"]}
    assert times["get"] == pytest.approx(600)
    # Lines are of all threads.
    assert [line["cpu_ns_per_op"] for line in profile["sources"][0]["lines"]] == [pytest.approx(300)]
    folded = (zerolap.directory / "x.folded.txt").read_text().splitlines()
    assert folded == ["server;main;get 600000000", "server;main;write 200000000"]
    unknown = zerolap(*stored(zerolap, ID, "--thread", "io\x1b"))
    unknown.fails_with(2, "threads: server, bio_close")


def test_stacks_are_written_in_the_format_of_the_files_ending(zerolap: Zerolap, store: Store) -> None:
    planted_stacks(store)
    names = ["a.svg", "a.pb.gz", "a.speedscope.json", "a.firefox.json", "a.folded.txt", "callgrind.out.1"]
    outputs = [word for name in names for word in ("--output", name)]
    ended = zerolap(*stored(zerolap, ID, "hset", *outputs, "--html", "a.html", "--quiet"))
    assert (ended.code, ended.out) == (0, ""), ended
    begins = {name: (zerolap.directory / name).read_bytes()[:16] for name in names}
    assert begins["a.svg"].startswith(b"<?xml")
    assert begins["a.pb.gz"].startswith(b"\x1f\x8b")
    assert begins["callgrind.out.1"].startswith(b"# callgrind")
    assert json.loads((zerolap.directory / "a.speedscope.json").read_text())["profiles"][0]["unit"] == "nanoseconds"
    assert json.loads((zerolap.directory / "a.firefox.json").read_text())["meta"]["product"]
    assert "hset" in (zerolap.directory / "a.html").read_text()


def test_a_side_is_written_to_standard_output(zerolap: Zerolap, store: Store) -> None:
    planted_stacks(store)
    words = stored(zerolap, ID, "hset", "--output", "-", "--format", "folded")
    assert "gone" in zerolap(*words, "--side", "base").out
    head = zerolap(*words)
    assert sum(int(line.rpartition(" ")[2]) for line in head.out.splitlines()) == 4500 * 1_000_000
    picture = zerolap(*stored(zerolap, ID, "hset", "--output", "-", "--format", "svg"))
    assert ET.fromstring(picture.out).tag == "{http://www.w3.org/2000/svg}svg"


def test_names_of_others_are_texts_on_one_line(zerolap: Zerolap, store: Store) -> None:
    planted_stacks(store)
    ended = zerolap(*stored(zerolap, ID, "hset"))
    [row] = [line for line in ended.out.splitlines() if "onerror" in line]
    assert " ".join(HOSTILE.split()) in row
    profile = read_case_stacks(QuerySources(store), ID, "hset", "head").profile(50)
    assert HOSTILE in [function.function for function in profile.functions]
    assert CaseProfile.model_validate_json(document_json(profile)) == profile


def test_what_is_not_stored_is_reported(zerolap: Zerolap, store: Store) -> None:
    zerolap(*stored(zerolap, "latest")).fails_with(2, "the store has no stacks")
    planted_stacks(store)
    zerolap(*stored(zerolap, ID)).fails_with(2, f"{ID} has stacks of 2 cases", "name one: get, hset")
    zerolap(*stored(zerolap, ID, "nope")).fails_with(2, "has no stacks of `nope`", "those of get, hset")
    zerolap(*stored(zerolap, "c-ffff")).fails_with(2, "c-ffff")
    stored_run(store)
    zerolap(*stored(zerolap, RUN_ID, "--side", "base")).fails_with(2, "has no base", "a run has a head only")


def test_a_result_without_stacks_is_reported(zerolap: Zerolap, store: Store) -> None:
    recorded_stacks(store, {})
    zerolap(*stored(zerolap, ID)).fails_with(2, f"{ID} has no stacks", "--engine sampled")


def test_passes_that_are_not_valid_have_no_table(zerolap: Zerolap, store: Store) -> None:
    planted_stacks(store, invalid=("hset",))
    zerolap(*stored(zerolap, ID, "hset")).fails_with(2, "no stacks of hset", "a pass is not valid")


def test_stacks_without_samples_are_reported(zerolap: Zerolap, store: Store) -> None:
    empty = {**STACKS, "samples": 0, "threads": [], "frames": [], "stacks": []}
    recorded_stacks(store, {"get": {"base": empty, "head": empty}})
    zerolap(*stored(zerolap, ID)).fails_with(2, "no samples")


def test_without_the_time_of_a_request_shares_are_left(zerolap: Zerolap, store: Store) -> None:
    recorded_stacks(store, {"get": {side: stack_table(GET[side]) for side in ("base", "head")}})
    ended = zerolap(*stored(zerolap, ID))
    assert ended.code == 0, ended
    assert "what a request takes was not measured" in ended.out
    assert "ns:" not in ended.out


# Stored waits


WAITS = {
    **stack_table(
        {"main;aeMain;epoll_wait;sys_ep_poll": 1_000_000, "main;aeMain;fdatasync;sys_io_schedule": 3_000_000}
    ),
    "event": "off-cpu",
}


def stored_waits(store: Store) -> None:
    """Record a comparison of one case, whose traced passes waited for 5,000 ns a request in all threads."""
    of_thread = {
        "threads": 1,
        "off_per_op": 0.1,
        "queue_ns_per_op": 0.0,
        "faults_per_op": 0.0,
        "block_io_per_op": None,
    }
    threads = [
        TracedThread(thread=name, off_ns_per_op=off_ns, **of_thread)
        for name, off_ns in (("server", 4000.0), ("bio", 1000.0))
    ]
    traced = TracedCase(threads=threads, calls=[])
    recorded_stacks(store, {"get": {"base": WAITS, "head": WAITS}}, COSTS, engine="traced", traced=traced)


def test_waits_are_shown_by_the_functions_that_wait(zerolap: Zerolap, store: Store) -> None:
    stored_waits(store)
    ended = zerolap(*stored(zerolap, ID, "--off-cpu", "--json", "-"))
    assert ended.code == 0, ended
    profile = CaseProfile.model_validate_json(ended.out)
    assert (profile.off_cpu, profile.events, profile.samples) == (True, ["off-cpu"], 4_000_000)
    # Not the CPU time of timed trials.
    assert (profile.cpu_ns_per_op, profile.cpu_measured) == (5000.0, "traced")
    shares = {function.function: (function.own_share, function.inclusive_share) for function in profile.functions}
    assert shares == {"fdatasync": (0.75, 0.75), "epoll_wait": (0.25, 0.25), "main": (0.0, 1.0), "aeMain": (0.0, 1.0)}
    assert list(shares)[:2] == ["fdatasync", "epoll_wait"]
    table = zerolap(*stored(zerolap, "latest", "--off-cpu"))
    assert "off the processor" in table.out
    assert "5,000 ns off the processor per request" in table.out
    assert "CPU" not in table.out
    assert f"--stored {ID} get --off-cpu --output stacks.svg" in " ".join(table.out.split())


def test_waits_are_written_as_time_off_the_processor(zerolap: Zerolap, store: Store) -> None:
    stored_waits(store)
    picture = zerolap(*stored(zerolap, ID, "--off-cpu", "--output", "-", "--format", "svg"))
    assert "Width: time off the processor, of 5000 ns of a request in all" in picture.out
    folded = zerolap(*stored(zerolap, ID, "--off-cpu", "--output", "-", "--format", "folded"))
    assert "server;main;aeMain;fdatasync;sys_io_schedule 3750000000" in folded.out.splitlines()


def test_waits_and_samples_are_kept_apart(zerolap: Zerolap, store: Store) -> None:
    stored_waits(store)
    zerolap(*stored(zerolap, ID)).fails_with(2, f"{ID} has no stacks", "--engine sampled")
    zerolap(*stored(zerolap, "latest")).fails_with(2, "the store has no stacks")
    stored_run(store)
    zerolap(*stored(zerolap, RUN_ID, "--off-cpu")).fails_with(2, "has no stacks of waits", "--engine traced")
    assert CaseProfile.model_validate_json(zerolap(*stored(zerolap, "latest", "--json", "-")).out).id == RUN_ID


# Wrong words


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["redis-server"], ["takes a server and one case", "hint: zerolap profile"]),
        (["a", "b", "c"], ["takes a server and one case"]),
        (["redis-server", "*", "--cases", str(CHECK_CASES)], ["`*` selects ", "name one: good, "]),
        (["redis-server", "nope", "--cases", str(CHECK_CASES)], ['no case matches "nope"']),
        (["redis-server", "good", "--side", "base"], ["`--side base` is for stored comparisons"]),
        (["--stored", RUN_ID, "--side", "left"], ["'--side': 'left' is not one of 'base', 'head'"]),
        (["--stored", RUN_ID, "a", "b"], ["`--stored` takes one case"]),
        (["--stored", RUN_ID, "--config", "io-threads=2"], ["`--config` measures"]),
        (["--stored", RUN_ID, "--output", "a.txt"], ["`a.txt` does not name a format", ".pb.gz"]),
        (["--stored", RUN_ID, "--output", "-"], ["`-` does not name a format"]),
        (["--stored", RUN_ID, "--output", "a", "--format", "perf"], ["`--format perf` is not valid", "pprof"]),
        (["--stored", RUN_ID, "--format", "svg"], ["`--format` is of one file"]),
        (["--stored", RUN_ID, "--output", "a.svg", "--output", "a.svg"], ["two files would go to one place"]),
        (["--stored", RUN_ID, "--output", "none/a.svg"], ["`none/a.svg` cannot be written"]),
        (["--stored", RUN_ID, "--off-cpu", "--lines", "get"], ["`--off-cpu` has no source lines"]),
        (["--stored", RUN_ID, "--html", "-"], ["a page is not written to standard output"]),
    ],
)
def test_wrong_words_are_refused_before_anything_is_measured(
    zerolap: Zerolap, store: Store, words: list[str], parts: list[str]
) -> None:
    stored_run(store)
    zerolap("profile", *words, "--store", zerolap.store).fails_with(2, *parts)
    zerolap.leaves_nothing()


# A real server


def test_without_perf_what_is_missing_is_stated(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    without = path_without(tmp_path / "bin", "perf", "python3-perf", "perf_6.1")
    words = ["profile", redis_server, "good", "--cases", CHECK_CASES, "--store", zerolap.store]
    ended = zerolap(*words, environment=without)
    ended.fails_with(
        3, "the engine `sampled` cannot be used: perf is not installed", "hint: apt-get install linux-perf"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("sampling")
def test_one_look_at_a_server(zerolap: Zerolap, redis_server: Path) -> None:
    words = ["profile", redis_server, "good", "--cases", CHECK_CASES, "--store", zerolap.store, "--json", "-"]
    ended = zerolap(*words, "--output", "good.svg")
    if ended.code == 4 and any(check in ended.err for check in CHECKS_OF_THE_MACHINE):
        pytest.skip("the machine is too busy for enough samples")
    assert ended.code == 0, ended
    profile = CaseProfile.model_validate_json(ended.out)
    assert (profile.case, profile.passes, profile.cpu_measured) == ("good", 4, "sampled")
    assert profile.cpu_ns_per_op is not None
    assert profile.cpu_ns_per_op > 0
    assert profile.ops_per_sec is not None
    assert profile.samples == sum(thread.samples for thread in profile.threads) > 0
    assert len(profile.functions) <= 15
    ET.parse(zerolap.directory / "good.svg")
    again = zerolap(*stored(zerolap, profile.id, "--json", "-"))
    assert CaseProfile.model_validate_json(again.out) == profile
    zerolap.leaves_nothing()


@pytest.mark.slow
@pytest.mark.usefixtures("sampling")
def test_a_wrong_reply_leaves_no_profile(zerolap: Zerolap, redis_server: Path) -> None:
    ended = zerolap("profile", redis_server, "misses", "--cases", CHECK_CASES, "--store", zerolap.store)
    ended.fails_with(4, "the stacks of misses are not valid", "hit_rate")
    assert ended.out == ""


@pytest.mark.slow
@pytest.mark.usefixtures("sampling")
def test_a_build_has_its_source_code(zerolap: Zerolap, toy: ToySource) -> None:
    words = ["profile", toy.first, "toy-work", "--repo", toy.path, "--cases", CASES, "--store", zerolap.store]
    ended = zerolap(*words, "--json", "-", "--top", "100")
    if ended.code == 4 and any(check in ended.err for check in CHECKS_OF_THE_MACHINE):
        pytest.skip("the machine is too busy for enough samples")
    assert ended.code == 0, ended
    sources = {path.name: path.read_text().splitlines() for path in (SOURCE / "src").iterdir()}
    lines = [line for source in ended.document()["sources"] for line in source["lines"] if line["file"] in sources]
    assert lines
    for line in lines:
        assert line["text"] == sources[line["file"]][line["line"] - 1].rstrip()[:200]
