"""Carries out timed trials: one case after the other, in looks, until each is decided."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zerolap.cases import Case
from zerolap.host import Pinning, choose_pinning, read_topology
from zerolap.judge import LOOKS, judge_timed, next_look, unequal_batching, wants_more_starts
from zerolap.lab.timed_start import StartPlan, start_once
from zerolap.lab.timed_trials import TimedTrials
from zerolap.lab.trials import SideUnderTest, client_threads, server_threads
from zerolap.records import METRICS, Check, Settings, Side, Spread
from zerolap.sandbox import current_cancellation
from zerolap.store import Store

DECIDING = "cpu_ns_per_op"


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
        done[case.name] = TimedTrials.none_yet(case, plan.sides)
    starts = StartPlan(plan.sides, plan.settings.seed, identity, store)
    try:
        look = next_look(0)
        waiting = list(done.values())
        while look is not None and waiting:
            expected = sum(one.all_starts for one in done.values()) + sum(look - one.starts for one in waiting)
            for trials in waiting:
                for _ in _starts_until(look, trials, plan, starts):
                    so_far = sum(one.all_starts for one in done.values())
                    plan.on_start(trials.case.name, so_far, max(expected, so_far))
            waiting = _pace_where_batches_differ(waiting, plan) + _undecided(done, plan)
            # Trials at an equal rate begin anew, and are judged when they have as many starts as a look asks for.
            look = next_look(min(one.starts for one in waiting)) if waiting else None
    except BaseException:
        current_cancellation().cancel()
        raise


def oversubscribed(threads: int, pinning: Pinning) -> Check:
    """Return the check of whether every busy thread has a core of its own."""
    return Check(
        check="oversubscribed",
        ok=pinning.is_clean,
        value=f"{threads + 1} busy threads, sharing: {pinning.sharing.value}",
        limit="a core for every busy thread",
    )


def _starts_until(look: int, trials: TimedTrials, plan: TimingPlan, starts: StartPlan) -> Iterator[None]:
    """Carry out a case's starts up to a look; yield after each."""
    threads = max(server_threads(trials.case, side.settings) for side in plan.sides.values())
    pinning = choose_pinning(read_topology(), server_threads=threads, client_threads=client_threads(trials.case))
    if not pinning.is_clean:
        trials.disturbed = [oversubscribed(threads, pinning)]
    while trials.usable and not trials.settled and trials.starts < look:
        if plan.deadline is not None and time.monotonic() > plan.deadline:
            trials.cut_short = True
            return
        start_once(trials, starts, pinning)
        yield


def _pace_where_batches_differ(looked_at: Sequence[TimedTrials], plan: TimingPlan) -> list[TimedTrials]:
    """Return trials at an equal rate, yet to be carried out, for the cases whose requests came in unequal batches."""
    paced = []
    for trials in looked_at:
        if len(plan.sides) < 2 or trials.per_second is not None or not trials.usable or trials.paced is not None:
            continue
        trials.batching = unequal_batching(trials.pairs()) if trials.starts >= LOOKS[0] else None
        if trials.batching is not None:
            trials.paced = TimedTrials.none_yet(trials.case, plan.sides, trials.batching.per_second)
            trials.paced.requests, trials.paced.alone = trials.requests, trials.alone
            paced.append(trials.paced)
    return paced


def _undecided(done: Mapping[str, TimedTrials], plan: TimingPlan) -> list[TimedTrials]:
    """Return the trials that a further look could decide; nothing is judged where there is one side only."""
    if len(plan.sides) < 2:
        return []
    deciding = {name: trials.of_cost for name, trials in done.items()}
    ready = {name: one.pairs() for name, one in deciding.items() if one.usable and one.starts >= LOOKS[0]}
    judged = judge_timed(DECIDING, ready, plan.settings.min_effect["timed"], plan.bank)
    # q is over all metrics of all cases: a change has to hold against as many in the end.
    comparisons = len(METRICS) * len(done)
    return [
        deciding[name]
        for name, one in judged.items()
        if not (deciding[name].cut_short or deciding[name].settled)
        and wants_more_starts(one, deciding[name].starts, comparisons)
    ]
