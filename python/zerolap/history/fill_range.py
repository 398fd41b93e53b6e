"""Measures what a history lacks: counts of commits, and contrasts of those whose code differs.

What is measured is a function of what the store holds, so that filling goes on where a kill ended it. Each commit is a
request of its own.
"""

import contextlib
import heapq
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from zerolap.engines import missing_for_sampling
from zerolap.history.commit_times import STARTS, MissingContrast, missing_contrasts, read_times
from zerolap.history.commit_work import CaseWork, read_work, windows_of
from zerolap.history.history_range import INSTRUCTIONS, SEED, HistoryRange, failures_of, read_accepted
from zerolap.history.measurers import LocalMeasurer, Measurer
from zerolap.history.nodes import Nodes, read_nodes
from zerolap.history.time_changes import time_changes, unconfirmed
from zerolap.lab import Lab, Options, comparison_request, run_request
from zerolap.records import (
    Build,
    BuildFailed,
    Case,
    Interrupted,
    Note,
    Request,
    RequestedServer,
    TrialFailed,
    Windows,
    digest_of,
)
from zerolap.store import CONFIRMING_TOPIC, HISTORY_TOPIC

COUNTED, TIMED, SAMPLED = "counted", "timed", "sampled"
DIFFERENCE_WEIGHT: Final = 8.0
"""An interval whose ends differ is as urgent as one so many times as wide whose ends are the same."""


@dataclass(frozen=True)
class FillOptions:
    """What is measured, and for how long: `budget_seconds` is time in trials, builds apart; none for no limit.

    `windows` are those of cases, by name, that are to be counted as in another history. With `retry`, what failed is
    tried again.
    """

    engines: Collection[str] = (COUNTED, TIMED)
    budget_seconds: float | None = None
    command_line: str = ""
    windows: Mapping[str, Windows] = field(default_factory=dict)
    retry: bool = False


