"""What all engines' verdicts have in common: the rule for a metric, and the adjustment for their number."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from zerolap import _core
from zerolap.judge.look_levels import LookError
from zerolap.judge.looks import look_shares
from zerolap.records import (
    FAR_TAIL,
    LONGEST_PAUSE,
    REGRESSION_RULE,
    TAIL,
    TAIL_AT_HALF,
    UNCHANGED,
    MetricRule,
    Settings,
    Verdict,
    VerdictWord,
    WildStarts,
)

TAILS: Final = "tail"
"""What the minimum effect of the tails of an open loop is named by, beside those of engines."""

DEFAULT_MIN_EFFECT: Mapping[str, float] = {"counted": 0.005, "timed": 0.02, TAILS: 0.1, "memory": 0.0025}
"""The smallest change that matters, by engine, as a fraction; tails and counted bytes have their own."""

PLUGIN_MIN_EFFECT = 0.02
"""The minimum effect of metrics of plugins' engines."""

Q = 0.01
"""The share of false ones among the changes of a comparison that is accepted."""

EQUIVALENCE_LEVEL = 0.05
"""The probability of calling a metric the same though it changed by the minimum effect, at any look."""

MARGINS: Mapping[str, float] = {
    "elapsed_ns_per_op": 2.0,
    TAIL_AT_HALF: 1.5,
    TAIL: 1.5,
    FAR_TAIL: 3.0,
    LONGEST_PAUSE: 5.0,
}
"""Within how many minimum effects a metric counts as the same, where that is not one: what scatters more."""

INTERVAL_ERRORS = 3.0
"""About how many standard errors the interval of a timed change reaches to either side."""

HINT = 0.05
"""A change is likely where its p is below: chance alone gives that to few cases without a change."""

LIKELY = 0.2
"""The p below which a change is likely where the margin is beyond the minimum effect: more would pass for the same."""


@dataclass(frozen=True)
class UnadjustedVerdict:
    """A metric's verdict before adjustment for the number of comparisons, with its p.

    `detectable_at` returns the smallest change that is detected with a probability of 90 % where so much error is left
    to the metric, `interval_at` the bounds of the change that hold but for so much error.
    """

    verdict: Verdict
    p: float
    detectable_at: Callable[[float], float]
    interval_at: Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Change:
    """A relative change: with its interval at some confidence, what is detectable at it, and the p of no change."""

    change: float
    low: float
    high: float
    detectable: float
    p: float

    @classmethod
    def of(cls, found: _core.PairedChange, scale: float = 1.0) -> "Change":
        """Return what was computed, all but p multiplied by `scale`."""
        return cls(
            change=found.change * scale,
            low=found.low * scale,
            high=found.high * scale,
            detectable=found.detectable * scale,
            p=found.p,
        )


@dataclass(frozen=True)
class Look:
    """A metric by its samples, at a look that may err so much; `change_at` is by confidence."""

    metric: MetricRule
    change_at: Callable[[float], Change]
    error: LookError
    min_effect: float
    q: float = Q

    @property
    def margin(self) -> float:
        """Within which a change counts as the same."""
        return round(MARGINS.get(self.metric.name, 1.0) * self.min_effect, 12)

    def judged(self) -> tuple[VerdictWord, Change]:
        """Return the word on the metric and its change.

        The p and the interval of the change hold for all looks together: whatever is looked at and whenever that ends.
        The look has its level of both tests: of the interval, whose level is 1 - q, and of equivalence. The latter is
        two one-sided tests: at level a they hold where the interval at 1 - 2a lies within the margin (Schuirmann,
        Journal of Pharmacokinetics and Biopharmaceutics 15, 1987), which is the minimum effect, but for throughput. A
        margin beyond the minimum effect does not make a change the same that is likely, and larger than half of the
        minimum effect.
        """
        found = self.change_at(1.0 - self.error.at_look(self.q))
        narrow = self.change_at(1.0 - self.error.of_equivalence(2 * EQUIVALENCE_LEVEL))
        margin, min_effect, less_is_better = self.margin, self.min_effect, self.metric.less_is_better
        is_likely = margin > min_effect and found.p < LIKELY and abs(found.change) > min_effect / 2
        word: VerdictWord = "unsure"
        if found.low > 0 and found.change > min_effect:
            word = "regression" if less_is_better else "improvement"
        elif found.high < 0 and found.change < -min_effect:
            word = "improvement" if less_is_better else "regression"
        elif -margin < narrow.low and narrow.high < margin and not is_likely:
            word = "same"
        return word, replace(found, p=self.error.of_all(found.p))

    def interval(self, error: float) -> tuple[float, float]:
        """Return the bounds of the change that hold but for so much error of all looks."""
        found = self.change_at(1.0 - self.error.at_look(error))
        return found.low, found.high

    def detectable(self, error: float) -> float:
        """Return the smallest change that is detected with a probability of 90 %, with so much error of all looks.

        Its interval has to lie beyond 0, and its estimate beyond the minimum effect.
        """
        found = self.change_at(1.0 - self.error.at_look(error))
        half_width = (found.high - found.low) / 2
        return max(half_width, self.min_effect) + max(0.0, found.detectable - half_width)

    def verdict(
        self,
        judged: tuple[VerdictWord, Change],
        sides: tuple[float, float],
        samples: int,
        pairs: int,
        wild_starts: WildStarts | None = None,
    ) -> UnadjustedVerdict:
        """Return the verdict with the values of base and head."""
        word, found = judged
        verdict = Verdict(
            metric=self.metric.name,
            engine=self.metric.engine,
            verdict=word,
            base=sides[0],
            head=sides[1],
            change=found.change,
            low=found.low,
            high=found.high,
            q=None,
            samples=samples,
            pairs=pairs,
            min_effect=self.min_effect,
            detectable=self.detectable(self.q),
            margin=self.margin if self.margin != self.min_effect else None,
            wild_starts=wild_starts,
        )
        return UnadjustedVerdict(verdict, found.p, self.detectable, self.interval)


