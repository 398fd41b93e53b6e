"""Platforms: which there are, what changed on one, how far its verdicts can be trusted, and two side by side."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.records import (
    FalseAlarm,
    FalseAlarmCounts,
    ListedPlatform,
    PlatformResult,
    Record,
    StartSpread,
    UsageError,
)
from zerolap.store import PlatformState, Store

MOST_ALARMS: Final = 50
MOST_COMPARISONS: Final = 20
"""The most comparisons of two platforms side by side."""
MOST_CASES: Final = 1_000
KERNEL: Final = "kernel"
UNREADABLE: Final = "facts"

Fingerprint = Annotated[str, Field(pattern=r"^[!-~]{1,200}$", description="The fingerprint of the platform.")]


class PlatformListing(Record):
    """All platforms, that whose facts changed last first."""

    platforms: tuple[ListedPlatform, ...]


def _read_list(sources: QuerySources, _: Parameters) -> PlatformListing:
    return PlatformListing(platforms=tuple(sources.store.platform_records.listed()))


def _list_rows(answer: PlatformListing) -> Iterable[TableRow]:
    yield tuple(ListedPlatform.model_fields)
    for platform in answer.platforms:
        yield tuple(platform.model_dump().values())


PLATFORMS: Final = PageQuery(
    name="platforms",
    summary="All platforms with their facts in short",
    parameters=Parameters,
    result=PlatformListing,
    read=_read_list,
    table=_list_rows,
)


class PlatformFact(Record):
    """A fact of a platform, such as its governor."""

    name: str
    value: str


class FactChange(Record):
    """A fact that became another; `before` or `after` is null where there was no such fact."""

    name: str
    before: str | None
    after: str | None


class PlatformChange(Record):
    """A new state of a platform: when it was seen first, and its differences from the state before."""

    first_seen: str
    changes: tuple[FactChange, ...]


class FalseAlarmCount(FalseAlarmCounts):
    """Counts of false alarms; `low` and `high` bound the share of alarms with 95 %."""

    low: float
    high: float


class PlatformDetails(Record):
    """A platform. `facts` are those of the newest state, `changes` begin with the newest.

    Alarms and spreads are of its newest 500 comparisons.
    """

    platform: ListedPlatform
    facts: tuple[PlatformFact, ...]
    changes: tuple[PlatformChange, ...]
    false_alarm_counts: tuple[FalseAlarmCount, ...]
    false_alarms: tuple[FalseAlarm, ...]
    spreads: tuple[StartSpread, ...]


class PlatformParameters(Parameters):
    """Which platform."""

    fingerprint: Fingerprint


def _platforms(store: Store, *fingerprints: str) -> list[ListedPlatform]:
    """Return platforms; raises `UsageError`."""
    known = {platform.fingerprint: platform for platform in store.platform_records.listed()}
    for fingerprint in fingerprints:
        if fingerprint not in known:
            raise UsageError(f"the lab knows no platform {fingerprint}")
    return [known[fingerprint] for fingerprint in fingerprints]


def _read_details(sources: QuerySources, parameters: PlatformParameters) -> PlatformDetails:
    store, fingerprint = sources.store, parameters.fingerprint
    records = store.platform_records
    states = records.states(fingerprint)
    [platform] = _platforms(store, fingerprint)
    return PlatformDetails(
        platform=platform,
        facts=_facts(states),
        changes=tuple(_changes(states)),
        false_alarm_counts=tuple(map(_count, records.false_alarm_counts(fingerprint))),
        false_alarms=tuple(records.false_alarms(fingerprint, MOST_ALARMS)),
        spreads=tuple(records.spreads(fingerprint)),
    )


def _named(state: PlatformState) -> Mapping[str, str]:
    """Return the facts of a state with its kernel."""
    return {KERNEL: state.kernel, **({UNREADABLE: "cannot be read"} if state.facts is None else state.facts)}


def _facts(states: Sequence[PlatformState]) -> tuple[PlatformFact, ...]:
    named = _named(states[0]) if states else {}
    return tuple(PlatformFact(name=name, value=named[name]) for name in sorted(named))


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FactChange, ...]:
    return tuple(
        FactChange(name=name, before=before.get(name), after=after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )


def _changes(states: Sequence[PlatformState]) -> Iterator[PlatformChange]:
    for newer, older in itertools.pairwise(states):
        yield PlatformChange(first_seen=newer.first_seen, changes=_differences(_named(older), _named(newer)))


def _count(counts: FalseAlarmCounts) -> FalseAlarmCount:
    low, high = share_bounds(counts.alarms, counts.timed)
    return FalseAlarmCount(**dict(counts), low=low, high=high)


def share_bounds(part: int, whole: int) -> tuple[float, float]:
    """Return the interval of 95 % of a share that was counted: that of Wilson (1927), good for few counts too."""
    if not whole:
        return 0.0, 1.0
    z, share = 1.959964, part / whole
    centre = share + z * z / (2 * whole)
    half = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    divisor = 1 + z * z / whole
    return max(0.0, (centre - half) / divisor), min(1.0, (centre + half) / divisor)


def _spread_rows(answer: PlatformDetails) -> Iterable[TableRow]:
    yield ("metric", "circumstances", "standard deviation (share)", "cases", "degrees of freedom")
    for spread in answer.spreads:
        yield (spread.metric, spread.circumstances, spread.standard_deviation, spread.spreads, spread.degrees)


PLATFORM: Final = PageQuery(
    name="platform",
    summary="A platform: its facts over time, its false alarms, and the spread of its starts",
    parameters=PlatformParameters,
    result=PlatformDetails,
    read=_read_details,
    table=_spread_rows,
)


class PlatformPairParameters(Parameters):
    """Which two platforms."""

    fingerprint: Fingerprint
    other: Annotated[str, Field(pattern=r"^[!-~]{1,200}$", description="The fingerprint of the other platform.")]


Agreement: TypeAlias = Literal["same", "different", "invalid"]
ORDER_OF_AGREEMENT: Final[tuple[Agreement, ...]] = ("different", "invalid", "same")
DECIDED: Final[Mapping[str | None, str]] = {
    "regression": "regression",
    "improvement": "improvement",
    "unsure": "unsure",
    "same": "same",
    "identical": "same",
}
"""Verdicts on a change, as they are compared between platforms."""


class CaseOnBoth(Record):
    """A case of the same two builds, or builds of the same two commits, on both platforms.

    Both results are of one metric, on which the verdict of a platform rests, or of no metric. `agreement` states
    whether the verdicts agree, where `identical` counts as `same`; it is `invalid` if a platform has no verdict on a
    change, such as for an invalid case. Cases whose verdicts differ come first.
    """

    case: str
    base_name: str
    head_name: str
    agreement: Agreement
    here: PlatformResult
    there: PlatformResult


class PlatformPair(Record):
    """Two platforms: facts that differ, where `before` is the first's, and cases that both measured.

    `comparisons` is how many comparisons of the same two builds or commits there are among the newest 500 of the first
    platform, at most 20; `is_cut` where they have more cases than are shown. `agreements` count all cases.
    """

    platform: ListedPlatform
    other: ListedPlatform
    facts: tuple[FactChange, ...]
    same_facts: int
    comparisons: int
    cases: tuple[CaseOnBoth, ...]
    agreements: dict[Agreement, int]
    is_cut: bool


def _read_pair(sources: QuerySources, parameters: PlatformPairParameters) -> PlatformPair:
    store = sources.store
    here, there = _platforms(store, parameters.fingerprint, parameters.other)
    facts = [_newest_facts(store, platform.fingerprint) for platform in (here, there)]
    pairs = store.platform_records.same_comparisons(here.fingerprint, there.fingerprint, MOST_COMPARISONS)
    cases = sorted(_cases_on_both(store, pairs), key=lambda case: ORDER_OF_AGREEMENT.index(case.agreement))
    differing = _differences(*facts)
    return PlatformPair(
        platform=here,
        other=there,
        facts=differing,
        same_facts=len({*facts[0], *facts[1]}) - len(differing),
        comparisons=len(pairs),
        cases=tuple(cases[:MOST_CASES]),
        agreements={word: sum(case.agreement == word for case in cases) for word in ORDER_OF_AGREEMENT},
        is_cut=len(cases) > MOST_CASES,
    )


def _newest_facts(store: Store, fingerprint: str) -> Mapping[str, str]:
    states = store.platform_records.states(fingerprint)
    return _named(states[0]) if states else {}


def _cases_on_both(store: Store, pairs: Sequence[tuple[str, str]]) -> Iterator[CaseOnBoth]:
    names = store.in_short(here for here, _ in pairs)
    for case, here, there in _decided_on_both(store, pairs):
        yield CaseOnBoth(
            case=case,
            base_name=names[here.comparison].base or "",
            head_name=names[here.comparison].head,
            agreement=_agreement(here.verdict, there.verdict),
            here=here,
            there=there,
        )


def _decided_on_both(
    store: Store, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, PlatformResult, PlatformResult]]:
    """Yield the cases of pairs of comparisons as both decide them, by the same metric."""
    decided: dict[str, dict[str, PlatformResult]] = {}
    for name, result in store.platform_records.decided_cases({comparison for pair in pairs for comparison in pair}):
        decided.setdefault(result.comparison, {})[name] = result
    both = [
        (name, result, decided[there][name])
        for here, there in pairs
        for name, result in decided.get(here, {}).items()
        if name in decided.get(there, {})
    ]
    unlike = [sides for _, *sides in both if _rest_on_two_metrics(*sides)]
    comparisons = {side.comparison for sides in unlike for side in sides}
    metrics = {side.metric for sides in unlike for side in sides if side.metric is not None}
    by_metric = {
        (result.comparison, name, result.metric): result
        for name, result in store.platform_records.cases_by_metrics(comparisons, metrics)
    }
    for name, here, there in both:
        if _rest_on_two_metrics(here, there):
            yield name, *_by_one_metric(name, here, there, by_metric)
        else:
            yield name, here, there


def _rest_on_two_metrics(here: PlatformResult, there: PlatformResult) -> bool:
    return here.verdict in DECIDED and there.verdict in DECIDED and here.metric != there.metric


def _by_one_metric(
    case: str,
    here: PlatformResult,
    there: PlatformResult,
    by_metric: Mapping[tuple[str, str, str | None], PlatformResult],
) -> tuple[PlatformResult, PlatformResult]:
    """Return a case on both platforms by the metric of the first's verdict, or else by that of the other's."""
    for metric in (here.metric, there.metric):
        sides = [by_metric.get((side.comparison, case, metric)) for side in (here, there)]
        if sides[0] is not None and sides[1] is not None:
            return sides[0], sides[1]
    return _without_metric(here), _without_metric(there)


def _without_metric(result: PlatformResult) -> PlatformResult:
    return result.model_copy(update=dict.fromkeys(("metric", "base", "head", "change", "low", "high")))


def _agreement(here: str | None, there: str | None) -> Agreement:
    if here not in DECIDED or there not in DECIDED:
        return "invalid"
    return "same" if DECIDED[here] == DECIDED[there] else "different"


def _pair_rows(answer: PlatformPair) -> Iterable[TableRow]:
    sides = (answer.platform, answer.other)
    columns = [f"{name} on {side.name} ({side.fingerprint})" for side in sides for name in PlatformResult.model_fields]
    yield ("case", "base", "head", "agreement", *columns)
    for case in answer.cases:
        values = [*case.here.model_dump().values(), *case.there.model_dump().values()]
        yield (case.case, case.base_name, case.head_name, case.agreement, *values)


PLATFORM_PAIR: Final = PageQuery(
    name="platform-pair",
    summary="Two platforms side by side: facts that differ, and results of the same builds",
    parameters=PlatformPairParameters,
    result=PlatformPair,
    read=_read_pair,
    table=_pair_rows,
)
