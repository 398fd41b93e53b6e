"""Which figures the bench of snapshots measures."""

import pytest

from benches import snapshots

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
