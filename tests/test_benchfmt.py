"""Trials in Go's benchmark format: what a reader of the format makes of them, and that no name acts as part of it."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from command_line import Zerolap
from hostile_texts import HOSTILE_TEXTS
from made_records import VALID, a_case, a_comparison, a_measurement, an_invalid_case
from stored_run import DISTURBED, RUN, record_trials, stored_run

from zerolap.records import Comparison, Measurement, Trial
from zerolap.report.benchfmt import comparison_benchfmt, run_benchfmt, unit_of
from zerolap.store import Store

HOSTILE_NAMES = [
    *(hostile.text for hostile in HOSTILE_TEXTS),
    "a\nBenchmarkForged 1 1 ns/op",
    "a\u2028b",
    "a\u0085b c\td",
    "lrange-100",
    "a/side=head",
    "100 %",
    "café",
]


@dataclass
class Read:
    """What a reader takes from a document: configuration, units by name, and results as (name, values by unit)."""

    configuration: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    results: list[tuple[str, dict[str, float]]] = field(default_factory=list)

    def values(self, name: str, unit: str) -> list[float]:
        return [values[unit] for found, values in self.results if found == name and unit in values]


def read(text: str) -> Read:
    """Read a document by the rules of the format; every line has to be one of it."""
    document = Read()
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("Benchmark"):
            name, iterations, *pairs = line.split()
            assert re.match(r"Benchmark[A-Z]", name)
            assert not re.search(r"-\d+$", name), "tools would take the number for that of processors"
            assert int(iterations) > 0
            assert len(pairs) >= 2
            assert len(pairs) % 2 == 0
            values = {unit: float(value) for value, unit in zip(pairs[::2], pairs[1::2], strict=True)}
            document.results.append((name.removeprefix("Benchmark"), values))
        elif line.startswith("Unit "):
            _, unit, better = line.split()
            document.units[unit] = better
        else:
            match = re.fullmatch(r"([a-z][^\sA-Z:]*):[ \t]+(.*)", line)
            assert match is not None, line
            document.configuration[match[1]] = match[2]
    return document


def a_trial(case: str, side: str, block: int = 0, engine: str = "counted", per_second: int | None = None) -> Trial:
    return Trial(job="j-1", case=case, side=side, engine=engine, block=block, per_second=per_second)


def measured(**metrics: float) -> Measurement:
    return Measurement(metrics=metrics, validity=VALID)


def comparison_of(*names: str) -> Comparison:
    return a_comparison([a_case(name) for name in names])


def test_a_line_for_each_trial_and_side() -> None:
    trials = [
        (a_trial("get", side, block), measured(instructions_per_op=value, syscalls_per_op=2.0))
        for block in range(2)
        for side, value in (("base", 100.5 + block), ("head", 120.25 + block))
    ]
    starts = [(a_trial("get", side, 0, "timed"), measured(ops_per_sec=1e6)) for side in ("base", "head")]
    document = read(comparison_benchfmt(comparison_of("get"), [*trials, *starts]))
    assert document.values("Zerolap/case=get/side=base", "instructions/op") == [100.5, 101.5]
    assert document.values("Zerolap/case=get/side=head", "instructions/op") == [120.25, 121.25]
    assert document.values("Zerolap/case=get/side=head", "ops/sec") == [1e6]
    assert document.units["instructions/op"] == "better=lower"
    assert document.units["ops/sec"] == "better=higher"
    assert document.configuration["comparison"] == "c-20261120-4f1a"


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("cpu_ns_per_op", "cpu-ns/op"),
        ("usec_per_call", "usec/call"),
        ("latency_p50_us", "latency-p50-us"),
        ("a metric\nof a plugin", "a%20metric%0Aof%20a%20plugin"),
    ],
)
def test_units(metric: str, unit: str) -> None:
    assert unit_of(metric) == unit


def test_trials_at_an_equal_rate_are_other_benchmarks() -> None:
    trials = [
        (a_trial("get", "base", 0, "timed"), measured(cpu_ns_per_op=900.0)),
        (a_trial("get", "base", 0, "timed", per_second=5000), measured(cpu_ns_per_op=1200.0)),
    ]
    document = read(comparison_benchfmt(comparison_of("get"), trials))
    assert document.values("Zerolap/case=get/side=base", "cpu-ns/op") == [900.0]
    assert document.values("Zerolap/case=get/rate=5000/side=base", "cpu-ns/op") == [1200.0]


def test_what_is_invalid_is_no_number() -> None:
    disturbed = Measurement(metrics={"ops_per_sec": 1.0}, validity=DISTURBED)
    of_invalid_case = (a_trial("hget", "base"), measured(instructions_per_op=1.0))
    comparison = a_comparison([a_case("get"), an_invalid_case("hget")])
    document = read(comparison_benchfmt(comparison, [(a_trial("get", "base"), disturbed), of_invalid_case]))
    assert document.results == []


def test_the_control_of_the_machine_is_no_benchmark() -> None:
    trials = [(a_trial("get", side), measured(cpu_ns_per_op=1.0, control_ns=15.0)) for side in ("base", "head")]
    assert "control" not in comparison_benchfmt(comparison_of("get"), trials)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_is_one_part_of_one_line(name: str) -> None:
    trials = [(a_trial(name, side), measured(instructions_per_op=1.0)) for side in ("base", "head")]
    comparison = comparison_of(name).model_copy(update={"id": f"c-1 {name}"})
    server = comparison.base.model_copy(update={"name": name})
    document = read(comparison_benchfmt(comparison.model_copy(update={"base": server}), trials))
    assert len(document.results) == 2
    assert {found.rpartition("/")[2] for found, _ in document.results} == {"side=base", "side=head"}
    assert all(found.count("/") == 2 for found, _ in document.results)
    assert set(document.configuration) == {"platform", "cpu", "comparison", "base", "head"}


def test_a_run_differs_from_another_in_its_values_alone() -> None:
    trials = [(a_trial("get-100B", "head"), measured(instructions_per_op=3519.6))]
    document = read(run_benchfmt(RUN, trials))
    other = RUN.model_copy(update={"id": "r-2", "command_line": "zerolap run", "created": "2026-11-21T21:00:00Z"})
    assert read(run_benchfmt(other, trials)) == document
    assert document.values("Zerolap/case=get-100B/side=head", "instructions/op") == [3519.6]


def test_a_stored_run_is_written_again(zerolap: Zerolap, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store")) as store:
        stored_run(store)
        record_trials(store, "hset", "counted", [a_measurement(metrics={"instructions_per_op": 6293.4})] * 2)
    ended = zerolap("explain", RUN.id, "--benchfmt", "-", "--store", tmp_path / "store")
    assert ended.code == 0, ended.err
    assert read(ended.out).values("Zerolap/case=hset/side=head", "instructions/op") == [6293.4, 6293.4]
    unnamed = zerolap("explain", "--benchfmt", "a", "--store", tmp_path / "store")
    unnamed.fails_with(2, "a report needs the ID of a comparison, run, sweep or check")
    twice = zerolap("explain", RUN.id, "--benchfmt", "a", "--json", "a", "--store", tmp_path / "store")
    twice.fails_with(2, "two reports")
