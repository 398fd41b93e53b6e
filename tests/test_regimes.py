"""Regimes: cases in them by what files state, and planted regressions that only one of them meets."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap
from engine_place import job_of, place_in
from toy_server import WORK_BEGINS, ToySource

from zerolap.cases import core_suite, in_regime, load_cases, packaged_regimes, regimes_of_case, scaled, select
from zerolap.documents import Results
from zerolap.documents.regime_results import measured_regimes
from zerolap.engines.engine import EngineTrial, filled_server
from zerolap.judge import shows_other_change
from zerolap.lab import Options, comparison_request
from zerolap.lab.regimes import ChangeReach, Touched, fewest_cases
from zerolap.records import (
    HEAD,
    BinarySource,
    Case,
    CaseFileError,
    Measurement,
    Platform,
    Regime,
    RequestedServer,
    Resolved,
    UsageError,
    Validity,
)
from zerolap.server import number_in
from zerolap.store import Store

CASES = """\
group: toy
datasets:
  values:
    load: ["SET __key__ __data__"]
    keys: {minimum: 1, maximum: 2000}
    data_size: 40
    expect: {reply: status, keys: 2000}
regimes:
  large values:
    applies: {values: true}
    data_size: 20000
    most_data_bytes: 2000000
  warm:
    applies: {states: [stable]}
    warm_requests: 30000
  idle:
    idle_connections: 120
cases:
  - name: toy-get
    dataset: values
    commands: ["GET __key__"]
    regimes: [large values, warm, idle]
    expect: {reply: bulk, hit_rate: ">= 0.99"}
  - name: toy-set
    dataset: values
    commands: ["SET __key__ __data__"]
    without_regimes: ["*"]
    expect: {reply: status}
  - name: toy-work
    commands: ["WORK key 100"]
    regimes: [warm, idle]
    expect: {reply: integer}
