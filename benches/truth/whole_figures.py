"""Figures that a function of another module measures in one go: their sample is the figure."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benches.figures import Figure
from benches.truth.measuring import Estimate, Limit, TruthFigure
from benches.truth.samples import Data, Experiment, PlannedSample, Sample, Unavailable


@dataclass(frozen=True)
class WholeFigure:
    """A figure, and the least trials that make it complete."""

    name: str
    wanted: int
    counted: str
    limit: Limit


@dataclass(frozen=True)
class Measurement:
    """A function without arguments of a module beside this one; it returns a `Figure`, or several by name."""

    module: str
    function: str
    figures: Sequence[WholeFigure]


MEASUREMENTS = [
    Measurement(
        "lookalikes",
        "identical_wrong",
        [WholeFigure("identical_wrong", 20, "edits", Limit(most=0))],
    ),
    Measurement(
        "layouts",
        "residual_layout_sd",
        [WholeFigure("residual_layout_sd", 960, "starts", Limit(most=0.3))],
    ),
    Measurement(
        "builds",
        "build_ratios",
        [
            WholeFigure("build_ratio_first", 3, "builds", Limit(most=1.3)),
            WholeFigure("build_ratio_second", 3, "builds", Limit(most=1.3)),
        ],
    ),
]


def _measure(measurement: Measurement, _directory: Path, _seed: int) -> Data:
    name = f"benches.truth.{measurement.module}"
    try:
        # By name: such a module needs tools that this bench does not, and may be missing.
        module = importlib.import_module(name)
    except ModuleNotFoundError as fault:
        if fault.name != name:
            raise
        raise Unavailable(f"{name.replace('.', '/')}.py is not there") from fault
    measured: Figure | Mapping[str, Figure] = getattr(module, measurement.function)()
    by_name = {measurement.figures[0].name: measured} if isinstance(measured, Figure) else measured
    return {"figures": {key: asdict(figure) for key, figure in by_name.items()}}


def _plan(measurement: Measurement, directory: Path) -> list[PlannedSample]:
    return [PlannedSample(measurement.function, partial(_measure, measurement, directory))]


def _estimate(name: str, samples: Sequence[Sample]) -> Estimate | None:
    figure = samples[-1].data["figures"].get(name)
    return None if figure is None else Estimate(figure["value"], figure["trials"], [figure["unit"], *figure["notes"]])


def figures_of(measurement: Measurement) -> list[TruthFigure]:
    """Return the figures of a measurement; one sample has all of them."""
    experiment = Experiment(measurement.function, 1, [f"{measurement.module}.py"], partial(_plan, measurement))
    return [
        TruthFigure(
            figure.name,
            "",
            [experiment],
            figure.wanted,
            figure.counted,
            partial(_estimate, figure.name),
            figure.limit,
        )
        for figure in measurement.figures
    ]


FIGURES = [figure for measurement in MEASUREMENTS for figure in figures_of(measurement)]
