"""Verdicts from made-up measurements: the words around the limits, q over a comparison, validity of a case."""

from collections.abc import Sequence

import pytest

from zerolap.judge import (
    MAX_BLOCKS,
    MIN_BLOCKS,
    Q,
    UnadjustedVerdict,
    adjusted,
    case_answers,
    case_validity,
    judge_blocks,
    wants_more,
)
from zerolap.records import (
    METRICS,
    Answer,
    Check,
    Decides,
    Measurement,
    MetricRule,
    Validity,
    Verdict,
    VerdictWord,
    with_rules_of_plugins,
)

METRIC = "instructions_per_op"
VALID = Validity.of([])


def measured(values: Sequence[float], metric: str = METRIC) -> list[Measurement]:
    return [Measurement(metrics={metric: value}, validity=VALID) for value in values]


def judged(
    base: Sequence[float], head: Sequence[float], min_effect: float = 0.005, metric: str = METRIC
) -> UnadjustedVerdict:
    result = judge_blocks(METRICS[metric], measured(base, metric), measured(head, metric), min_effect)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("head", "word"),
    [
        (1000.0, "same"),
        (1002.0, "same"),
        (1008.0, "regression"),
        (1500.0, "regression"),
        (992.0, "improvement"),
        (500.0, "improvement"),
        (1004.9, "unsure"),
        (995.1, "unsure"),
    ],
)
def test_words_around_the_minimum_effect(head: float, word: str) -> None:
    verdict = judged([1000.0] * 3, [head] * 3).verdict
    assert verdict.verdict == word
    assert verdict.change == pytest.approx(head / 1000 - 1)
    assert verdict.low < verdict.change < verdict.high
    assert (verdict.base, verdict.head) == (1000.0, head)
    assert (verdict.samples, verdict.pairs, verdict.min_effect) == (3, 3, 0.005)


def test_the_minimum_effect_decides_what_matters() -> None:
    base, head = [1000.0] * 3, [1030.0] * 3
    assert judged(base, head, 0.01).verdict.verdict == "regression"
    assert judged(base, head, 0.05).verdict.verdict == "same"


def test_noise_makes_unsure_and_asks_for_more() -> None:
    noisy = judged([1000.0, 1000.0, 1000.0], [1000.0, 1060.0, 1010.0])
    assert noisy.verdict.verdict == "unsure"
    clear = judged([1000.0] * 3, [1000.0] * 3)
    assert wants_more([clear, noisy], MIN_BLOCKS, 2)
    assert wants_more([noisy], MAX_BLOCKS - 1, 1)
    assert not wants_more([noisy], MAX_BLOCKS, 1)
    assert not wants_more([clear], MIN_BLOCKS, 100)
    assert not wants_more([], MIN_BLOCKS, 1)


def test_a_change_that_adjustment_would_take_asks_for_more() -> None:
    weak = with_p("regression", Q / 10)
    assert not wants_more([weak], MIN_BLOCKS, 9)
    assert wants_more([weak], MIN_BLOCKS, 11)
    assert not wants_more([with_p("same", 0.5)], MIN_BLOCKS, 1000)


def test_pairs_take_out_what_both_sides_share() -> None:
    """Seeds differ much more from each other than the sides do."""
    base = [1000.0, 1300.0, 800.0]
    assert judged(base, [value * 1.01 for value in base]).verdict.verdict == "regression"
    assert judged(base, base).verdict.verdict == "same"


@pytest.mark.parametrize("metric", ["allocations_per_op", "syscalls_per_op"])
def test_from_none_and_to_none(metric: str) -> None:
    assert judged([0.0] * 3, [1.0] * 3, metric=metric).verdict.verdict == "regression"
    assert judged([1.0] * 3, [0.0] * 3, metric=metric).verdict.verdict == "improvement"
    assert judged([0.0] * 3, [0.0] * 3, metric=metric).verdict.verdict == "same"
    assert judged([1.0] * 3, [0.0] * 3, metric=metric).verdict.head == 0.0


