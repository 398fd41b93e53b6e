"""Other builds that were measured to be faster, as they are shown: what they bring, where, and what they lose."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from zerolap.records import BuildVariant, Estimate, VariantCase
from zerolap.sheets.format import counted, listing, metric_label
from zerolap.sheets.sheet import Cell, Column, Fact, Section, Table, as_name, name

SHOWN_COMMANDS: Final = 4
"""Commands that a line names."""
SHOWN_CASES: Final = 20
"""The most cases listed as faster, and as slower."""
VARIANTS: Final = (
    Column(key="variant", heading="variant"),
    Column(key="faster", heading="faster", is_number=True),
    Column(key="commands", heading="commands", is_number=True, rank=4),
    Column(key="gains", heading="faster cases", is_number=True, rank=1),
    Column(key="losses", heading="slower cases", is_number=True, rank=1),
    Column(key="others", heading="others", rank=3),
)
CASES: Final = (
    Column(key="case", heading="case"),
    Column(key="faster", heading="faster", is_number=True),
    Column(key="metric", heading="by", rank=1),
)


def build_variants_section(variants: Sequence[BuildVariant]) -> Section:
    """Return a row for each variant, and what each brings for commands and cases."""
    return Section(
        key="variants",
        title="other builds of the same code, measured to be faster; not part of the sum",
        tables=[Table(columns=list(VARIANTS), rows=[_row(variant) for variant in variants])],
        sections=[_variant(variant) for variant in variants],
    )


def _name(variant: BuildVariant) -> str:
    """Return the words of a variant, or the flags of a build without."""
    return variant.variant or variant.flags or variant.allocator or variant.compiler


def _row(variant: BuildVariant) -> list[Cell]:
    return [
        name(_name(variant)),
        Cell(text=_faster(variant.gain)),
        Cell(text=f"{len(variant.commands):,}"),
        Cell(text=f"{len(variant.improvements):,}"),
        Cell(text=f"{len(variant.losses):,}"),
        Cell(text=_others(variant)),
    ]


def _variant(variant: BuildVariant) -> Section:
    built = listing(part for part in (variant.compiler, variant.flags, variant.allocator) if part)
    changed = [*variant.improvements[:SHOWN_CASES], *variant.losses[:SHOWN_CASES]]
    left_out = len(variant.improvements) + len(variant.losses) - len(changed)
    commands = counted(len(variant.commands), "command", "commands")
    facts = (
        ("commands", _commands(variant)),
        ("others", _others(variant)),
        ("built", built),
        ("measured", listing(map(as_name, variant.comparisons))),
    )
    return Section(
        title=_name(variant),
        remark=f"is faster by {_faster(variant.gain)}, the mean of {commands}",
        mark="better",
        facts=[Fact(label=label, text=text) for label, text in facts if text],
        tables=[Table(columns=list(CASES), rows=[_case(case) for case in changed], left_out=left_out)],
    )


def _commands(variant: BuildVariant) -> str:
    """Write what a variant brings for each command, the largest gains first."""
    changed = [of for of in variant.commands if of.gain.expected]
    further = len(changed) - SHOWN_COMMANDS
    named = listing(f"{of.command} {_faster(of.gain)}" for of in changed[:SHOWN_COMMANDS])
    return f"{named}{f' and {further:,} more' if further > 0 else ''}"


def _others(variant: BuildVariant) -> str:
    """Write how many cases did not change, and of how many that is not known."""
    same = [f"{counted(variant.unchanged, 'case', 'cases')} the same"] if variant.unchanged else []
    undecided = [f"{counted(variant.undecided, 'case', 'cases')} undecided"] if variant.undecided else []
    return listing([*same, *undecided])


def _case(of: VariantCase) -> list[Cell]:
    address = f"/comparisons/{of.comparison}?{urlencode({'case': of.case})}"
    return [
        name(of.case, link=address),
        Cell(text=_faster(of.gain), mark="better" if of.gain.expected > 0 else "worse"),
        Cell(text=metric_label(of.metric)),
    ]


def _faster(gain: Estimate) -> str:
    """Write by how much a build is faster, with its interval; less than 0 is slower."""
    low, expected, high = (f"{part * 100:+.1f}" for part in (gain.low, gain.expected, gain.high))
    return f"{expected} % ({low} to {high} %)"
