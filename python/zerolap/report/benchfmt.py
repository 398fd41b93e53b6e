"""Trials in the format of Go's benchmarks, which `benchstat` and other tools read.

The format is https://golang.org/design/14313-benchmark-format, with the lines on units that golang.org/x/perf adds.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

from zerolap.records import CONTROL, METRICS, Comparison, Measurement, Platform, RunReport, Trial
from zerolap.sheets import one_line

BENCHMARK: Final = "BenchmarkZerolap"
SAFE_CHARACTERS: Final = "-._~+:,@"
"""What stays as it is in a name, beside letters and digits of ASCII: nothing that ends a name or a part of it."""


def comparison_benchfmt(comparison: Comparison, trials: Sequence[tuple[Trial, Measurement]]) -> str:
    """Return the trials of a comparison, a line for each trial and side; those of invalid cases are left out."""
    servers = {"comparison": comparison.id, "base": comparison.base.name, "head": comparison.head.name}
    valid = [case.case for case in comparison.cases if case.validity.valid]
    return _document(_configuration(comparison.platform) | servers, valid, trials)


def run_benchfmt(report: RunReport, trials: Sequence[tuple[Trial, Measurement]]) -> str:
    """Return the trials of a run, its server as the head; those of invalid cases are left out.

    What differs between two runs that are to be compared is not in it: benchstat would not compare them then.
    """
    valid = [case.case for case in report.cases if case.validity.valid]
    return _document(_configuration(report.platform), valid, trials)


def unit_of(metric: str) -> str:
    """Return the unit of a metric: `instructions/op` for `instructions_per_op`."""
    return "/".join(escaped(part.replace("_", "-")) for part in metric.split("_per_"))


def escaped(name: str) -> str:
    """Return a name as one part of the name of a benchmark or unit."""
    return quote(name, safe=SAFE_CHARACTERS)


def _document(configuration: dict[str, str], cases: Sequence[str], trials: Sequence[tuple[Trial, Measurement]]) -> str:
    usable = [(trial, measurement) for trial, measurement in trials if measurement.validity.valid]
    places = {case: place for place, case in enumerate(cases)}
    shown = sorted((row for row in usable if row[0].case in places), key=lambda row: places[row[0].case])
    lines = [f"{key}: {one_line(value)}" for key, value in configuration.items()]
    lines += _units({name: None for _, measurement in shown for name in _metrics(measurement)})
    lines += [line for trial, measurement in shown for line in _result(trial, measurement)]
    return "\n".join(lines) + "\n"


def _configuration(platform: Platform) -> dict[str, str]:
    return {"platform": platform.name, "cpu": platform.cpu}


def _units(metrics: Iterable[str]) -> Iterator[str]:
    for name in metrics:
        if name in METRICS:
            yield f"Unit {unit_of(name)} better={'lower' if METRICS[name].less_is_better else 'higher'}"


def _result(trial: Trial, measurement: Measurement) -> Iterator[str]:
    values = [f"{value!r} {unit_of(name)}" for name, value in _metrics(measurement).items()]
    if values:
        # What comes last must not end in a number: tools take `-8` for the number of processors.
        rate = [] if trial.per_second is None else [f"rate={trial.per_second}"]
        name = "/".join([BENCHMARK, f"case={escaped(trial.case)}", *rate, f"side={escaped(trial.side)}"])
        yield " ".join([name, "1", *values])


def _metrics(measurement: Measurement) -> dict[str, float]:
    """Return what was measured of the server, which the reference work of the machine is not."""
    return {name: value for name, value in measurement.metrics.items() if name != CONTROL}
