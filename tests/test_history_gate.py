"""When a history counts as failed: regressions, what is undecided, and ranges of which nothing is measured."""

import shutil
from collections.abc import Sequence

import pytest
from command_line import Zerolap
from published_history import CPU_TIME, INSTRUCTIONS, Drift, MadeUp, Step, commit_id
from toy_server import CASES, ToySource

from zerolap.fail_on import FailOn
from zerolap.history import history_gate_sentence
from zerolap.records import History

GATES: Sequence[FailOn] = ("work", "time", "regression", "unsure")
CASE = "get-100B"
SHORT = commit_id(4)[:12]
NOTHING = "so a regression cannot be ruled out"
WHOLE = MadeUp(
    commits=8, unmeasured=0, failed=frozenset(), same=frozenset(), releases_every=99, cases={"string": ("GET",)}
)


def made_up(*, steps: Sequence[Step] = (), drifts: Sequence[Drift] = (), **changes: object) -> History:
    """Return a history of one case at all of its commits."""
    fields = {**WHOLE.__dict__, "steps": steps, "drifts": drifts, **changes}
    return MadeUp(**fields).document


def gate(history: History, when: FailOn) -> str | None:
    return history_gate_sentence(history, [CASE], when)


def without(history: History, metric: str) -> History:
    """Return a history without the series of a metric."""
    return history.model_copy(update={"series": tuple(one for one in history.series if one.metric != metric)})


def unconfirmed(history: History) -> History:
    """Return a history of which no change is confirmed."""
    series = [
        one.model_copy(
            update={"changes": tuple(change.model_copy(update={"confirmed": False}) for change in one.changes)}
        )
        for one in history.series
    ]
    return history.model_copy(update={"series": tuple(series)})


def test_a_history_without_changes_fails_no_gate() -> None:
    assert [gate(made_up(), when) for when in ("never", *GATES)] == [None] * 5


def test_an_open_regression_fails_the_gates_of_its_engine() -> None:
    history = made_up(steps=[Step(CASE, 4, 0.1)])
    for when in GATES:
        assert gate(history, when) is not None
    assert gate(history, "work") == f"--fail-on work applies: regression of {CASE} at {SHORT}"
    assert gate(history, "never") is None
    assert gate(without(history, CPU_TIME), "work") is not None
    for accepted_or_better in (Step(CASE, 4, 0.1, accepted="agreed"), Step(CASE, 4, -0.1)):
        assert gate(made_up(steps=[accepted_or_better]), "regression") is None
    both = gate(made_up(steps=[Step(CASE, 4, 0.1)], drifts=[Drift(CASE, 1, 4, 0.03)]), "work")
    assert f"drift of {CASE} at {SHORT}" in (both or "")


def test_where_nothing_was_measured_every_gate_but_never_fails() -> None:
    whole = made_up()
    nothing = whole.model_copy(update={"series": ()})
    assert gate(nothing, "never") is None
    for when in GATES:
        assert NOTHING in (gate(nothing, when) or "")
    one_commit = whole.series[0].model_copy(update={"points": whole.series[0].points[:1]})
    imported = whole.series[0].model_copy(update={"is_imported": True, "source": "others"})
    for series in (one_commit, imported):
        assert NOTHING in (gate(whole.model_copy(update={"series": (series,)}), "regression") or "")
    assert "were timed" in (gate(without(whole, CPU_TIME), "time") or "")
    assert "were counted" in (gate(without(whole, INSTRUCTIONS), "work") or "")
    assert gate(without(whole, CPU_TIME), "regression") is None


def test_unsure_is_more_than_a_regression() -> None:
    candidate = unconfirmed(made_up(steps=[Step(CASE, 4, 0.1)]))
    failed = made_up(failed=frozenset({3}))
    not_to_the_end = made_up(unmeasured=1)
    undecided = {
        "not confirmed: get-100B at": candidate,
        f"{commit_id(3)[:12]} failed": failed,
        "get-100B is not measured at": not_to_the_end,
    }
    for reason, history in undecided.items():
        assert gate(history, "regression") is None
        assert reason in (gate(history, "unsure") or "")
    other_case = history_gate_sentence(made_up(), [CASE, "set-100B"], "unsure")
    assert "set-100B is not measured at" in (other_case or "")


def test_a_step_that_is_not_known_is_undecided() -> None:
    history = without(made_up(), CPU_TIME)
    [series] = history.series
    before = series.points[3]
    gap = series.points[4].model_copy(update={"level": before.level, "value": (before.value or 0.0) * 1.2})
    points = (*series.points[:4], gap, *series.points[5:])
    history = history.model_copy(update={"series": (series.model_copy(update={"points": points}),)})
    assert gate(history, "regression") is None
    assert "a step of get-100B is not known" in (gate(history, "unsure") or "")


# The command line


def test_a_report_on_nothing_fails_its_gate(zerolap: Zerolap, toy: ToySource) -> None:
    words = ("history", "report", "--repo", toy.path, "--cases", CASES, "--range", f"{toy.first}..{toy.first}")
    assert zerolap(*words).code == 0
    for when in GATES:
        ended = zerolap(*words, "--fail-on", when)
        assert (ended.code, NOTHING in ended.err) == (1, True)


def test_a_misspelt_store_or_range_is_an_error(zerolap: Zerolap, toy: ToySource) -> None:
    of_toy = ("--repo", toy.path, "--cases", CASES)
    ends = f"{toy.first}..{toy.first}"
    nowhere = zerolap.directory / "stroe"
    for words in (["report"], ["table"], ["show"]):
        ended = zerolap("history", *words, *of_toy, "--range", ends, "--store", nowhere)
        ended.fails_with(2, f"there is no store at `{nowhere}`")
    assert not nowhere.exists()
    for misspelt in (f"{toy.first}..HAED", "tags:1.0..2.0"):
        zerolap("history", "report", *of_toy, "--range", misspelt).fails_with(2)


@pytest.mark.slow
def test_shares_of_commits_have_no_answer_of_time(zerolap: Zerolap, toy: ToySource) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("not installed: valgrind")
    (toy.path / "README").write_text("What it is for.\n")
    toy.commit("documented")
    words = ("compare", "--each-commit", "HEAD~1..HEAD", "toy-work", "--repo", toy.path, "--cases", CASES)
    store = ("--store", zerolap.store, "--fail-on")
    assert zerolap(*words, *store, "work").code == 0
    ended = zerolap(*words, *store, "time")
    assert (ended.code, "no two commits were timed" in ended.err) == (1, True)
