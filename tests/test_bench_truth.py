"""The bench of verdicts: samples that are kept and continued, and the statistics that are made of them."""

import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from benches.figures import Figure
from benches.truth import __main__ as truth, neighbours, noisy, nulls, planted
from benches.truth.case_data import CaseData, MetricData
from benches.truth.estimates import correlation, highest_rate
from benches.truth.measuring import Bench, Estimate, Limit, TruthFigure, kept_results, table
from benches.truth.samples import TRIES, Data, Experiment, PlannedSample, Sample, SampleFile, Unavailable, locked
from benches.truth.whole_figures import Measurement, WholeFigure, figures_of
from zerolap.records import UsageError


def experiment(measure: Callable[..., Data], keys: Sequence[str], name: str = "drawn", version: int = 1) -> Experiment:
    def plan(_: Path) -> list[PlannedSample]:
        return [PlannedSample(key, partial(measure, key=key)) for key in keys]

    return Experiment(name, version, [], plan)


def mean_of(experiment: Experiment, name: str = "mean", wanted: int = 3) -> TruthFigure:
    def compute(samples: Sequence[Sample]) -> Estimate:
        return Estimate(sum(sample.data["value"] for sample in samples) / len(samples), len(samples))

    return TruthFigure(name, "a unit", [experiment], wanted, "trials", compute, Limit(most=1))


