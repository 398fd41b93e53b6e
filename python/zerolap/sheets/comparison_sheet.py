"""A comparison as it is shown."""

from collections.abc import Iterator
from typing import Final

from zerolap.records import CHANGED, CaseResult, Comparison
from zerolap.sheets.case_rows import CaseRow, rows_of
from zerolap.sheets.case_section import case_section, is_merely_undecided, is_worth_a_section
from zerolap.sheets.case_sentences import by_chance
from zerolap.sheets.case_table import AnswerColumns, all_cases_table, changed_table, unchanged_row
from zerolap.sheets.case_words import answers, effort, in_order, state_line
from zerolap.sheets.detail import Lengths
from zerolap.sheets.environment import build_text, closing_fact, repeating, server_text, settings_text, skipped_section
from zerolap.sheets.headline import Headline, headline_of, headline_of_rows
from zerolap.sheets.measured_change import Done, PlatformOutcome
from zerolap.sheets.pooled import pooled_sentences
from zerolap.sheets.sheet import Fact, Section, Sentence, Sheet, Table, folded, opened, with_names
from zerolap.sheets.traced_section import traced_of_comparison
from zerolap.sheets.unexecuted import unexecuted_code

MOST_UNEXECUTED: Final = 3
MOST_UNDECIDED: Final = 3
"""How many cases that are merely not decided are shown with their figures; those of the others are folded."""


def comparison_sheet(comparison: Comparison) -> Sheet:
    """Return the headline, a row for each case that changed and one for all others, and why each changed one did.

    All figures, all cases, builds and settings are folded.
    """
    platforms = [outcome_of(comparison)]
    rows, cases = rows_of(platforms), in_order(comparison.cases)
    headline, state = headline_of_rows(rows, platforms), state_line(comparison)
    columns = AnswerColumns.of_cases(cases)
    return Sheet(
        kind="comparison",
        title=headline.lead,
        continuation="; ".join(headline.rest),
        facts=[
            Fact(label="base", text=server_text(comparison.base)),
            Fact(label="head", text=server_text(comparison.head)),
            Fact(label="measured", text=effort(comparison)),
            *(Fact(label="together", text=text) for text in pooled_sentences(comparison, Lengths())),
            *(Fact(label="not measured", text=text) for text in _unexecuted(comparison)),
            *([Fact(label="sure", text=chance)] if (chance := _chance(cases)) is not None else []),
        ],
        sentences=[Sentence(text=state, mark="warning")] if state is not None else [],
        tables=[_table(rows, columns)] if rows else [],
        sections=[
            *skipped_section(comparison.skipped),
            *_case_sections(cases),
            *(opened(section) for case in cases if (section := traced_of_comparison(case)) is not None),
            Section(title="all cases", is_folded=True, tables=[all_cases_table(cases, columns)]),
            how_to_repeat(comparison),
        ],
        notes=[with_names(note, {case.case for case in cases}) for note in comparison.notes],
        closing=[closing_fact(comparison)],
    )


def outcome_of(comparison: Comparison) -> PlatformOutcome:
    """Return a comparison as the outcome on its platform."""
    return PlatformOutcome(comparison.platform.name, Done(), comparison)


def headline_of_comparison(comparison: Comparison) -> Headline:
    """Return the outcome of a comparison in a sentence."""
    return headline_of([outcome_of(comparison)])


def how_to_repeat(comparison: Comparison) -> Section:
    """Return a folded section with the command, the seed, the settings, both builds and the platform."""
    return repeating(
        comparison,
        [
            Fact(label="settings", text=settings_text(comparison.settings)),
            Fact(label="base", text=build_text(comparison.base)),
            Fact(label="head", text=build_text(comparison.head)),
        ],
    )


def _case_sections(cases: list[CaseResult]) -> Iterator[Section]:
    undecided = 0
    for case in filter(is_worth_a_section, cases):
        undecided += is_merely_undecided(case)
        is_one_of_many = is_merely_undecided(case) and undecided > MOST_UNDECIDED
        yield folded(case_section(case)) if is_one_of_many else case_section(case)


def _table(rows: list[CaseRow], columns: AnswerColumns) -> Table:
    """Return a row for each case that changed or is not decided, and one for all others."""
    table = changed_table(rows, columns, names_platform=False, most_rows=len(rows), lengths=None)
    unchanged = [row.case for row in rows if row.is_unchanged]
    if not unchanged:
        return table
    others = unchanged_row(unchanged, columns, are_others=bool(table.rows))
    return table.model_copy(update={"rows": [*table.rows, others]})


def _unexecuted(comparison: Comparison) -> Iterator[str]:
    # Where functions are not known, a note of the document names files.
    if comparison.changed_functions is not None:
        for sentence in unexecuted_code([comparison]).sentences(MOST_UNEXECUTED, Lengths()):
            yield sentence.text


def _chance(cases: list[CaseResult]) -> str | None:
    changes = [answered.decided for case in cases for answered in answers(case) if answered.word in CHANGED]
    return by_chance([verdict for verdict in changes if verdict is not None])
