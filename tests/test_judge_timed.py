"""Verdicts from made-up timed starts: what starts say, what the bank adds, and when another look is worth it."""

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from made_records import a_slice, a_time

from zerolap.explain import explain_cause
from zerolap.judge import (
    LOOKS,
    TimedPair,
    UnadjustedVerdict,
    case_answers,
    deciding_time,
    hints_at_change,
    judge_timed,
    spread_of_starts,
    timed_looks,
    wants_more_starts,
)
from zerolap.records import Spread, Timeline, Validity, Verdict, VerdictWord

METRIC, WHOLE = "cpu_ns_per_op", "whole_cpu_ns_per_op"
VALID = Validity(valid=True, checks=[])


def timeline(values: list[float], metric: str = METRIC) -> Timeline:
    slices = [a_slice(metrics={metric: value}) for value in values]
    return Timeline(slices=slices, histogram_ns=[])


def starts(change: float, count: int, seed: int, *, start_sd: float = 0.01, metric: str = METRIC) -> list[TimedPair]:
    """Starts whose head is slower by `change`; each start has its own shift, slices scatter, some are disturbed."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        shift = math.exp(chance.gauss(0, start_sd))
        base = [1000 * math.exp(chance.gauss(0, 0.02)) for _ in range(24)]
        head = [one * (1 + change) * shift * math.exp(chance.gauss(0, 0.02)) for one in base]
        for place in chance.sample(range(24), 4):
            head[place] *= 2
        found.append(TimedPair.of(timeline(base, metric), timeline(head, metric)))
    return found


def same_cases(count: int, seed: int = 100) -> dict[str, list[TimedPair]]:
    return {f"case-{number}": starts(0.0, 6, seed + number) for number in range(count)}


def test_a_change_beyond_the_smallest_effect_is_found_and_others_are_not() -> None:
    judged = judge_timed(METRIC, {**same_cases(11), "slow": starts(0.08, 6, 7)}, 0.02)
    words = {name: one.verdict.verdict for name, one in judged.items()}
    assert words.pop("slow") == "regression"
    assert set(words.values()) <= {"same", "unsure"}
    slow = judged["slow"].verdict
    assert slow.low < 0.08 < slow.high
    assert (slow.samples, slow.pairs) == (6, 144)


def test_of_throughput_less_is_worse() -> None:
    cases = {f"case-{number}": starts(-0.08, 6, number, metric="ops_per_sec") for number in range(6)}
    judged = judge_timed("ops_per_sec", cases, 0.02)
    assert {one.verdict.verdict for one in judged.values()} == {"regression"}


def test_disturbed_slices_do_not_move_a_start() -> None:
    assert spread_of_starts(METRIC, starts(0.0, 6, 3, start_sd=0.0)).variance < 0.01**2  # type: ignore[union-attr]


def test_the_bank_lets_a_single_case_speak() -> None:
    cases = {"slow": starts(0.04, 4, 11, start_sd=0.006)}
    bank = [Spread(variance=(0.005 + 0.0005 * number) ** 2, degrees=5.0) for number in range(12)]
    alone, helped = judge_timed(METRIC, cases, 0.02)["slow"], judge_timed(METRIC, cases, 0.02, bank)["slow"]
    assert helped.verdict.high - helped.verdict.low < alone.verdict.high - alone.verdict.low
    assert helped.verdict.verdict == "regression"


def test_a_metric_that_a_slice_lacks_has_no_verdict() -> None:
    assert judge_timed("usec_per_call", same_cases(3), 0.02) == {}


def test_looks_end() -> None:
    unsure = judge_timed(METRIC, {**same_cases(4), "noisy": starts(0.01, 6, 5, start_sd=0.1)}, 0.02)["noisy"]
    assert unsure.verdict.verdict == "unsure"
    assert wants_more_starts(unsure, LOOKS[0], 5)
    assert not wants_more_starts(unsure, LOOKS[-1], 5)


def test_smaller_effects_are_looked_at_longer() -> None:
    def unsure(min_effect: float) -> UnadjustedVerdict:
        cases = {**same_cases(4), "noisy": starts(0.01, 6, 5, start_sd=0.1)}
        return judge_timed(METRIC, cases, min_effect)["noisy"]

    assert timed_looks(0.02) == LOOKS
    assert wants_more_starts(unsure(0.01), LOOKS[-1], 5)
    assert not wants_more_starts(unsure(0.01), timed_looks(0.01)[-1], 5)


def verdict(metric: str, word: VerdictWord, change: float) -> Verdict:
    return a_time(word, change, metric, base=100.0)


def both(work: VerdictWord, time: VerdictWord, work_change: float = 0.1, time_change: float = 0.1) -> list[Verdict]:
    return [verdict("instructions_per_op", work, work_change), verdict(METRIC, time, time_change)]


@pytest.mark.parametrize(
    ("work", "time", "case", "confirmed"),
    [
        ("regression", "regression", "regression", True),
        # What is certain leads: work changed, and time may have.
        ("regression", "unsure", "regression", False),
        ("improvement", "unsure", "improvement", False),
        ("unsure", "unsure", "unsure", False),
        ("regression", "same", "same", False),
        ("same", "regression", "regression", True),
        ("same", "unsure", "unsure", False),
        ("improvement", "regression", "regression", True),
        ("identical", "regression", "regression", True),
        # Of identical code a few starts that decide nothing say nothing.
        ("identical", "unsure", "same", False),
    ],
)
def test_the_verdict_is_what_is_certain_of_time_before_work(
    work: VerdictWord, time: VerdictWord, case: str, confirmed: bool
) -> None:
    answers = case_answers(both(work, time), VALID)
    assert (answers.work, answers.time) == (work, time)
    assert (answers.verdict, answers.confirmed) == (case, confirmed)
    is_of_work = time == "unsure" and work in ("identical", "regression", "improvement")
    assert answers.deciding == (answers.work_deciding if is_of_work else answers.time_deciding)


@pytest.mark.parametrize(("work", "case"), [("same", "same"), ("regression", "regression"), ("identical", "same")])
def test_the_verdict_is_work_where_time_was_not_measured(work: VerdictWord, case: str) -> None:
    [counted, _] = both(work, "same")
    answers = case_answers([counted], VALID)
    assert (answers.work, answers.time, answers.verdict, answers.confirmed) == (work, None, case, False)
    assert answers.deciding == "instructions_per_op"


def test_a_change_of_time_is_not_confirmed_where_each_side_has_one_layout() -> None:
    answers = case_answers(both("same", "regression"), VALID, layouts_vary=False)
    assert (answers.verdict, answers.confirmed) == ("regression", False)


@pytest.mark.parametrize(
    ("throughput", "time"), [("same", "same"), ("unsure", "unsure"), ("regression", "regression"), (None, "same")]
)
def test_time_is_the_same_only_where_throughput_is(throughput: VerdictWord | None, time: str) -> None:
    """CPU time is the same; documents of versions without elapsed time have no verdict on it."""
    elapsed = [] if throughput is None else [verdict("elapsed_ns_per_op", throughput, 0.03)]
    answers = case_answers([*both("same", "same"), *elapsed], VALID)
    assert answers.time == time
    assert answers.time_deciding == (METRIC if time == "same" else "elapsed_ns_per_op")


@pytest.mark.parametrize(
    ("equal_rate", "full_speed", "time"),
    [
        ("same", "regression", "regression"),
        ("same", "unsure", "unsure"),
        ("regression", "same", "regression"),
        ("improvement", "regression", "unsure"),
        ("regression", "improvement", "unsure"),
        ("improvement", "improvement", "improvement"),
    ],
)
def test_both_loads_of_unequal_batches_decide(equal_rate: VerdictWord, full_speed: VerdictWord, time: str) -> None:
    found = [*both("same", equal_rate), verdict("full_speed_cpu_ns_per_op", full_speed, 0.0)]
    assert case_answers(found, VALID).time == time


@pytest.mark.parametrize(
    ("time", "metric", "change", "answer", "cause"),
    [
        ("same", "ops_per_sec", -0.1, "regression", "it waits more"),
        ("unsure", "ops_per_sec", -0.12, "regression", None),
        ("unsure", "ops_per_sec", 0.12, "improvement", None),
        # Not beyond doubt: the interval reaches into the minimum effect.
        ("same", "ops_per_sec", -0.025, "same", None),
        ("unsure", "ops_per_sec", -0.025, "unsure", None),
        ("same", "latency_p99_us", 0.4, "regression", None),
        ("same", "latency_p50_us", 0.4, "regression", None),
        # Of all slices: its change decides, its doubt does not.
        ("same", "whole_cpu_ns_per_op", 0.025, "regression", None),
        ("regression", "whole_cpu_ns_per_op", -0.025, "regression", None),
        # It is part of the CPU time, and stands beside it.
        ("same", "usec_per_call", 0.4, "same", None),
        ("regression", "ops_per_sec", -0.1, "regression", "the same work runs slower"),
        # A regression is not hidden by a gain.
        ("regression", "ops_per_sec", 0.5, "regression", "more is served for more CPU time"),
        ("improvement", "latency_p99_us", 0.4, "regression", None),
    ],
)
def test_what_is_served_cannot_be_hidden_by_cpu_time(
    time: VerdictWord, metric: str, change: float, answer: str, cause: str | None
) -> None:
    grew_is_worse = metric != "ops_per_sec"
    word: VerdictWord = "regression" if (change > 0) == grew_is_worse else "improvement"
    time_change = {"regression": 0.1, "improvement": -0.1}.get(time, 0.0)
    verdicts = [*both("same", time, 0.0, time_change), verdict(metric, word, change)]
    answers = case_answers(verdicts, VALID)
    assert (answers.time, answers.verdict) == (answer, answer)
    assert answers.work == "same"
    assert answers.deciding == answers.time_deciding
    decided = next(one for one in verdicts if one.metric == answers.deciding)
    assert decided.verdict == answer
    found = explain_cause(verdicts)
    assert cause is None or (found is not None and cause in found.text)


def test_a_likely_change_beside_cpu_time_is_looked_at_again() -> None:
    def hints(changes: Sequence[float], comparisons: int = 100, min_effect: float = 0.02) -> bool:
        starts = [TimedPair(1, {WHOLE: change}, {WHOLE: 0.0}, {}, {}, {}) for change in changes]
        return hints_at_change(judge_timed(WHOLE, {"case": starts}, min_effect)["case"], len(starts), comparisons)

    scatter = [-0.03, 0.03] * 3
    assert hints([0.05 + one for one in scatter])
    assert hints([0.015 + one / 3 for one in scatter])
    assert not hints([0.005 + one / 10 for one in scatter])
    assert not hints(scatter)
    # Where there are more looks, the first has less of the error than a hint takes.
    assert not hints([0.001 + one for one in scatter], min_effect=0.01)
    assert hints([0.05 + one / 3 for one in scatter], min_effect=0.01)
    # It is confirmed, also over all metrics of all cases; or nothing could confirm it any more.
    assert not hints([0.05 + one / 100 for one in scatter])
    assert not hints([0.05 + one for one in scatter * 6], comparisons=10**9)


def test_work_in_bursts_shows_in_the_whole_alone() -> None:
    """A timer that takes long falls into few slices, which the typical slice leaves out."""
    chance = random.Random(5)

    def start_with_bursts() -> TimedPair:
        base = [1000 * math.exp(chance.gauss(0, 0.02)) for _ in range(40)]
        head = [one * math.exp(chance.gauss(0, 0.02)) for one in base]
        for place in chance.sample(range(40), 2):
            head[place] *= 3
        whole = {WHOLE: (sum(base), sum(head))}
        return TimedPair.of(timeline(base), timeline(head), whole)

    cases = {f"case-{number}": [start_with_bursts() for _ in range(6)] for number in range(4)}
    typical = {name: judged.verdict for name, judged in judge_timed(METRIC, cases, 0.02).items()}
    whole = {name: judged.verdict for name, judged in judge_timed(WHOLE, cases, 0.02).items()}
    assert {verdict.verdict for verdict in typical.values()} == {"same"}
    assert {verdict.verdict for verdict in whole.values()} == {"regression"}
    finding = explain_cause([typical["case-0"], whole["case-0"].model_copy(update={"q": 1e-6})])
    assert finding is not None
    assert "the whole server" in finding.text
    assert "timers" in finding.text
    assert explain_cause([typical["case-0"], typical["case-0"].model_copy(update={"metric": WHOLE})]) is None


def test_time_without_work_points_to_caches_and_locks() -> None:
    finding = explain_cause(both("same", "regression", 0.0))
    assert finding is not None
    assert finding.kind == "cause"
    assert "caches" in finding.text
    assert "locks" in finding.text
    assert "slower" in finding.text


def test_work_without_time_and_time_against_work_are_told() -> None:
    cheap = explain_cause(both("regression", "same", 0.1, 0.0))
    assert cheap is not None
    assert "did not by as much as matters" in cheap.text
    against = explain_cause(both("improvement", "regression", -0.1, 0.1))
    assert against is not None
    assert "less work that runs slower" in against.text


@pytest.mark.parametrize(
    ("work", "time"), [("same", "same"), ("identical", "same"), ("regression", "regression"), ("same", "unsure")]
)
def test_agreement_needs_no_words(work: VerdictWord, time: VerdictWord) -> None:
    assert explain_cause(both(work, time)) is None


def counters(**of_metrics: Verdict) -> list[Verdict]:
    """CPU time that is unsure, and cycles that are the same on both sides in program and kernel, unless given."""
    chosen = {
        "cpu_ns_per_op": verdict("cpu_ns_per_op", "unsure", 0.01).model_copy(update={"detectable": 0.03}),
        "cycles_per_op": verdict("cycles_per_op", "same", 0.0),
        "kernel_cycles_per_op": verdict("kernel_cycles_per_op", "same", 0.0),
        **of_metrics,
    }
    return list(chosen.values())


def deciding(verdicts: list[Verdict]) -> str | None:
    chosen = deciding_time(verdicts)
    return None if chosen is None else chosen.metric


def test_cycles_decide_time_where_starts_differ_less_in_them() -> None:
    found = counters()
    assert deciding(found) == "cycles_per_op"
    answers = case_answers(found, VALID)
    assert (answers.time, answers.time_deciding) == ("same", "cycles_per_op")
    wide = verdict("cycles_per_op", "same", 0.0).model_copy(update={"detectable": 0.03})
    assert deciding(counters(cycles_per_op=wide)) == "cpu_ns_per_op"
    assert deciding([found[0]]) == "cpu_ns_per_op"
    assert deciding(found[1:]) is None


def test_cycles_of_the_program_alone_do_not_decide() -> None:
    """A change in the kernel's part would be the same in them."""
    assert deciding(counters()[:2]) == "cpu_ns_per_op"
    more = verdict("kernel_cycles_per_op", "regression", 0.2)
    assert deciding(counters(kernel_cycles_per_op=more)) == "cpu_ns_per_op"
    little = more.model_copy(update={"base": 1.0, "head": 1.2})
    assert deciding(counters(kernel_cycles_per_op=little)) == "cycles_per_op"
    both_slower = counters(kernel_cycles_per_op=more, cycles_per_op=verdict("cycles_per_op", "regression", 0.1))
    assert deciding(both_slower) == "cycles_per_op"


