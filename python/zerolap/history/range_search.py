"""Finds the commits of a range that changed a case: by counts where work changed, else by time.

What is measured next follows from what the store holds, whoever has measured it, so that a search goes on where a kill
ended it.
"""

import math
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from zerolap.documents import read_comparison
from zerolap.history.commit_work import CaseWork
from zerolap.history.fill_range import COUNTED, TIMED, Filling, FillOptions
from zerolap.history.history_range import INSTRUCTIONS, OF_REQUESTS, TIME, HistoryRange
from zerolap.history.step_reasons import WorkReasons
from zerolap.judge import (
    BisectedCommit,
    Bisection,
    BisectionCosts,
    BisectionNoise,
    BisectionState,
    CountedBisection,
    LocatedChange,
)
from zerolap.lab import Lab, Options, compare, comparison_request
from zerolap.records import (
    BisectCulprit,
    BisectMeasurement,
    BisectOutcome,
    BisectReport,
    BuildFailed,
    Case,
    CaseResult,
    RangeCommit,
    RequestedServer,
    now,
)
from zerolap.sandbox import Cancellation

BUILD_SECONDS: Final = 45.0
"""The assumed time of a build: with a compiler cache, of a server of the size of Redis."""
COUNT_SECONDS: Final = 3.0
START_SECONDS: Final = 2.0
"""The assumed time of a start until one was timed in this search."""
USUAL_START_SD: Final = 0.02
"""The standard deviation of a start's log ratio on a platform that has timed nothing yet (docs/timed.md)."""
PLACED_SD: Final = 0.002
"""The standard deviation that the layout of a build still causes where each start orders its functions anew."""
FIXED_LAYOUT_SD: Final = 0.02
"""The standard deviation that the layout causes of a program that cannot be linked again (docs/timed.md)."""
BOUND: Final = 1.96
UNTIMED: Final = "the case could not be timed: its starts failed, or other processes disturbed them"


@dataclass(frozen=True)
class SearchOptions:
    """How a range is searched: `min_effect` is by engine, as a fraction; `budget_seconds` is time in trials."""

    engines: Collection[str] = (COUNTED, TIMED)
    min_effect: dict[str, float] | None = None
    budget_seconds: float | None = None
    seed: int | None = None
    command_line: str = ""

    def effect(self, engine: str) -> float:
        """Return the smallest change that matters, of an engine."""
        usual = {COUNTED: 0.005, TIMED: 0.02}
        return (self.min_effect or {}).get(engine, usual[engine])


@dataclass(frozen=True)
class _Located:
    """What a search came to, by one engine and metric."""

    outcome: BisectOutcome
    engine: str
    metric: str
    log_change: float
    error: float
    changes: tuple[LocatedChange, ...] = ()
    notes: tuple[str, ...] = ()


