"""What the sentences on a case claim, and what they do not."""

from made_records import a_case, a_time, a_work

from zerolap.records import Finding, PerSide, Verdict, WildStarts
from zerolap.sheets import case_sentences

CULPRIT = Finding(
    kind="culprit",
    rank=1,
    text="",
    function="update",
    instructions_per_op=PerSide(base=1913.8, head=2097.0),
    self_instructions_per_op=PerSide(base=913.8, head=1097.0),
    share_of_change=0.9,
)


def sentences(time: Verdict, work: Verdict | None, culprit: Finding = CULPRIT) -> list[str]:
    """Return the sentences on a case with these verdicts."""
    return case_sentences(a_case("get", *([] if work is None else [work]), time, commands=["GET"], findings=[culprit]))


def test_work_that_changed_as_much_is_the_reason() -> None:
    lead, *others = sentences(a_time("regression", 0.064), a_work("regression", 0.05))
    assert lead.endswith(", mostly because `update` itself executes 1,097 instructions per request instead of 913.8.")
    assert not any("also executes" in sentence for sentence in others)


def test_less_throughput_is_a_higher_cost() -> None:
    lead, *_ = sentences(a_time("regression", -0.06, "ops_per_sec"), a_work("regression", 0.05))
    assert "mostly because `update`" in lead


def test_work_that_changed_little_is_named_beside_the_time() -> None:
    lead, *others = sentences(a_time("regression", 0.064), a_work("regression", 0.021))
    assert "because" not in lead
    assert others[-1] == "It also executes 2.1 % more instructions per request, mostly in `update`."


def test_work_that_changed_the_other_way_is_no_reason() -> None:
    lead, *others = sentences(
        a_time("regression", 0.064),
        a_work("improvement", -0.1),
    )
    assert "because" not in lead
    assert others[-1] == "But it executes 10 % fewer instructions per request, mostly in `update`."


def test_counts_without_a_verdict_on_the_work_are_no_reason_for_time() -> None:
    lead, *_ = sentences(a_time("regression", 0.064), None)
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
    lead, *_ = sentences(a_time("regression", 0.064), None, sampled)
    assert lead.endswith(", mostly because the cost of `update` has changed.")


def test_starts_in_which_one_side_was_slow_are_the_reason_for_an_open_average() -> None:
    slow = WildStarts(base=0, head=3, largest=2.1, mean_change=0.065, reason="mean")
    open_time = a_time("unsure", 0.003)
    time = open_time.model_copy(update={"wild_starts": slow, "samples": 36})
    assert "In 3 of 36 starts the head took far longer than in the others: its average is open." in sentences(
        time, None
    )
    others = slow.model_copy(update={"head": 0, "reason": "other cases"})
    assert any("In most other cases" in of for of in sentences(time.model_copy(update={"wild_starts": others}), None))
    unimportant = time.model_copy(update={"wild_starts": slow.model_copy(update={"reason": None})})
    assert not any("took far longer" in sentence for sentence in sentences(unimportant, None))
