"""Carries out timed trials: one case after the other, in looks, until each is decided."""

import errno
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zerolap.cases import Case
from zerolap.engines import Timed, TimedServer, TimedStart, time_start
from zerolap.host import Pinning, choose_pinning, read_topology
from zerolap.judge import LOOKS, TimedPair, judge_timed, next_look, wants_more_starts
from zerolap.lab.trials import SEEDS_PER_RUN, SideUnderTest, disk_full
from zerolap.records import Check, Measurement, Settings, Side, Spread, Timeline, Trial, TrialFailed
from zerolap.sandbox import stop_all
from zerolap.store import Store

PAIRS_PER_START = 24
REPEATS = 2
"""Of a start that the machine disturbed, before its case has no timed verdict."""
DECIDING = "cpu_ns_per_op"
OF_TIMING = frozenset(
    {
        "steal",
        "other_load",
        "swap",
        "suspended_seconds",
        "clock_stepped_seconds",
        "slice_seconds",
        "client_saturation",
    }
)
"""Checks whose failure says nothing of what the servers did: the start is worth repeating, and counts stay valid."""


@dataclass
class TimedTrials:
    """What a case's timed trials gave, in the order of starts; `failure` ends the case, `disturbed` its timing."""

    case: Case
    measurements: dict[Side, list[Measurement]]
    timelines: dict[Side, list[Timeline]]
    requests: int | None = None
    failure: TrialFailed | None = None
    disturbed: list[Check] = field(default_factory=list)
    cut_short: bool = False

    @property
    def starts(self) -> int:
        """How many starts there were of each side."""
        return min(len(one) for one in self.measurements.values())

    @property
    def usable(self) -> bool:
        """Whether the trials may be judged."""
        every = [one for side in self.measurements.values() for one in side]
        return self.failure is None and not self.disturbed and all(one.validity.valid for one in every)

    def pairs(self) -> list[TimedPair]:
        """Return the starts of both sides of a comparison."""
        return [
            TimedPair(base, head) for base, head in zip(self.timelines["base"], self.timelines["head"], strict=False)
        ]


@dataclass(frozen=True)
class TimingPlan:
    """What to time.

    `bank` is what the platform said of the spread of starts; `deadline` is on the monotonic clock; `on_start` is called
    after each start with the case, how many starts there were, and about how many there will be.
    """

    cases: Sequence[Case]
    sides: Mapping[Side, SideUnderTest]
    settings: Settings
    bank: Sequence[Spread] = ()
    deadline: float | None = None
    on_start: Callable[[str, int, int], None] = lambda *_: None


def measure_timed(plan: TimingPlan, identity: str, store: Store, done: dict[str, TimedTrials]) -> None:
    """Time all cases; what was measured is in the store at once and in `done`.

    Raises `EnvironmentMissing`, or `KeyboardInterrupt` once the user stops it: no process is left behind.
    """
    for case in plan.cases:
        done[case.name] = TimedTrials(case, {side: [] for side in plan.sides}, {side: [] for side in plan.sides})
    try:
        look = next_look(0)
        waiting = list(done.values())
        while look is not None and waiting:
            expected = sum(one.starts for one in done.values() if one not in waiting) + look * len(waiting)
            for trials in waiting:
                for _ in _starts_until(look, trials, plan, identity, store):
                    plan.on_start(trials.case.name, sum(one.starts for one in done.values()), expected)
            undecided = _undecided(done, plan)
            waiting = [trials for trials in waiting if trials.case.name in undecided]
            look = next_look(look)
    except BaseException:
        stop_all()
        raise


def oversubscribed(case: Case, settings: Mapping[str, str], pinning: Pinning) -> Check:
    """Return the check of whether every busy thread has a core of its own."""
    threads = _server_threads(case, settings)
    return Check(
        check="oversubscribed",
        ok=pinning.is_clean,
        value=f"{threads + 1} busy threads, sharing: {pinning.sharing.value}",
        limit="a core for every busy thread",
    )


