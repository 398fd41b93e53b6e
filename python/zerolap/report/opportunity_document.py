"""What could be optimised in a version, for other programs: JSON and Markdown."""

from zerolap.records import BuildVariant, Opportunities, Opportunity
from zerolap.report.markdown import bullets, code, prose, sentence_with_names, table
from zerolap.report.opportunity_reading import (
    SHOWN_LINES,
    calibration_text,
    of_cases,
    opportunities_headline,
    saving,
    server_line,
    shared_part,
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
from zerolap.sheets import share


def opportunities_json(document: Opportunities) -> str:
    """Return the document as JSON."""
    return document.model_dump_json(by_alias=True, indent=2) + "\n"


def opportunities_markdown(document: Opportunities, limit: int) -> str:
    """Return the opportunities that bring most as Markdown, then where the instructions go; `limit` of each."""
    parts = [f"**{prose(opportunities_headline(document))}**", prose(server_line(document))]
    shown = document.opportunities[:limit]
    if shown:
        headings = ["", "function", "file", "saves", "kind", "confidence", "cases"]
        rows = [_row(opportunity) for opportunity in shown]
        parts.append(table(headings, rows, numbers=(0, 3, 6)))
        parts.append(bullets(_item(opportunity, document) for opportunity in shown))
    if document.variants:
        parts.append(f"**{prose(VARIANTS_HEADING)}**")
        headings = ["variant", "faster", "commands", "cases", "slower", "others"]
        parts.append(table(headings, [_variant_row(variant) for variant in document.variants]))
        parts.append(bullets(map(_variant_item, document.variants)))
    parts.append(
        table(["work", "of all"], [[of.category, share(of.share)] for of in document.categories], numbers=(1,))
    )
    functions = [
        [
            *(code(function.function), code(function.file), share(function.self_share), share(function.share)),
            f"{function.cases:,}",
        ]
        for function in document.functions[:limit]
    ]
    if functions:
        headings = ["function", "file", "itself", "with calls", "cases over 1 %"]
        parts.append(table(headings, functions, numbers=range(2, 5)))
    if document.limits:
        parts.append(bullets(map(sentence_with_names, document.limits)))
    return "\n\n".join(parts) + "\n"


def _row(opportunity: Opportunity) -> list[str]:
    return [
        f"{opportunity.rank}",
        code(opportunity.function),
        code(opportunity.file),
        saving(opportunity),
        code(opportunity.detector),
        "refuted" if opportunity.is_refuted else opportunity.confidence,
        f"{len(opportunity.cases):,}",
    ]


def _variant_row(variant: BuildVariant) -> list[str]:
    texts = (of_commands(variant), improvements(variant), losses(variant), rest(variant))
    return [code(variant_name(variant)), faster(variant.gain), *map(prose, texts)]


def _variant_item(variant: BuildVariant) -> str:
    measured = ", ".join(map(code, variant.comparisons))
    return f"{code(variant_name(variant))}: {prose(built_with(variant))}; measured in {measured}"


def _item(opportunity: Opportunity, document: Opportunities) -> str:
    lines = ", ".join(code(line) for line in opportunity.cases[0].lines[:SHOWN_LINES])
    parts = [
        f"{code(opportunity.function)} {sentence_with_names(opportunity.text)}",
        prose(of_cases(opportunity, document)),
        prose(shared_part(opportunity)),
        f"at {lines}" if lines else "",
        f"{code(opportunity.detector)}: {prose(calibration_text(opportunity.calibration))}",
    ]
    return "; ".join(part for part in parts if part)
