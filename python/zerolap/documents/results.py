"""What the jobs of a request have measured so far, by case and engine."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from zerolap.documents.identity import Identity, compare_executed, timed_nevertheless, why_unknown
from zerolap.judge import ALL_LOOKS, AS_BUILT, LOOKS, Batching, Starts, StartsLookedAt, TimedPair, unequal_batching
from zerolap.records import (
    ANCHOR,
    BASE,
    CHECKS_OF_TIMING,
    HEAD,
    Amounts,
    Build,
    BuildDone,
    BuildJob,
    Case,
    Check,
    Event,
    JobFailed,
    JobFinished,
    Measurement,
    Resolved,
    Side,
    Timeline,
    TrialDone,
    TrialFailed,
    TrialsJob,
    Validity,
    Windows,
)
from zerolap.store import Blobs

OF_WHOLE_STARTS = ("whole_cpu_ns_per_op", "elapsed_ns_per_op", "latency_p99_us")
"""Metrics that are of a start as a whole, and not of a typical slice."""
FEWEST_STARTS = 2
"""Of fewer there are no timed verdicts."""
MOST_REFUSED = 3
"""Starts of a case that the machine made unusable, each of which is repeated when all other cases had their turn."""
COUNTING_SHARE = 0.5
"""Of the budget, where cases are also to be timed: what users feel has to have its part."""


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
    def has_begun(self) -> bool:
        """Whether there is anything to report."""
        return bool(self.jobs_done or any(self.measurements.values()))

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
        first = next((measurement for side in self.measurements.values() for measurement in side), None)
        return None if first is None else first.amounts.windows

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
        every = [measurement for side in self.measurements.values() for measurement in side]
        return all(one.placement is not None and one.placement.seed is not None for one in every)

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

    def looked_at(self, number: int) -> StartsLookedAt:
        """Return the first so many starts."""
        at_full_speed = self.starts(self.pairs[:number])
        of_cost = replace(at_full_speed, pairs=self.of_cost.pairs[:number])
        return StartsLookedAt(number, at_full_speed, of_cost, is_paced=self.paced is not None)

    @property
    def alone(self) -> bool:
        """Whether memory does not hold all sides at once."""
        return any(measurement.amounts.alone for side in self.measurements.values() for measurement in side)

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


class Results:
    """All results of a request, taken in event by event.

    `other` holds the trials of the engines `traced` and `loaded` and of those of plugins, by engine, and `recorded` the
    trials of jobs that have not ended. `blobs` are what measurements refer to.
    """

    def __init__(self, resolved: Resolved, blobs: Blobs) -> None:
        self.resolved = resolved
        self.builds: dict[str, Build] = {}
        self.counted: dict[str, Trials] = {}
        self.timed: dict[str, TimedTrials] = {}
        self.sampled: dict[str, Trials] = {}
        self.other: dict[str, dict[str, Trials]] = {}
        self.ended_jobs: set[str] = set()
        self.recorded: dict[str, list[TrialDone]] = {}
        self.version = 0
        self._counted_ns = 0
        self._other_ns = 0
        self.blobs = blobs
        self._identities: dict[str, Identity] = {}
        self._identical: tuple[int, frozenset[str], frozenset[str]] = (-1, frozenset(), frozenset())

    def add(self, job: TrialsJob | BuildJob, event: Event) -> None:
        """Take in an event; one that was taken in before changes nothing."""
        self.version += 1
        if isinstance(event, JobFailed | JobFinished | BuildDone):
            if job.id in self.ended_jobs:
                return
            self.ended_jobs.add(job.id)
            self.recorded.pop(job.id, None)
        if isinstance(event, BuildDone):
            self.builds[event.build.build] = event.build
        if isinstance(job, BuildJob):
            return
        if isinstance(event, TrialDone):
            new = self._not_recorded(event)
            if new is None:
                return
            event = new
            self.recorded.setdefault(job.id, []).append(event)
            self._add_machine_time(job, event)
        trials = self._trials(job)
        if isinstance(trials, TimedTrials) and isinstance(event, TrialDone):
            trials.start(event.block, event.measurements, self.blobs)
        else:
            trials.add(event)
        if job.engine == "counted" and isinstance(event, JobFinished):
            self._compare_executed(trials)

    def _add_machine_time(self, job: TrialsJob, done: TrialDone) -> None:
        # In integers, whose sum does not depend on the order in which trials end.
        added_ns = sum(round(measurement.seconds * 1e9) for measurement in done.measurements.values())
        if job.engine == "counted":
            self._counted_ns += added_ns
        else:
            self._other_ns += added_ns

    def _compare_executed(self, trials: Trials) -> None:
        """Note whether both sides of a case execute the same: here, as plans read no blobs."""
        if self.resolved.kind != "compare" or not trials.usable:
            return
        whole = trials.whole
        compared = compare_executed(whole[BASE], whole[HEAD], self.blobs)
        if compared is not None and compared.is_identical:
            compared = compared.unless_counts_differ(whole[BASE], whole[HEAD])
        if compared is not None:
            self._identities[trials.case.name] = compared

    def _not_recorded(self, event: TrialDone) -> TrialDone | None:
        """Return the part of an event that was not taken in before; trials are reported by side or all together."""
        recorded = self.recorded.get(event.job, ())
        sides = {side for done in recorded if done.block == event.block for side in done.measurements}
        if event.job in self.ended_jobs or event.measurements.keys() <= sides:
            return None
        if not sides:
            return event
        new = {side: measured for side, measured in event.measurements.items() if side not in sides}
        return event.model_copy(update={"measurements": new})

    def _trials(self, job: TrialsJob) -> Trials:
        case = job.case
        if job.engine == "timed":
            trials = self.timed.get(case.name)
            if trials is None:
                trials = self.timed[case.name] = self._timed_trials(job)
            if job.amounts.as_built:
                if trials.as_built is None:
                    trials.as_built = self._timed_trials(job)
                return trials.as_built
            if not job.is_paced:
                return trials
            if trials.paced is None:
                trials.paced = self._timed_trials(job)
            return trials.paced
        by_case = {"counted": self.counted, "sampled": self.sampled}.get(job.engine)
        if by_case is None:
            by_case = self.other.setdefault(job.engine, {})
        return by_case.setdefault(case.name, Trials(case, {side: [] for side in job.servers}))

    def _timed_trials(self, job: TrialsJob) -> TimedTrials:
        programs = {server.spec.digest for server in self.resolved.servers.values()}
        return TimedTrials(
            job.case,
            {side: [] for side in job.servers},
            per_second=job.amounts.per_second,
            is_one_program=len(programs) == 1,
        )

    def of_case(self, case: Case) -> "CaseResults":
        """Return what all engines measured of a case."""
        name = case.name
        return CaseResults(
            case=case,
            identity=self.identity(case),
            counted=self.counted.get(name),
            timed=self.timed.get(name),
            sampled=self.sampled.get(name),
            other={engine: trials[name] for engine, trials in self.other.items() if name in trials},
            budget_is_over=self.budget_is_over,
        )

    def identity(self, case: Case) -> Identity | None:
        """Return whether both sides of a case execute the same; none where that was not recorded."""
        trials = self.counted.get(case.name)
        if self.resolved.kind != "compare" or trials is None or not trials.usable or not trials.jobs_done:
            return None
        compared = self._identities.get(case.name)
        if compared is None:
            return None
        reason = why_unknown(self.resolved, self.builds, case)
        return compared if reason is None else Identity(outcome="unknown", reason=reason)

    @property
    def not_to_be_timed(self) -> frozenset[str]:
        """The cases that are not worth any time, as both sides execute the same as far as it was counted.

        All are timed where a sample of such cases showed that their time changed nevertheless.
        """
        return self._identical_cases()[0]

    @property
    def sample_of_identical(self) -> frozenset[str]:
        """The cases that are timed only to check that what executes the same takes the same time."""
        return self._identical_cases()[1]

    def _identical_cases(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the cases whose work is identical: those that are not to be timed, and the sample that is.

        Of a build that is compared with itself none is a sample: its cases are timed like all others.
        """
        version, untimed, sample = self._identical
        if version != self.version:
            identities = {case.name: self.identity(case) for case in self.resolved.cases}
            identical = {
                name for name, identity in identities.items() if identity is not None and identity.is_identical
            }
            timed = timed_nevertheless(identical, self.resolved) if identical else frozenset()
            untimed = frozenset(identical - timed)
            is_one_build = len({server.spec.digest for server in self.resolved.servers.values()}) == 1
            sample = frozenset() if is_one_build else timed
            self._identical = (self.version, untimed, sample)
        return untimed, sample

    def reported(self) -> list["CaseResults"]:
        """Return what was measured of the cases of which there is something to report, in the order of the request.

        That is so of those that were begun, and of all once the budget is used up.
        """
        left = self.seconds_left(counting="counted" in self.resolved.settings.engines)
        is_over = left is not None and left <= 0
        every = map(self.of_case, self.resolved.cases)
        return [measured for measured in every if is_over or measured.has_begun]

    def seconds_left(self, *, counting: bool = False) -> float | None:
        """Return what is left of the budget; none where there is none. Counted trials run side by side."""
        settings = self.resolved.settings
        if settings.budget_seconds is None:
            return None
        counted = self.counted_seconds / max(1, self.resolved.platform.cores)
        if counting and settings.asks_for_time:
            return settings.budget_seconds * COUNTING_SHARE - counted
        return settings.budget_seconds - counted - self.other_seconds

    @property
    def budget_is_over(self) -> bool:
        """Whether no time is left for further trials."""
        left = self.seconds_left()
        return left is not None and left <= 0

    @property
    def counted_seconds(self) -> float:
        """The machine time of counted trials."""
        return self._counted_ns / 1e9

    @property
    def other_seconds(self) -> float:
        """The machine time of all other trials, which run one at a time."""
        return self._other_ns / 1e9

    @property
    def machine_seconds(self) -> float:
        """The machine time of all trials."""
        return self.counted_seconds + self.other_seconds


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
    checks = tuple(_shared_check(check) for check in measurement.validity.checks)
    validity = _shared_validity(measurement.validity.valid, checks)
    return measurement.model_copy(update={"validity": validity, "amounts": _shared_amounts(measurement.amounts)})


@lru_cache(maxsize=10_000)
def _shared_check(check: Check) -> Check:
    return check


@lru_cache(maxsize=1_000)
def _shared_validity(valid: bool, checks: tuple[Check, ...]) -> Validity:
    return Validity(valid=valid, checks=[*checks])


@lru_cache(maxsize=1_000)
def _shared_amounts(amounts: Amounts) -> Amounts:
    return amounts


def _pair(base: Measurement | None, head: Measurement | None, blobs: Blobs) -> TimedPair | None:
    """Return a start of two sides; none where one of them was not timed."""
    if base is None or head is None or base.timeline is None or head.timeline is None:
        return None
    whole = {
        name: (base.metrics[name], head.metrics[name])
        for name in OF_WHOLE_STARTS
        if name in base.metrics and name in head.metrics
    }
    return TimedPair.of(_timeline(base.timeline, blobs), _timeline(head.timeline, blobs), whole)


def _timeline(digest: str, blobs: Blobs) -> Timeline:
    return Timeline.model_validate_json(blobs.get(digest))
