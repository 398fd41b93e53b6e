"""Figures, and the loop that measures the samples that they still lack."""

import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from benches.truth.samples import (
    Experiment,
    PlannedSample,
    Run,
    Sample,
    SampleFile,
    Unavailable,
    methods,
    now,
    seed_of,
    this_host,
)
from zerolap.errors import ZerolapError

FAULTS = (ZerolapError, OSError, ValueError, subprocess.SubprocessError)
"""Of one measurement: a server, a build, a program that is used, or an edit that does not apply to the source."""

DATE = len("2026-11-26")

State: TypeAlias = Literal["pass", "fail", "incomplete", "measured", "not measured", "unavailable"]
"""`measured` is a figure without a limit, `not measured` one without any sample, `unavailable` one that cannot be had
here."""


@dataclass(frozen=True)
class Limit:
    """The values that are wanted of a figure, both ends included."""

    least: float = -math.inf
    most: float = math.inf

    def holds(self, value: float) -> bool:
        """Return whether a value is wanted."""
        return self.least <= value <= self.most

    def __str__(self) -> str:
        if self.least == -math.inf:
            return f"<= {self.most:g}"
        if self.most == math.inf:
            return f">= {self.least:g}"
        return f"{self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Estimate:
    """What samples come to; `trials` counts what the figure's number of trials is about, such as case verdicts."""

    value: float
    trials: int
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class TruthFigure:
    """A figure: the experiments that it is computed from, how, and what is wanted of it.

    `wanted` is how many trials make it complete; `counted` are what these are. `compute` gets at least one sample; it
    returns none where these samples do not suffice yet.
    """

    name: str
    unit: str
    experiments: Sequence[Experiment]
    wanted: int
    counted: str
    compute: Callable[[Sequence[Sample]], Estimate | None]
    limit: Limit | None = None