def test_rare_events_are_no_change() -> None:
    assert judged([0.0] * 3, [0.005] * 3, metric="allocations_per_op").verdict.verdict == "same"
    assert judged([0.0625] * 3, [0.065] * 3, metric="syscalls_per_op").verdict.verdict == "same"
    assert judged([0.0625] * 3, [0.125] * 3, metric="syscalls_per_op").verdict.verdict == "regression"


def test_what_a_side_did_not_measure_has_no_verdict() -> None:
    base = measured([1.0, 1.0, 1.0], "allocations_per_op")
    assert judge_blocks(METRICS["allocations_per_op"], base, measured([1.0] * 3), 0.005) is None
    assert judge_blocks(METRICS[METRIC], measured([1.0]), measured([1.0]), 0.005) is None
    assert judge_blocks(METRICS[METRIC], [], [], 0.005) is None


def with_p(word: VerdictWord, p: float) -> UnadjustedVerdict:
    verdict = judged([1000.0] * 3, [1100.0] * 3).verdict
    changed = verdict.model_copy(update={"verdict": word})
    return UnadjustedVerdict(changed, p, lambda _: verdict.detectable, lambda _: (verdict.low, verdict.high))


def test_a_weak_change_among_many_becomes_unsure() -> None:
    weak = with_p("regression", Q * 0.9)
    assert adjusted([[weak]])[0][0].verdict == "regression"
    others = [[with_p("same", 0.5)]] * 9
    [[weakened], *unchanged] = adjusted([[weak], *others])
    assert weakened.verdict == "unsure"
    assert weakened.q == pytest.approx(Q * 0.9 * 10)
    assert [verdict.q for [verdict] in unchanged] == [None] * 9


def test_intervals_of_selected_changes_are_wider() -> None:
    """The only change among ten cases: its interval misses as seldom as those of all ten together would."""
    changed = judged([1000.0, 1010.0, 990.0], [1100.0, 1113.0, 1088.0])
    same = judged([1000.0] * 3, [1000.0] * 3)
    [[alone]] = adjusted([[changed]])
    [[among], *unchanged] = adjusted([[changed], *[[same]] * 9])
    assert (alone.low, alone.high) == (changed.verdict.low, changed.verdict.high)
    assert 0 < among.low < alone.low < alone.change < alone.high < among.high
    assert (among.low, among.high) == changed.interval_at(Q / 10)
    assert {(verdict.low, verdict.high) for [verdict] in unchanged} == {(same.verdict.low, same.verdict.high)}


def test_strong_changes_stay_in_the_order_they_came() -> None:
    of_case = [with_p("regression", 1e-9), with_p("same", 0.9), with_p("improvement", 1e-8)]
    [verdicts, none] = adjusted([of_case, []])
    assert [verdict.verdict for verdict in verdicts] == ["regression", "same", "improvement"]
    assert verdicts[0].q == pytest.approx(3e-9)
    assert none == []
    assert adjusted([]) == []


def verdict_on(metric: str, word: VerdictWord) -> Verdict:
    """A verdict on a count: of a thousand instructions, or of one system call or allocation, a tenth more or less."""
    base, sign = 1000.0 if "instructions" in metric else 1.0, -1 if word == "improvement" else 1
    figures = {"base": base, "head": base * (1 + 0.1 * sign), "change": 0.1 * sign}
    bounds = {"low": 0.1 * sign - 0.01, "high": 0.1 * sign + 0.01}
    return with_p(word, 0.0).verdict.model_copy(update={"metric": metric, **figures, **bounds})


INSTRUCTIONS, ALLOCATIONS, SYSCALLS = METRIC, "allocations_per_op", "syscalls_per_op"


