"""How a comparison is read, written down for programs and pages: headline, order of cases, sentences."""

from collections.abc import Sequence

from zerolap.records import CaseResult, Comparison, Reading
from zerolap.report.case_sentences import case_sentences
from zerolap.report.reading import answer_lines, answers, effort, headline, in_order, state_line, statement


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
    """Return how a comparison is read, without what is of single cases."""
    return Reading(
        headline=headline(comparison),
        answers=[f"{answer}: {counts}" for answer, counts in answer_lines(comparison)],
        effort=effort(comparison),
        state=state_line(comparison),
        order=[],
        statements={},
    )


def case_statements(case: CaseResult) -> list[str]:
    """Return the sentences on the work and the time of a case."""
    return [statement(answered) for answered in answers(case)]


def cases_in_order(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the cases in the order in which they are read: those with a change first."""
    return in_order(list(cases))