def test_cpu_time_that_changed_beyond_doubt_is_no_time_that_is_the_same() -> None:
    slower = verdict("cpu_ns_per_op", "regression", 0.2).model_copy(update={"detectable": 0.1})
    answers = case_answers(counters(cpu_ns_per_op=slower), VALID)
    assert (answers.time, answers.time_deciding) == ("regression", "cpu_ns_per_op")


def cause(**of_metrics: Verdict) -> str:
    """The finding on cycles that rose by 10 of 100 while the same instructions ran."""
    slower = {"cycles_per_op": verdict("cycles_per_op", "regression", 0.1), **of_metrics}
    finding = explain_cause([verdict("instructions_per_op", "same", 0.0), *counters(**slower)])
    assert finding is not None
    return finding.text


def misses(metric: str, base: float, head: float) -> Verdict:
    word: VerdictWord = "same" if base == head else "regression" if head > base else "improvement"
    return verdict(metric, word, head / base - 1).model_copy(update={"base": base, "head": head})


def test_misses_that_changed_with_the_time_are_its_cause() -> None:
    text = cause(branch_misses_per_op=misses("branch_misses_per_op", 1.2, 1.8))
    assert "the same work runs slower, with more branch misses per request (1.2 → 1.8, +50.0%" in text
    assert "points to" not in text
    assert "cycles per request +10.0%" in text