@pytest.mark.parametrize(
    ("words", "work", "deciding"),
    [
        ({INSTRUCTIONS: "same", SYSCALLS: "same"}, "same", INSTRUCTIONS),
        # What allocations cost is in the instructions.
        ({INSTRUCTIONS: "improvement", ALLOCATIONS: "regression"}, "improvement", INSTRUCTIONS),
        ({INSTRUCTIONS: "same", ALLOCATIONS: "regression"}, "regression", ALLOCATIONS),
        ({INSTRUCTIONS: "unsure", ALLOCATIONS: "regression"}, "unsure", INSTRUCTIONS),
        ({INSTRUCTIONS: "same", SYSCALLS: "regression"}, "regression", SYSCALLS),
        # What is sure is not hidden by what is not.
        ({INSTRUCTIONS: "unsure", SYSCALLS: "regression"}, "regression", SYSCALLS),
        ({INSTRUCTIONS: "same", SYSCALLS: "unsure"}, "unsure", SYSCALLS),
        # A tenth of a system call takes longer than a hundred instructions.
        ({INSTRUCTIONS: "improvement", SYSCALLS: "regression"}, "regression", SYSCALLS),
        ({INSTRUCTIONS: "regression", SYSCALLS: "regression"}, "regression", INSTRUCTIONS),
        ({INSTRUCTIONS: "identical", SYSCALLS: "same"}, "identical", INSTRUCTIONS),
        ({INSTRUCTIONS: "identical", SYSCALLS: "regression"}, "regression", SYSCALLS),
    ],
)
def test_what_decides_work(words: dict[str, VerdictWord], work: str, deciding: str) -> None:
    answers = case_answers([verdict_on(metric, word) for metric, word in words.items()], VALID)
    assert (answers.work, answers.work_deciding) == (work, deciding)
    # Where time was not asked for, the verdict is work.
    assert answers.verdict == ("same" if work == "identical" else work)
    assert (answers.deciding, answers.confirmed) == (deciding, False)
    assert (answers.time, answers.time_deciding) == (None, None)


@pytest.mark.parametrize(
    ("answer", "decides", "words", "expected"),
    [
        ("work", "always", {"bytes_per_key": "regression"}, ("regression", "bytes_per_key")),
        ("work", "always", {INSTRUCTIONS: "improvement", "bytes_per_key": "regression"}, ("unsure", "bytes_per_key")),
        (
            "work",
            "others same",
            {INSTRUCTIONS: "improvement", "bytes_per_key": "regression"},
            ("improvement", INSTRUCTIONS),
        ),
        ("work", "never", {INSTRUCTIONS: "same", "bytes_per_key": "regression"}, ("same", INSTRUCTIONS)),
        ("time", "always", {INSTRUCTIONS: "same", "bytes_per_key": "same"}, ("same", "bytes_per_key")),
        ("time", "always", {INSTRUCTIONS: "same", "bytes_per_key": "regression"}, ("regression", "bytes_per_key")),
    ],
)
def test_a_metric_of_a_plugin_decides_by_its_rule(
    answer: Answer, decides: Decides, words: dict[str, VerdictWord], expected: tuple[str, str]
) -> None:
    rule = MetricRule(name="bytes_per_key", engine="memory", answer=answer, decides=decides, less_is_better=True)
    verdicts = [verdict_on(metric, word) for metric, word in words.items()]
    answers = case_answers(verdicts, VALID, rules=with_rules_of_plugins([rule]))
    assert (answers.verdict, answers.deciding) == expected


def test_an_invalid_case_has_no_answers() -> None:
    failed = Validity.of([Check(check="errors", ok=False, value=1.0, limit="<= 0")])
    for verdicts, validity in (([], VALID), ([verdict_on(INSTRUCTIONS, "same")], failed)):
        answers = case_answers(verdicts, validity)
        assert (answers.verdict, answers.deciding, answers.work, answers.time) == ("invalid", None, None, None)


def test_validity_of_a_case_is_that_of_its_worst_trial() -> None:
    def trial(rate: float, *, ok: bool, extra: bool = False) -> Measurement:
        checks = [Check(check="hit_rate", ok=ok, value=rate, limit=">= 0.99")]
        if extra:
            checks.append(Check(check="keys", ok=True, value=5.0, limit="= 5"))
        return Measurement(metrics={}, validity=Validity.of(checks))

    good, bad, other = trial(1.0, ok=True), trial(0.5, ok=False), trial(1.0, ok=True, extra=True)
    validity = case_validity([good, good, bad, other])
    assert not validity.valid
    assert [check.check for check in validity.checks] == ["hit_rate", "keys"]
    assert [check.value for check in validity.failed] == [0.5]
    assert case_validity([good, other]).valid
    assert case_validity([bad, good]).failed[0].value == 0.5
    assert case_validity([]).valid
