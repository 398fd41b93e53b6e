"""The answer of a case on its work: figures that speak against each other are weighed in one unit, the instruction.

What requests cost in pipelines leads. A gain there is none where other counts lose: requests that come alone, what the
timers do beside all requests, or allocations and clock readings, which cost more than their instructions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from zerolap.judge.block_verdicts import SMALLEST
from zerolap.records import METRICS, Answer, Decides, MetricRule, Verdict, VerdictWord

INSTRUCTIONS: Final = "instructions_per_op"
ALONE: Final = "instructions_alone_per_op"
TICK: Final = "instructions_per_tick"
WORTH: Final[Mapping[str, float]] = {
    INSTRUCTIONS: 1.0,
    ALONE: 1.0,
    "syscalls_per_op": 3_000.0,
    "allocations_per_op": 100.0,
    "clock_readings_per_op": 150.0,
}
"""What each costs in instructions (docs/comparing.md): a system call takes the kernel a microsecond, in which a server
executes some 3,000; an allocation with its release is 85 to 145, and a clock reading takes 50 ns.

What timers do is not a part of requests, and has no worth there.
"""


@dataclass(frozen=True)
class WeighedWork:
    """The word on the work of a case, and the metric that it rests on.

    Where figures speak against each other, `gains` and `losses` are those that do, those of most worth first.
    """

    word: VerdictWord | None
    metric: str | None
    gains: tuple[Verdict, ...] = ()
    losses: tuple[Verdict, ...] = ()


def weighed_work(verdicts: Sequence[Verdict], rules: Mapping[str, MetricRule] = METRICS) -> WeighedWork:
    """Return the answer on work: no word where nothing was counted."""
    leading = deciding("work", "always", verdicts, rules)
    if not leading:
        return WeighedWork(None, None)
    beside = deciding("work", "others same", verdicts, rules)
    gains, losses = _of_word("improvement", leading), _of_word("regression", leading)
    weighed = _weighed(gains, losses)
    if weighed is None:
        return _beside_unchanged(leading, beside)
    if weighed.word == "unsure":
        # Requests that come alone have no part in what cancels in pipelines.
        alone = [verdict for verdict in _of_word("regression", beside) if verdict.metric == ALONE]
        with_alone = (*alone, *weighed.losses)
        return replace(weighed, word="regression", metric=ALONE, losses=with_alone) if alone else weighed
    if weighed.word == "regression":
        return weighed
    known = [verdict for verdict in beside if verdict.metric in (*WORTH, TICK)]
    return _gain_against(weighed, gains, losses, _of_word("regression", known))


def deciding(
    answer: Answer, decides: Decides, verdicts: Sequence[Verdict], rules: Mapping[str, MetricRule]
) -> list[Verdict]:
    """Return the verdicts that belong to an answer and decide it in that way, in the order of the rules."""
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    return [
        by_metric[name]
        for name, rule in rules.items()
        if name in by_metric and (rule.answer, rule.decides) == (answer, decides)
    ]


def _of_word(word: VerdictWord, verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.verdict == word]


def _weighed(gains: Sequence[Verdict], losses: Sequence[Verdict]) -> WeighedWork | None:
    """Return the word of gains and losses together; none where there is neither.

    Where there are both, one outweighs the other on all of its interval, by as much as matters.
    """
    if not gains or not losses:
        changed = [*gains, *losses]
        return WeighedWork(changed[0].verdict, changed[0].metric) if changed else None
    gains, losses = _by_worth(gains), _by_worth(losses)
    worths = [_worth(verdict) for verdict in (*gains, *losses)]
    low, high = math.fsum(worth.low for worth in worths), math.fsum(worth.high for worth in worths)
    total = math.fsum(worth.change for worth in worths)
    if not math.isfinite(high - low) or low <= 0.0 <= high or abs(total) <= _smallest(*gains, *losses):
        return WeighedWork("unsure", losses[0].metric, gains, losses)
    if total > 0.0:
        return WeighedWork("regression", losses[0].metric, gains, losses)
    return WeighedWork("improvement", gains[0].metric, gains, losses)


def _gain_against(
    gain: WeighedWork, gains: Sequence[Verdict], losses: Sequence[Verdict], beside: Sequence[Verdict]
) -> WeighedWork:
    """Return the word of a gain of requests in pipelines with what lost beside it: at best unsure in another load.

    Requests alone lose where they lose more than the others gain. Allocations and clock readings are in the
    instructions, and count once more as what they cost beside; the gain can outweigh them.
    """
    together = _weighed(gains, [*losses, *beside])
    if not beside or together is None:
        return gain
    of_other_loads = [verdict for verdict in beside if verdict.metric in (ALONE, TICK)]
    alone = _weighed(gains, [*losses, *(verdict for verdict in beside if verdict.metric == ALONE)])
    if alone is not None and alone.word == "regression":
        return replace(together, word="regression", metric=ALONE)
    if of_other_loads:
        return replace(together, word="unsure", metric=of_other_loads[0].metric)
    if together.word == "improvement":
        return together
    return replace(together, word="unsure", metric=together.losses[0].metric)


def _beside_unchanged(leading: Sequence[Verdict], beside: Sequence[Verdict]) -> WeighedWork:
    """Return the word where what leads has not changed: of instructions that are the same, other counts decide."""
    identical = _of_word("identical", leading)
    if identical:
        return WeighedWork("identical", identical[0].metric)
    gains, losses = _of_word("improvement", beside), _of_word("regression", beside)
    undecided = _of_word("unsure", leading)
    if undecided:
        # The cost of others is in these but for that of other loads.
        of_other_loads = [verdict for verdict in losses if verdict.metric in (ALONE, TICK)]
        first = [*of_other_loads, *undecided][0]
        return WeighedWork(first.verdict, first.metric)
    together = _weighed(gains, losses)
    if together is not None and together.losses:
        # What one load gains is no gain beside what another loses.
        is_loss = together.word == "regression"
        return together if is_loss else replace(together, word="unsure", metric=together.losses[0].metric)
    unsure = [verdict for verdict in _of_word("unsure", beside) if _matters(verdict, leading)]
    first = [*losses, *gains, *unsure, *leading][0]
    return WeighedWork(first.verdict, first.metric)


def _matters(undecided: Verdict, leading: Sequence[Verdict]) -> bool:
    """Whether an undecided count can be worth as much as a change of instructions that matters."""
    instructions = next((verdict for verdict in leading if verdict.metric == INSTRUCTIONS), None)
    if instructions is None or undecided.metric == ALONE:
        return True
    worth = _worth(undecided)
    return not max(abs(worth.low), abs(worth.high)) <= _smallest(instructions)


@dataclass(frozen=True)
class _Worth:
    """What a change comes to in instructions, with its bounds; not a number where it has no worth in them."""

    change: float
    low: float
    high: float


def _worth(verdict: Verdict) -> _Worth:
    # A change from none is relative to rare events.
    unit = max(verdict.base, SMALLEST.get(verdict.metric, 0.0))
    worth = WORTH.get(verdict.metric, math.nan) * unit
    return _Worth(worth * verdict.change, worth * verdict.low, worth * verdict.high)


def _smallest(*verdicts: Verdict) -> float:
    """Return how many instructions matter: the minimum effect on those of requests; 0 without them."""
    return sum(verdict.min_effect * verdict.base for verdict in verdicts if verdict.metric == INSTRUCTIONS)


def _by_worth(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Return verdicts by what their changes are worth, the largest first; what has no worth in instructions leads."""
    return tuple(
        sorted(
            verdicts,
            key=lambda verdict: WORTH.get(verdict.metric, math.inf) * abs(verdict.head - verdict.base),
            reverse=True,
        )
    )
