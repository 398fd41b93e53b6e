"""How other builds that were measured to be faster are read: what they bring, where, and what they lose."""

from zerolap.records import BuildVariant, Estimate, VariantCase
from zerolap.sheets import counted, one_line

VARIANTS_HEADING = "other builds of the same code, measured to be faster; not part of the sum"
SHOWN_CASES = 4
"""Cases and commands that a line names."""


def variant_name(variant: BuildVariant) -> str:
    """Write the words of a variant, or the flags of a build without."""
    return one_line(variant.variant or variant.flags or variant.allocator or variant.compiler)


def faster(gain: Estimate) -> str:
    """Write by how much a build is faster, with its interval; less than 0 is slower."""
    low, expected, high = (f"{part * 100:+.1f}" for part in (gain.low, gain.expected, gain.high))
    return f"{expected} % ({low} to {high} %)"


def of_commands(variant: BuildVariant) -> str:
    """Write what a variant brings for each command, the largest gains first."""
    changed = [of for of in variant.commands if of.gain.expected]
    named = [f"{one_line(of.command)} {faster(of.gain)}" for of in changed[:SHOWN_CASES]]
    further = len(changed) - SHOWN_CASES
    return f"{', '.join(named)}{f' and {further:,} more' if further > 0 else ''}"


def losses(variant: BuildVariant) -> str:
    """Write the cases that are slower, those that lose most first; nothing where there are none."""
    return _cases(variant.losses)


def improvements(variant: BuildVariant) -> str:
    """Write the cases that are faster, those that gain most first."""
    return _cases(variant.improvements)


def rest(variant: BuildVariant) -> str:
    """Write how many cases did not change, and of how many that is not known."""
    parts = []
    if variant.unchanged:
        parts.append(f"{counted(variant.unchanged, 'case', 'cases')} the same")
    if variant.undecided:
        parts.append(f"{counted(variant.undecided, 'case', 'cases')} undecided")
    return ", ".join(parts)


def built_with(variant: BuildVariant) -> str:
    """Write what took effect, as the program itself states it."""
    return ", ".join(one_line(part) for part in (variant.compiler, variant.flags, variant.allocator) if part)


def _cases(cases: tuple[VariantCase, ...]) -> str:
    named = [f"{one_line(case.case)} {faster(case.gain)} by {one_line(case.metric)}" for case in cases[:SHOWN_CASES]]
    further = len(cases) - SHOWN_CASES
    return f"{', '.join(named)}{f' and {further:,} more' if further > 0 else ''}"
