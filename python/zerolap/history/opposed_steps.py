"""Steps of counted work that are no gain, as other counts of the case lose at the same commit."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from zerolap.explain import explain_opposed_work
from zerolap.history.asked import WORK
from zerolap.history.commit_work import CaseWork
from zerolap.judge import REPORTED, WorkStep, weighed_work
from zerolap.records import Verdict, VerdictWord

GAIN: Final = "improvement"


def opposed_step(work: CaseWork, steps: Mapping[str, WorkStep], after: int, position: int) -> str | None:
    """Return why a step of less work is no gain; none where nothing of the case lost as much.

    `steps` are those between the two commits by metric.
    """
    verdicts = list(_verdicts(work, steps, after, position))
    if weighed_work(verdicts).word == GAIN:
        return None
    finding = explain_opposed_work(verdicts)
    return None if finding is None else finding.text


def _verdicts(work: CaseWork, steps: Mapping[str, WorkStep], after: int, position: int) -> Iterator[Verdict]:
    """Yield the steps as verdicts: counts of one seed are exact."""
    for metric in WORK:
        points = work.points_of(metric, after, position)
        if points is None or metric not in steps:
            continue
        change = math.expm1(steps[metric].log_change)
        word: VerdictWord = "same"
        if steps[metric].is_reported:
            word = "regression" if change > 0 else GAIN
        yield Verdict(
            metric=metric,
            engine="counted",
            verdict=word,
            base=points[0].value,
            head=points[1].value,
            change=change,
            low=change,
            high=change,
            q=None,
            samples=1,
            pairs=1,
            min_effect=REPORTED,
            detectable=REPORTED,
        )
