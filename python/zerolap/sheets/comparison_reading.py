"""How a comparison is read, written down for programs and pages: headline, order of cases, sentences."""

from zerolap.records import CaseResult, Comparison, Reading
from zerolap.sheets.case_sentences import case_sentences
from zerolap.sheets.case_words import answer_lines, answers, effort, in_order, remark, state_line, statement
from zerolap.sheets.comparison_sheet import headline_of_comparison


def with_reading(comparison: Comparison) -> Comparison:
    """Return a comparison with the words and the order in which it is read."""
    reading = reading_of(comparison)
    of_cases = {
        "order": [case.case for case in in_order(comparison.cases)],
        "statements": {case.case: case_statements(case) for case in comparison.cases},
        "sentences": {case.case: case_sentences(case) for case in comparison.cases},
    }
    return comparison.model_copy(update={"reading": reading.model_copy(update=of_cases)})


def reading_of(comparison: Comparison) -> Reading:
    """Return how a comparison is read, without the sentences on single cases."""
    return Reading(
        headline=headline_of_comparison(comparison).plain,
        answers=[f"{answer}: {counts}" for answer, counts in answer_lines(comparison)],
        effort=effort(comparison),
        state=state_line(comparison),
        order=[],
        statements={},
        remarks={case.case: text for case in comparison.cases if (text := remark(case)) is not None},
    )


def case_statements(case: CaseResult) -> list[str]:
    """Return the sentences on the work and the time of a case."""
    return [statement(answered) for answered in answers(case)]
