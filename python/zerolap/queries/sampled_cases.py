"""Which sampled stacks a page is about, and how much each case counts among them.

Stacks of several cases are merged by weights. By `time` a case counts by the CPU time of one of its requests, so that
the merged stacks are those of a request of each case; cases that were not timed are left out. By `case` each counts
the same. A case that several results have counts once: each result's stacks of it count in equal parts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from zerolap.judge import side_error
from zerolap.queries.query import Parameters, QuerySources
from zerolap.records import BASE, DrawnSide, Record, Side, UsageError
from zerolap.store import SampledTrial, StackEngine, Store, StoredRow, TimedCost

MOST_TABLES: Final = 240
"""Stack tables in one answer: each takes about a third of a millisecond. Where there are more, each case has fewer."""
MOST_RESULTS: Final = 40
MOST_NAMES: Final = 1_000
MOST_NAMED_PLATFORMS: Final = 20

Weights: TypeAlias = Literal["time", "case"]
StackTime: TypeAlias = Literal["cpu", "waits"]
"""What stacks are of: the time on the processor, or the time off it, in which threads wait."""
ENGINES: Final[Mapping[StackTime, StackEngine]] = {"cpu": "sampled", "waits": "traced"}
Part: TypeAlias = tuple[int, int, float, list[bytes]]
"""What `stack_profile` of the extension module takes: side, case, weight, tables."""


class StackSelection(Parameters):
    """Which stacks: of a comparison or run, of one case of it, or of the newest results of a platform."""

    id: Annotated[
        str | None,
        Field(pattern=r"^[cr]-[0-9a-f-]{1,64}$", description="A comparison or run. Without: the newest results."),
    ] = None
    case: Annotated[str | None, Field(max_length=500, description="One case; without, all are merged.")] = None
    platform: Annotated[
        str | None,
        Field(max_length=200, description="A platform by name or fingerprint, whose newest results are merged."),
    ] = None
    newest: Annotated[int, Field(ge=1, le=MOST_RESULTS, description="How many results are merged.")] = 10
    weights: Annotated[
        Weights,
        Field(description="Cases count by the CPU time of their requests (`time`), or all the same (`case`)."),
    ] = "time"
    time: Annotated[
        StackTime,
        Field(
            description="Stacks of the time on the processor (`cpu`), or of waits, whose samples are nanoseconds and "
            "whose cases count all the same."
        ),
    ] = "cpu"


class ProfiledSide(Record):
    """What there is of a case on a side; `weight` is its part of the side's merged stacks.

    `passes` are those that are merged, of `recorded_passes`. `cpu_error` is the relative standard error of
    `cpu_ns_per_op`, which is null for a case that was not timed.
    """

    side: DrawnSide
    samples: int
    passes: int
    recorded_passes: int
    cpu_ns_per_op: float | None
    cpu_error: float
    weight: float


class ProfiledCase(Record):
    """A case of a result whose stacks are among those that are shown."""

    case: str
    result: str
    sides: tuple[ProfiledSide, ...]


class LeftOutCase(Record):
    """A case of which no stacks are shown, and why."""

    case: str
    result: str
    reason: str


class ProfiledResult(Record):
    """A comparison or run whose stacks or call graphs are shown.

    `platform_name` is empty where it was asked for by its id.
    """

    id: str
    path: Literal["comparisons", "runs"]
    created: str
    base: str | None
    head: str
    platform_name: str = ""


@dataclass(frozen=True)
class SampledCases:
    """The stacks that were selected, as parts with their weights, and what they are of."""

    results: tuple[ProfiledResult, ...]
    sides: tuple[DrawnSide, ...]
    cases: tuple[ProfiledCase, ...]
    left_out: tuple[LeftOutCase, ...]
    parts: tuple[Part, ...]
    weights: Weights
    case_names: tuple[str, ...]
    """The names of cases by the index that parts have."""
    all_names: tuple[str, ...]
    """The names of the cases that have passes in these results, also of those that are not chosen."""
    times: tuple[StackTime, ...]
    """What the results, or the case that is chosen, have stacks of."""

    def counted_cases(self, part_samples: Sequence[int]) -> tuple[ProfiledCase, ...]:
        """Return the cases with the numbers of their samples, which are given by part: by case, and in it by side."""
        numbers = iter(part_samples)
        return tuple(
            case.model_copy(
                update={"sides": tuple(side.model_copy(update={"samples": next(numbers)}) for side in case.sides)}
            )
            for case in self.cases
        )

    def cost_of(self, place: int) -> tuple[float | None, float]:
        """Return what a request costs on a side, the mean over cases, and its relative standard error.

        Errors of cases add up as if all erred alike, which is too much rather than too little:
        sum(weight * cost * error) / sum(weight * cost).
        """
        if self.weights == "case" and len(self.case_names) > 1:
            return None, 0.0
        side = self.sides[place]
        of_side = [entry for case in self.cases for entry in case.sides if entry.side == side]
        if not of_side or any(entry.cpu_ns_per_op is None for entry in of_side):
            return None, 0.0
        counts = Counter(case.case for case in self.cases)
        shares = [
            1 / counts[case.case] / len(counts) for case in self.cases for entry in case.sides if entry.side == side
        ]
        costs = [share * (entry.cpu_ns_per_op or 0.0) for share, entry in zip(shares, of_side, strict=True)]
        total = sum(costs)
        errors = sum(cost * entry.cpu_error for cost, entry in zip(costs, of_side, strict=True))
        return total, errors / total if total > 0 else 0.0


def selected_cases(sources: QuerySources, selection: StackSelection) -> SampledCases:
    """Return the stacks of a selection; raises `UsageError` for a result, case or platform of which there are none."""
    store, engine = sources.store, ENGINES[selection.time]
    newest = []
    if selection.id is None:
        newest = store.stacks.newest(selection.newest, selection.platform, engine)
        if selection.platform is not None and not newest:
            raise _none_of_platform(store, selection.platform)
    platforms = {result.id: result.platform_name for result in newest}
    identities = [selection.id] if selection.id is not None else list(platforms)
    rows = store.in_short(identities)
    if selection.id is not None and selection.id not in rows:
        raise UsageError(f"the store holds no results of {selection.id}")
    # What was timed is not the time off the processor.
    costs = store.stacks.costs(identities) if selection.time == "cpu" else {}
    gathered = _Gathered.of(store.stacks.trials(identities, engine), costs, rows, selection)
    if selection.case is not None and not gathered.cases:
        reasons = [left.reason for left in gathered.left_out if left.case == selection.case]
        raise UsageError(f"there are no stacks of {selection.case}", hint="; ".join(reasons[:1]))
    results = tuple(
        profiled_result(rows[identity], platforms.get(identity, "")) for identity in identities if identity in rows
    )
    return gathered.read(sources, results, _times(sources, identities, selection.case))


def _none_of_platform(store: Store, platform: str) -> UsageError:
    known = store.platform_records.listed()
    if any(platform in (of_one.name, of_one.fingerprint) for of_one in known):
        return UsageError(f"no result of the platform `{platform}` has such stacks")
    names = ", ".join(dict.fromkeys(of_one.name for of_one in known[:MOST_NAMED_PLATFORMS]))
    return UsageError(f"the lab knows no platform `{platform}`", hint=f"it knows {names}" if names else "")


def _times(sources: QuerySources, identities: Sequence[str], case: str | None) -> tuple[StackTime, ...]:
    """Return what results have stacks of, or a case of theirs."""
    trials = {time: sources.store.stacks.trials(identities, engine) for time, engine in ENGINES.items()}
    return tuple(
        time
        for time, of_time in trials.items()
        if any(trial.stacks is not None and case in (None, trial.case) for trial in of_time)
    )


@dataclass(frozen=True)
class _Case:
    """The digests of a case's stacks by side, and what a request costs."""

    name: str
    result: str
    digests: Mapping[DrawnSide, list[str]]
    cost: TimedCost | None


