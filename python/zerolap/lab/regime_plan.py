"""What is next to be done of cases in regimes: their blocks, and which of them are timed."""

from collections.abc import Callable, Sequence

from zerolap.documents import Results, Trials, changed_in_regimes, is_to_be_decided
from zerolap.judge import MIN_BLOCKS, REGIME_BLOCKS, Bank
from zerolap.lab.regimes import ChosenRegimes
from zerolap.records import Case


class RegimePlan:
    """Plans the chosen cases in regimes: a block of each, more where it differs, and starts where its work changed."""

    def __init__(self, chosen: ChosenRegimes, bank: Bank) -> None:
        self.cases = chosen.cases
        self._seconds = chosen.seconds
        self._bank = bank
        self._to_be_timed: tuple[int, list[Case]] = (0, [])

    def next_blocks(
        self, case: Case, results: Results, is_undecided: Callable[[Trials], bool]
    ) -> Sequence[Sequence[int]]:
        """Return the blocks of a case's next counted jobs: its first, or those that it is judged by."""
        trials = results.counted.get(case.name)
        if trials is None or not trials.jobs_done:
            return [range(1)]
        if trials.is_over or not is_to_be_decided(case, results) or not self._has_time_for(trials, results):
            return []
        done = trials.whole_blocks
        wanted = MIN_BLOCKS if len(done) >= REGIME_BLOCKS and is_undecided(trials) else REGIME_BLOCKS
        return [[block] for block in range(wanted) if block not in done]

    def _has_time_for(self, trials: Trials, results: Results) -> bool:
        """Whether a case may have more blocks: there is time left, or it has more already."""
        if self._seconds is None or trials.jobs_done > 1:
            return True
        counted = [results.counted[case.name] for case in results.in_regimes if case.name in results.counted]
        return sum(measurement.seconds for of_case in counted for measurement in of_case.all) < self._seconds

    def to_be_timed(self, results: Results) -> list[Case]:
        """Return the cases whose counted verdict is a change."""
        if not self.cases:
            return []
        blocks = sum(trials.blocks for trials in results.counted.values())
        if blocks != self._to_be_timed[0]:
            changed = changed_in_regimes(results, self._bank)
            self._to_be_timed = (blocks, [case for case in self.cases if case.name in changed])
        return self._to_be_timed[1]
