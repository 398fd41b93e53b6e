"""What could be optimised in a version, on a terminal."""

from rich.console import Console

from zerolap.records import BuildVariant, Opportunities, Opportunity
from zerolap.report.lines import Lines, TextColumn
from zerolap.report.opportunity_reading import (
    kind,
    lines_of,
    of_cases,
    opportunities_headline,
    saving,
    server_line,
    shared_part,
    way,
)
from zerolap.report.variant_reading import (
    VARIANTS_HEADING,
    built_with,
    faster,
    improvements,
    losses,
    of_commands,
    rest,
    variant_name,
)
from zerolap.sheets import counted, one_line, share


def show_opportunities(document: Opportunities, console: Console, limit: int) -> None:
    """Write the headline, the opportunities that bring most, and where the instructions go; `limit` of each."""
    lines = Lines(console)
    lines.line((opportunities_headline(document), "bold"))
    lines.line((server_line(document), "dim"))
    for opportunity in document.opportunities[:limit]:
        _show_opportunity(lines, opportunity, document)
    further = len(document.opportunities) - limit
    if further > 0:
        lines.blank()
        lines.line((f"and {counted(further, 'opportunity', 'opportunities')} more: --limit shows them", "dim"))
    _show_variants(lines, document)
    lines.blank()
    lines.line(("where the instructions go", "bold"))
    lines.table(
        [
            TextColumn("work", [of.category for of in document.categories]),
            TextColumn("of all", [share(of.share) for of in document.categories], right=True),
        ]
    )
    _show_functions(lines, document, limit)
    if document.limits:
        lines.blank()
    for limit_text in document.limits:
        lines.line(("limits: ", "bold"), one_line(limit_text))


def _show_opportunity(lines: Lines, opportunity: Opportunity, document: Opportunities) -> None:
    lines.blank()
    lines.line(
        f"{opportunity.rank}. ",
        (one_line(opportunity.function), "bold"),
        (f"  {one_line(opportunity.file)}", "dim"),
        ("  saves ", "dim"),
        (saving(opportunity), "bold green"),
    )
    lines.line(one_line(opportunity.text), indent=3)
    lines.line(of_cases(opportunity, document), indent=3)
    shared = shared_part(opportunity)
    if shared:
        lines.line(shared, indent=3)
    most = opportunity.cases[0]
    for label, text in (("kind  ", kind(opportunity)), ("way   ", way(most)), ("lines ", lines_of(most))):
        if text:
            lines.line((label, "dim"), text, indent=3)


def _show_variants(lines: Lines, document: Opportunities) -> None:
    if not document.variants:
        return
    lines.blank()
    lines.line((VARIANTS_HEADING, "bold"))
    for variant in document.variants:
        _show_variant(lines, variant)


def _show_variant(lines: Lines, variant: BuildVariant) -> None:
    lines.blank()
    commands = counted(len(variant.commands), "command", "commands")
    lines.line(
        (variant_name(variant), "bold"),
        ("  is faster by ", "dim"),
        (faster(variant.gain), "bold green"),
        (f"  the mean of {commands}", "dim"),
    )
    for label, text in (
        ("commands ", of_commands(variant)),
        ("faster   ", improvements(variant)),
        ("slower   ", losses(variant)),
        ("others   ", rest(variant)),
        ("built    ", built_with(variant)),
        ("measured ", ", ".join(variant.comparisons)),
    ):
        if text:
            lines.line((label, "dim"), text, indent=3)


def _show_functions(lines: Lines, document: Opportunities, limit: int) -> None:
    functions = document.functions[:limit]
    if not functions:
        return
    lines.blank()
    lines.line(("functions that cost most over all cases", "bold"))
    lines.table(
        [
            TextColumn("function", [one_line(function.function) for function in functions]),
            TextColumn("itself", [share(function.self_share) for function in functions], right=True),
            TextColumn("with calls", [share(function.share) for function in functions], right=True),
            TextColumn("cases over 1 %", [f"{function.cases:,}" for function in functions], right=True, dispensable=1),
            TextColumn("work", [function.category for function in functions], dispensable=3),
            TextColumn("file", [one_line(function.file) for function in functions], dispensable=2),
        ]
    )
