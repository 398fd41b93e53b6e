"""What the trials of one case gave: by an engine, and by all of them together."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TypeVar

from zerolap.documents.identity import Identity
from zerolap.judge import (
    ALL_LOOKS,
    AS_BUILT,
    COSTS,
    CPU_TIME,
    ELAPSED,
    LOOKS,
    Batching,
    JudgedCase,
    Starts,
    StartsLookedAt,
    TimedPair,
    unequal_batching,
)
from zerolap.records import (
    ANCHOR,
    BASE,
    CHECKS_OF_TIMING,
    HEAD,
    TAIL_METRICS,
    Amounts,
    Case,
    Check,
    Event,
    JobFailed,
    JobFinished,
    Measurement,
    Side,
    Timeline,
    TrialDone,
    TrialFailed,
    Validity,
    Windows,
)
from zerolap.store import Blobs

T = TypeVar("T")

OF_WHOLE_STARTS = ("whole_cpu_ns_per_op", "elapsed_ns_per_op", "latency_p99_us", "rss_bytes", *TAIL_METRICS)
"""Metrics that are of a start as a whole, and not of a typical slice."""
FEWEST_STARTS = 2
MOST_REFUSED = 3
"""Starts of a case that the machine made unusable, each of which is repeated when all other cases had their turn."""


@dataclass
class Trials:
    """What the trials of a case by one engine gave, by side in the order of blocks, whose numbers are `block_numbers`.

    `jobs_done` counts the jobs that have ended, of which one may have been `cut_short`; `failure` ends the case for the
    engine, `refusal` is why it does not measure this case at all. `is_valid`: all measurements are.
    """

    case: Case
    measurements: dict[Side, list[Measurement]]
    block_numbers: dict[Side, list[int]] = field(default_factory=dict)
    jobs_done: int = 0
    cut_short: bool = False
    failure: TrialFailed | None = None
    refusal: str | None = None
    is_valid: bool = True
    _whole_blocks: frozenset[int] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def usable(self) -> bool:
        """Whether all trials went well and are valid."""
        return self.failure is None and self.refusal is None and self.is_valid

    @property
    def speaks_against_case(self) -> bool:
        """Whether other engines should not measure the case either: a trial failed, or was invalid."""
        return self.failure is not None or not self.is_valid

    @property
    def is_over(self) -> bool:
        """Whether no further trial makes sense, whatever has been measured."""
        return self.failure is not None or self.refusal is not None or self.cut_short or not self.is_valid

    @property
    def all(self) -> list[Measurement]:
        """The measurements of all sides."""
        return [measurement for of_side in self.measurements.values() for measurement in of_side]

    @property
    def has_begun(self) -> bool:
        """Whether there is anything to report."""
        return bool(self.jobs_done or self.all)

    @property
    def blocks(self) -> int:
        """How many blocks were carried out on all sides."""
        return len(self.whole_blocks)

    @property
    def whole_blocks(self) -> frozenset[int]:
        """The numbers of the blocks that were carried out on all sides."""
        if self._whole_blocks is None:
            numbers = [frozenset(self.block_numbers.get(side, ())) for side in self.measurements]
            self._whole_blocks = frozenset.intersection(*numbers) if numbers else frozenset()
        return self._whole_blocks

    @property
    def whole(self) -> dict[Side, list[Measurement]]:
        """The measurements of each side in the blocks that were carried out on all sides."""
        numbers = self.whole_blocks
        return {
            side: [
                one for number, one in zip(self.block_numbers.get(side, ()), of_side, strict=True) if number in numbers
            ]
            for side, of_side in self.measurements.items()
        }

    @property
    def windows(self) -> Windows | None:
        """The windows that the first counted trial chose."""
        return self.all[0].amounts.windows if self.all else None

    def _keep(self, side: Side, block: int, measurement: Measurement) -> None:
        self._whole_blocks = None
        numbers = self.block_numbers.setdefault(side, [])
        # Jobs of several blocks are carried out side by side.
        position = bisect(numbers, block)
        numbers.insert(position, block)
        self.measurements.setdefault(side, []).insert(position, _with_shared_parts(measurement))
        self.is_valid = self.is_valid and measurement.validity.valid

    def add(self, event: Event) -> None:
        """Take in what happened to a job of this case and engine."""
        match event:
            case TrialDone():
                for side, measurement in event.measurements.items():
                    self._keep(side, event.block, measurement)
            case JobFailed(refused=True):
                self.refusal = event.reason
                self.jobs_done += 1
            case JobFailed():
                self.failure = TrialFailed(event.reason, event.hint, event.details, event.side)
                self.jobs_done += 1
            case JobFinished():
                self.jobs_done += 1
                self.cut_short = self.cut_short or event.cut_short


@dataclass
class TimedTrials(Trials):
    """Starts of all sides, at full speed or at the equal rate `per_second`; `pairs` has one for each start.

    With an anchor beside the sides, `anchored` has the pairs of anchor and head by block.

    Those at an equal rate are `paced`, those of the programs as they were built `as_built`. `paired_blocks` are the
    numbers of the starts' blocks.

    A start that something made unusable is not kept, and counted in `refused`; others follow in its place. After
    several such starts, the case is `settled` with what there is if that is enough for a look; else `disturbed` are the
    checks because of which there is no timed verdict.
    """

    per_second: int | None = None
    pairs: list[TimedPair] = field(default_factory=list)
    anchored: dict[int, TimedPair] = field(default_factory=dict)
    paired_blocks: list[int] = field(default_factory=list)
    disturbed: list[Check] = field(default_factory=list)
    settled: bool = False
    refused: int = 0
    is_one_program: bool = False
    paced: "TimedTrials | None" = None
    as_built: "TimedTrials | None" = None

    @property
    def usable(self) -> bool:
        """Whether the trials may be judged."""
        return super().usable and not self.disturbed

    @property
    def is_over(self) -> bool:
        """Whether no further start makes sense."""
        return super().is_over or self.settled or bool(self.disturbed)

    @property
    def of_cost(self) -> "TimedTrials":
        """The trials from which the cost of a request is judged: all sides got the same load in them."""
        return self if self.paced is None else self.paced

    @property
    def is_placed(self) -> bool:
        """Whether each start had the functions of all programs in an order of its own."""
        return all(one.placement is not None and one.placement.seed is not None for one in self.all)

    @property
    def has_fixed_layouts(self) -> bool:
        """Whether each side has a layout of its own that is the same in all starts."""
        return not self.is_placed and not self.is_one_program

    @property
    def circumstances(self) -> str:
        """What starts must have in common for their variances to be of one kind: topology and kind of placement."""
        return self.case.topology.name if self.is_placed else f"{self.case.topology.name}{AS_BUILT}"

    def starts(self, pairs: Sequence[TimedPair]) -> Starts:
        """Return starts of this case as they are judged."""
        return Starts(pairs, self.circumstances, self.has_fixed_layouts)

    def of_metric(self, metric: str) -> "TimedTrials | None":
        """Return the trials from which a metric is judged: costs where all sides had the same load.

        None where there are too few.
        """
        trials = self.of_cost if metric in COSTS else self
        if not trials.usable or len(trials.pairs) < FEWEST_STARTS:
            return None
        is_unequal = metric in COSTS and trials.per_second is None and trials.left_batching is not None
        return None if is_unequal else trials

    def looked_at(self, number: int) -> StartsLookedAt:
        """Return the first so many starts."""
        at_full_speed = self.starts(self.pairs[:number])
        of_cost = replace(at_full_speed, pairs=self.of_cost.pairs[:number])
        return StartsLookedAt(number, at_full_speed, of_cost, is_paced=self.paced is not None)

    @property
    def alone(self) -> bool:
        """Whether memory does not hold all sides at once."""
        return any(measurement.amounts.alone for measurement in self.all)

    @property
    def next_block(self) -> int:
        """The number of the next start's block."""
        return self.blocks + self.refused

    @property
    def all_starts(self) -> int:
        """How many starts are kept, those at an equal rate and of programs as built included."""
        return self.blocks + sum(trials.blocks for trials in (self.paced, self.as_built) if trials is not None)

    def amounts_after(self, starts: int) -> Amounts:
        """Return the amounts of the last of so many starts."""
        return next(iter(self.measurements.values()))[starts - 1].amounts

    def start(self, block: int, measurements: Mapping[Side, Measurement], blobs: Blobs) -> None:
        """Take in a start of all sides."""
        failed = {check.check: check for measurement in measurements.values() for check in measurement.validity.failed}
        if failed and failed.keys() <= CHECKS_OF_TIMING:
            self.refused += 1
            if self.refused >= MOST_REFUSED or "oversubscribed" in failed:
                self.settled = self.blocks >= LOOKS[0]
                self.disturbed = [] if self.settled else list(failed.values())
            return
        for side, measurement in measurements.items():
            self._keep(side, block, measurement)
        pair, anchored = (_pair(measurements.get(side), measurements.get(HEAD), blobs) for side in (BASE, ANCHOR))
        if pair is not None:
            self.paired_blocks.append(block)
            self.pairs.append(pair)
        if anchored is not None:
            self.anchored[block] = anchored

    def batching(self) -> Batching | None:
        """Return how the requests of the sides came in unequal batches at full speed; none where they did not."""
        if self.per_second is not None or len(self.pairs) < LOOKS[0] or not self.usable:
            return None
        return self._first_batching

    @cached_property
    def _first_batching(self) -> Batching | None:
        return unequal_batching(self.pairs[: LOOKS[0]], [*self.anchored.values()][: LOOKS[0]])

    @property
    def left_batching(self) -> Batching | None:
        """How the requests of the sides come in unequal batches in all starts; none where they do not."""
        return unequal_batching(self.pairs, [*self.anchored.values()]) if self.pairs else None

    def disturbance(self) -> list[Check]:
        """Return the checks because of which these trials, or those at an equal rate, are not used."""
        return self.disturbed or self.of_cost.disturbed

    def checks(self) -> list[Check]:
        """Return what is reported of the trials as a whole, though no number is refused for it."""
        checks = []
        batching = self.batching()
        if batching is not None:
            value = f"{batching.base:.1f} → {batching.head:.1f} requests a {batching.of}"
            limit = f"within 5 %, or CPU time judged at {batching.per_second:,} requests/s on both sides"
            left = self.paced.left_batching if self.paced is not None else None
            if left is not None:
                value += f"; at the equal rate still {left.base:.1f} → {left.head:.1f} a {left.of}"
            checks.append(Check(check="batching", ok=True, value=value, limit=limit))
        if self.alone:
            limit = "both sides at once, or one after the other"
            checks.append(Check(check="memory", ok=True, value="does not hold both sides", limit=limit))
        return checks


