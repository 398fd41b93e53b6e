"""Which figures the bench of snapshots measures."""

import pytest

from benches import async_fork, snapshots

NAMED = {"pause_fit_r2", "closed_loop_hides", "sweep_minutes", "seen_by_client", "planted_stall"}


def test_all_figures_are_measured_by_default_and_each_by_its_name() -> None:
    everything = snapshots.wanted_figures(["1048576"])
    assert set(everything) >= NAMED
    for name in everything:
        assert snapshots.wanted_figures([name, "1048576"]) == [name]


def test_a_sweep_is_carried_out_once_for_all_its_figures() -> None:
    assert snapshots.MEASURES["pause_fit_r2"] is snapshots.MEASURES["seen_by_client"]


def test_another_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(SystemExit) as refused:
        snapshots.wanted_figures(["pause_fit_r2", "fastest"])
    assert str(refused.value).startswith("unknown: fastest; figures: pause_fit_r2, ")
    assert all(name in str(refused.value) for name in NAMED)


def test_what_needs_a_kernel_is_measured_by_its_name_alone() -> None:
    of_kernels = ["async_parent_share", "longest_wait_share", "counts_repeat", "snapshot_wrong", "selftests"]
    assert not set(snapshots.wanted_figures([])) & set(of_kernels)
    assert snapshots.wanted_figures(of_kernels) == of_kernels


def test_figures_are_read_from_what_the_tests_of_the_patch_print() -> None:
    hostile = "booting\npages_compared 120000000\npages_wrong 1\nchildren_lost 2\n"
    mutants = "hooks_left_out 5\nhooks_left_out_undetected 1\n"
    printed = f"{hostile}selftests_run 14\nselftests_new_failures 1\n{mutants}"
    figures = async_fork.tested_figures(printed)
    assert (figures["snapshot_wrong"].value, figures["snapshot_wrong"].trials) == (3, 120_000_000)
    assert "of 5 hooks left out, 1 undetected" in figures["snapshot_wrong"].notes
    assert (figures["selftests"].value, figures["selftests"].trials) == (1, 14)


def test_tests_that_did_not_end_give_no_figures() -> None:
    with pytest.raises(SystemExit) as refused:
        async_fork.tested_figures("pages_compared 5\nKernel panic\n")
    assert "no pages_wrong, children_lost, selftests_new_failures" in str(refused.value)
