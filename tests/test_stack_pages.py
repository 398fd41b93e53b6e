"""What pages and files of stacks state, from a store of planted ones, over HTTP."""

import csv
import gzip
import io
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from http_server import served_lab
from stored_comparison import ID, ONLY_WITH_A_TOKEN, reading_token
from stored_run import stored_run
from stored_stacks import (
    COSTS,
    GET,
    HOSTILE,
    HSET,
    large_table,
    lined,
    planted_stacks,
    record_pass,
    recorded_stacks,
    stack_table,
    traced_case,
    wait_tables,
)
from waiting import PATIENCE_SECONDS

from zerolap.queries import ProfileParameters, QuerySources, selected_cases
from zerolap.queries.stack_profile import MOST_NODES, read_profile
from zerolap.records import Finding
from zerolap.store import Store

OTHER = "c-fedcba9876543210fedcba98"


@pytest.fixture
def lab(store: Store) -> Iterator[httpx.Client]:
    with served_lab(store) as url, httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        yield client


def answered(lab: httpx.Client, query: str, **parameters: Any) -> Any:
    answer = lab.get(f"/api/v1/pages/{query}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def shares(profile: Any, side: int) -> dict[str, float]:
    """The inclusive shares of functions of a side; none of them calls itself."""
    nodes, own = profile["nodes"], list(profile["sides"][side]["own"])
    for node in range(len(own) - 1, -1, -1):
        if nodes["parent"][node] >= 0:
            own[nodes["parent"][node]] += own[node]
    names = [profile["frames"][frame]["function"] for frame in nodes["frame"]]
    total = profile["sides"][side]["samples"]
    sums: dict[str, float] = {}
    for name, samples in zip(names, own, strict=True):
        sums[name] = sums.get(name, 0.0) + samples / total
    return sums


def test_a_case_has_the_samples_that_were_taken(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    profile = answered(lab, "stacks", id=ID, case="hset")
    base, head = profile["sides"]
    assert (base["side"], base["samples"], base["cpu_ns_per_op"]) == ("base", 1000, 3000.0)
    assert (head["side"], head["samples"], head["cpu_ns_per_op"]) == ("head", 1000, 4500.0)
    assert head["variance"] == head["own"]
    assert 0 < base["cpu_error"] == head["cpu_error"] < 0.01
    assert shares(profile, 0)["dictFind"] == 0.5
    assert shares(profile, 1)[HOSTILE] == 0.4
    assert profile["all_cases"] == ["get", "hset"]
    assert [case["sides"][1]["samples"] for case in profile["cases"]] == [1000]
    assert profile["pruned_nodes"] == 0


def test_cases_count_by_their_time_or_alike(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    by_time = answered(lab, "stacks", id=ID)
    base, head = by_time["sides"]
    # The mean of a request of each case.
    assert (base["cpu_ns_per_op"], head["cpu_ns_per_op"]) == (2000.0, 2750.0)
    assert shares(by_time, 0)["dictFind"] == pytest.approx((1000 * 0.4 + 3000 * 0.5) / 4000)
    assert sum(head["own"]) == pytest.approx(2000)
    # A sample of the case with three times the cost counts three times.
    assert sum(base["variance"]) == pytest.approx(1000 * (0.5**2 + 1.5**2))
    alike = answered(lab, "stacks", id=ID, weights="case")
    assert shares(alike, 0)["dictFind"] == pytest.approx(0.45)
    assert alike["sides"][0]["cpu_ns_per_op"] is None
    assert [side["weight"] for case in by_time["cases"] for side in case["sides"]] == pytest.approx(
        [0.25, 1000 / 5500, 0.75, 4500 / 5500]
    )
    in_cases = dict(zip((frame["function"] for frame in by_time["frames"]), by_time["frame_cases"], strict=True))
    assert (in_cases["dictFind"], in_cases["hset"], in_cases["main"]) == (2, 1, 2)


def test_what_cannot_be_merged_is_left_out_with_its_reason(store: Store, lab: httpx.Client) -> None:
    cases = {name: {side: stack_table(lines) for side, lines in GET.items()} for name in ("get", "lost", "untimed")}
    recorded_stacks(store, cases, {"get": (1.0, 1.0), "lost": (1.0, 1.0)}, invalid=("lost",))
    profile = answered(lab, "stacks", id=ID)
    assert [case["case"] for case in profile["cases"]] == ["get"]
    reasons = {left["case"]: left["reason"] for left in profile["left_out"]}
    assert reasons == {
        "lost": "a pass is not valid",
        "untimed": "it was not timed: what a request costs is not known",
    }
    alike = answered(lab, "stacks", id=ID, weights="case")
    assert [case["case"] for case in alike["cases"]] == ["get", "untimed"]
    refused = lab.get("/api/v1/pages/stacks", params={"id": ID, "case": "lost"})
    assert (refused.status_code, "no stacks of lost" in refused.text) == (404, True)
    assert "a pass is not valid" in refused.json()["hint"]


def test_the_newest_results_of_a_platform_are_merged(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    planted_stacks(store, id=OTHER)
    stored_run(store)
    results = answered(lab, "stack-results")["results"]
    assert [(entry["result"]["id"], entry["cases"]) for entry in results] == [
        ("r-4f1a", ["get-100B"]),
        (OTHER, ["get", "hset"]),
        (ID, ["get", "hset"]),
    ]
    platform = results[1]["platform"]
    assert results[0]["platform"] != platform
    profile = answered(lab, "stacks", platform=platform, newest=5)
    assert [result["id"] for result in profile["results"]] == [OTHER, ID]
    # Of comparisons the head; a case of two results counts once.
    assert [side["side"] for side in profile["sides"]] == ["head"]
    assert profile["sides"][0]["cpu_ns_per_op"] == pytest.approx(2750)
    assert [case["sides"][0]["weight"] for case in profile["cases"]] == pytest.approx(
        [1000 / 11_000, 4500 / 11_000] * 2
    )
    assert len(answered(lab, "stacks", platform=platform, newest=1)["cases"]) == 2
    named = results[1]["result"]["platform_name"]
    assert answered(lab, "stacks", platform=named, newest=5)["results"] == profile["results"]
    refused = lab.get("/api/v1/pages/stacks", params={"platform": "none"})
    assert (refused.status_code, "knows no platform `none`" in refused.text) == (404, True)
    assert named in refused.json()["hint"]
    refused = lab.get("/api/v1/pages/stacks", params={"platform": platform, "time": "waits"})
    assert (refused.status_code, "no result of the platform" in refused.text) == (404, True)


def test_frames_that_are_small_on_both_sides_are_put_together(store: Store, lab: httpx.Client) -> None:
    lines = {"main;work": 9990, "main;work;a": 4, "main;work;b": 4, "main;work;b;c": 2}
    cases = {"get": {"base": stack_table(lines), "head": stack_table({**lines, "main;work;a": 40})}}
    recorded_stacks(store, cases)
    profile = answered(lab, "stacks", id=ID)
    names = [profile["frames"][frame]["function"] for frame in profile["nodes"]["frame"]]
    assert sorted(names) == ["[other]", "a", "b", "main", "work"]
    assert (profile["pruned_nodes"], profile["least_share"]) == (1, 0.0005)
    assert profile["sides"][0]["pruned_share"] == pytest.approx(0.0002)
    whole = answered(lab, "stacks", id=ID, least_share=0)
    assert (whole["pruned_nodes"], len(whole["nodes"]["frame"])) == (0, 5)
    assert lab.get("/api/v1/pages/stacks", params={"id": ID, "least_share": 0.5}).status_code == 422


def test_answers_are_bounded(store: Store) -> None:
    table = large_table(MOST_NODES + 5_000, 1)
    recorded_stacks(store, {"get": {"base": table, "head": table}})
    profile = read_profile(QuerySources(store), ProfileParameters(id=ID, least_share=0))
    assert len(profile.nodes.parent) <= MOST_NODES
    assert profile.least_share > 0
    assert profile.pruned_nodes > 0


def test_many_cases_have_fewer_passes_each(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    planted_stacks(store)
    monkeypatch.setattr("zerolap.queries.sampled_cases.MOST_TABLES", 2)
    chosen = selected_cases(QuerySources(store), ProfileParameters(id=ID))
    assert [case.case for case in chosen.cases] == ["get"]
    assert [left.reason for left in chosen.left_out] == ["only 1 are merged at once"]


def test_functions_have_their_shares_of_each_case(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    answer = answered(lab, "stack-functions", id=ID)
    functions = {entry["function"]: entry["sides"] for entry in answer["functions"]}
    assert [case["case"] for case in answer["cases"]] == ["get", "hset"]
    assert functions["dictFind"][0] == {"side": "base", "own": [0.4, 0.5], "inclusive": [0.4, 0.5]}
    assert functions["processCommand"][1]["inclusive"] == [0.5, 0.8]
    assert functions["get"][0]["own"] == [0.1, None]
    # The costliest over all cases, by time.
    assert next(iter(functions)) in ("dictFind", HOSTILE)
    rows = list(csv.DictReader(io.StringIO(lab.get("/api/v1/pages/stack-functions.csv", params={"id": ID}).text)))
    [row] = [row for row in rows if (row["function"], row["case"], row["side"]) == (HOSTILE, "hset", "head")]
    assert float(row["own CPU ns per request"]) == pytest.approx(0.4 * 4500)


def test_a_case_of_several_results_is_one_column(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    slower = {"get": {side: stack_table({"main;get": 3, "main;get;dictFind": 1}) for side in ("base", "head")}}
    recorded_stacks(store, slower, {"get": (1000.0, 3000.0)}, id=OTHER)
    platform = answered(lab, "stack-results")["results"][0]["platform"]
    answer = answered(lab, "stack-functions", platform=platform)
    assert [(case["case"], case["results"]) for case in answer["cases"]] == [("get", [ID, OTHER]), ("hset", [ID])]
    [head] = answer["cases"][0]["sides"]
    assert (head["samples"], head["passes"], head["cpu_ns_per_op"]) == (1004, 2, 2000.0)
    assert sum(case["sides"][0]["weight"] for case in answer["cases"]) == pytest.approx(1)
    functions = {entry["function"]: entry["sides"][0]["own"] for entry in answer["functions"]}
    # Of 3000 ns a quarter, of 1000 ns 0.4.
    assert functions["dictFind"] == [pytest.approx((3000 * 0.25 + 1000 * 0.4) / 4000), 0.4]
    text = lab.get("/api/v1/pages/stack-functions.csv", params={"platform": platform}).text
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["function"] == "dictFind"]
    assert [(row["case"], row["results"]) for row in rows] == [("get", f"{ID} {OTHER}"), ("hset", ID)]


def test_findings_name_lines(store: Store, lab: httpx.Client) -> None:
    stated = Finding(kind="culprit", rank=1, function="dictFind", file="dict.c", lines=[10, 12], text="It grew.")
    planted_stacks(store, findings={"hset": [stated, Finding(kind="diffuse", rank=2, text="None.")]})
    [named] = answered(lab, "stacks", id=ID)["lines"]
    assert named == {"case": "hset", "function": "dictFind", "file": "dict.c", "lines": [10, 12], "text": "It grew."}
    assert answered(lab, "stacks", id=ID, case="get")["lines"] == []


def test_waits_are_stacks_of_their_own(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    for name in ("get", "hset"):
        record_pass(store, ID, name, wait_tables(), "traced", traced_case(700.0, 50.0))
    profile = answered(lab, "stacks", id=ID, case="hset", time="waits")
    assert (profile["time"], profile["times"], profile["events"]) == ("waits", ["cpu", "waits"], ["off-cpu"])
    # What a request takes on the processor is no part of it.
    assert [(side["samples"], side["cpu_ns_per_op"]) for side in profile["sides"]] == [
        (4_000_000, 750.0),
        (5_000_000, 750.0),
    ]
    assert shares(profile, 1)["fsync"] == 0.8
    assert answered(lab, "stacks", id=ID, case="hset")["times"] == ["cpu", "waits"]
    asked = {"id": ID, "case": "hset", "time": "waits", "side": "head"}
    folded = lab.get("/api/v1/stacks.folded.txt", params=asked).text.splitlines()
    assert any(line.endswith("main;fsync;sys_fsync 4000000") for line in folded), folded
    merged = answered(lab, "stacks", id=ID, time="waits")
    assert (merged["weights"], len(merged["cases"])) == ("case", 2)
    assert [side["cpu_ns_per_op"] for side in merged["sides"]] == [None, None]


def test_a_case_that_was_not_traced_has_no_waits(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    record_pass(store, ID, "get", wait_tables(), "traced")
    assert answered(lab, "stacks", id=ID, case="hset")["times"] == ["cpu"]
    assert lab.get("/api/v1/pages/stacks", params={"id": ID, "case": "hset", "time": "waits"}).status_code == 404


def lines_of(lab: httpx.Client, function: str = "dictFind", **parameters: Any) -> Any:
    return answered(lab, "stack-lines", id=ID, function=function, file="server.c", **parameters)


def test_a_function_has_its_lines_with_their_samples(store: Store, lab: httpx.Client) -> None:
    base = lined(stack_table(HSET["base"]), (10, "hash(key);", 300), (11, "  return it;", 150))
    head = lined(stack_table(HSET["head"]), (10, "check(key);", 100), (12, "hash(key);", 100), (13, "return it;", 200))
    recorded_stacks(store, {"hset": {"base": base, "head": head}}, {"hset": (3000.0, 4500.0)})
    answer = lines_of(lab, case="hset")
    before, after = answer["sides"]
    assert (before["own"], before["share"], before["cpu_ns_per_op"]) == (500, 0.5, 1500)
    assert (after["own"], after["share"], after["cpu_ns_per_op"]) == (400, 0.4, 1800)
    assert (before["passes"], before["lined_passes"]) == (1, 1)
    lines = [(line["text"], *(side["line"] for side in line["sides"])) for line in answer["lines"]]
    assert lines == [("check(key);", None, 10), ("hash(key);", 10, 12), ("return it;", 11, 13)]
    found = answer["lines"][1]["sides"]
    assert [(side["samples"], side["share"], side["cpu_ns_per_op"]) for side in found] == [
        (300, 0.6, pytest.approx(900)),
        (100, 0.25, pytest.approx(450)),
    ]
    text = lab.get("/api/v1/pages/stack-lines.csv", params={"id": ID, "function": "dictFind", "file": "server.c"}).text
    rows = [(row["side"], row["line"], row["samples"]) for row in csv.DictReader(io.StringIO(text))]
    assert ("base", "10", "300.0") in rows
    assert len(rows) == 5


def test_lines_of_merged_cases_are_weighted_as_their_stacks(store: Store, lab: httpx.Client) -> None:
    cases = {
        name: {side: lined(stack_table(lines[side]), (10, None, 100)) for side in ("base", "head")}
        for name, lines in (("get", GET), ("hset", HSET))
    }
    recorded_stacks(store, cases, COSTS)
    base = lines_of(lab)["sides"][0]
    profile = answered(lab, "stacks", id=ID)
    assert base["share"] == pytest.approx(shares(profile, 0)["dictFind"])
    assert base["cpu_ns_per_op"] == pytest.approx((1000 * 0.4 + 3000 * 0.5) / 2)
    [line] = lines_of(lab)["lines"]
    assert line["text"] is None
    assert line["sides"][0]["samples"] == pytest.approx(100 * 0.5 + 100 * 1.5)


def test_stacks_without_lines_go_on_working(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    answer = lines_of(lab, case="hset")
    assert answer["lines"] == []
    assert [(side["passes"], side["lined_passes"], side["cpu_ns_per_op"]) for side in answer["sides"]] == [
        (1, 0, None)
    ] * 2
    recorded = lined(stack_table(HSET["head"]), (10, None, 100))
    recorded_stacks(store, {"hset": {"base": stack_table(HSET["base"]), "head": recorded}}, COSTS, id=OTHER)
    answer = answered(lab, "stack-lines", id=OTHER, function="dictFind", file="server.c")
    assert [side["lined_passes"] for side in answer["sides"]] == [0, 1]
    [line] = answer["lines"]
    assert [side["line"] for side in line["sides"]] == [None, 10]
    # A function without lines among those that have some.
    assert answered(lab, "stack-lines", id=OTHER, function="main", file="server.c")["lines"] == []


def test_lines_that_do_not_fit_their_stacks_are_reported(store: Store, lab: httpx.Client) -> None:
    table = lined(stack_table(HSET["base"]), (10, None, 501))
    recorded_stacks(store, {"hset": {"base": table, "head": table}})
    answer = lab.get("/api/v1/pages/stack-lines", params={"id": ID, "function": "dictFind", "file": "server.c"})
    assert (answer.status_code, "damaged" in answer.json()["detail"]) == (404, True)


def test_the_table_of_a_profile_has_its_stacks(store: Store, lab: httpx.Client) -> None:
    planted_stacks(store)
    text = lab.get("/api/v1/pages/stacks.csv", params={"id": ID, "case": "hset"}).text
    rows = list(csv.DictReader(io.StringIO(text)))
    samples = {row["stack"]: float(row["base samples"]) for row in rows}
    assert {name.replace(";main", "main"): count for name, count in samples.items() if count} == HSET["base"]


def test_nothing_is_known_of_other_results(lab: httpx.Client) -> None:
    for path in ("/api/v1/pages/stacks", "/api/v1/pages/stack-functions", "/api/v1/stacks.pb.gz"):
        assert lab.get(path, params={"id": OTHER}).status_code == 404
        assert lab.get(path, params={"id": "../etc"}).status_code == 422


class TestFiles:
    """Stacks in the formats of other programs."""

    def test_speedscope(self, store: Store, lab: httpx.Client) -> None:
        planted_stacks(store)
        answer = lab.get("/api/v1/stacks.speedscope.json", params={"id": ID, "case": "hset"})
        assert answer.headers["content-disposition"] == f'attachment; filename="{ID}-hset.speedscope.json"'
        file = answer.json()
        assert [(profile["name"], profile["unit"]) for profile in file["profiles"]] == [
            ("head redis-server: server", "nanoseconds"),
            ("base redis-server: server", "nanoseconds"),
        ]
        head = file["profiles"][0]
        names = [file["shared"]["frames"][stack[-1]]["name"] for stack in head["samples"]]
        assert dict(zip(names, head["weights"], strict=True))[HOSTILE] == pytest.approx(1800)
        assert head["endValue"] == pytest.approx(sum(head["weights"])) == pytest.approx(4500)

    def test_firefox(self, store: Store, lab: httpx.Client) -> None:
        planted_stacks(store)
        file = lab.get("/api/v1/stacks.firefox.json", params={"id": ID, "case": "hset"}).json()
        assert file["meta"]["version"] > 0
        assert len(file["threads"]) == 2
        assert {thread["samples"]["weightType"] for thread in file["threads"]} == {"tracing-ms"}
        assert [sum(thread["samples"]["weight"]) for thread in file["threads"]] == [3000, 4500]

    def test_pprof(self, store: Store, lab: httpx.Client) -> None:
        planted_stacks(store)
        for side in ("base", "head"):
            answer = lab.get("/api/v1/stacks.pb.gz", params={"id": ID, "side": side})
            assert answer.headers["content-disposition"].endswith(f'"{ID}-{side}.pb.gz"')
            assert b"cpu_of_1000000_requests" in gzip.decompress(answer.content)

    def test_folded_lines_have_one_separator(self, store: Store, lab: httpx.Client) -> None:
        planted_stacks(store)
        text = lab.get("/api/v1/stacks.folded.txt", params={"id": ID, "case": "hset"}).text
        stacks = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in text.splitlines()}
        assert len(stacks) == len(HSET["head"])
        assert sum(stacks.values()) == 4500 * 1_000_000
        [hostile] = [stack for stack in stacks if "onerror" in stack]
        assert hostile.count(";") == 4

    def test_callgrind_and_pictures_are_of_a_side(self, store: Store, lab: httpx.Client) -> None:
        planted_stacks(store)
        for ending, begins in (("callgrind", "# callgrind format\n"), ("svg", "<?xml ")):
            for side in ("base", "head"):
                answer = lab.get(f"/api/v1/stacks.{ending}", params={"id": ID, "case": "hset", "side": side})
                assert answer.text.startswith(begins)
                assert f"{side} redis-server" in answer.text
                assert answer.headers["content-disposition"].endswith(f'"{ID}-hset-{side}.{ending}"')
                assert "<img" not in answer.text or ending == "callgrind"

    def test_a_run_has_no_base(self, store: Store, lab: httpx.Client) -> None:
        stored_run(store)
        assert lab.get("/api/v1/stacks.folded.txt", params={"id": "r-4f1a"}).status_code == 200
        refused = lab.get("/api/v1/stacks.folded.txt", params={"id": "r-4f1a", "side": "base"})
        assert (refused.status_code, refused.json()["hint"]) == (404, "a run has a head only")

    def test_names_of_files_are_plain(self, store: Store, lab: httpx.Client) -> None:
        name = 'a"b\r\nX: y/../ü'
        recorded_stacks(store, {name: {side: stack_table(lines) for side, lines in GET.items()}})
        answer = lab.get("/api/v1/stacks.folded.txt", params={"id": ID, "case": name})
        assert answer.headers["content-disposition"] == f'attachment; filename="{ID}-a-b-X-y.folded.txt"'


def test_reading_takes_a_token_unless_reports_are_public(store: Store) -> None:
    planted_stacks(store)
    token = reading_token(store)
    with (
        served_lab(store, ONLY_WITH_A_TOKEN) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as lab,
    ):
        for path in ("/api/v1/pages/stacks", "/api/v1/pages/stack-results", "/api/v1/stacks.folded.txt"):
            assert lab.get(path).status_code == 401
            assert lab.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_costs_are_those_of_the_verdicts(either_store: Store) -> None:
    planted_stacks(either_store)
    stored_run(either_store)
    costs = either_store.stacks.costs([ID, "r-4f1a"])
    assert {case: cost.by_side for (_, case), cost in costs.items() if case in COSTS} == {
        case: {"base": base, "head": head} for case, (base, head) in COSTS.items()
    }
    assert costs["r-4f1a", "get-100B"].by_side == {"head": 1211.2}
    assert [result.id for result in either_store.stacks.newest(5)] == ["r-4f1a", ID]
    assert len(either_store.stacks.trials([ID])) == 4


def test_stacks_of_another_version_are_reported(store: Store, lab: httpx.Client) -> None:
    table = {**stack_table(GET["base"]), "schema": "zerolap.stacks/9"}
    recorded_stacks(store, {"get": {"base": table, "head": table}})
    answer = lab.get("/api/v1/pages/stacks", params={"id": ID})
    assert answer.status_code == 404
    assert "another version" in answer.json()["detail"]
