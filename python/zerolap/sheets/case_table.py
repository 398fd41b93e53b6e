"""The tables of a comparison's cases: their work and their time beside each other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.records import UNCHANGED, Answer, CaseResult
from zerolap.sheets.case_rows import CaseRow, CaseRows
from zerolap.sheets.case_words import (
    ANSWERS,
    CaseAnswer,
    answer_of,
    answers,
    drawn_change,
    failed_on,
    is_missing,
    remark,
    usual_metric,
    word,
)
from zerolap.sheets.detail import Lengths
from zerolap.sheets.format import NO_VALUE, change, counted, interval, listing, metric_heading, metric_label, percent
from zerolap.sheets.outcome_words import WORDS, failed_check, word_counts
from zerolap.sheets.sheet import Cell, Column, Section, Table, name
from zerolap.sheets.tails import short_tail

NOT_MEASURED: Final[dict[Answer, str]] = {"work": "not counted", "time": "not timed", "memory": "not read"}
CASE: Final = Column(key="case", heading="case")
PLATFORM: Final = Column(key="platform", heading="platform")
OUTCOME: Final = Column(key="outcome", heading="outcome")
"""Where no case was measured."""
DETECTABLE: Final = Column(key="detectable", heading="smallest visible change", rank=1)


@dataclass(frozen=True)
class AnswerColumns:
    """The columns of a table for work and time, where any case has such an answer, and for memory where any changed.

    `usual_metrics` has the metric that most cases rest on, which is in the heading; cells name only other ones.
    """

    usual_metrics: Mapping[Answer, str | None]

    @classmethod
    def of_cases(cls, cases: Sequence[CaseResult]) -> "AnswerColumns":
        """Return the columns for all of these cases."""
        by_answer = {answer: [given for case in cases if (given := answer_of(case, answer))] for answer in ANSWERS}
        present = [answer for answer, given in by_answer.items() if given and (answer != "memory" or _differs(given))]
        return cls({answer: usual_metric(cases, answer) for answer in present})

    @property
    def columns(self) -> list[Column]:
        """The columns, with the usual metric in the heading."""
        return [
            Column(key=answer, heading=answer, detail=metric_label(metric) if metric else "")
            for answer, metric in self.usual_metrics.items()
        ]

    def cells(self, case: CaseResult) -> list[Cell]:
        """Return the cells of a case; empty for an answer that nothing could differ in."""
        return [
            Cell(text=NOT_MEASURED[answer], mark="quiet")
            if is_missing(case, answer)
            else _answer_cell(answer_of(case, answer), metric)
            for answer, metric in self.usual_metrics.items()
        ]


def _differs(answered: Sequence[CaseAnswer]) -> bool:
    return any(given.word not in UNCHANGED for given in answered)


def changed_table(
    rows: Sequence[CaseRow],
    columns: AnswerColumns,
    *,
    names_platform: bool,
    most_rows: int,
    lengths: Lengths | None,
) -> Table:
    """Return the cases that changed or are not decided; `most_rows` of them.

    `lengths` are those of names and of why a case failed; without, names are whole, and why it failed is left out.
    """
    notable = [row for row in rows if not row.is_unchanged]
    return Table(
        key="changed",
        columns=[CASE, *([PLATFORM] if names_platform else []), *(columns.columns or [OUTCOME]), DETECTABLE],
        rows=[_row(row, columns, lengths, names_platform=names_platform) for row in notable[:most_rows]],
        left_out=max(0, len(notable) - most_rows),
    )


def unchanged_row(cases: Sequence[CaseResult], columns: AnswerColumns, *, are_others: bool) -> list[Cell]:
    """Return the row for all unchanged cases: what their work and time came to, and of how many."""
    label = f"{len(cases):,} others" if are_others else counted(len(cases), "case", "cases")
    return [Cell(text=label), *(_answer_of_all(cases, answer) for answer in columns.usual_metrics), Cell()]


def all_cases_table(cases: Sequence[CaseResult], columns: AnswerColumns) -> Table:
    """Return a row for each of these cases."""
    return Table(
        key="unchanged",
        columns=[CASE, *columns.columns],
        rows=[[name(case.case), *columns.cells(case)] for case in cases],
    )


def listed_cases_table(cases: Sequence[CaseResult], columns: AnswerColumns) -> Table:
    """Return a row for each of these cases, with its verdict: their order is that of the verdicts."""
    return Table(
        key="cases",
        columns=[CASE, Column(key="verdict", heading="verdict"), *columns.columns],
        rows=[
            [
                name(case.case),
                Cell(text=word(case), detail=remark(case) or "", mark=word(case), order=-place),
                *columns.cells(case),
            ]
            for place, case in enumerate(cases)
        ],
    )


def groups_section(cases: Sequence[CaseResult], columns: AnswerColumns, weights: Mapping[str, float]) -> list[Section]:
    """Return a folded table of what the cases of each group, and all together, have come to; nothing for one group."""
    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    rows = [
        [
            name(group),
            Cell(text=f"{len(of_group):,}"),
            Cell(text=word_counts(map(word, of_group))),
            *(
                Cell(text=_mean_change(of_group, answer, metric, weights))
                for answer, metric in columns.usual_metrics.items()
            ),
        ]
        for group, of_group in [("all", list(cases)), *sorted(groups.items())]
    ]
    table = Table(
        key="all groups",
        columns=[
            Column(key="group", heading="group"),
            Column(key="cases", heading="cases", is_number=True),
            Column(key="verdicts", heading="verdicts"),
            *(column.model_copy(update={"is_number": True}) for column in columns.columns),
        ],
        rows=rows,
        remark="Changes are means; a case counts "
        + ("by the priority that its suite gives its command." if weights else "as much as any other."),
    )
    is_worth_it = len(groups) > 1 and columns.usual_metrics
    return [Section(key="groups", title="By group of commands", is_folded=True, tables=[table])] if is_worth_it else []


def _mean_change(cases: Sequence[CaseResult], answer: Answer, metric: str | None, weights: Mapping[str, float]) -> str:
    """Return the weighted geometric mean of the changes of a metric; identical code has not changed."""
    known = []
    for case in cases:
        given = answer_of(case, answer)
        if given is None:
            continue
        fraction = math.nan
        if given.word == "identical":
            fraction = 0.0
        elif given.decided is not None and given.decided.metric == metric:
            fraction = given.decided.change
        if -1 < fraction < math.inf:
            known.append((weights.get(case.case, 1.0), math.log1p(fraction)))
    total = math.fsum(weight for weight, _ in known)
    return change(math.expm1(math.fsum(weight * log for weight, log in known) / total)) if total else NO_VALUE


def group_table(cases: Sequence[CaseRows], most_groups: int, lengths: Lengths) -> Table:
    """Return a row for every group of unchanged cases, with the range of their changes; the largest groups first."""
    groups: dict[str, list[CaseRows]] = {}
    for case in cases:
        groups.setdefault(case.first.case.group, []).append(case)
    largest_first = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    present = [answer for answer in ANSWERS if _range(cases, answer)]
    rows = []
    for group, of_group in largest_first[:most_groups]:
        identical = sum(case.is_identical for case in of_group)
        ranges = [Cell(text=_range(of_group, answer)) for answer in present]
        rows.append([name(lengths.plain(group)), Cell(text=f"{len(of_group):,}"), Cell(text=f"{identical:,}"), *ranges])
    left_out = largest_first[most_groups:]
    further = counted(sum(len(of_group) for _, of_group in left_out), "case", "cases")
    return Table(
        key="groups",
        columns=[
            Column(key="group", heading="group"),
            Column(key="unchanged", heading="unchanged", is_number=True),
            Column(key="identical", heading="identical", is_number=True),
            *(Column(key=answer, heading=answer, detail="changes within") for answer in present),
        ],
        rows=rows,
        remark=f"and {further} of {len(left_out):,} more groups" if left_out else "",
    )


def _row(row: CaseRow, columns: AnswerColumns, lengths: Lengths | None, *, names_platform: bool) -> list[Cell]:
    case, platform, cells = row.case.case, row.platform, columns.cells(row.case) or [Cell()]
    if lengths is not None:
        case, platform = lengths.plain(case), lengths.plain(platform)
    if row.word in ("failed", "invalid"):
        why = "" if lengths is None else f": {_why_invalid(row.case, lengths)}"
        cells = [Cell(text=f"{row.word}{why}", mark=row.word), *cells[1:]]
    elif row.word == "unsure" and not any(cell.text for cell in cells):
        cells = [Cell(text="unsure", mark="unsure"), *cells[1:]]
    accepted = "(acknowledged)" if row.acknowledgement is not None else ""
    return [
        name(case).model_copy(update={"detail": accepted}),
        *([name(platform)] if names_platform else []),
        *cells,
        Cell(text=_detectable(row.case)),
    ]


def _why_invalid(case: CaseResult, lengths: Lengths) -> str:
    if case.failure is not None:
        return lengths.half.named(case.failure)
    failed = [failed_check(check.check, check.value, check.limit) for check in case.validity.failed]
    sides = failed_on(case)
    return ("" if sides is None else f"{sides}, ") + lengths.half.foreign("; ".join(failed))


def _detectable(case: CaseResult) -> str:
    """Return the smallest changes of work and time that the samples could have detected; bytes are exact."""
    decided = [
        (answered.answer, answered.decided.detectable)
        for answered in answers(case)
        if answered.decided is not None and answered.answer != "memory"
    ]
    return listing(f"{answer} {percent(size)}" for answer, size in decided if math.isfinite(size))


def _answer_cell(answered: CaseAnswer | None, usual: str | None) -> Cell:
    if answered is None:
        return Cell()
    decided, mark = answered.decided, answered.word
    if decided is None or answered.word == "identical":
        return Cell(text=answered.word, mark=mark)
    if answered.has_open_tail and answered.cost is not None:
        decided = answered.cost
    tail = "" if answered.tail is None else f", {short_tail(answered.tail)}"
    named = "" if decided.metric == usual else f"{metric_heading(decided.metric)} "
    return Cell(
        text=change(decided.change),
        detail=f"{named}{interval(decided.low, decided.high)}{tail}",
        mark=mark,
        order=abs(decided.change),
        drawn=drawn_change(decided),
    )


def _answer_of_all(cases: Sequence[CaseResult], answer: Answer) -> Cell:
    """Return what the work or the time of all these cases came to, and of how many it is known."""
    words = [given.word for case in cases if (given := answer_of(case, answer)) is not None]
    missing = sum(is_missing(case, answer) for case in cases)
    if not words:
        return Cell(text=NOT_MEASURED[answer] if missing else "not needed", mark="quiet")
    first = min(words, key=WORDS.index)
    identical = words.count("identical")
    parts = [f"{identical:,} identical"] if 0 < identical < len(words) else []
    parts += [f"{missing:,} {NOT_MEASURED[answer]}"] if missing else []
    parts += [f"{len(words):,} timed"] if answer == "time" and not missing and len(words) < len(cases) else []
    return Cell(text=first, detail=listing(parts), mark=first)


def _range(cases: Sequence[CaseRows], answer: Answer) -> str:
    answered = [row.answers.get(answer) for case in cases for row in case.rows if not row.is_identical]
    changes = [given.decided.change for given in answered if given is not None and given.decided is not None]
    return interval(min(changes), max(changes)) + " %" if changes else ""
