"""Cases on platforms, in the order in which comments, checks and notices list them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from zerolap.records import CHANGED, UNCHANGED, Answer, CaseResult
from zerolap.sheets.case_words import CaseAnswer, answers, rank_of
from zerolap.sheets.measured_change import Acknowledgement, PlatformOutcome, in_order_of_names
from zerolap.sheets.outcome_words import WORDS, Word


@dataclass(frozen=True)
class CaseRow:
    """A case on a platform, its rank by `rank_of`, and who accepts its regression.

    `on_request` is whether a person has asked for the case there.
    """

    platform: str
    case: CaseResult
    rank: tuple[int, int, float]
    acknowledgement: Acknowledgement | None = None
    on_request: bool = False
    time_asked: bool = False

    @property
    def word(self) -> Word:
        """The most important word on the case."""
        return WORDS[self.rank[0]]

    @cached_property
    def answers(self) -> dict[Answer, CaseAnswer]:
        """The answers on the case's work and time, without one that was not measured."""
        return {answered.answer: answered for answered in answers(self.case)}

    @property
    def is_open_regression(self) -> bool:
        """Whether it is a regression that nobody has acknowledged."""
        return self.word == "regression" and self.acknowledgement is None

    @property
    def has_changed(self) -> bool:
        """Whether its work or its time changed."""
        return self.word in CHANGED

    @property
    def is_unchanged(self) -> bool:
        """Whether neither its work nor its time changed."""
        return self.word in UNCHANGED

    @property
    def is_identical(self) -> bool:
        """Whether both sides execute the same instructions, equally often."""
        return self.is_unchanged and self.case.work == "identical"


@dataclass(frozen=True)
class CaseRows:
    """The rows of a case on all platforms that measured it, the most important first."""

    rows: tuple[CaseRow, ...]

    @property
    def first(self) -> CaseRow:
        """The most important row: a case that is a regression on any platform is a regression."""
        return self.rows[0]

    @property
    def is_identical(self) -> bool:
        """Whether both sides execute the same instructions on every platform."""
        return all(row.is_identical for row in self.rows)


def rows_of(platforms: Sequence[PlatformOutcome], acknowledgements: Sequence[Acknowledgement] = ()) -> list[CaseRow]:
    """Return the rows of every case, those of a case next to each other.

    Accepted regressions come after the others. Unsure cases are left out until their platform has finished.
    """
    rows: list[CaseRow] = []
    for platform in in_order_of_names(platforms):
        time_asked = platform.comparison is not None and platform.comparison.settings.asks_for_time
        for case in platform.comparison.cases if platform.comparison is not None else []:
            rank = rank_of(case, time_asked=time_asked)
            if WORDS[rank[0]] != "unsure" or not platform.is_ongoing:
                accepted = _acknowledgement(case, rank, acknowledgements)
                rows.append(CaseRow(platform.name, case, rank, accepted, platform.on_request, time_asked))
    rows.sort(key=lambda row: (row.rank[0], row.acknowledgement is not None, row.rank))
    return [row for case in cases_of(rows) for row in case.rows]


def cases_of(rows: Sequence[CaseRow]) -> list[CaseRows]:
    """Return the rows by case, in the order of the first row of each."""
    by_case: dict[str, list[CaseRow]] = {}
    for row in rows:
        by_case.setdefault(row.case.case, []).append(row)
    return [CaseRows(tuple(of_case)) for of_case in by_case.values()]


def _acknowledgement(
    case: CaseResult, rank: tuple[int, int, float], acknowledgements: Sequence[Acknowledgement]
) -> Acknowledgement | None:
    if WORDS[rank[0]] != "regression":
        return None
    return next((accepted for accepted in reversed(acknowledgements) if accepted.covers(case.case)), None)