@pytest.mark.parametrize(("base", "head"), [(1.8, 1.2), (0.001, 0.01)])
def test_misses_that_cannot_be_the_cause_are_not_named(base: float, head: float) -> None:
    """They went the other way, or are too few for ten cycles."""
    text = cause(branch_misses_per_op=misses("branch_misses_per_op", base, head))
    assert "with more" not in text
    assert "points to" in text


def test_misses_that_did_not_change_rule_causes_out() -> None:
    assert "branch prediction" in cause()
    text = cause(
        branch_misses_per_op=misses("branch_misses_per_op", 1.2, 1.2),
        cache_misses_per_op=misses("cache_misses_per_op", 0.2, 0.2),
    )
    assert "at the same kernel cycles, branch misses and cache misses per request" in text
    assert "branch prediction" not in text
    assert "locks and atomics" in text


def test_cycles_in_the_kernel_are_a_cause_of_cpu_time_and_not_of_the_programs_cycles() -> None:
    kernel = misses("kernel_cycles_per_op", 100.0, 140.0)
    slower = verdict("cpu_ns_per_op", "regression", 0.1).model_copy(update={"detectable": 0.03})
    same = verdict("cycles_per_op", "same", 0.0)
    text = cause(cpu_ns_per_op=slower, cycles_per_op=same, kernel_cycles_per_op=kernel)
    assert "CPU time per request +10.0%" in text
    assert "with more kernel cycles per request (100 → 140" in text
    assert "kernel cycles" not in cause(kernel_cycles_per_op=kernel)


