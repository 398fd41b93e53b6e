"""What the sentences on a case claim, and what they do not."""

from typing import Any

from benches.page import FIXTURE
from zerolap.records import Comparison, Finding, PerSide, Verdict, WildStarts
from zerolap.sheets import case_sentences

[CASE, *_] = Comparison.model_validate_json(FIXTURE.read_text()).cases
CULPRIT = Finding(
    kind="culprit",
    rank=1,
    text="",
    function="update",
    instructions_per_op=PerSide(base=1913.8, head=2097.0),
    self_instructions_per_op=PerSide(base=913.8, head=1097.0),
    share_of_change=0.9,
)


def a_verdict(metric: str, engine: str, change: float, word: str = "regression") -> Verdict:
    """Return the verdict on a change of a metric."""
    bounds = {"low": change - 0.001, "high": change + 0.001, "base": 1000.0, "head": 1000 * (1 + change)}
    update = {"metric": metric, "engine": engine, "verdict": word, "change": change, **bounds}
    return CASE.verdicts[0].model_copy(update=update)


def sentences(time: Verdict, work: Verdict | None, culprit: Finding = CULPRIT) -> list[str]:
    """Return the sentences on a case whose verdict is that on its time."""
    fields: dict[str, Any] = {
        "verdict": time.verdict,
        "verdicts": [time] if work is None else [work, time],
        "work": None if work is None else work.verdict,
        "work_deciding": None if work is None else work.metric,
        "time": time.verdict,
        "time_deciding": time.metric,
        "deciding": time.metric,
        "findings": [culprit],
    }
    return case_sentences(CASE.model_copy(update=fields))


def test_work_that_changed_as_much_is_the_reason() -> None:
    lead, *others = sentences(
        a_verdict("cpu_ns_per_op", "timed", 0.064), a_verdict("instructions_per_op", "counted", 0.05)
    )
    assert lead.endswith(", mostly because `update` itself executes 1,097 instructions per request instead of 913.8.")
    assert not any("also executes" in sentence for sentence in others)


def test_less_throughput_is_a_higher_cost() -> None:
    lead, *_ = sentences(a_verdict("ops_per_sec", "timed", -0.06), a_verdict("instructions_per_op", "counted", 0.05))
    assert "mostly because `update`" in lead


def test_work_that_changed_little_is_named_beside_the_time() -> None:
    lead, *others = sentences(
        a_verdict("cpu_ns_per_op", "timed", 0.064), a_verdict("instructions_per_op", "counted", 0.021)
    )
    assert "because" not in lead
    assert others[-1] == "It also executes 2.1 % more instructions per request, mostly in `update`."


def test_work_that_changed_the_other_way_is_no_reason() -> None:
    lead, *others = sentences(
        a_verdict("cpu_ns_per_op", "timed", 0.064),
        a_verdict("instructions_per_op", "counted", -0.1, "improvement"),
    )
    assert "because" not in lead
    assert others[-1] == "But it executes 10 % fewer instructions per request, mostly in `update`."


def test_counts_without_a_verdict_on_the_work_are_no_reason_for_time() -> None:
    lead, *_ = sentences(a_verdict("cpu_ns_per_op", "timed", 0.064), None)
    assert "because" not in lead


def test_sampled_time_is_a_reason_for_time() -> None:
    sampled = Finding(
        kind="culprit",
        rank=1,
        text="",
        function="update",
        self_cpu_ns_per_op=PerSide(base=100.0, head=170.0),
        share_of_change=0.9,
    )
    lead, *_ = sentences(a_verdict("cpu_ns_per_op", "timed", 0.064), None, sampled)
    assert lead.endswith(", mostly because the cost of `update` has changed.")


def test_starts_in_which_one_side_was_slow_are_the_reason_for_an_open_average() -> None:
    slow = WildStarts(base=0, head=3, largest=2.1, mean_change=0.065, reason="mean")
    open_time = a_verdict("cpu_ns_per_op", "timed", 0.003, "unsure")
    time = open_time.model_copy(update={"wild_starts": slow, "samples": 36})
    assert "In 3 of 36 starts the head took far longer than in the others: its average is open." in sentences(
        time, None
    )
    others = slow.model_copy(update={"head": 0, "reason": "other cases"})
    assert any("In most other cases" in of for of in sentences(time.model_copy(update={"wild_starts": others}), None))
    unimportant = time.model_copy(update={"wild_starts": slow.model_copy(update={"reason": None})})
    assert not any("took far longer" in sentence for sentence in sentences(unimportant, None))
