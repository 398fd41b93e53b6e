"""Other builds of the same code: what their comparisons have measured, from verdicts alone."""

import io

import pytest
from rich.console import Console
from stored_opportunities import counted_run
from stored_run import RUN
from stored_variants import FASTER, LOOKED_AT, TREE, compared, record, timed_case

from zerolap.build import functions_of_build
from zerolap.explain import build_variants
from zerolap.opportunities import counted_version, version_opportunities
from zerolap.records import CaseResult, CaseWeights, StatedWeights
from zerolap.report import sheet_markdown, show_sheet
from zerolap.sheets import opportunities_sheet
from zerolap.store import Store


def test_a_variant_that_is_faster_has_its_gain_by_command_and_interval() -> None:
    (variant,) = build_variants(
        [
            compared(
                timed_case("get-100B", "improvement", -0.2),
                timed_case("get-1kB", "same", 0.001),
                timed_case("hset", "regression", 0.05, command="HSET"),
                timed_case("zadd", "unsure", -0.03, command="ZADD"),
            )
        ]
    )
    assert (variant.variant, variant.flags, variant.category) == ("-O3", "-O3 -g", "build")
    (gain,), (loss,) = variant.improvements, variant.losses
    # A fifth less time is a quarter more requests.
    assert (gain.case, gain.metric, gain.comparison) == ("get-100B", "cpu_ns_per_op", "c-01")
    assert (gain.gain.low, gain.gain.expected, gain.gain.high) == pytest.approx((1 / 0.81 - 1, 0.25, 1 / 0.79 - 1))
    assert loss.case == "hset"
    assert loss.gain.expected == pytest.approx(1 / 1.05 - 1)
    assert (variant.unchanged, variant.undecided) == (1, 1)
    by_command = {of.command: (of.gain.expected, of.cases) for of in variant.commands}
    assert by_command == {
        "GET": (pytest.approx(0.125), 2),
        "ZADD": (0.0, 1),
        "HSET": (pytest.approx(1 / 1.05 - 1), 1),
    }
    assert variant.gain.expected == pytest.approx((0.125 + 0.0 + 1 / 1.05 - 1) / 3)


def test_the_version_may_be_either_side() -> None:
    (variant,) = build_variants([compared(timed_case("get-100B", "regression", 0.25), side="head")])
    (gain,) = variant.improvements
    assert (gain.gain.low, gain.gain.expected, gain.gain.high) == pytest.approx((0.24, 0.25, 0.26))
    (variant,) = build_variants(
        [compared(timed_case("get-100B", "regression", -0.2, metric="ops_per_sec"), side="head")]
    )
    assert variant.improvements[0].gain.expected == pytest.approx(0.25)


@pytest.mark.parametrize(
    "case",
    [
        timed_case("get-100B", "regression", 0.1),
        timed_case("get-100B", "unsure", -0.1),
        timed_case("get-100B", "same", -0.001),
        # One layout of the program on each side.
        timed_case("get-100B", "improvement", -0.1, confirmed=False),
        # Fewer instructions are not time.
        timed_case("get-100B", "improvement", -0.1, metric="instructions_per_op").model_copy(update={"time": None}),
    ],
)
def test_what_is_not_confirmed_to_be_faster_is_no_opportunity(case: CaseResult) -> None:
    assert build_variants([compared(case)]) == []


def test_a_variant_that_loses_more_than_it_gains_is_no_opportunity() -> None:
    cases = [timed_case("get-100B", "improvement", -0.03), timed_case("hset", "regression", 0.1, command="HSET")]
    assert build_variants([compared(*cases)]) == []


def test_the_newest_answer_of_a_case_counts_and_variants_are_in_the_order_of_their_gains() -> None:
    allocator = LOOKED_AT.model_copy(update={"variant": "libc", "build": "b-3", "allocator": "libc"})
    variants = build_variants(
        [
            compared(timed_case("get-100B", "improvement", -0.1), identity="c-03"),
            compared(timed_case("get-100B", "improvement", -0.5), timed_case("hset", "same", 0.0), identity="c-02"),
            compared(timed_case("get-100B", "improvement", -0.3), other=allocator, identity="c-01"),
        ]
    )
    assert [variant.variant for variant in variants] == ["libc", "-O3"]
    assert variants[1].comparisons == ("c-03", "c-02")
    assert [case.gain.expected for case in variants[1].improvements] == pytest.approx([1 / 0.9 - 1])


# In a store.


def variants_of_run(store: Store) -> list[str]:
    version = counted_version(store, RUN.id)
    weights = CaseWeights(StatedWeights(kind="equal"), {graph.case: 1.0 for graph in version.graphs})
    document = version_opportunities(version, weights, store, functions_of_build, "zerolap opportunities")
    assert "build-variants" in document.detectors
    return [variant.variant for variant in document.variants]


IMPROVED = timed_case("get-100B", "improvement", -0.1)


def test_comparisons_of_the_same_code_are_taken_from_the_store(either_store: Store) -> None:
    counted_run(either_store)
    assert variants_of_run(either_store) == []
    record(either_store, compared(IMPROVED).comparison)
    assert variants_of_run(either_store) == ["-O3"]


OTHERWISE = {
    "other code": (compared(IMPROVED), (TREE, "another commit")),
    "other settings": (
        compared(IMPROVED, other=FASTER.model_copy(update={"config": {"io-threads": "4"}})),
        (TREE, TREE),
    ),
    "the same variant": (compared(IMPROVED, other=LOOKED_AT.model_copy(update={"build": "b-2"})), (TREE, TREE)),
}


@pytest.mark.parametrize("differing", OTHERWISE)
def test_comparisons_of_anything_else_are_left_out(differing: str, store: Store) -> None:
    counted_run(store)
    of_others, contents = OTHERWISE[differing]
    record(store, of_others.comparison, contents)
    assert variants_of_run(store) == []


def test_another_platform_and_another_build_are_left_out(store: Store) -> None:
    counted_run(store)
    elsewhere = RUN.platform.model_copy(update={"fingerprint": "p-2"})
    record(store, compared(IMPROVED).comparison.model_copy(update={"platform": elsewhere}))
    others = compared(IMPROVED, identity="c-02").comparison
    record(store, others.model_copy(update={"base": LOOKED_AT.model_copy(update={"build": "b-9"})}))
    assert variants_of_run(store) == []


def test_reports_show_variants_apart(store: Store) -> None:
    counted_run(store)
    loss = timed_case("hset", "regression", 0.05, command="HSET")
    record(store, compared(timed_case("get-100B", "improvement", -0.2), loss).comparison)
    version = counted_version(store, RUN.id)
    weights = CaseWeights(StatedWeights(kind="equal"), {graph.case: 1.0 for graph in version.graphs})
    document = version_opportunities(version, weights, store, functions_of_build, "zerolap opportunities")
    output, sheet = io.StringIO(), opportunities_sheet(document, 10)
    show_sheet(sheet, Console(file=output, width=200))
    shown = output.getvalue()
    assert "other builds of the same code, measured to be faster; not part of the sum" in shown
    assert "-O3  is faster by +10.1 % (+8.9 to +11.4 %), the mean of 2 commands" in shown
    [loss_line] = [line.split() for line in shown.splitlines() if line.split()[:1] == ["hset"]]
    assert " ".join(loss_line) == "hset -4.8 % (-5.7 to -3.8 %) CPU ns per request"
    written = sheet_markdown(sheet)
    assert "| `-O3` | +10.1 % (+8.9 to +11.4 %) |" in written
    assert "measured: `c-01`" in written