@dataclass(frozen=True)
class Result:
    """A figure as it is shown and written."""

    name: str
    state: State
    value: float | None
    unit: str
    limit: str | None
    trials: int
    wanted: int
    counted: str
    host: str
    code: Mapping[str, str]
    computed: str
    notes: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The figure as a line of a table."""
        value = "-" if self.value is None else f"{self.value:.4g}"
        count = f"{self.trials} of {self.wanted}" if self.trials < self.wanted else f"{self.trials}"
        return f"{self.name:24} {value:>9}  {self.limit or '':12} {self.state:12} {count} {self.counted}; {self.unit}"


@dataclass
class Bench:
    """Measures figures into a file, within a time limit; `show` takes a line at a time.

    No measurement begins once `limit_seconds` are over; the one that is under way ends. With `any_code` the samples of
    other code are used too, and each figure states how many.
    """

    file: SampleFile
    directory: Path
    limit_seconds: float | None = None
    any_code: bool = False
    show: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.host, facts = this_host()
        self.file.hosts[self.host] = facts
        self._unavailable: dict[str, str] = {}

    def measure(self, figures: Sequence[TruthFigure]) -> str:
        """Measure what figures still lack, and return what ended it; every sample is written at once.

        Ctrl-C ends it as the time limit does.
        """
        run = Run(now(), [figure.name for figure in figures], self.limit_seconds)
        self.file.runs.append(run)
        self.file.write()
        try:
            run.stopped_by = "time limit" if self._measure_all(figures, run) else "nothing left to measure"
        except KeyboardInterrupt:
            run.stopped_by = "interrupt"
        except Exception as fault:
            run.stopped_by = f"{type(fault).__name__}: {fault}"
            raise
        finally:
            run.ended = now()
            self._compute(figures)
            self.file.write()
        return run.stopped_by

    def results(self, figures: Sequence[TruthFigure]) -> list[Result]:
        """Return what the samples of figures come to."""
        return [self._result(figure) for figure in figures]

    def _measure_all(self, figures: Sequence[TruthFigure], run: Run) -> bool:
        """Return whether the time limit was reached."""
        end = math.inf if self.limit_seconds is None else self.clock() + self.limit_seconds
        every = {experiment.name: experiment for figure in figures for experiment in figure.experiments}
        for experiment in every.values():
            for number, (planned, of) in enumerate(missing := self._missing(experiment), 1):
                if self.clock() >= end:
                    return True
                self.show(f"{experiment.name} {of}: {planned.key} ({number} of {len(missing)} that are left)")
                try:
                    self._measure(experiment, planned)
                    run.trials += 1
                except FAULTS as fault:
                    # It fails alone, and is tried again in the next run.
                    run.failures.append(f"{experiment.name}: {planned.key}: {fault}")
                    self.show(run.failures[-1])
                except Unavailable as reason:
                    self._unavailable[experiment.name] = str(reason)
                    break
        return False

    def _missing(self, experiment: Experiment) -> list[tuple[PlannedSample, str]]:
        """Return what an experiment lacks, each with its place among all that is planned."""
        try:
            every = experiment.plan(self.directory / experiment.name / experiment.code)
        except Unavailable as reason:
            self._unavailable[experiment.name] = str(reason)
            return []
        there = self._samples(experiment)
        numbered = [(planned, f"{number}/{len(every)}") for number, planned in enumerate(every, 1)]
        return [(planned, of) for planned, of in numbered if not experiment.has_measured(planned, there)]

    def _measure(self, experiment: Experiment, planned: PlannedSample) -> None:
        tries = sum(sample.key == planned.key for sample in self._samples(experiment))
        seed, began, clock = seed_of(experiment.name, planned.key, tries), now(), self.clock()
        data = planned.measure(seed)
        self.file.add(
            Sample(
                experiment=experiment.name,
                key=planned.key,
                seed=seed,
                host=self.host,
                code=experiment.code,
                methods=methods(),
                began=began,
                seconds=round(self.clock() - clock, 3),
                data=data,
            )
        )

    def _samples(self, experiment: Experiment) -> list[Sample]:
        return self.file.of(experiment, self.host, any_code=self.any_code)

    def _compute(self, figures: Sequence[TruthFigure]) -> None:
        """Compute figures; one that has no samples now keeps what an earlier run wrote of it."""
        for figure in figures:
            result = self._result(figure)
            if result.value is not None or figure.name not in self.file.figures:
                self.file.figures[figure.name] = asdict(result)

    def _result(self, figure: TruthFigure) -> Result:
        samples = [sample for experiment in figure.experiments for sample in self._samples(experiment)]
        names = [experiment.name for experiment in figure.experiments]
        reasons = [self._unavailable[name] for name in names if name in self._unavailable]
        result = _result_of(figure, samples, self.host, [*reasons, *self._notes_on_others(figure, samples)])
        return replace(result, state="unavailable") if reasons and result.value is None else result

    def _notes_on_others(self, figure: TruthFigure, used: Sequence[Sample]) -> list[str]:
        """Return what is to be known of samples that were measured with other code or elsewhere."""
        codes = {experiment.name: experiment.code for experiment in figure.experiments}
        mixed = sum(sample.code != codes[sample.experiment] for sample in used)
        left_out = sum(self.file.count(experiment) for experiment in figure.experiments) - len(used)
        notes = []
        if mixed:
            notes.append(f"{mixed} of {len(used)} samples were measured with other code")
        if left_out:
            notes.append(f"{left_out} samples of other code or another host are kept and not used")
        return notes


def kept_results(file: SampleFile, figures: Sequence[TruthFigure]) -> list[Result]:
    """Return what the samples of a file come to by figure and machine, whatever code has measured them.

    Each states the machine, and the code of its samples.
    """
    results = []
    for figure in figures:
        names = {experiment.name for experiment in figure.experiments}
        by_host: dict[str, list[Sample]] = {}
        for sample in file.samples:
            if sample.experiment in names:
                by_host.setdefault(sample.host, []).append(sample)
        own = {experiment.name: experiment.code for experiment in figure.experiments}
        results += [
            _result_of(figure, samples, host, [_circumstances(samples, file.hosts.get(host, {}), own)])
            for host, samples in by_host.items()
        ] or [_result_of(figure, [], "", [])]
    return results


def _circumstances(samples: Sequence[Sample], host: Mapping[str, Any], own: Mapping[str, str]) -> str:
    """Return where and when samples were measured, and with which code: that of this state, or others."""
    codes = Counter((sample.experiment, sample.code) for sample in samples)
    listed = ", ".join(
        f"{number} of {name} with {'this code' if code == own[name] else f'code {code}'}"
        for (name, code), number in codes.items()
    )
    began = sorted(sample.began[:DATE] for sample in samples)
    return f"on {host.get('cpu', 'unknown')} ({samples[0].host}), {began[0]} to {began[-1]}: {listed}"


def _result_of(figure: TruthFigure, samples: Sequence[Sample], host: str, notes: Sequence[str]) -> Result:
    estimate = figure.compute(samples) if samples else None
    value, trials = (None, 0) if estimate is None else (estimate.value, estimate.trials)
    return Result(
        name=figure.name,
        state=_state(figure, value, trials) if samples else "not measured",
        value=value,
        unit=figure.unit,
        limit=None if figure.limit is None else str(figure.limit),
        trials=trials,
        wanted=figure.wanted,
        counted=figure.counted,
        host=host,
        code={experiment.name: experiment.code for experiment in figure.experiments},
        computed=now(),
        notes=[*(() if estimate is None else estimate.notes), *notes],
    )


def _state(figure: TruthFigure, value: float | None, trials: int) -> State:
    if value is None or trials < figure.wanted:
        return "incomplete"
    if figure.limit is None:
        return "measured"
    return "pass" if figure.limit.holds(value) else "fail"


def table(results: Sequence[Result]) -> str:
    """Return figures as a table, their notes below each."""
    lines = [f"{'figure':24} {'value':>9}  {'limit':12} {'result':12} trials"]
    for result in results:
        lines += [result.line, *(f"{'':4}{note}" for note in result.notes)]
    return "\n".join(lines)
