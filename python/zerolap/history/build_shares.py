"""The part of a release's change that its build has, by a third server: the code before, built as the release is.

Releases change their flags along with their code. So the code of the version before is also built with the flags of the
release. The change from the one build to the other is the build's part, and the rest is that of the code.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from zerolap.build import BuildDifferences, build_differences, parse_variant
from zerolap.history.commit_work import CaseWork, WorkPoints, read_work, windows_of
from zerolap.history.fill_range import COUNTED, TIMED, Filling, FillOptions
from zerolap.history.history_range import TIME, HistoryRange, failures_of
from zerolap.history.nodes import Nodes, read_nodes
from zerolap.history.version_changes import BuildShares
from zerolap.judge import SMALLEST_CHANGE, Contrast, LogChange, levels_of
from zerolap.lab import Lab, Options, compare, comparison_request
from zerolap.records import (
    Build,
    BuildDifference,
    BuildFailed,
    Case,
    Note,
    RequestedServer,
    SeriesKey,
    TrialFailed,
    without_language,
)
from zerolap.sandbox import Cancellation
from zerolap.store import CountedPoint


@dataclass(frozen=True)
class SplitStep:
    """Two neighbouring versions that are built differently, by their positions, and how the older one is built again.

    `third` is the older commit alone, in the variant of the newer build; none where no variant expresses it.
    """

    after: int
    position: int
    differences: BuildDifferences
    third: HistoryRange | None


class BuildSplit:
    """The parts of builds in the steps between the versions at `positions` of a history, by one metric.

    What the store holds is read once: what is measured is in the shares of another instance.
    """

    def __init__(self, asked: HistoryRange, positions: Sequence[int], metric: str, lab: Lab) -> None:
        self._asked = asked
        self._positions = positions
        self._metric = metric
        self._lab = lab
        self._platform = asked.platform.fingerprint
        self._nodes = read_nodes(asked, lab.store)
        self._work = read_work(asked, self._nodes, lab.store, self._platform)

    def measure(self, budget_seconds: float | None = None, command_line: str = "") -> float:
        """Measure the third servers that are missing, within the budget; return the seconds of machine time in trials.

        A version that does not build as the next one fails alone. Raises `Interrupted`.
        """
        spent = 0.0
        for step in self.steps:
            missing = self._missing(step)
            left = None if budget_seconds is None else budget_seconds - spent
            if step.third is None or not missing or failures_of(step.third, self._lab.store):
                continue
            if left is not None and left <= 0.0:
                break
            third = replace(step.third, cases=missing)
            if self._metric in TIME:
                spent += self._compare(step, third, command_line)
            else:
                windows = {case.name: chosen for case in missing if (chosen := windows_of(self._work[case.name]))}
                options = FillOptions((COUNTED,), left, command_line, windows)
                spent += Filling(third, options, self._lab).fill().machine_seconds
        return spent

    def shares(self) -> BuildShares:
        """Return what is known of the parts of builds."""
        differ = {step.position for step in self.steps}
        unchanged = frozenset(
            position
            for after, position in itertools.pairwise(self._positions)
            if position not in differ and self._build(after) is not None and self._build(position) is not None
        )
        # What no variant expresses counts as code.
        unsplit = frozenset(step.position for step in self.steps if step.third is None)
        return BuildShares(
            tuple(map(self._record, self.steps)), self._shares, unchanged | unsplit, tuple(self._failures())
        )

    # Which versions are built differently.

    @cached_property
    def steps(self) -> list[SplitStep]:
        """The neighbouring versions that are built differently, as far as their builds are known."""
        return [step for pair in itertools.pairwise(self._positions) if (step := self._step(*pair)) is not None]

    def _step(self, after: int, position: int) -> SplitStep | None:
        older, newer = self._build(after), self._build(position)
        if older is None or newer is None:
            return None
        differences = build_differences(older, newer, parse_variant(self._asked.variant))
        if not differences.words:
            return None
        third = None
        if differences.variant is not None:
            third = replace(self._asked, commits=[self._asked.commits[after]], variant=differences.variant.name)
        return SplitStep(after, position, differences, third)

    def _build(self, position: int) -> Build | None:
        node = self._nodes.of_commits[position]
        if node is None:
            return None
        built = (self._lab.builds.find(digest) for digest in self._nodes.builds_of(node))
        return next((server.record for server in built if server is not None), None)

    def _record(self, step: SplitStep) -> BuildDifference:
        return BuildDifference(
            after=self._asked.commits[step.after].source.name,
            version=self._asked.commits[step.position].source.name,
            words=step.differences.words,
            variant=None if step.third is None else step.third.variant,
            not_split=step.differences.not_split,
        )

    def _failures(self) -> list[str]:
        return [
            f"{third.commits[0].source.name}, built by {third.variant}, is not measured: {reason}"
            for step in self.steps
            if (third := step.third) is not None
            for reason in failures_of(third, self._lab.store).values()
        ]

    # What is measured of a third server.

    def _missing(self, step: SplitStep) -> list[Case]:
        return [
            case
            for case in self._asked.cases
            if (case.name, step.position) not in self._shares and self._is_measured(step, case)
        ]

    def _is_measured(self, step: SplitStep, case: Case) -> bool:
        """Whether the version itself is counted, so that the third server has something to be compared with."""
        points = self._work[case.name].points.get(self._metric)
        return self._metric in TIME or (points is not None and self._nodes.of_commits[step.after] in points.by_node)

    @cached_property
    def _shares(self) -> dict[tuple[str, int], LogChange]:
        """The known parts of builds, by case and by the position of the later version."""
        return {(case, step.position): share for step in self.steps for case, share in self._shares_of(step)}

    def _shares_of(self, step: SplitStep) -> Iterator[tuple[str, LogChange]]:
        third = step.third
        nodes = None if third is None else read_nodes(third, self._lab.store)
        if third is None or nodes is None or nodes.of_commits[0] is None:
            return
        if self._metric in TIME:
            yield from self._timed_shares(step, nodes)
            return
        for name, work in read_work(third, nodes, self._lab.store, self._platform).items():
            share = self._counted_share(step, nodes, work)
            if share is not None:
                yield name, share

    def _counted_share(self, step: SplitStep, nodes: Nodes, work: CaseWork) -> LogChange | None:
        """Return the build's part of work: from counts of the same windows, which differ in the variant alone."""
        node, of_third = self._nodes.of_commits[step.after], nodes.of_commits[0]
        own = self._work[work.case.name].points.get(self._metric, WorkPoints()).by_node.get(node or 0, {})
        built = work.points.get(self._metric, WorkPoints()).by_node.get(of_third or 0, {})
        by_key = {_beside_variant(point): point for point in own.values()}
        for point in reversed([*built.values()]):
            before = by_key.get(_beside_variant(point))
            if before is not None and before.value > 0.0 and point.value > 0.0:
                return LogChange(math.log(point.value / before.value), SMALLEST_CHANGE)
        return None

    def _timed_shares(self, step: SplitStep, nodes: Nodes) -> Iterator[tuple[str, LogChange]]:
        """Yield the build's part of time of each case: from comparisons of both builds of the same code."""
        node = self._nodes.of_commits[step.after]
        sides = {} if node is None else dict.fromkeys(self._nodes.builds_of(node), 0)
        sides |= {build: 1 for build in nodes.builds if build not in sides}
        by_case: dict[str, list[Contrast]] = {}
        cases = {case.name: (case.topology.name, case.digest, case.config) for case in self._asked.cases}
        for one in self._lab.store.history.contrasts(list(sides), self._platform, [self._metric]):
            base, head = sides[one.base_build], sides[one.head_build]
            is_of_config = one.base_config == one.head_config == self._asked.config
            is_of_case = cases.get(one.case) == (one.topology, one.case_digest, one.case_config)
            if base != head and is_of_config and is_of_case:
                by_case.setdefault(one.case, []).append(Contrast(base, head, one.log_ratios, one.is_of_three))
        for case, contrasts in by_case.items():
            level = levels_of(2, contrasts, 0, [(0, 1)]).steps[0]
            if level is not None:
                yield case, LogChange(level.value, level.half_width)

    def _compare(self, step: SplitStep, third: HistoryRange, command_line: str) -> float:
        source, config = third.commits[0].source, dict(third.config)
        base = RequestedServer(source=source, variant=self._asked.variant, config=config)
        head = RequestedServer(source=source, variant=third.variant, config=config)
        request = comparison_request(base, head, third.cases, Options(engines=[TIMED]), command_line)
        of_history = {"topic": third.topic(0), "trigger": "history", "priority": "backfill"}
        own_lab = replace(self._lab, cancellation=Cancellation())
        try:
            return compare(request.model_copy(update=of_history), own_lab).summary.machine_seconds
        except (BuildFailed, TrialFailed) as fault:
            self._lab.listen(Note(text=f"{source.name}, built by {third.variant}: {fault.message}"))
            return 0.0


def _beside_variant(point: CountedPoint) -> tuple[SeriesKey, str]:
    """Return what counts of two builds of the same code have in common if they can be compared: also their seed."""
    key = point.series
    return (
        key.model_copy(update={"variant": "", "compiler": without_language(key.compiler), "libc": ""}),
        point.comparison,
    )
