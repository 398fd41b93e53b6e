"""What the timed trials of a case gave."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from zerolap.judge import Batching, TimedPair, unequal_batching
from zerolap.records import Case, Check, Measurement, Side, Timeline, TrialFailed


@dataclass
class TimedTrials:
    """What a case's timed trials gave, in the order of starts; `failure` ends the case, `disturbed` its timing.

    `lost_seconds` went into starts that the machine disturbed. Once there are enough others, a further one that it does
    not leave alone ends the case with what there is: it is `settled`.

    Where the sides' requests came in different batches, `paced` holds trials at an equal rate: they say what a request
    costs, while these say how many are served. `alone`: memory does not hold both sides at once.
    """

    case: Case
    measurements: dict[Side, list[Measurement]]
    timelines: dict[Side, list[Timeline]]
    per_second: int | None = None
    requests: int | None = None
    failure: TrialFailed | None = None
    disturbed: list[Check] = field(default_factory=list)
    cut_short: bool = False
    settled: bool = False
    lost_seconds: float = 0.0
    alone: bool = False
    batching: Batching | None = None
    paced: "TimedTrials | None" = None

    @classmethod
    def none_yet(cls, case: Case, sides: Mapping[Side, object], per_second: int | None = None) -> "TimedTrials":
        """Return the trials of a case before the first."""
        return cls(case, {side: [] for side in sides}, {side: [] for side in sides}, per_second)

    @property
    def starts(self) -> int:
        """How many starts there were of each side."""
        return min(len(one) for one in self.measurements.values())

    @property
    def all_starts(self) -> int:
        """How many there were, those at an equal rate too."""
        return self.starts + (self.paced.starts if self.paced is not None else 0)

    @property
    def usable(self) -> bool:
        """Whether the trials may be judged."""
        every = [one for side in self.measurements.values() for one in side]
        return self.failure is None and not self.disturbed and all(one.validity.valid for one in every)

    @property
    def of_cost(self) -> "TimedTrials":
        """The trials that say what a request costs: both sides got the same load in them."""
        return self if self.paced is None else self.paced

    def pairs(self) -> list[TimedPair]:
        """Return the starts of both sides of a comparison."""
        return [
            TimedPair(base, head) for base, head in zip(self.timelines["base"], self.timelines["head"], strict=False)
        ]

    def seconds(self) -> float:
        """Return the machine time of these trials."""
        own = sum(one.seconds for side in self.measurements.values() for one in side)
        return own + self.lost_seconds + (self.paced.seconds() if self.paced is not None else 0.0)

    def disturbance(self) -> list[Check]:
        """Return the checks because of which these trials, or those at an equal rate, are not used."""
        return self.disturbed or self.of_cost.disturbed

    def checks(self) -> list[Check]:
        """Return what is told of the trials as a whole, though no number stands against it."""
        told = []
        if self.batching is not None:
            batching = self.batching
            value = f"{batching.base:.1f} → {batching.head:.1f} requests a {batching.of}"
            limit = f"within 5 %, or CPU time judged at {batching.per_second:,} requests/s on both sides"
            left = unequal_batching(self.paced.pairs()) if self.paced is not None and self.paced.starts else None
            if left is not None:
                value += f"; at the equal rate still {left.base:.1f} → {left.head:.1f} a {left.of}"
            told.append(Check(check="batching", ok=True, value=value, limit=limit))
        if self.alone:
            limit = "both sides at once, or one after the other"
            told.append(Check(check="memory", ok=True, value="does not hold both sides", limit=limit))
        return told
