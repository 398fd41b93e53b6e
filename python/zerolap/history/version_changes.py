"""The version table: how far each case has come since each release, and what that makes in all, weighted."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise

from zerolap.judge import COUNTED, LogChange, change_between, mean_change, version_positions
from zerolap.records import (
    BuildDifference,
    Case,
    CaseWeights,
    History,
    HistorySeries,
    TableCause,
    TableCell,
    TableChange,
    TableCommand,
    TableRow,
    TableTotal,
    TableVersion,
    UsageError,
    VersionTable,
    now,
)


@dataclass(frozen=True)
class BuildShares:
    """The parts that other flags and allocators have in the steps between neighbouring versions.

    `shares` are by case and by the position of the later version; `unchanged` are the positions of versions that are
    built as the one before. `notes` say what could not be measured.
    """

    differences: tuple[BuildDifference, ...] = ()
    shares: Mapping[tuple[str, int], LogChange] = field(default_factory=dict)
    unchanged: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()

    def of(self, case: str, position: int) -> LogChange | None:
        """Return the part of a step that is due to the build; none where it is not known."""
        return LogChange(0.0) if position in self.unchanged else self.shares.get((case, position))


@dataclass(frozen=True)
class TableQuestion:
    """What a table is asked for: the metric, the release that its headline begins at (by default the first)."""

    metric: str
    weights: CaseWeights
    since: str | None = None
    command_line: str = ""


def table_positions(history: History, metric: str) -> list[int]:
    """Return the positions of the versions of a table: all measured releases, the first commit and the last one."""
    series = [of_case for of_case in history.series if of_case.metric == metric and not of_case.is_imported]
    releases = {position for position, commit in enumerate(history.commits) if commit.tags}
    return version_positions((point.position for of_case in series for point in of_case.points), releases)


def version_table(
    history: History, cases: Sequence[Case], question: TableQuestion, builds: BuildShares | None = None
) -> VersionTable:
    """Return the table of a history; raises `UsageError` where fewer than two versions are measured."""
    return _Table(history, cases, question, builds or BuildShares()).document()


@dataclass(frozen=True)
class _Parts:
    """A change, and what of it is due to the build, where that is known."""

    whole: LogChange
    build: LogChange | None

    @property
    def record(self) -> TableChange:
        if self.build is None:
            return TableChange(whole=self.whole.bounded)
        code = self.whole - self.build
        return TableChange(whole=self.whole.bounded, code=code.bounded, build=self.build.bounded)


@dataclass(frozen=True)
class _CaseChanges:
    """The changes of a case by version: `since` it to the last one, and the `step` to it from the one before."""

    case: Case
    weight: float
    since: Sequence[_Parts | None]
    step: Sequence[_Parts | None]
    values: Sequence[float | None]
    cause: TableCause | None


@dataclass(frozen=True)
class _Table:
    history: History
    cases: Sequence[Case]
    question: TableQuestion
    builds: BuildShares

    def document(self) -> VersionTable:
        """Return the table; raises as `version_table` does."""
        if len(self.positions) < 2:
            measured = self.history.range if self.history.commits else "tags:A..B"
            raise UsageError(
                f"no two versions of `{self.history.range}` have a series of {self.question.metric}",
                hint=f"zerolap history --measure '{measured}' measures, with the same --cases and --variant; "
                "work other than instructions has a series only where it changed",
            )
        changes = [self._case_changes(case) for case in self._ordered_cases()]
        history, versions = self.history, range(len(self.positions))
        return VersionTable(
            created=now(),
            command_line=self.question.command_line,
            repository=history.repository,
            range=history.range,
            variant=history.variant,
            config=history.config,
            platform=history.platform,
            metric=self.question.metric,
            weights=self.question.weights.stated,
            since=self.since,
            versions=tuple(self._version(position) for position in self.positions),
            rows=tuple(_row(of_case) for of_case in changes),
            commands=tuple(self._commands(changes)),
            totals=tuple(self._total(changes, index) for index in versions),
            builds=self.builds.differences,
            notes=(*self._unmeasured(), *self.builds.notes, *history.notes),
        )

    @cached_property
    def positions(self) -> list[int]:
        """The positions of the versions in the range."""
        return table_positions(self.history, self.question.metric)

    @cached_property
    def since(self) -> int:
        """The index of the version that the headline begins at."""
        asked = self.question.since
        if asked is None:
            return 0
        for index, position in enumerate(self.positions):
            if self.history.commits[position].is_named(asked):
                return index
        names = ", ".join(self.history.commits[position].name for position in self.positions)
        raise UsageError(f"`--since {asked}` is no measured version of the range", hint=f"measured are {names}")

    @cached_property
    def series(self) -> dict[str, HistorySeries]:
        """The series of the metric, by case."""
        named = {case.name for case in self.cases}
        return {
            series.case: series
            for series in self.history.series
            if series.metric == self.question.metric and not series.is_imported and series.case in named
        }

    def _ordered_cases(self) -> list[Case]:
        """Return the measured cases, those with the same commands next to each other."""
        by_commands: dict[tuple[str, ...], list[Case]] = {}
        for case in self.cases:
            if case.name in self.series:
                by_commands.setdefault(tuple(case.verbs), []).append(case)
        return [case for group in by_commands.values() for case in group]

    def _version(self, position: int) -> TableVersion:
        commit = self.history.commits[position]
        return TableVersion(name=commit.name, commit=commit.commit, time=commit.time, failure=commit.failure)

    def _unmeasured(self) -> list[str]:
        shown = set(self.positions)
        missing = [
            commit for position, commit in enumerate(self.history.commits) if commit.tags and position not in shown
        ]
        failed = [f"{commit.name} is not measured: {commit.failure}" for commit in missing if commit.failure]
        others = sum(commit.failure is None for commit in missing)
        return [*failed, *([f"releases of the range that are not measured yet: {others:,}"] if others else [])]

    # Cases.

    def _case_changes(self, case: Case) -> _CaseChanges:
        series = self.series[case.name]
        points = {point.position: point for point in series.version_points(self.positions)}
        last = self.positions[-1]

        def parts(after: int, until: int) -> _Parts | None:
            whole = change_between(points.get(after), points.get(until), series.engine)
            return None if whole is None else self._parts(case.name, whole, after, until)

        since = [parts(position, last) for position in self.positions]
        steps = [parts(after, until) for after, until in pairwise(self.positions)]
        total = math.fsum(self.question.weights.by_case.get(name, 0.0) for name in self.series)
        weight = self.question.weights.by_case.get(case.name, 0.0) / total if total else 0.0
        by_position = {point.position: point.value for point in series.points}
        values = [by_position.get(position) for position in self.positions]
        return _CaseChanges(case, weight, since, [None, *steps], values, self._cause(series, since[self.since]))

    def _parts(self, case: str, whole: LogChange, after: int, until: int) -> _Parts:
        """Return a change with its parts, from the position `after` up to `until`."""
        shares = [self.builds.of(case, position) for position in self.positions if after < position <= until]
        build: LogChange | None = LogChange(0.0)
        for share in shares:
            build = None if build is None or share is None else build + share
        return _Parts(whole, build)

    def _cause(self, series: HistorySeries, whole: _Parts | None) -> TableCause | None:
        """Return the largest change of a series since the version of the headline, in the direction of the whole."""
        if whole is None:
            return None
        begin, end = self.positions[self.since], self.positions[-1]
        changes = [
            change
            for change in series.changes
            if change.after >= begin and change.position <= end and change.change * whole.whole.value > 0
        ]
        if not changes:
            return None
        largest = max(changes, key=lambda change: abs(math.log1p(change.change)))
        commit = self.history.commits[largest.position]
        return TableCause(
            after=self.history.commits[largest.after].name,
            commit=commit.name,
            subject=commit.subject,
            author=commit.author,
            change=largest.change,
            reasons=largest.reasons,
        )

    # Sums.

    def _commands(self, changes: Sequence[_CaseChanges]) -> list[TableCommand]:
        by_commands = groupby(changes, key=lambda of_case: tuple(of_case.case.verbs))
        groups = [(commands, list(group)) for commands, group in by_commands]
        return [
            TableCommand(
                commands=commands,
                cases=tuple(of_case.case.name for of_case in group),
                weight=math.fsum(of_case.weight for of_case in group),
                totals=tuple(self._total(group, index) for index in range(len(self.positions))),
            )
            for commands, group in groups
        ]

    def _total(self, changes: Sequence[_CaseChanges], index: int) -> TableTotal:
        counted = [of_case for of_case in changes if of_case.weight > 0.0]
        since = [(of_case.weight, parts) for of_case in counted if (parts := of_case.since[index]) is not None]
        step = [(of_case.weight, parts) for of_case in counted if (parts := of_case.step[index]) is not None]
        return TableTotal(since=self._mean(since), since_cases=len(since), step=self._mean(step), step_cases=len(step))

    def _mean(self, weighted: Sequence[tuple[float, _Parts]]) -> TableChange | None:
        is_counted = all(series.engine == COUNTED for series in self.series.values())
        whole = mean_change([(weight, parts.whole) for weight, parts in weighted], is_counted=is_counted)
        if whole is None:
            return None
        builds = [(weight, parts.build) for weight, parts in weighted if parts.build is not None]
        build = mean_change(builds, is_counted=is_counted) if len(builds) == len(weighted) else None
        return _Parts(whole, build).record


def _row(of_case: _CaseChanges) -> TableRow:
    cells = tuple(
        TableCell(
            since=None if since is None else since.record, step=None if step is None else step.record, value=value
        )
        for since, step, value in zip(of_case.since, of_case.step, of_case.values, strict=True)
    )
    return TableRow(
        case=of_case.case.name,
        group=of_case.case.group,
        commands=tuple(of_case.case.verbs),
        weight=of_case.weight,
        cells=cells,
        cause=of_case.cause,
    )