@dataclass
class FillOutcome:
    """What a filling did: commits that it measured, seconds of machine time in trials, and why commits failed."""

    commits: int = 0
    comparisons: int = 0
    machine_seconds: float = 0.0
    failures: dict[int, str] = field(default_factory=dict)
    is_over_budget: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What a document says of how far the filling has come."""
        return ("the budget is used up: the same command goes on",) if self.is_over_budget else ()


def bisecting_order(
    positions: Sequence[int], differs: Callable[[int, int], bool], is_measured: Callable[[int], bool]
) -> Iterator[int]:
    """Yield the positions that are not measured, each once; what is measured meanwhile decides what follows.

    `differs` is asked for the measured ends of an interval.
    """
    if not positions:
        return
    for end in dict.fromkeys((positions[0], positions[-1])):
        if not is_measured(end):
            yield end
    intervals: list[tuple[float, int, int]] = []

    def add(first: int, last: int) -> None:
        if last - first > 1:
            width = float(last - first)
            weight = DIFFERENCE_WEIGHT if differs(positions[first], positions[last]) else 1.0
            heapq.heappush(intervals, (-width * weight, first, last))

    # An end that cannot be measured bounds an interval nevertheless.
    measured = {index for index, position in enumerate(positions) if is_measured(position)}
    for first, last in itertools.pairwise(sorted(measured | {0, len(positions) - 1})):
        add(first, last)
    while intervals:
        _, first, last = heapq.heappop(intervals)
        middle = (first + last) // 2
        if not is_measured(positions[middle]):
            yield positions[middle]
        add(first, middle)
        add(middle, last)


class Filling:
    """Fills one history, on this machine or where `measurer` does.

    `outcome` is what was done so far; `nodes` are the distinct programs of the range as far as they are built, `work`
    is the counted work of each case.
    """

    def __init__(self, asked: HistoryRange, options: FillOptions, lab: Lab, measurer: Measurer | None = None) -> None:
        self._asked = asked
        self._options = options
        self._lab = lab
        self._measurer: Measurer = LocalMeasurer(lab) if measurer is None else measurer
        self._platform = asked.platform.fingerprint
        self.outcome = FillOutcome(failures={} if options.retry else failures_of(asked, lab.store))
        self._read()

    def fill(self) -> FillOutcome:
        """Measure what is missing, within the budget; raises `Interrupted`, and `ZerolapError` if nothing can be."""
        if COUNTED in self._options.engines:
            try:
                self._count()
            finally:
                self._measurer.end_builds_ahead()
        if TIMED in self._options.engines:
            if COUNTED not in self._options.engines:
                self._build()
            self._time()
            self._confirm()
        return self.outcome

    def _read(self) -> None:
        self.nodes: Nodes = read_nodes(self._asked, self._lab.store)
        self.work: dict[str, CaseWork] = read_work(self._asked, self.nodes, self._lab.store, self._platform)

    # Single commits, as a search asks for them.

    def count_one(self, position: int) -> None:
        """Count a commit in the cases in which neither it nor an equal program is; its failure is kept."""
        if position not in self.outcome.failures and not self._needs_no_count(position):
            self._carry_out(position, lambda: self._count_commit(position))
            self._read()

    def compare_two(self, after: int, position: int, starts: int) -> None:
        """Compare a commit with an earlier one in the time of all cases, by so many starts; its failure is kept."""
        contrast = MissingContrast(after, position, tuple(case.name for case in self._asked.cases))
        self._carry_out(position, partial(self._contrast, contrast, starts))
        self._read()

    # Builds and counts.

    def _build(self) -> None:
        """Build what is not built: commits are compared only where it is known that their programs differ."""
        for position, node in enumerate(self.nodes.of_commits):
            if node is None and position not in self.outcome.failures:
                request = run_request(self._server(position), self._asked.cases, Options(engines=[TIMED], seed=SEED))
                topic = self._asked.topic(position)
                of_history = {"objects_of": self._built_before(position), **self._of_history(topic)}
                build = partial(self._measurer.run_unless, lambda _: True, request.model_copy(update=of_history))
                self._carry_out(position, build)
                self._read()

    def _count(self) -> None:
        positions = list(range(len(self._asked.commits)))
        for position in bisecting_order(positions, self._differs, self._needs_no_count):
            if self._is_over():
                return
            if position not in self.outcome.failures:
                with self._building_after(position):
                    self._carry_out(position, lambda: self._count_commit(position))  # noqa: B023 - carried out at once
                self._read()
        self._join_segments()

    @contextlib.contextmanager
    def _building_after(self, position: int) -> Iterator[None]:
        """Have the commit that is likely to be counted after this one built beside it."""
        after = self._likely_after(position) if self._measurer.builds_ahead else None
        if after is None or self.nodes.of_commits[after] is not None:
            yield
            return
        with self._measurer.building_ahead(self._counting_request(after, self._asked.cases)) as ahead:
            yield
        recorded = {} if self._options.retry else failures_of(self._asked, self._lab.store)
        failure = ahead.failure or recorded.get(after)
        if failure is not None:
            self._note_failure(after, failure)

    def _likely_after(self, position: int) -> int | None:
        """Return what is counted after a commit if that changes nothing; none where nothing is left."""
        over = {position, *self.outcome.failures}
        positions = range(len(self._asked.commits))
        order = bisecting_order(positions, self._differs, lambda other: other in over or self._needs_no_count(other))
        return next(order, None)

    def _differs(self, first: int, last: int) -> bool:
        """Whether any case executes something else on two commits, as far as that is known."""
        steps = [work.step(INSTRUCTIONS, first, last) for work in self.work.values() if INSTRUCTIONS in work.points]
        return any(step is not None and not step[1] for step in steps)

    def _needs_no_count(self, position: int) -> bool:
        return not self._uncounted(self.nodes.of_commits[position])

    def _uncounted(self, node: int | None) -> list[Case]:
        """Return the cases that are not counted of a node: all where it is not built."""
        if node is None:
            return list(self._asked.cases)
        works = ((case, self.work[case.name]) for case in self._asked.cases)
        return [case for case, work in works if work.lacks(node) or (self._options.retry and node in work.invalid)]

    def _join_segments(self) -> None:
        """Count commits again whose neighbours were counted in another way: by other tools or in other windows."""
        tried = set[int]()
        while not self._is_over() and (uneven := self._counted_in_another_way(tried)):
            position = min(uneven)
            tried.add(position)
            self._carry_out(position, partial(self._count_commit, position, uneven[position]))
            self._read()

    def _counted_in_another_way(self, tried: Collection[int]) -> dict[int, list[Case]]:
        """Return the cases to be counted again, by position: of two neighbours the one that was counted first."""
        uneven: dict[int, list[Case]] = {}
        settled = {*tried, *self.outcome.failures}
        for case in self._asked.cases:
            work = self.work[case.name]
            ordered = [work.oldest_first(INSTRUCTIONS, gap) for gap in work.gaps(INSTRUCTIONS)]
            again = {left[0] for gap in ordered if (left := [position for position in gap if position not in settled])}
            for position in again:
                uneven.setdefault(position, []).append(case)
        return uneven

    def _count_commit(self, position: int, again: Sequence[Case] = ()) -> None:
        """Count a commit in the cases in which it is not, or in these once more."""
        cases = again or self._uncounted(self.nodes.of_commits[position])
        request = self._counting_request(position, cases)
        report = self._measurer.run_unless((lambda _: False) if again else self._is_counted, request)
        if report is not None:
            self.outcome.commits += 1
            self.outcome.machine_seconds += report.machine_seconds

    def _counting_request(self, position: int, cases: Sequence[Case]) -> Request:
        options = Options(engines=[COUNTED], seed=SEED)
        known = {case.name: self._options.windows.get(case.name) or windows_of(self.work[case.name]) for case in cases}
        windows = {name: chosen for name, chosen in known.items() if chosen is not None}
        asked_for = {
            "windows": windows,
            "counted_blocks": 1,
            "objects_of": self._built_before(position),
            **self._of_history(self._asked.topic(position)),
        }
        request = run_request(self._server(position), cases, options, self._options.command_line)
        return request.model_copy(update=asked_for)

    def _built_before(self, position: int) -> str | None:
        """Return the build that the one of a commit is begun with: the nearest earlier one that has what helps most.

        Later commits are not trusted with it: what they leave among the objects would be in the program of this one.
        """
        of_commits = self.nodes.of_commits[:position]
        nodes = dict.fromkeys(node for node in reversed(of_commits) if node is not None)
        return self._measurer.best_begun_with([build for node in nodes for build in self.nodes.builds_of(node)])

    def _is_counted(self, build: Build) -> bool:
        """Whether an equal program is counted in all cases."""
        self._read()
        node = self.nodes.builds.get(build.build)
        return node is not None and not self._uncounted(node)

    # Times.

    def _time(self) -> None:
        # What was compared and has no valid starts would have none again.
        tried = set() if self._options.retry else self._lab.store.history.topics(HISTORY_TOPIC)
        while (contrast := self._next_contrast(tried)) is not None and not self._is_over():
            tried.add(self._topic_of_contrast(contrast))
            self._carry_out(contrast.position, partial(self._contrast, contrast, STARTS))

    def _next_contrast(self, tried: Collection[str]) -> MissingContrast | None:
        """Return the next contrast to be measured, of a commit with its neighbour and its anchor together.

        Both contrasts are measured by themselves if three servers were tried without enough starts, or if the anchor
        cannot be relinked.
        """
        self._read()
        times = read_times(self._asked, self.nodes, self.work, self._lab.store, self._platform)
        for contrast in missing_contrasts(times, self._asked.releases):
            for part in (contrast, *contrast.pairs):
                is_failed = {part.earliest, part.after, part.position} & set(self.outcome.failures)
                is_spoilt = part.anchor is not None and self._is_fixed(part.anchor)
                if not is_failed and not is_spoilt and self._topic_of_contrast(part) not in tried:
                    return part
        return None

    def _is_fixed(self, position: int) -> bool:
        """Whether this machine knows that the program of a commit has one layout."""
        node = self.nodes.of_commits[position]
        builds = [] if node is None else self.nodes.builds_of(node)
        here = [build for build in builds if self._lab.builds.find(build) is not None]
        return any(self._lab.builds.relinking(build).failure for build in here)

    def _confirm(self) -> None:
        """Compare both commits of each candidate anew, with seeds and layouts that did not make it a candidate."""
        times = read_times(self._asked, self.nodes, self.work, self._lab.store, self._platform)
        tried = set[str]() if self._options.retry else self._lab.store.history.topics(CONFIRMING_TOPIC)
        accepted = read_accepted(self._asked, self._lab.store)
        changes = time_changes(times, self._asked.releases, accepted.positions)
        for (after, position), cases in unconfirmed(changes).items():
            if self._is_over():
                return
            if self._topic_of_confirmation(after, position, cases) not in tried:
                self._carry_out(position, partial(self._confirm_step, after, position, cases))

    def _topic_of_contrast(self, contrast: MissingContrast) -> str:
        commits = [
            self._asked.commits[of].revision.commit for of in (contrast.after, contrast.anchor) if of is not None
        ]
        topic = self._asked.topic(contrast.position)
        return ":".join([topic, *commits, self._digest(contrast.cases)])

    def _topic_of_confirmation(self, after: int, position: int, names: Sequence[str]) -> str:
        ends = (self._asked.commits[of].revision.commit for of in (after, position))
        return f"{CONFIRMING_TOPIC}{'..'.join(ends)}:{self._asked.conditions}:{self._digest(names)}"

    def _digest(self, names: Sequence[str]) -> str:
        cases = (case for case in self._asked.cases if case.name in names)
        return digest_of(
            *sorted(f"{case.name} {case.digest} {sorted(case.config.items()) or ''}".rstrip() for case in cases)
        )

    def _contrast(self, contrast: MissingContrast, starts: int) -> None:
        """Time two commits, and their anchor beside them, by so many starts: no verdict is wanted."""
        anchor = None if contrast.anchor is None else self._server(contrast.anchor)
        request = self._comparison(contrast.after, contrast.position, contrast.cases, [TIMED], anchor)
        of_contrast = {"most_starts": starts, **self._of_history(self._topic_of_contrast(contrast))}
        self._compare(request.model_copy(update=of_contrast))

    def _confirm_step(self, after: int, position: int, names: Sequence[str]) -> None:
        engines = [TIMED] if missing_for_sampling() else [TIMED, SAMPLED]
        of_step = self._of_history(self._topic_of_confirmation(after, position, names))
        self._compare(self._comparison(after, position, names, engines).model_copy(update=of_step))

    def _comparison(
        self,
        after: int,
        position: int,
        names: Sequence[str],
        engines: Sequence[str],
        anchor: RequestedServer | None = None,
    ) -> Request:
        cases = [case for case in self._asked.cases if case.name in names]
        base, head, options = self._server(after), self._server(position), Options(engines=engines)
        return comparison_request(base, head, cases, options, self._options.command_line, anchor=anchor)

    def _compare(self, request: Request) -> None:
        comparison = self._measurer.compare(request)
        self.outcome.comparisons += 1
        self.outcome.machine_seconds += comparison.summary.machine_seconds

    # Both.

    def _server(self, position: int) -> RequestedServer:
        asked = self._asked
        source = asked.commits[position].source
        return RequestedServer(source=source, variant=asked.variant, config=dict(asked.config))

    def _of_history(self, topic: str) -> dict[str, object]:
        return {"topic": topic, "trigger": "history", "priority": "backfill"}

    def _carry_out(self, position: int, measure: Callable[[], object]) -> None:
        """Measure; a commit that does not build, or whose trials fail, fails alone.

        Who is interrupted goes on with all of it, and not with the request of this commit alone.
        """
        try:
            measure()
        except Interrupted as stopped:
            raise Interrupted(stopped.message, hint="the same command goes on") from stopped
        except (BuildFailed, TrialFailed) as fault:
            self._note_failure(position, fault.message)

    def _note_failure(self, position: int, failure: str) -> None:
        self.outcome.failures[position] = failure
        self._lab.listen(Note(text=f"{self._asked.commits[position].source.name}: {failure}"))

    def _is_over(self) -> bool:
        budget = self._options.budget_seconds
        if budget is not None and self.outcome.machine_seconds >= budget:
            self.outcome.is_over_budget = True
        return self.outcome.is_over_budget