@dataclass(frozen=True)
class _Gathered:
    sides: tuple[DrawnSide, ...]
    cases: Sequence[_Case]
    left_out: Sequence[LeftOutCase]
    weights: Weights
    all_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        trials: Iterable[SampledTrial],
        costs: Mapping[tuple[str, str], TimedCost],
        rows: Mapping[str, StoredRow],
        selection: StackSelection,
    ) -> "_Gathered":
        is_comparison = selection.id is not None and rows[selection.id].kind == "compare"
        sides: tuple[DrawnSide, ...] = ("base", "head") if is_comparison else ("head",)
        by_case: dict[tuple[str, str], list[SampledTrial]] = {}
        for trial in trials:
            if trial.result in rows and trial.side in sides:
                by_case.setdefault((trial.result, trial.case), []).append(trial)
        cases, left_out = [], []
        for (result, name), of_case in by_case.items():
            if selection.case is not None and name != selection.case:
                continue
            digests = {
                side: [trial.stacks for trial in of_case if trial.side == side and trial.stacks] for side in sides
            }
            if not all(trial.is_valid for trial in of_case):
                left_out.append(LeftOutCase(case=name, result=result, reason="a pass is not valid"))
            elif not all(digests.values()):
                left_out.append(LeftOutCase(case=name, result=result, reason="a side has no stacks"))
            else:
                cases.append(_Case(name, result, digests, costs.get((result, name))))
        weights = selection.weights
        if weights == "time" and len(cases) > 1:
            timed = [case for case in cases if case.cost is not None]
            if timed:
                untimed = [case for case in cases if case.cost is None]
                reason = "it was not timed: what a request costs is not known"
                left_out += [LeftOutCase(case=case.name, result=case.result, reason=reason) for case in untimed]
                cases = timed
            else:
                weights = "case"
        names = sorted({name for _, name in by_case})
        return cls(sides, cases, left_out, weights, tuple(names[:MOST_NAMES]))

    def read(
        self, sources: QuerySources, results: tuple[ProfiledResult, ...], times: tuple[StackTime, ...]
    ) -> SampledCases:
        counts = Counter(case.name for case in self.cases)
        numbers = {name: number for number, name in enumerate(counts)}
        passes = max(1, MOST_TABLES // max(1, len(self.cases) * len(self.sides)))
        most_cases = MOST_TABLES // len(self.sides)
        parts: list[Part] = []
        cases = []
        totals = {
            side: sum(self._weight(case, side, counts) for case in self.cases[:most_cases]) for side in self.sides
        }
        for case in self.cases[:most_cases]:
            of_sides = []
            for place, side in enumerate(self.sides):
                digests = case.digests[side]
                tables = [sources.store.blobs.get(digest) for digest in digests[:passes]]
                weight = self._weight(case, side, counts)
                parts.append((place, numbers[case.name], weight, tables))
                of_sides.append(_profiled_side(side, case, len(tables), weight / totals[side] if totals[side] else 0.0))
            cases.append(ProfiledCase(case=case.name, result=case.result, sides=tuple(of_sides)))
        reason = f"only {most_cases} are merged at once"
        beyond = [LeftOutCase(case=case.name, result=case.result, reason=reason) for case in self.cases[most_cases:]]
        return SampledCases(
            results=results,
            sides=self.sides,
            cases=tuple(cases),
            left_out=(*self.left_out, *beyond),
            parts=tuple(parts),
            weights=self.weights,
            case_names=tuple(numbers),
            all_names=self.all_names,
            times=times,
        )

    def _weight(self, case: _Case, side: DrawnSide, results: Mapping[str, int]) -> float:
        if self.weights == "case" or case.cost is None:
            return 1.0 / results[case.name]
        return case.cost.by_side[side] / results[case.name]


def _drawn(side: Side) -> DrawnSide:
    return "base" if side == BASE else "head"


def _profiled_side(side: DrawnSide, case: _Case, passes: int, weight: float) -> ProfiledSide:
    cost = None if case.cost is None else case.cost.by_side.get(side)
    return ProfiledSide(
        side=side,
        samples=0,
        passes=passes,
        recorded_passes=len(case.digests[side]),
        cpu_ns_per_op=cost,
        cpu_error=0.0 if case.cost is None else side_error(case.cost.low, case.cost.high),
        weight=weight,
    )


@contextmanager
def readable_tables() -> Iterator[None]:
    """Have stacks that cannot be read reported as such."""
    try:
        yield
    except ValueError as fault:
        raise UsageError("the stacks were recorded by another version, or are damaged", hint=str(fault)) from fault


def profiled_result(row: StoredRow, platform_name: str) -> ProfiledResult:
    """Return a comparison or run as it is named on the page."""
    path: Literal["comparisons", "runs"] = "comparisons" if row.kind == "compare" else "runs"
    return ProfiledResult(
        id=row.id, path=path, created=row.created, base=row.base, head=row.head, platform_name=platform_name
    )