@dataclass(frozen=True)
class CaseResults:
    """What the engines measured of one case; nothing is added once the budget is over.

    `identity` is whether both sides execute the same; none where that was not recorded.
    """

    case: Case
    identity: Identity | None
    counted: Trials | None
    timed: TimedTrials | None
    sampled: Trials | None
    other: Mapping[str, Trials]
    budget_is_over: bool = False

    @property
    def is_identical(self) -> bool:
        """Whether both sides are known to execute the same."""
        return self.identity is not None and self.identity.is_identical

    @property
    def judged(self) -> JudgedCase:
        """What verdicts are made from: what is usable of both sides."""
        by_engine = {"counted": self.counted, **self.other}
        usable = {engine: trials.whole for engine, trials in by_engine.items() if trials is not None and trials.usable}
        blocks = {engine: (whole[BASE], whole[HEAD]) for engine, whole in usable.items()}
        timed = self.timed
        if timed is None:
            return JudgedCase(blocks, self.is_identical)
        served, of_cost = timed.of_metric(ELAPSED), timed.of_metric(CPU_TIME)
        as_built = None if timed.as_built is None else timed.as_built.of_metric(CPU_TIME)
        return JudgedCase(
            blocks,
            self.is_identical,
            at_full_speed=None if served is None else timed.starts(served.pairs),
            of_cost=None if of_cost is None else timed.starts(of_cost.pairs),
            batched=timed.starts(timed.pairs) if timed.paced is not None and timed.usable else None,
            as_built=None if as_built is None else as_built.starts(as_built.pairs),
        )

    @property
    def timing_was_cut_short(self) -> bool:
        """Whether the budget was used up before there were as many starts as the next look takes."""
        if self.timed is None or self.timed.of_cost.is_over:
            return False
        return self.budget_is_over and self.timed.of_cost.blocks not in ALL_LOOKS

    @property
    def all(self) -> Sequence[Trials]:
        """The trials of all engines that were used."""
        own = (self.counted, self.timed, self.sampled)
        return [trials for trials in (*own, *self.other.values()) if trials is not None]

    @cached_property
    def has_begun(self) -> bool:
        """Whether there is anything to report of the case."""
        return any(trials.has_begun for trials in self.all)


