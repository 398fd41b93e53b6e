"""Comparisons of a program with copies of it that have another build id."""

import shutil
import subprocess
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import zerolap
from benches.comparing import SERVER, ClockedComparison
from benches.truth.case_data import all_cases, changes_by_sample, data_of
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.samples import Data, Experiment, PlannedSample, Sample, Unavailable
from zerolap import Options

COPIES = 20


def _compare(number: int, directory: Path, seed: int) -> Data:
    found = shutil.which(SERVER)
    if found is None:
        raise Unavailable(f"{SERVER} is not installed")
    # Not what it may be a link to: the program finds out by its name what it is.
    program, store, copy = Path(found), directory / "store", directory / f"{SERVER}-{number}"
    directory.mkdir(parents=True, exist_ok=True)
    _copy_with_another_build_id(program, copy, number)
    began = time.monotonic()
    document = zerolap.compare(str(program), str(copy), options=Options(seed=seed), store=store)
    return data_of(ClockedComparison(document, time.monotonic() - began), store, copy=number)


def _copy_with_another_build_id(program: Path, copy: Path, number: int) -> None:
    shutil.copy2(program, copy)
    printed = subprocess.run(["readelf", "--notes", str(copy)], capture_output=True, text=True, check=True).stdout
    build_id = bytes.fromhex(printed.partition("Build ID: ")[2].split()[0])
    content = copy.read_bytes()
    if content.count(build_id) != 1:
        raise ValueError(f"{program} does not hold its build id once")
    copy.write_bytes(content.replace(build_id, bytes([number + 1]) * len(build_id)))


def _plan(directory: Path) -> list[PlannedSample]:
    return [PlannedSample(f"copy {number}", partial(_compare, number, directory)) for number in range(COPIES)]


EXPERIMENT = Experiment("copies", 1, ["copies.py"], _plan)


def alarms(samples: Sequence[Sample]) -> Estimate:
    """Return the number of confirmed changes."""
    cases = all_cases(samples)
    return Estimate(sum(case.confirmed for case in cases), len(samples), changes_by_sample(samples))


FIGURES = [TruthFigure("copy_alarms", "confirmed changes", [EXPERIMENT], COPIES, "comparisons", alarms, Limit(most=0))]