class Clock:
    """A clock that only moves when a trial is measured."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.keys: list[str] = []

    def measure(self, seed: int, key: str) -> Data:
        self.keys.append(key)
        self.seconds += 10
        return {"value": 1}

    def __call__(self) -> float:
        return self.seconds


def bench(tmp_path: Path, clock: Clock, limit_seconds: float | None = None, *, any_code: bool = False) -> Bench:
    file = SampleFile(tmp_path / "truth.json")
    return Bench(file, tmp_path, limit_seconds, any_code, show=lambda _: None, clock=clock)


def test_second_run_goes_on_where_time_limit_ended_the_first(tmp_path: Path) -> None:
    clock = Clock()
    figure = mean_of(experiment(clock.measure, ["a", "b", "c"]))
    assert bench(tmp_path, clock, limit_seconds=15).measure([figure]) == "time limit"
    [result] = bench(tmp_path, clock).results([figure])
    assert (result.state, result.trials, clock.keys) == ("incomplete", 2, ["a", "b"])
    assert "2 of 3 trials" in table([result])

    assert bench(tmp_path, clock).measure([figure]) == "nothing left to measure"
    [result] = bench(tmp_path, clock).results([figure])
    assert (result.state, result.trials, clock.keys) == ("pass", 3, ["a", "b", "c"])
    document = json.loads((tmp_path / "truth.json").read_text())
    assert [(run["limit_seconds"], run["stopped_by"], run["trials"]) for run in document["runs"]] == [
        (15, "time limit", 2),
        (None, "nothing left to measure", 1),
    ]
    assert document["figures"]["mean"]["state"] == "pass"


def test_samples_state_seed_host_and_code(tmp_path: Path) -> None:
    clock = Clock()
    bench(tmp_path, clock).measure([mean_of(experiment(clock.measure, ["a", "b"]))])
    document = json.loads((tmp_path / "truth.json").read_text())
    first, second = document["samples"]
    assert first["seed"] != second["seed"]
    assert first["code"] == second["code"]
    assert first["host"] in document["hosts"]
    assert first["methods"].keys() == {"counted", "timed"}


def test_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    clock = Clock()

    def measure(seed: int, key: str) -> Data:
        if key == "b":
            raise KeyboardInterrupt
        return clock.measure(seed, key)

    figure = mean_of(experiment(measure, ["a", "b"]))
    assert bench(tmp_path, clock).measure([figure]) == "interrupt"
    again = bench(tmp_path, clock)
    assert [sample.key for sample in again.file.samples] == ["a"]
    assert again.file.runs[-1].stopped_by == "interrupt"


def test_figures_that_are_not_asked_for_are_kept(tmp_path: Path) -> None:
    clock = Clock()
    one = mean_of(experiment(clock.measure, ["a"], name="one"), "first")
    other = mean_of(experiment(clock.measure, ["b"], name="other"), "second")
    bench(tmp_path, clock).measure([one])
    bench(tmp_path, clock).measure([other])
    document = json.loads((tmp_path / "truth.json").read_text())
    assert document["figures"].keys() == {"first", "second"}
    assert [sample["experiment"] for sample in document["samples"]] == ["one", "other"]


def test_samples_of_other_code_are_kept_and_not_mixed(tmp_path: Path) -> None:
    clock = Clock()
    bench(tmp_path, clock).measure([mean_of(experiment(clock.measure, ["a", "b"]))])
    changed = mean_of(experiment(clock.measure, ["a", "b", "c"], version=2))
    bench(tmp_path, clock, limit_seconds=5).measure([changed])
    again = bench(tmp_path, clock)
    [result] = again.results([changed])
    assert (len(again.file.samples), result.trials) == (3, 1)
    assert result.notes == ["2 samples of other code or another host are kept and not used"]

    [mixed] = bench(tmp_path, clock, any_code=True).results([changed])
    assert (mixed.trials, mixed.notes) == (3, ["2 of 3 samples were measured with other code"])


def test_figure_without_new_samples_keeps_its_value(tmp_path: Path) -> None:
    clock = Clock()
    bench(tmp_path, clock).measure([mean_of(experiment(clock.measure, ["a"]))])
    changed = mean_of(experiment(clock.measure, ["a"], version=2))
    bench(tmp_path, clock, limit_seconds=0).measure([changed])
    assert SampleFile(tmp_path / "truth.json").figures["mean"]["value"] == 1


def test_failed_trial_is_measured_again_in_the_next_run(tmp_path: Path) -> None:
    clock = Clock()
    faults = [UsageError("the build failed")]

    def measure(seed: int, key: str) -> Data:
        if key == "a" and faults:
            raise faults.pop()
        return clock.measure(seed, key)

    figure = mean_of(experiment(measure, ["a", "b"]))
    first = bench(tmp_path, clock)
    first.measure([figure])
    assert first.file.runs[-1].failures == ["drawn: a: the build failed"]
    bench(tmp_path, clock).measure([figure])
    assert clock.keys == ["b", "a"]


def test_trial_without_a_usable_sample_is_tried_again_with_another_seed(tmp_path: Path) -> None:
    clock, seeds = Clock(), []

    def measure(seed: int, key: str) -> Data:
        seeds.append(seed)
        return clock.measure(seed, key)

    figure = mean_of(replace(experiment(measure, ["a"]), is_usable=lambda _: False))
    for _ in range(TRIES + 1):
        bench(tmp_path, clock).measure([figure])
    assert len(set(seeds)) == len(seeds) == TRIES


def test_what_cannot_be_measured_here_states_the_reason(tmp_path: Path) -> None:
    def plan(_: Path) -> list[PlannedSample]:
        raise Unavailable("there are no counters")

    figure = mean_of(Experiment("counters", 1, [], plan))
    there = bench(tmp_path, Clock())
    there.measure([figure])
    [result] = there.results([figure])
    assert (result.state, result.value, result.notes) == ("unavailable", None, ["there are no counters"])


def test_figures_of_another_module_are_its_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("benches.truth.drawn")
    vars(module)["ratios"] = lambda: {"first": Figure(1.2, "of make", [1.1, 1.3], 2, notes=["median"])}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    wanted = [WholeFigure("first", 2, "builds", Limit(most=1.3)), WholeFigure("second", 2, "builds", Limit(most=1.3))]
    figures = figures_of(Measurement("drawn", "ratios", wanted))
    there = bench(tmp_path, Clock())
    there.measure(figures)
    first, second = there.results(figures)
    assert (first.state, first.value, first.trials, first.notes) == ("pass", 1.2, 2, ["of make", "median"])
    assert second.state == "incomplete"
    assert SampleFile(there.file.path).samples[0].data["figures"]["first"]["samples"] == [1.1, 1.3]


def test_module_that_is_missing_makes_its_figure_unavailable(tmp_path: Path) -> None:
    figures = figures_of(Measurement("nowhere", "ratios", [WholeFigure("first", 1, "builds", Limit(most=1))]))
    there = bench(tmp_path, Clock())
    there.measure(figures)
    [result] = there.results(figures)
    assert (result.state, result.notes) == ("unavailable", ["benches/truth/nowhere.py is not there"])


def test_unknown_figures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["truth", "coverage"])
    with pytest.raises(SystemExit, match="unknown: coverage"):
        truth.main()


def test_second_process_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path / "truth.json"), pytest.raises(BlockingIOError), locked(tmp_path / "truth.json"):
        pass


def test_limits_include_their_ends() -> None:
    assert Limit(least=0.93, most=0.97).holds(0.93)
    assert not Limit(least=0.93, most=0.97).holds(0.98)
    assert (str(Limit(most=1)), str(Limit(least=0.9)), str(Limit(0.1, 0.2))) == ("<= 1", ">= 0.9", "0.1 to 0.2")


def test_plans_have_a_trial_for_all_that_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = tmp_path / "commits"
    commits.write_text("# harmless\n/somewhere/redis a1 b2\n\n/somewhere/valkey c3 d4\n")
    monkeypatch.setenv(nulls.COMMITS, str(commits))
    every = {experiment.name: experiment for figure in truth.figures().values() for experiment in figure.experiments}
    for one in every.values():
        try:
            keys = [trial.key for trial in one.plan(tmp_path)]
        except Unavailable:
            continue
        assert len(keys) == len(set(keys)), one.name
    assert [trial.key for trial in nulls.NULLS.plan(tmp_path)][-2:] == ["redis a1..b2", "valkey c3..d4"]
    assert 12 * len(nulls.NULLS.plan(tmp_path)) >= nulls.FEWEST_VERDICTS
    repeated = {trial.key for trial in nulls.NULL_REPEATS.plan(tmp_path)}
    assert len(repeated) == nulls.REPEATED
    assert repeated < {trial.key for trial in nulls.NULLS.plan(tmp_path)}


def test_line_of_commits_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = tmp_path / "commits"
    commits.write_text("/somewhere/redis a1\n")
    monkeypatch.setenv(nulls.COMMITS, str(commits))
    with pytest.raises(Unavailable, match="line 1"):
        nulls.commits_of_others()


def metric(
    name: str, change: float, half_width: float = 0.01, base: float = 1000.0, verdict: str = "same"
) -> MetricData:
    return MetricData(
        metric=name,
        engine="timed",
        verdict=verdict,
        base=base,
        change=change,
        low=change - half_width,
        high=change + half_width,
        q=None,
        samples=6,
    )


def case(name: str, time: str | None, metrics: Sequence[MetricData] = (), ratios: Sequence[float] = ()) -> CaseData:
    return CaseData(
        case=name,
        verdict=time or "unsure",
        work=None,
        time=time,
        confirmed=False,
        time_deciding=None,
        failed_checks={},
        failure=None,
        metrics=metrics,
        log_ratios=ratios,
    )


def sample(key: str, cases: Sequence[CaseData], name: str = "drawn", **data: object) -> Sample:
    return Sample(
        name, key, 1, "host", "code", {}, "", 0.0, {"cases": [one.model_dump(mode="json") for one in cases], **data}
    )


def test_alarms_are_of_cases_that_were_timed() -> None:
    cpu = [metric("cpu_ns_per_op", 0.0)]
    samples = [
        sample("a", [case("get", "same", cpu), case("set", "regression", cpu), case("xadd", "unsure")]),
        sample("b", [case("get", "same", cpu), case("set", "unsure", cpu)]),
    ]
    found = nulls.alarms(samples)
    assert (found.value, found.trials) == (1, 4)
    assert nulls.share_same(samples).value == 2 / 5


def test_rate_after_no_event_has_an_exact_bound() -> None:
    # 1 - 0.05^(1/300)
    assert highest_rate(0, 300) == pytest.approx(0.009936, abs=1e-5)
    assert highest_rate(300, 300) == 1


@pytest.mark.parametrize(("shared", "at_least", "at_most"), [(0.0, -0.15, 0.15), (1.0, 0.4, 0.6)])
def test_errors_of_repeats_correlate_by_what_they_share(shared: float, at_least: float, at_most: float) -> None:
    chance = random.Random(1)
    samples = []
    for edit in range(50):
        common = {name: shared * chance.gauss(0, 0.01) for name in "abcdefgh"}
        for of in (nulls.NULLS.name, nulls.NULL_REPEATS.name):
            cases = [
                case(name, "same", [metric("cpu_ns_per_op", error + chance.gauss(0, 0.01))])
                for name, error in common.items()
            ]
            samples.append(sample(str(edit), cases, name=of))
    estimate = nulls.independence(samples)
    assert estimate is not None
    assert estimate.trials == 400
    assert at_least <= estimate.value <= at_most
    assert correlation([(1.0, 2.0)]) is None


ROOT_NS = 0.35
"""Of a square root, in a command of a microsecond."""


def planted_samples(bias: float, drift: float = 0.0) -> list[Sample]:
    """Return drawn comparisons of planted changes; starts differ by 2 %, all of them by a bias."""
    chance = random.Random(5)
    samples = []
    for number in range(60):
        for length in planted.LENGTHS:
            added_ns = length * ROOT_NS
            change = added_ns / 1000
            ratios = [chance.gauss(math.log1p(change) + bias, 0.02) for _ in range(12)]
            planted_ns = [added_ns * (1 - drift), added_ns * (1 + drift)]
            of_case = case("get-100B", "same", [metric("cpu_ns_per_op", change)], ratios)
            samples.append(sample(f"{length}, {number}", [of_case], length=length, planted_ns=planted_ns))
    return samples


def test_coverage_is_as_stated_of_starts_without_bias() -> None:
    estimate = planted.coverage(planted_samples(bias=0.0))
    assert estimate is not None
    assert estimate.trials == 300
    assert 0.92 <= estimate.value <= 0.98


def test_coverage_shows_a_bias_that_all_starts_have() -> None:
    estimate = planted.coverage(planted_samples(bias=0.015))
    assert estimate is not None
    assert estimate.value < 0.5


def test_comparison_whose_truth_drifted_is_left_out() -> None:
    estimate = planted.coverage(planted_samples(bias=0.0, drift=0.05))
    assert estimate is not None
    assert estimate.trials == 60 * sum(
        length * ROOT_NS * 0.05 / 1000 <= planted.LARGEST_DOUBT for length in planted.LENGTHS
    )


def test_calibration_measures_chains(compiler: None, tmp_path: Path) -> None:
    calibration = planted.calibrate(planted.calibration_program(tmp_path))
    assert calibration.chains_ns[planted.LENGTHS[-1]] > calibration.chains_ns[0] == 0
    assert calibration.wait_ns > 0


def noisy_sample(kind: str, times: dict[str, str], seconds: float = 60.0) -> Sample:
    cases = [case(name, time, [metric("cpu_ns_per_op", 0.0)]) for name, time in times.items()]
    return sample(f"{kind}, {seconds}", cases, beside=kind, seconds=seconds, headline="")


def test_noisy_verdicts_are_right_wrong_or_neither() -> None:
    right = noisy_sample(noisy.ONE, {"xadd-auto-id": "regression", "get": "same"})
    undecided = noisy_sample(noisy.COMING, {"xadd-auto-id": "unsure", "get": "unsure"}, 90)
    wrong = noisy_sample(noisy.TWO, {"xadd-auto-id": "same", "get": "improvement"})
    quiet = noisy_sample(noisy.QUIET, {"xadd-auto-id": "regression"}, 45)
    every = [right, undecided, wrong, quiet]
    shown = [noisy.share_right(every), noisy.wrong(every), noisy.time_ratio(every)]
    assert [estimate.value for estimate in shown if estimate is not None] == [0.5, 2, 2.0]


def test_neighbours_end_with_their_context() -> None:
    before = set(psutil.Process().children())
    with neighbours.endless(1), neighbours.coming_and_going(1):
        assert len(set(psutil.Process().children()) - before) == 2
    assert set(psutil.Process().children()) <= before


def test_kept_samples_are_shown_on_any_machine_and_with_any_code(tmp_path: Path) -> None:
    clock = Clock()
    bench(tmp_path, clock).measure([mean_of(experiment(clock.measure, ["a", "b"]))])
    file = SampleFile(tmp_path / "truth.json")
    elsewhere = [replace(sample, host="elsewhere", code="older") for sample in file.samples]
    file.samples += [*elsewhere, replace(elsewhere[0], key="c")]
    file.hosts["elsewhere"] = {"cpu": "a processor"}
    here, there = kept_results(file, [mean_of(experiment(clock.measure, ["a"]))])
    assert (here.state, here.trials, "with this code" in here.notes[0]) == ("incomplete", 2, True)
    assert (there.state, there.trials, there.host) == ("pass", 3, "elsewhere")
    assert "on a processor (elsewhere)" in there.notes[0]
    assert "3 of drawn with code older" in there.notes[0]
    [nowhere] = kept_results(file, [mean_of(experiment(clock.measure, ["a"], name="other"))])
    assert (nowhere.state, nowhere.value) == ("not measured", None)


def test_the_samples_in_the_repository_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["truth", "--show", "null_alarms_timed", "start_regimes"])
        truth.main()
    alarms, *_ = [line for line in capsys.readouterr().out.splitlines() if line.startswith("null_alarms_timed")]
    assert alarms.split()[1:5] == ["0", "<=", "1", "pass"]