def moderated_change(
    changes: Sequence[float], prior: tuple[float, float] | None, resolution: float, confidence: float
) -> Change:
    """Return the mean of log ratios as a change; its variance is drawn towards the prior one (Smyth 2004).

    `prior` are variance and degrees of freedom, `resolution` is the smallest standard deviation of a ratio.
    """
    return Change.of(_core.moderated_change(list(changes), prior, resolution, confidence))


def sides_around(centre: float, change: float) -> tuple[float, float]:
    """Return base and head, which differ by a change, from their geometric mean."""
    return centre / math.sqrt(1 + change), centre * math.sqrt(1 + change)


def with_rules(settings: Settings) -> Settings:
    """Return the settings of a comparison with how its verdicts are concluded."""
    rules = {
        "level": 1.0 - settings.q,
        "equivalence_level": EQUIVALENCE_LEVEL,
        "regression_rule": REGRESSION_RULE,
        "look_shares": look_shares(settings.min_effect["timed"], settings.plugin_engines),
    }
    return settings.model_copy(update=rules)


def adjusted(cases: Sequence[Sequence[UnadjustedVerdict]], q: float = Q) -> list[list[Verdict]]:
    """Return the verdicts of each case with q; a change whose q is above the given one becomes unsure.

    Cases first, then the metrics of a case: Benjamini and Bogomolov, "Selective inference on multiple families of
    hypotheses", J. R. Statist. Soc. B 76 (2014). A case's p is that of Simes (Biometrika 73, 1986) over its metrics.
    Cases are selected by Benjamini and Hochberg (1995) at q; within R selected ones of m, metrics are at q R / m. So a
    case does not lose its change to the number of metrics of other cases, and the share of false changes is q on the
    average over the selected cases. The q of a verdict is the larger of its case's and its own, times m / R.

    Of changes that are selected from others, intervals at an unadjusted level miss too often. Theirs are at
    1 - q (R / m) (r / n), where r of the n metrics of the case changed (Benjamini and Yekutieli, "False Discovery
    Rate-Adjusted Multiple Confidence Intervals for Selected Parameters", J. Am. Stat. Assoc. 100, 2005): 1 - q of the
    intervals of all changes that are reported hold, on the average.

    What is detectable is that of the only change of a comparison, in one metric.
    """
    values = [_core.adjust_p([one.p for one in judged]) for judged in cases]
    # The smallest adjusted value of a family is its p by Simes.
    families = [min(own) for own in values if own]
    of_families = iter(_core.adjust_p(families))
    of_cases = [next(of_families) if own else 1.0 for own in values]
    selected = sum(one <= q for one in of_cases)
    scale = len(families) / max(1, selected)
    return [
        _adjusted_case(judged, [min(1.0, max(of_case, value * scale)) for value in own], q, len(families), scale)
        for judged, own, of_case in zip(cases, values, of_cases, strict=True)
    ]


def _adjusted_case(
    judged: Sequence[UnadjustedVerdict], own_q: Sequence[float], q: float, families: int, scale: float
) -> list[Verdict]:
    """Return the verdicts of a case with their q; `scale` is the number of cases for each that is selected."""
    kept = [
        one.verdict.verdict not in ("unsure", *UNCHANGED) and value <= q
        for one, value in zip(judged, own_q, strict=True)
    ]
    error = q * sum(kept) / len(judged) / scale if judged else q
    verdicts = []
    for one, value, is_kept in zip(judged, own_q, kept, strict=True):
        verdict = one.verdict.model_copy(update={"detectable": one.detectable_at(q / (families * len(judged)))})
        if verdict.verdict not in UNCHANGED:
            verdict = verdict.model_copy(update={"q": value} | ({} if is_kept else {"verdict": "unsure"}))
        if is_kept:
            low, high = one.interval_at(error)
            verdict = verdict.model_copy(update={"low": low, "high": high})
        verdicts.append(verdict)
    return verdicts


def side_error(low: float, high: float) -> float:
    """Return the relative standard error of each of two costs, whose errors make the interval of the change between."""
    if not (low > -1 and math.isfinite(high)):
        return 1.0
    return math.log((1 + high) / (1 + low)) / (2 * INTERVAL_ERRORS * math.sqrt(2))
