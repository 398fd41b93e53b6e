"""How a comparison is read, written down for programs and pages: headline, order of cases, sentences."""

from zerolap.records import Comparison, Reading
from zerolap.sheets.case_sentences import case_sentences
from zerolap.sheets.case_words import answer_lines, answers, effort, in_order, remark, state_line, statement
from zerolap.sheets.comparison_sheet import headline_of_comparison


def with_reading(comparison: Comparison) -> Comparison:
    """Return a comparison with the words and the order in which it is read."""
    cases = comparison.cases
    reading = Reading(
        headline=headline_of_comparison(comparison).plain,
        answers=[f"{answer}: {counts}" for answer, counts in answer_lines(comparison)],
        effort=effort(comparison),
        state=state_line(comparison),
        order=[case.case for case in in_order(cases)],
        statements={case.case: [statement(answered) for answered in answers(case)] for case in cases},
        sentences={case.case: case_sentences(case) for case in cases},
        remarks={case.case: text for case in cases if (text := remark(case)) is not None},
    )
    return comparison.model_copy(update={"reading": reading})
