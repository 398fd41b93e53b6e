"""What a sample keeps of a comparison: the answers and verdicts of each case, and the single starts behind them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benches.comparing import CHANGED, ClockedComparison
from benches.truth.samples import Data, Sample
from benches.truth.sampling import METRIC, starts_of
from zerolap.records import CaseResult, Record, Verdict


class MetricData(Record):
    """A verdict on a metric; bounds that are not finite are none."""

    metric: str
    engine: str
    verdict: str
    base: float | None
    change: float | None
    low: float | None
    high: float | None
    q: float | None
    samples: int

    @classmethod
    def of(cls, verdict: Verdict) -> "MetricData":
        """Return what is kept of a verdict."""
        return cls(
            metric=verdict.metric,
            engine=verdict.engine,
            verdict=verdict.verdict,
            base=_finite(verdict.base),
            change=_finite(verdict.change),
            low=_finite(verdict.low),
            high=_finite(verdict.high),
            q=verdict.q,
            samples=verdict.samples,
        )

    def holds(self, change: float) -> bool:
        """Return whether the interval holds a change."""
        return (self.low is None or self.low <= change) and (self.high is None or change <= self.high)

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval as a log ratio."""
        if self.low is None or self.high is None or self.low <= -1:
            return None
        return (math.log1p(self.high) - math.log1p(self.low)) / 2


class CaseData(Record):
    """A case of a comparison; `log_ratios` are those of CPU time per request, head to base, one for each start."""

    case: str
    verdict: str
    work: str | None
    time: str | None
    confirmed: bool
    time_deciding: str | None
    failed_checks: Mapping[str, str]
    failure: str | None
    metrics: Sequence[MetricData]
    log_ratios: Sequence[float]

    @classmethod
    def of(cls, result: CaseResult, log_ratios: Iterable[float] = ()) -> "CaseData":
        """Return what is kept of a case."""
        return cls(
            case=result.case,
            verdict=result.verdict,
            work=result.work,
            time=result.time,
            confirmed=result.confirmed,
            time_deciding=result.time_deciding,
            failed_checks={check.check: f"{check.value}, {check.limit}" for check in result.validity.failed},
            failure=result.failure,
            metrics=[MetricData.of(verdict) for verdict in result.verdicts],
            log_ratios=[round(ratio, 6) for ratio in log_ratios],
        )

    @property
    def has_timed_verdict(self) -> bool:
        """Whether time was measured and judged, whatever came out."""
        return any(metric.engine == "timed" for metric in self.metrics)

    @property
    def has_changed(self) -> bool:
        """Whether a change of time is reported."""
        return self.time in CHANGED

    def metric(self, name: str) -> MetricData | None:
        """Return the verdict on a metric; none where there is none."""
        return next((metric for metric in self.metrics if metric.metric == name), None)


Cases: TypeAlias = Sequence[CaseData]


def data_of(comparison: ClockedComparison, store: Path, **more: Any) -> Data:
    """Return the data of a sample: a comparison's cases with their starts, its seconds, and what else is given."""
    starts = starts_of(comparison.document.id, store)
    cases = [CaseData.of(case, starts.get(case.case, ())) for case in comparison.document.cases]
    return {
        "comparison": comparison.document.id,
        "seconds": round(comparison.seconds, 2),
        "machine_seconds": round(comparison.document.summary.machine_seconds, 2),
        "cases": [case.model_dump(mode="json") for case in cases],
        **more,
    }


def has_timed_cases(data: Data) -> bool:
    """Return whether all cases of a sample's data have a timed verdict: the machine did not prevent it."""
    return all(case.has_timed_verdict for case in cases_in(data))


def cases_of(sample: Sample) -> list[CaseData]:
    """Return the cases of a sample."""
    return cases_in(sample.data)


def cases_in(data: Data) -> list[CaseData]:
    """Return the cases in the data of a sample."""
    return [CaseData.model_validate(case) for case in data["cases"]]


def all_cases(samples: Iterable[Sample]) -> list[CaseData]:
    """Return the cases of all samples."""
    return [case for sample in samples for case in cases_of(sample)]


def changes_by_sample(samples: Iterable[Sample]) -> list[str]:
    """Return a note for each sample that has cases whose time is reported as changed."""
    notes = []
    for sample in samples:
        changed = [case for case in cases_of(sample) if case.has_changed]
        if changed:
            notes.append(f"{sample.key}: {', '.join(f'{case.case} {_change(case)}' for case in changed)}")
    return notes


def _change(case: CaseData) -> str:
    deciding = case.metric(case.time_deciding or METRIC)
    return "" if deciding is None or deciding.change is None else f"{deciding.metric} {deciding.change:+.1%}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
