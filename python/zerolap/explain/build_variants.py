"""Other builds of the same code that are faster, from verdicts of comparisons: measured, not predicted."""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from zerolap.records import (
    BASE,
    METRICS,
    NO_SAVING,
    BuildVariant,
    CaseResult,
    CommandGain,
    Comparison,
    DrawnSide,
    Estimate,
    MeasuredServer,
    VariantCase,
    Verdict,
)

BUILD_VARIANTS: Final = "build-variants"
LEAST_RATIO: Final = 0.01
"""Ratios are not smaller: where a cost has vanished, the gain would be infinite."""

_Variant: TypeAlias = tuple[str, str, str, str]
"""The words of a variant, the flags, the compiler and the allocator that took effect."""


@dataclass(frozen=True)
class VariantComparison:
    """A comparison of two builds of the same code; `side` is that of the version that is looked at."""

    comparison: Comparison
    side: DrawnSide

    @property
    def other(self) -> MeasuredServer:
        """The other build."""
        return self.comparison.head if self.side == BASE else self.comparison.base


@dataclass
class _OfVariant:
    """The newest answer of each case for one variant; none for an undecided case, 0 for an unchanged case."""

    gains: dict[str, VariantCase | None] = field(default_factory=dict)
    unchanged: set[str] = field(default_factory=set)
    commands: dict[str, tuple[str, ...]] = field(default_factory=dict)
    comparisons: list[str] = field(default_factory=list)


def differ_as_builds(server: MeasuredServer, other: MeasuredServer) -> bool:
    """Return whether two servers of the same code were built in different ways."""
    return _variant_of(server) != _variant_of(other)


def build_variants(compared: Iterable[VariantComparison]) -> list[BuildVariant]:
    """Return the variants that are faster in the mean over all commands, the variant that gains most first.

    `compared` has the newest first; of each case the newest timed verdict counts.
    """
    by_variant: dict[_Variant, _OfVariant] = {}
    for of in compared:
        known = by_variant.setdefault(_variant_of(of.other), _OfVariant())
        timed = [case for case in of.comparison.cases if case.time is not None and case.case not in known.commands]
        for case in timed:
            known.commands[case.case] = tuple(case.commands)
            known.gains[case.case] = _gain_of(case, of)
            if case.time == "same":
                known.unchanged.add(case.case)
        if timed:
            known.comparisons.append(of.comparison.id)
    variants = [_built(variant, known) for variant, known in by_variant.items()]
    winning = [variant for variant in variants if variant.improvements and variant.gain.expected > 0]
    return sorted(winning, key=lambda variant: -variant.gain.expected)


def _variant_of(server: MeasuredServer) -> _Variant:
    return server.variant, server.flags, server.compiler, server.allocator


def _gain_of(case: CaseResult, of: VariantComparison) -> VariantCase | None:
    """Return the confirmed change of a case's time in the other build; none where there is none."""
    if not case.confirmed or case.time not in ("improvement", "regression"):
        return None
    verdict = next((verdict for verdict in case.verdicts if verdict.metric == case.time_deciding), None)
    if verdict is None or not all(map(math.isfinite, (verdict.low, verdict.change, verdict.high))):
        return None
    return VariantCase(
        case=case.case,
        commands=tuple(case.commands),
        metric=verdict.metric,
        gain=_gain(verdict, of.side),
        comparison=of.comparison.id,
    )


def _gain(verdict: Verdict, side: DrawnSide) -> Estimate:
    """Return by how much the other build is faster: the ratio of throughputs, or that of costs upside down, less 1.

    A change is (head - base) / base: where a cost changed by that, as much takes 1 + change times as long.
    """
    less_is_better = METRICS[verdict.metric].less_is_better if verdict.metric in METRICS else True
    ratios = [max(1.0 + change, LEAST_RATIO) for change in (verdict.low, verdict.change, verdict.high)]
    if less_is_better == (side == BASE):
        ratios = [1.0 / ratio for ratio in ratios]
    low, high = sorted((ratios[0], ratios[2]))
    return Estimate(low=low - 1.0, expected=ratios[1] - 1.0, high=high - 1.0)


def _built(variant: _Variant, known: _OfVariant) -> BuildVariant:
    changed = [gain for gain in known.gains.values() if gain is not None]
    commands = _by_command(known)
    words, flags, compiler, allocator = variant
    return BuildVariant(
        variant=words,
        flags=flags,
        compiler=compiler,
        allocator=allocator,
        gain=_mean([of_command.gain for of_command in commands]),
        commands=tuple(commands),
        improvements=tuple(sorted(filter(_is_gain, changed), key=lambda case: -case.gain.expected)),
        losses=tuple(sorted((case for case in changed if not _is_gain(case)), key=lambda case: case.gain.expected)),
        unchanged=len(known.unchanged),
        undecided=len(known.gains) - len(changed) - len(known.unchanged),
        comparisons=tuple(known.comparisons),
    )


def _is_gain(case: VariantCase) -> bool:
    return case.gain.expected > 0


def _by_command(known: _OfVariant) -> list[CommandGain]:
    """Return the mean gain of each list of commands, the largest first; undecided cases count as unchanged."""
    gains: dict[str, list[Estimate]] = {}
    for case, commands in known.commands.items():
        gain = known.gains[case]
        gains.setdefault(", ".join(commands), []).append(NO_SAVING if gain is None else gain.gain)
    of_commands = [CommandGain(command=name, gain=_mean(of), cases=len(of)) for name, of in gains.items()]
    return sorted(of_commands, key=lambda of_command: (-of_command.gain.expected, of_command.command))


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    return functools.reduce(Estimate.plus, estimates, NO_SAVING).times(1.0 / max(len(estimates), 1))