def test_retired_instructions_stand_for_work_where_nothing_was_counted() -> None:
    finding = explain_cause(
        [
            verdict("retired_instructions_per_op", "same", 0.0),
            *counters(cycles_per_op=verdict("cycles_per_op", "regression", 0.1)),
        ]
    )
    assert finding is not None
    assert "the same work runs slower" in finding.text


NAMES = ("slower", *(f"case-{number}" for number in range(5)))


def a_start(change: float, metric: str = METRIC) -> TimedPair:
    return TimedPair(1, {metric: change}, {metric: 0.0}, {}, {}, {})


def test_wild_starts_neither_move_nor_widen_a_change() -> None:
    """Now and then the pages of a program lie so that all requests of a start take a tenth longer."""
    chance = random.Random(3)

    def judged(wild: float) -> dict[str, Verdict]:
        changes = {name: [chance.gauss(0.03 if name == "slower" else 0.0, 0.01) for _ in range(17)] for name in NAMES}
        sides = itertools.cycle([1, -1])
        starts = {
            name: [a_start(change) for change in [*own, own[0] + next(sides) * wild]] for name, own in changes.items()
        }
        return {name: judged.verdict for name, judged in judge_timed(METRIC, starts, 0.02).items()}

    calm, stormy = judged(0.0), judged(0.1)
    for name in NAMES:
        assert stormy[name].verdict == calm[name].verdict == ("regression" if name == "slower" else "same")
        assert stormy[name].high - stormy[name].low < 1.5 * (calm[name].high - calm[name].low)


