"""What is planned where bytes differ: more blocks of cases with identical instructions, then a profile of each side."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from test_planner import Bench, bench, cases, executed

from zerolap.engines import ALLOCATED, Place
from zerolap.engines.simulated import Simulated
from zerolap.judge import MIN_BLOCKS
from zerolap.lab import Lab, Options, Worker
from zerolap.records import (
    HEAD,
    AllocatingFrame,
    AllocationSite,
    AllocationSites,
    Block,
    Comparison,
    Measurement,
    Side,
    TrialFailed,
    TrialsJob,
    Validity,
)

__all__ = ["bench"]
KEYS = 100


class WithBytes(Simulated):
    """Counts bytes too: those of a key of the head, by case; of others and of the base they are 100."""

    def __init__(self, key_bytes: Mapping[str, float]) -> None:
        super().__init__(executed=lambda _name, _side: executed("ret"))
        self.key_bytes = key_bytes

    def _measurement(self, job: TrialsJob, block: Block, side: Side, place: Place) -> Measurement:
        measured = super()._measurement(job, block, side, place)
        of_key = self.key_bytes.get(job.case.name, 100.0) if side == HEAD else 100.0
        added = {"memory_bytes_per_key": of_key, "used_memory_bytes": of_key * KEYS}
        return measured.model_copy(update={"metrics": measured.metrics | added})


@pytest.fixture
def compared(
    bench: Callable[..., Bench], tmp_path: Path
) -> Callable[[Mapping[str, float], Simulated | None], tuple[Comparison, Counter[str], Simulated]]:
    """Compares three cases whose instructions are identical; returns blocks by case and what was profiled too."""

    def compare(
        key_bytes: Mapping[str, float], profiling: Simulated | None = None
    ) -> tuple[Comparison, Counter[str], Simulated]:
        made = bench(copied_to=tmp_path / "copy")
        made.counted = WithBytes(key_bytes)
        profiled = profiling or Simulated(measured=lambda _job, _block, side: profile(made, side))
        worker = Worker({"counted": made.counted, "timed": made.timed, ALLOCATED: profiled})
        lab = Lab(made.store, made.events.append, worker=worker)
        comparison = made.compare(cases(3), Options(engines=["counted"]), lab)
        blocks = Counter(case for case, _, side in made.counted.carried_out if side == HEAD)
        return comparison, blocks, profiled

    return compare


def profile(made: Bench, side: Side) -> Measurement:
    frame = AllocatingFrame(function="createObject", file="object.c", line=43)
    size = (120 if side == HEAD else 100) * KEYS
    sites = AllocationSites(keys=KEYS, sites=[AllocationSite(frames=[frame], bytes=size, blocks=KEYS)])
    blob = made.store.blobs.put(sites.model_dump_json().encode())
    return Measurement(metrics={}, validity=Validity(valid=True, checks=[]), allocations=blob)


def test_equal_bytes_take_no_trial_of_their_own(
    compared: Callable[..., tuple[Comparison, Counter[str], Simulated]],
) -> None:
    comparison, blocks, profiled = compared({})
    assert blocks == dict.fromkeys(("case-0", "case-1", "case-2"), 1)
    assert not profiled.carried_out
    assert {(case.work, case.memory, case.verdict) for case in comparison.cases} == {("identical", "identical", "same")}


def test_bytes_that_differ_are_counted_on_and_profiled_though_the_instructions_are_identical(
    compared: Callable[..., tuple[Comparison, Counter[str], Simulated]],
) -> None:
    comparison, blocks, profiled = compared({"case-1": 120.0})
    assert blocks == {"case-0": 1, "case-1": MIN_BLOCKS, "case-2": 1}
    assert {case for case, _, _ in profiled.carried_out} == {"case-1"}
    changed = next(case for case in comparison.cases if case.case == "case-1")
    assert (changed.work, changed.memory, changed.verdict) == ("identical", "regression", "regression")
    assert (changed.deciding, changed.confirmed) == ("memory_bytes_per_key", False)
    [site] = [finding for finding in changed.findings if finding.kind == "allocation"]
    assert site.text == "`createObject` allocates 120 instead of 100 bytes a key (object.c:43)."
    assert (comparison.summary.memory_regression, comparison.summary.regression) == (1, 1)
    assert comparison.fails_on("memory")
    assert comparison.fails_on("regression")
    assert not comparison.fails_on("work")


def test_a_profile_that_fails_costs_the_place_and_no_more(
    compared: Callable[..., tuple[Comparison, Counter[str], Simulated]],
) -> None:
    def fail(_job: TrialsJob, _block: Block) -> None:
        raise TrialFailed("valgrind has no such tool")

    comparison, _, _ = compared({"case-1": 80.0}, Simulated(on_trial=fail))
    changed = next(case for case in comparison.cases if case.case == "case-1")
    assert (changed.memory, changed.verdict) == ("improvement", "improvement")
    assert "Where the bytes are allocated is not known" in "".join(finding.text for finding in changed.findings)
    assert not comparison.fails_on("memory")