def _with_shared_parts(measurement: Measurement) -> Measurement:
    """Return a measurement whose parts that are equal to those of other trials are the same objects.

    Hundreds of cases have tens of thousands of trials, and most of their checks and amounts are equal.
    """
    validity = _shared_validity(measurement.validity.valid, tuple(map(_shared, measurement.validity.checks)))
    return measurement.model_copy(update={"validity": validity, "amounts": _shared(measurement.amounts)})


@lru_cache(maxsize=10_000)
def _shared(part: T) -> T:
    return part


@lru_cache(maxsize=1_000)
def _shared_validity(valid: bool, checks: tuple[Check, ...]) -> Validity:
    return Validity(valid=valid, checks=[*checks])


def _pair(base: Measurement | None, head: Measurement | None, blobs: Blobs) -> TimedPair | None:
    """Return a start of two sides; none where one of them was not timed."""
    if base is None or head is None or base.timeline is None or head.timeline is None:
        return None
    whole = {
        name: (base.metrics[name], head.metrics[name])
        for name in OF_WHOLE_STARTS
        if name in base.metrics and name in head.metrics
    }
    of_base, of_head = (Timeline.model_validate_json(blobs.get(one)) for one in (base.timeline, head.timeline))
    return TimedPair.of(of_base, of_head, whole)