def test_two_programs_of_one_layout_each_may_differ_by_their_layouts() -> None:
    starts = {"case": [a_start(0.03 + 0.001 * number) for number in range(-3, 3)]}
    own = judge_timed(METRIC, starts, 0.02)["case"].verdict
    with_layouts = judge_timed(METRIC, starts, 0.02, layout_variance=0.02**2)["case"].verdict
    assert (own.verdict, with_layouts.verdict) == ("regression", "unsure")
    assert with_layouts.change == pytest.approx(own.change)
    assert with_layouts.low < -0.02 < 0.08 < with_layouts.high


def test_a_change_within_the_margin_of_throughput_that_is_likely_is_not_the_same() -> None:
    """A sleep of 3 ms in each 100 ms makes requests take 3 % longer, which is within 4 %."""

    def word(change: float, scatter: float) -> str:
        starts = [a_start(change + scatter * side, "elapsed_ns_per_op") for side in (-1, 1) for _ in range(9)]
        return judge_timed("elapsed_ns_per_op", {"case": starts}, 0.02)["case"].verdict.verdict

    assert word(0.0, 0.01) == "same"
    assert word(0.008, 0.005) == "same"
    assert word(0.015, 0.01) == "unsure"
    assert word(0.012, 0.035) == "unsure", "it looks like more than chance"
    assert word(0.0, 0.07) == "unsure", "it may be 4 %"
    assert word(0.03, 0.01) == "regression"
    assert word(0.0, 0.08) == "unsure"