def _starts_until(look: int, trials: TimedTrials, plan: TimingPlan, identity: str, store: Store) -> Iterator[None]:
    """Carry out a case's starts up to a look; yield after each."""
    threads = max(_server_threads(trials.case, side.settings) for side in plan.sides.values())
    pinning = choose_pinning(read_topology(), server_threads=threads)
    if not pinning.is_clean:
        trials.disturbed = [oversubscribed(trials.case, _most_threads(plan), pinning)]
    while trials.usable and trials.starts < look:
        if plan.deadline is not None and time.monotonic() > plan.deadline:
            trials.cut_short = True
            return
        _start_once(trials, plan, pinning, identity, store)
        yield


def _most_threads(plan: TimingPlan) -> Mapping[str, str]:
    return max((side.settings for side in plan.sides.values()), key=lambda one: int(one.get("io-threads", "1")))


def _server_threads(case: Case, settings: Mapping[str, str]) -> int:
    """Return the busy threads of a server: the main one is one of its I/O threads."""
    return max(1, int({**case.config, **settings}.get("io-threads", "1")))


def _start_once(trials: TimedTrials, plan: TimingPlan, pinning: Pinning, identity: str, store: Store) -> None:
    """Carry out one start of all sides, again if the machine disturbed it, and record it."""
    block = trials.starts
    by_side: dict[Side, Trial] = {
        side: Trial(
            case=trials.case.name,
            side=side,
            engine="timed",
            block=block,
            seed=(plan.settings.seed * SEEDS_PER_RUN + block) % 2**64,
        )
        for side in plan.sides
    }
    try:
        timed = _undisturbed(trials, plan, pinning, next(iter(by_side.values())).seed)
    except TrialFailed as fault:
        trials.failure = fault
        for trial in by_side.values():
            store.record_failure(identity, trial, fault.message, fault.details)
        return
    trials.requests = timed.requests
    for side, trial in by_side.items():
        timeline = timed.timelines[side]
        digest = store.blobs.put(timeline.model_dump_json().encode())
        measurement = timed.measurements[side].model_copy(update={"profile": digest})
        store.record_trial(identity, trial, measurement)
        trials.measurements[side].append(measurement)
        trials.timelines[side].append(timeline)


def _undisturbed(trials: TimedTrials, plan: TimingPlan, pinning: Pinning, seed: int) -> Timed:
    """Return a start that the machine left alone, or the last one, whose checks are then put in `disturbed`."""
    for _ in range(1 + REPEATS):
        timed = _one_start(trials, plan, pinning, seed)
        failed = [check for one in timed.measurements.values() for check in one.validity.failed]
        disturbed = [check for check in failed if check.check in OF_TIMING]
        if not disturbed or len(disturbed) < len(failed):
            return timed
        if any(check.check == "slice_seconds" for check in disturbed):
            trials.requests = None
    # Both sides tell of the machine alike.
    trials.disturbed = list({check.check: check for check in disturbed}.values())
    return timed


def _one_start(trials: TimedTrials, plan: TimingPlan, pinning: Pinning, seed: int) -> Timed:
    directory = Path(tempfile.mkdtemp(prefix="zerolap-"))
    try:
        return time_start(
            TimedStart(
                case=trials.case,
                servers={
                    side: TimedServer(under_test.server.program, under_test.settings)
                    for side, under_test in plan.sides.items()
                },
                seed=seed,
                directory=directory,
                pinning=pinning,
                pairs=PAIRS_PER_START,
                requests=trials.requests,
            )
        )
    except OSError as fault:
        if fault.errno == errno.ENOSPC:
            raise disk_full(fault) from fault
        raise
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _undecided(done: Mapping[str, TimedTrials], plan: TimingPlan) -> set[str]:
    """Return the cases that a further look could decide; nothing is judged where there is one side only."""
    if len(plan.sides) < 2:
        return set()
    usable = {name: trials.pairs() for name, trials in done.items() if trials.usable and trials.starts >= LOOKS[0]}
    judged = judge_timed(DECIDING, usable, plan.settings.min_effect["timed"], plan.bank)
    return {name for name, one in judged.items() if wants_more_starts(one, done[name].starts, len(judged))}