class RangeSearch:
    """Searches one range for the commits that changed its only case, on this machine."""

    def __init__(self, asked: HistoryRange, options: SearchOptions, lab: Lab) -> None:
        self._asked = asked
        self._options = options
        self._lab = lab
        self._last = len(asked.commits) - 1
        filling = FillOptions(options.engines, options.budget_seconds, options.command_line)
        self._filling = Filling(asked, filling, lab)
        self._platform = asked.platform
        self._reasons = WorkReasons(asked, lab)
        # Positions whose counts were tried and say nothing.
        self._uncountable: set[int] = set()
        self._timed_starts = 0
        self._timed_seconds = 0.0

    def search(self) -> BisectReport:
        """Measure until the culprits are known, compare each with its parent, and return the outcome.

        Raises `BuildFailed` where an end of the range cannot be measured, `Interrupted`, and what else ends all of it.
        """
        located = self._searched()
        culprits = tuple(self._culprit(change, located) for change in located.changes)
        return self._report(located, culprits)

    @property
    def _case(self) -> Case:
        return self._asked.cases[0]

    @property
    def _work(self) -> CaseWork:
        return replace(self._filling.work[self._case.name], log_by_places=self._reasons.log_by_string_places)

    @property
    def _failed(self) -> Collection[int]:
        return self._filling.outcome.failures

    def _searched(self) -> _Located:
        options = self._options
        if COUNTED in options.engines:
            for position in (0, self._last):
                self._filling.count_one(position)
                self._require_not_failed(position)
            located = self._searched_by_counts()
            if located is not None:
                return located
            if self._same_code(0, self._last):
                return _Located("identical", COUNTED, INSTRUCTIONS, 0.0, 0.0)
            if TIMED not in options.engines:
                return _Located(
                    "no difference", COUNTED, INSTRUCTIONS, self._counted_level(INSTRUCTIONS, self._last) or 0.0, 0.0
                )
        return self._searched_by_time()

    # Work.

    def _require_not_failed(self, position: int) -> None:
        failure = self._filling.outcome.failures.get(position)
        if failure is not None:
            name = self._asked.commits[position].source.name
            raise BuildFailed(
                f"`{name}`, an end of the range, cannot be measured: {failure}",
                hint="--wait 5m waits for a quiet machine"
                if failure == UNTIMED
                else "name a commit beside it that builds and runs the case",
            )

    def _same_code(self, first: int, last: int) -> bool:
        step = self._work.step(INSTRUCTIONS, first, last) if INSTRUCTIONS in self._work.points else None
        return step is not None and step[1]

    def _searched_by_counts(self) -> _Located | None:
        """Return where work changed; none where it did not by as much as matters."""
        levels = {metric: self._counted_level(metric, self._last) for metric in OF_REQUESTS}
        changes = {metric: level for metric, level in levels.items() if level is not None}
        effect = self._options.effect(COUNTED)
        changed = [
            metric
            for metric, change in changes.items()
            if abs(math.expm1(change)) >= effect and not self._work.is_rare(metric, 0, self._last)
        ]
        if not changed:
            return None
        metric = changed[0]
        while True:
            search = self._counted_search(metric)
            position = search.next_position()
            if position is None:
                return _Located("found", COUNTED, metric, changes[metric], 0.0, tuple(search.changes()))
            if self._is_over_budget:
                return _Located("undecided", COUNTED, metric, changes[metric], 0.0, tuple(search.changes()))
            self._filling.count_one(position)
            if self._counted_level(metric, position) is None and position not in self._failed:
                self._filling.outcome.failures[position] = "the case could not be counted"

    def _counted_search(self, metric: str) -> CountedBisection:
        works = [self._counted_level(metric, position) for position in range(self._last + 1)]
        return CountedBisection(works, frozenset(self._failed), self._options.effect(COUNTED))

    def _counted_level(self, metric: str, position: int) -> float | None:
        """Return the counted work of a commit over that of the good one, as a logarithm; none where it is unknown.

        It is without what the places of strings account for, which no commit owns.
        """
        return self._work.change_of_work(metric, 0, position)

    # Time.

    def _searched_by_time(self) -> _Located:
        """Return where time changed: CPU time, or throughput where CPU time has not."""
        located = [self._searched_by_metric(metric) for metric in TIME[:1]]
        for metric in TIME[1:]:
            if located[-1].outcome == "no difference":
                located.append(self._searched_by_metric(metric))
        return next((one for one in located if one.outcome != "no difference"), located[0])

    def _searched_by_metric(self, metric: str) -> _Located:
        while True:
            state = self._bisection(metric).state()
            visit = state.visit
            if visit is None:
                return _of_state(state, metric)
            if self._is_over_budget:
                return replace(_of_state(state, metric), outcome="undecided")
            if COUNTED in self._options.engines and self._needs_count(visit.position):
                self._filling.count_one(visit.position)
                if self._counted_level(INSTRUCTIONS, visit.position) is None:
                    self._uncountable.add(visit.position)
            else:
                self._time(visit.position, visit.starts, metric)
            if visit.position == self._last:
                self._require_not_failed(visit.position)

    def _needs_count(self, position: int) -> bool:
        is_known = self._counted_level(INSTRUCTIONS, position) is not None or position in self._uncountable
        return not is_known and position not in self._failed

    def _time(self, position: int, starts: int, metric: str) -> None:
        before, seconds = len(self._log_ratios(metric)[position]), self._filling.outcome.machine_seconds
        self._filling.compare_two(0, position, starts)
        made = len(self._log_ratios(metric)[position]) - before
        if made <= 0 and position not in self._failed:
            self._filling.outcome.failures[position] = UNTIMED
        self._timed_starts += max(0, made)
        self._timed_seconds += self._filling.outcome.machine_seconds - seconds

    def _bisection(self, metric: str) -> Bisection:
        ratios, nodes = self._log_ratios(metric), self._filling.nodes.of_commits
        codes = self._codes()
        commits = [
            BisectedCommit(
                log_ratios=ratios[position],
                code=codes[position],
                work=self._counted_level(INSTRUCTIONS, position),
                is_built=nodes[position] is not None,
                is_skipped=position in self._failed,
            )
            for position in range(self._last + 1)
        ]
        start = self._timed_seconds / self._timed_starts if self._timed_starts else START_SECONDS
        counting = COUNT_SECONDS if COUNTED in self._options.engines else 0.0
        costs = BisectionCosts(build=BUILD_SECONDS, start=start, count=counting)
        return Bisection(commits, costs, self._noise(metric), self._options.effect(TIMED))

    def _codes(self) -> list[str | None]:
        """Return what commits execute, by position: equal for neighbours that execute the same."""
        codes: list[str | None] = [None] * (self._last + 1)
        previous: int | None = None
        for position in self._work.positions(INSTRUCTIONS):
            is_same = previous is not None and self._same_code(previous, position)
            codes[position] = codes[previous] if is_same and previous is not None else f"from {position}"
            previous = position
        return codes

    def _log_ratios(self, metric: str) -> list[tuple[float, ...]]:
        """Return the starts of each commit against the good one: all that the store holds of equal programs."""
        nodes, store = self._filling.nodes, self._lab.store
        by_node: dict[int, list[float]] = {}
        for contrast in store.history.contrasts(list(nodes.builds), self._platform.fingerprint, [metric]):
            of_case = contrast.case, contrast.topology, contrast.case_digest, contrast.case_config
            is_meant = of_case == (self._case.name, self._case.topology.name, self._case.digest, self._case.config)
            has_config = contrast.base_config == contrast.head_config == dict(self._asked.config)
            if not is_meant or not has_config or contrast.engine != TIMED:
                continue
            base, head = nodes.builds[contrast.base_build], nodes.builds[contrast.head_build]
            if base == nodes.of_commits[0] != head:
                by_node.setdefault(head, []).extend(contrast.log_ratios)
            elif head == nodes.of_commits[0] != base:
                by_node.setdefault(base, []).extend(-ratio for ratio in contrast.log_ratios)
        return [() if node is None else tuple(by_node.get(node, ())) for node in nodes.of_commits]

    def _noise(self, metric: str) -> BisectionNoise:
        store, platform = self._lab.store, self._platform.fingerprint
        spreads = store.spreads(platform, metric, self._case.topology.name)
        start = statistics.median(spread.variance for spread in spreads) if spreads else USUAL_START_SD**2
        fixed = not spreads and bool(store.spreads(platform, metric))
        return BisectionNoise(start, FIXED_LAYOUT_SD**2 if fixed else PLACED_SD**2)

    # The end.

    @property
    def _is_over_budget(self) -> bool:
        budget = self._options.budget_seconds
        return budget is not None and self._filling.outcome.machine_seconds >= budget

    def _culprit(self, change: LocatedChange, located: _Located) -> BisectCulprit:
        """Compare a culprit with its parent by fresh seeds; a search that is not finished compares nothing more."""
        low, high = (math.expm1(change.log_change + sign * BOUND * change.error) for sign in (-1, 1))
        culprit = BisectCulprit(
            positions=change.positions,
            probability=change.probability,
            change=math.expm1(change.log_change),
            low=low,
            high=high,
            is_certain=change.certain,
        )
        if not change.certain:
            return culprit
        parent = max(at for at in range(min(change.positions)) if at not in self._failed)
        child = next(at for at in range(max(change.positions), self._last + 1) if at not in self._failed)
        culprit = culprit.model_copy(update={"parent": parent, "child": child})
        if self._is_over_budget:
            return culprit
        compared, identity = self._compared(parent, child)
        word = "regression" if change.log_change > 0 else "improvement"
        return culprit.model_copy(
            update={
                "comparison": identity,
                "confirmed": (compared.work if located.engine == COUNTED else compared.time) == word,
                "findings": tuple(compared.findings),
            }
        )

    def _compared(self, parent: int, child: int) -> tuple[CaseResult, str]:
        """Return what a comparison of two commits concludes; one of an earlier search is not repeated."""
        parent_commit, wanted = self._asked.commits[parent].revision.commit, ",".join(self._options.engines or ["all"])
        topic = f"{self._asked.topic(child)}:bisect:{parent_commit}:{self._case.digest}:{wanted}"
        identity = self._lab.store.history.comparison_of(topic)
        if identity is not None:
            comparison = read_comparison(self._lab.store, identity)
        else:
            engines = None if TIMED in self._options.engines else [COUNTED]
            options = Options(engines=engines, min_effect=self._options.min_effect or {}, seed=self._options.seed)
            base, head = self._server(parent), self._server(child)
            request = comparison_request(base, head, [self._case], options, self._options.command_line)
            lab = replace(self._lab, cancellation=Cancellation())
            comparison = compare(request.model_copy(update={"topic": topic, "trigger": "bisect"}), lab)
            self._filling.outcome.machine_seconds += comparison.summary.machine_seconds
        return comparison.cases[0], comparison.id

    def _server(self, position: int) -> RequestedServer:
        source = self._asked.commits[position].source
        return RequestedServer(source=source, variant=self._asked.variant, config=dict(self._asked.config))

    def _report(self, located: _Located, culprits: Sequence[BisectCulprit]) -> BisectReport:
        asked, failures = self._asked, self._filling.outcome.failures
        low, high = (math.expm1(located.log_change + sign * BOUND * located.error) for sign in (-1, 1))
        over = ("the budget is used up: the same command goes on",) if self._is_over_budget else ()
        return BisectReport(
            schema="zerolap.bisect/1",
            created=now(),
            command_line=self._options.command_line,
            repository=str(asked.repository),
            case=self._case.name,
            topology=self._case.topology.name,
            variant=asked.variant,
            config=dict(asked.config),
            platform=self._platform,
            outcome=located.outcome,
            engine="counted" if located.engine == COUNTED else "timed",
            metric=located.metric,
            change=math.expm1(located.log_change),
            low=low,
            high=high,
            commits=tuple(
                RangeCommit(
                    commit=commit.revision.commit,
                    time=commit.revision.time,
                    subject=commit.revision.subject,
                    author=commit.revision.author,
                    tags=commit.tags,
                    pre_release=commit.pre_release,
                    failure=failures.get(position),
                )
                for position, commit in enumerate(asked.commits)
            ),
            culprits=tuple(culprits),
            measured=tuple(self._measured(located)),
            machine_seconds=self._filling.outcome.machine_seconds,
            notes=(*located.notes, *over),
        )

    def _measured(self, located: _Located) -> list[BisectMeasurement]:
        if located.engine == TIMED:
            levels = self._bisection(located.metric).levels.timed()
        else:
            works = self._counted_search(located.metric).works
            levels = [(position, 0, work, 0.0) for position, work in enumerate(works) if position and work is not None]
        return [
            BisectMeasurement(
                position=position,
                starts=starts,
                change=math.expm1(level),
                low=math.expm1(level - BOUND * error),
                high=math.expm1(level + BOUND * error),
            )
            for position, starts, level, error in levels
        ]


def _of_state(state: BisectionState, metric: str) -> _Located:
    outcome: BisectOutcome = "no difference"
    if state.outcome != "no difference":
        outcome = "found" if all(change.certain for change in state.changes) else "undecided"
    changes = state.changes if state.open_change is None else (*state.changes, state.open_change)
    return _Located(outcome, TIMED, metric, state.log_change, state.error, changes)