"""


def case_named(name: str, cases: list[Case] | None = None) -> Case:
    return next(case for case in cases or core_suite() if case.name == name)


def regime_named(name: str) -> Regime:
    return next(regime for regime in packaged_regimes() if regime.name == name)


def names_of(case: Case) -> list[str]:
    return [regime.name for regime in regimes_of_case(case)]


def test_a_case_in_a_regime_is_the_case_with_what_the_regime_states() -> None:
    case = case_named("get-100B")
    in_it = in_regime(case, regime_named("300 connections"))
    assert in_it.name == "get-100B@300-connections"
    assert in_it.regime is not None
    assert (in_it.regime.name, in_it.regime.of, in_it.regime.idle_connections) == (
        "300 connections",
        "get-100B",
        300,
    )
    assert in_it.client == case.client
    assert in_it.digest != case.digest


def test_large_values_leave_as_many_keys_as_fit() -> None:
    in_it = in_regime(case_named("get-100B"), regime_named("16 KiB values"))
    assert in_it.dataset is not None
    assert (in_it.dataset.data_size, in_it.dataset.keys.maximum) == (16384, 1024)
    assert in_it.dataset.expect.keys == 1024
    assert (in_it.client.key_minimum, in_it.client.key_maximum) == (1, 1024)


def test_commands_beside_those_of_a_case_are_not_its_own() -> None:
    in_it = in_regime(case_named("sismember"), regime_named("freed lazily"))
    assert in_it.verbs == ["SISMEMBER", "COPY", "UNLINK"]
    assert in_it.own_verbs == ["SISMEMBER"]
    assert in_it.expect.hit_rate is None


def test_a_regime_applies_to_cases_that_have_what_it_changes() -> None:
    assert "16 KiB values" in names_of(case_named("xadd-auto-id"))
    assert "16 KiB values" not in names_of(case_named("sismember"))
    assert "AOF" not in names_of(case_named("zrange-100-withscores"))
    assert "keys with a time to live" not in names_of(case_named("zadd"))


def test_cases_choose_among_regimes_of_their_file_and_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "cases.yml").write_text(CASES)
    cases = load_cases(tmp_path)
    assert names_of(case_named("toy-get", cases)) == ["large values", "warm", "idle"]
    assert names_of(case_named("toy-set", cases)) == []
    (tmp_path / "cases.yml").write_text(CASES.replace('without_regimes: ["*"]', "without_regimes: [AOF, warm]"))
    names = names_of(case_named("toy-set", load_cases(tmp_path)))
    assert names[:2] == ["large values", "idle"]
    assert "RESP3" in names
    assert "AOF" not in names


@pytest.mark.parametrize(
    ("written", "instead", "problem"),
    [
        ("regimes: [warm, idle]", "regimes: [wram]", 'no regime is called "wram"'),
        ("warm_requests: 30000", "warm_requests: 30000000", "expected at most 10,000,000"),
        ("idle_connections: 120", "idle: 120", "unknown field"),
        ("  idle:\n", '  "idle@":\n', "a name of letters"),
    ],
)
def test_a_faulty_regime_is_refused_with_its_line(tmp_path: Path, written: str, instead: str, problem: str) -> None:
    (tmp_path / "cases.yml").write_text(CASES.replace(written, instead))
    with pytest.raises(CaseFileError, match=re.escape(problem)):
        load_cases(tmp_path)


def test_a_case_in_a_regime_is_chosen_by_its_name() -> None:
    assert [case.name for case in select(core_suite(), ["get-100B@*-values"])] == [
        "get-100B@16-KiB-values",
        "get-100B@64-KiB-values",
        "get-100B@16-B-values",
    ]
    with pytest.raises(UsageError):
        select(core_suite(), ["get-100B@nothing"])


def block(**heads: float) -> tuple[Measurement, Measurement]:
    def measured(metrics: dict[str, float]) -> Measurement:
        return Measurement(metrics=metrics, validity=Validity.of([]))

    return measured(dict.fromkeys(heads, 1000.0)), measured(heads)


def test_a_regime_is_looked_at_where_more_changed_than_in_the_case() -> None:
    same, slower = block(instructions_per_op=1001.0), block(instructions_per_op=1050.0)
    assert not shows_other_change(same, None, 0.005)
    assert shows_other_change(slower, same, 0.005)
    assert not shows_other_change(slower, slower, 0.005)
    # It is diluted there: the case tells it.
    assert not shows_other_change(block(instructions_per_op=1020.0), slower, 0.005)
    assert shows_other_change(block(instructions_per_op=990.0), slower, 0.005)
    # Half as much again is another change, and less is the case's own.
    assert not shows_other_change(block(instructions_per_op=1074.0), slower, 0.005)
    assert shows_other_change(block(instructions_per_op=1085.0), slower, 0.005)
    assert shows_other_change(block(allocations_per_op=1030.0), block(allocations_per_op=1000.0), 0.005)


def pairs_of(regime: str, *names: str) -> list[tuple[Regime, Case]]:
    return [(regime_named(regime), case_named(name)) for name in names]


def names_chosen(chosen: list[tuple[Regime, Case]]) -> list[str]:
    return [case.name for _, case in chosen]


def test_the_fewest_cases_that_execute_what_changed_are_chosen() -> None:
    pairs = pairs_of("AOF", "get-100B", "hset", "zadd", "eval")
    costs = {"get-100B": 1.0, "hset": 2.0, "zadd": 3.0, "eval": 4.0}
    touched = [
        Touched(frozenset({"get-100B", "eval"}), is_whole=True),
        Touched(frozenset({"zadd", "eval"}), is_whole=True),
        Touched(frozenset({"xadd-auto-id"}), is_whole=True),
    ]
    assert names_chosen(fewest_cases(pairs, costs, ChangeReach(touched, has_unexecuted=False))) == ["eval"]
    # Lines that no case reaches are looked for first.
    touched.append(Touched(frozenset({"hset"}), is_whole=False))
    assert names_chosen(fewest_cases(pairs, costs, ChangeReach(touched, has_unexecuted=False))) == ["hset", "eval"]


def test_what_no_case_executes_is_looked_for_in_one_case() -> None:
    pairs = pairs_of("AOF", "get-100B", "zadd", "set-ex-100B")
    costs = {"get-100B": 2.0, "zadd": 1.0}
    assert names_chosen(fewest_cases(pairs, costs, ChangeReach([], has_unexecuted=False))) == []
    proposed = ChangeReach([], has_unexecuted=True, proposed=[case_named("set-ex-100B")])
    assert names_chosen(fewest_cases(pairs, costs, proposed)) == ["set-ex-100B"]
    assert names_chosen(fewest_cases(pairs[:2], costs, ChangeReach([], has_unexecuted=True))) == ["zadd"]
    # Of other flags it is not known what they change.
    assert names_chosen(fewest_cases(pairs, costs, None)) == ["zadd"]


def test_a_regime_that_there_was_no_time_for_is_told(store: Store) -> None:
    server = RequestedServer(source=BinarySource(name="made up", path=Path("made-up")))
    request = comparison_request(server, server, [case_named("zadd")], Options(engines=["counted"]))
    platform = Platform(name="made up", fingerprint="0", cpu="made up", cores=1, kernel="6")
    results = Results(Resolved(request=request, platform=platform, servers={}, cases=()), store.blobs)
    results.regimes_left_out = [("AOF", "zadd")]
    (regime,) = measured_regimes(results, [])
    assert (regime.regime, regime.unmeasured) == ("AOF", {"zadd": "there was no time to count it"})


LARGE = (
    "if (value->length > 10000)\n        for (volatile size_t at = 0; at < 4000; at++);\n"
    "    add_bulk(client, value->data"
)
MANY = "client->input_length += (size_t)length;"
OFTEN = "command->calls++;"


@pytest.fixture
def compare(zerolap: Zerolap, toy: ToySource, shared_store: Path, tmp_path: Path) -> Callable[..., Any]:
    (tmp_path / "cases.yml").write_text(CASES)

    def run(head: str, *arguments: str) -> Any:
        common: list[str | Path] = [
            "--repo",
            toy.path,
            "--cases",
            tmp_path / "cases.yml",
            "--store",
            shared_store,
            "--quick",
        ]
        ended = zerolap("compare", toy.first, head, *common, "--json", "-", "--seed", "1", *arguments)
        zerolap.leaves_nothing()
        assert ended.code == 0, ended.err
        return json.loads(ended.out)

    return run


def changed(document: Any) -> dict[str, str]:
    return {case["case"]: case["regime"] for case in document["cases"] if case["verdict"] == "regression"}


def regime_of(document: Any, name: str) -> Any:
    return next(regime for regime in document["regimes"] if regime["regime"] == name)


@pytest.mark.usefixtures("valgrind")
def test_a_regression_of_large_values_is_named_with_its_regime(compare: Callable[..., Any], toy: ToySource) -> None:
    head = toy.changed(("commands.c", "add_bulk(client, value->data", LARGE))
    assert changed(compare(head)) == {}
    document = compare(head, "--regimes", "auto")
    assert changed(document) == {"toy-get@large-values": "large values"}
    assert "GET (large values)" in document["reading"]["headline"]
    assert [regime["regime"] for regime in document["regimes"]] == ["idle", "large values", "warm"]
    assert regime_of(document, "large values")["differing"] == ["toy-get"]
    # No other case executes the function, and what is the same is no row.
    assert regime_of(document, "warm")["same"] == regime_of(document, "idle")["same"] == ["toy-get"]
    assert [case["case"] for case in document["cases"]] == ["toy-get", "toy-set", "toy-work", "toy-get@large-values"]


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_regressions_beside_idle_connections_and_after_many_requests_are_named(
    compare: Callable[..., Any], toy: ToySource
) -> None:
    slow = "for (volatile int turn = 0; turn < 300; turn++);"
    head = toy.changed(
        ("server.c", MANY, f"if (client->descriptor > 100) {{ {slow} }}\n    {MANY}"),
        ("commands.c", OFTEN, f"if (command->calls > 20000) {{ {slow} }}\n        {OFTEN}"),
    )
    document = compare(head, "--regimes", "auto")
    # The conditions themselves cost each request something.
    assert set(changed(document).values()) - {""} == {"idle", "warm"}
    assert regime_of(document, "large values")["same"] == ["toy-get"]


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_what_changes_in_a_regime_as_in_the_case_itself_is_no_row_of_its_own(
    compare: Callable[..., Any], toy: ToySource
) -> None:
    busy = f"{WORK_BEGINS}\n    for (volatile int turn = 0; turn < 300; turn++);"
    document = compare(toy.changed(("commands.c", WORK_BEGINS, busy)), "toy-work", "--regimes", "all")
    assert changed(document) == {"toy-work": ""}
    assert [(regime["regime"], regime["same"]) for regime in document["regimes"]] == [
        ("idle", ["toy-work"]),
        ("warm", ["toy-work"]),
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_all_regimes_of_all_cases_are_counted_where_that_is_asked_for(
    compare: Callable[..., Any], toy: ToySource
) -> None:
    head = toy.changed(("commands.c", "add_bulk(client, value->data", LARGE))
    document = compare(head, "--regimes", "all")
    assert {regime["regime"]: regime["same"] for regime in document["regimes"]} == {
        "idle": ["toy-get", "toy-work"],
        "large values": [],
        "warm": ["toy-get", "toy-work"],
    }


@pytest.mark.usefixtures("valgrind")
def test_where_no_function_changed_no_regime_is_counted(compare: Callable[..., Any], toy: ToySource) -> None:
    head = toy.changed(("commands.c", "    table_put(arguments", "    // as before\n    table_put(arguments"))
    assert compare(head, "--regimes", "auto")["regimes"] == []
    # What was asked for by its name is a case like others.
    (case,) = compare(head, "toy-get@idle")["cases"]
    assert (case["case"], case["regime"], case["verdict"]) == ("toy-get@idle", "idle", "same")


@pytest.mark.slow
@pytest.mark.usefixtures("valgrind")
def test_keys_expire_while_the_timers_are_counted(zerolap: Zerolap, redis_server: Path, tmp_path: Path) -> None:
    names = ["get-100B", "get-100B@expiring-keys"]
    ended = zerolap("run", *names, "--server", redis_server, "--quick", "--json", "-", "--store", tmp_path / "store")
    assert ended.code == 0, ended.err
    own, expiring = (case["metrics"]["instructions_per_tick"] for case in json.loads(ended.out)["cases"])
    assert expiring > 5 * own


def test_idle_connections_and_warm_requests_are_part_of_every_trial(redis_server: Path, tmp_path: Path) -> None:
    stated = Regime(name="busy", idle_connections=40, warm_requests=5_000)
    (case,) = [scaled(case, 0.01) for case in core_suite() if case.name == "get-100B"]
    place = place_in(tmp_path / "t")
    job = job_of("timed", in_regime(case, stated), redis_server, place)
    with place.trial_directory() as directory:
        program, pinning = place.program(job.servers[HEAD]), place.pinning(job)
        trial = EngineTrial.of(job, job.blocks[0], HEAD, program, directory, pinning)
        with filled_server(trial) as filled:
            clients, stats = filled.server.info("clients"), filled.server.info("commandstats")
    assert (number_in(clients, "connected_clients") or 0) >= 40
    calls = re.search(r"cmdstat_get\W+calls=(\d+)", str(stats))
    assert calls is not None
    assert int(calls[1]) == 5_000
