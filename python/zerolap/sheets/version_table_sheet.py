"""A version table as it is shown: changes up to the last version and from version to version, and their reasons."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from zerolap.records import (
    FLAT,
    METRICS,
    BoundedChange,
    BuildDifference,
    TableCell,
    TableChange,
    TableRow,
    TableTotal,
    VersionTable,
)
from zerolap.sheets.format import (
    by_author,
    change,
    counted,
    interval,
    listing,
    metric_label,
    rough_percent,
    share,
    weighting,
)
from zerolap.sheets.history_sheet import change_text
from zerolap.sheets.sheet import Cell, Column, Section, Sentence, Sheet, Table, name

MOST_LISTED: Final = 5
"""The most cases listed that lost, and that gained."""
MOST_REASONS: Final = 2
FIRST_OF_A_LINE: Final = re.compile(r"\D*\d+\.\d+(?:\.0)?")
"""The name of a release that is no patch of another one: these columns stay where there is little room."""
Choose: TypeAlias = Callable[[TableCell | TableTotal], TableChange | None]


def version_table_sheet(table: VersionTable) -> Sheet:
    """Return the tables, what is built differently, and the largest changes with their reasons."""
    builds = [Sentence(label="build", text=_build(difference)) for difference in table.builds]
    return Sheet(
        kind="version-table",
        title=_headline(table),
        remark=_effort(table),
        tables=_tables(table),
        sections=[
            *([Section(sentences=builds)] if builds else []),
            *(_large_change(table, row) for row in _largest_rows(table)),
        ],
        notes=_notes(table),
    )


def cell_text(cell: TableChange | None) -> str:
    """Write a change; in parentheses where it may as well be none, and nothing where it is not measured."""
    if cell is None:
        return ""
    text = change_text(cell.whole.change)
    return text if cell.whole.is_certain or cell.whole.is_flat else f"({text})"


def _tables(table: VersionTable) -> list[Table]:
    """Return the tables of a document: where there are only two versions, both would be the same."""
    last = table.versions[-1].name
    since = _table(table, f"from each version to {last}", range(len(table.versions) - 1), lambda cell: cell.since)
    if len(table.versions) == 2:
        return [since]
    return [since, _table(table, "from the version before", range(1, len(table.versions)), lambda cell: cell.step)]


def _table(table: VersionTable, heading: str, versions: Sequence[int], choose: Choose) -> Table:
    has_weights = table.weights.kind != "equal"
    columns = [
        Column(key="command", heading="command"),
        Column(key="case", heading="case", rank=1),
        *([Column(key="weight", heading="weight", is_number=True, rank=3)] if has_weights else []),
        *(_version_column(table, index, versions) for index in versions),
    ]
    rows = [
        [*names, *([Cell(text=share(weight))] if has_weights else []), *map(_cell, changes)]
        for names, weight, changes in _rows(table, versions, choose)
    ]
    return Table(key=heading, heading=heading, columns=columns, rows=rows)


def _version_column(table: VersionTable, index: int, shown: Sequence[int]) -> Column:
    version = table.versions[index].name
    is_kept = index in (table.since, shown[0], shown[-1])
    rank = 0 if is_kept else 2 if FIRST_OF_A_LINE.fullmatch(version) else 4
    return Column(key=table.versions[index].commit, heading=version, is_number=True, rank=rank, has_name=True)


Row: TypeAlias = tuple[tuple[Cell, Cell], float, Sequence[TableChange | None]]
"""The cells of the command and the case, the weight, and the changes by version."""


def _rows(table: VersionTable, versions: Sequence[int], choose: Choose) -> Iterator[Row]:
    """Yield the commands and their cases, the mean over all, and of that the parts of the code and of the build."""
    by_case = {row.case: row for row in table.rows}
    for command in table.commands:
        is_single = len(command.cases) == 1
        names = name(listing(command.commands)), Cell(text=f"{len(command.cases)} cases")
        if not is_single:
            yield names, command.weight, [choose(command.totals[index]) for index in versions]
        for case in command.cases:
            cells = [choose(by_case[case].cells[index]) for index in versions]
            if is_single:
                yield (names[0], name(case)), command.weight, cells
            else:
                yield (name(case, is_part=True), Cell()), by_case[case].weight, cells
    totals = [choose(table.totals[index]) for index in versions]
    yield (Cell(text="all", mark="strong"), Cell()), 1.0, totals
    if any(total is not None and total.build is not None and total.build.is_certain for total in totals):
        yield _part("of the code", [None if total is None else total.code for total in totals])
        yield _part("of the build", [None if total is None else total.build for total in totals])


def _part(text: str, parts: Sequence[BoundedChange | None]) -> Row:
    changes = [None if part is None else TableChange(whole=part) for part in parts]
    return (Cell(text=text, is_part=True), Cell()), 1.0, changes


def _cell(cell: TableChange | None) -> Cell:
    if cell is None or not cell.whole.is_certain:
        return Cell(text=cell_text(cell))
    return Cell(text=cell_text(cell), mark="worse" if cell.whole.change > 0 else "better")


def _headline(table: VersionTable) -> str:
    """Write what all cases together have lost or gained since the version that was asked about."""
    begin, total = table.versions[table.since].name, table.totals[table.since]
    if total.since is None:
        return f"since {begin}: no case is measured in the same way at {begin} and {table.versions[-1].name}"
    whole, label = total.since.whole, metric_label(table.metric)
    fewer = "less" if METRICS[table.metric].unit == "ns" else "fewer"
    amount = f"{rough_percent(whole.change)} {'more' if whole.change > 0 else fewer} {label}"
    if not whole.is_certain:
        amount = f"no certain change of {label}"
    bounds = "" if abs(whole.high - whole.low) <= 4 * FLAT else f" {interval(whole.low, whole.high)}"
    return f"since {begin}: {amount}{bounds} over {_cases(table)} ({weighting(table.weights)}){_parts(total.since)}"


def _cases(table: VersionTable) -> str:
    measured, all_cases = table.totals[table.since].since_cases, counted(table.weighted_cases, "case", "cases")
    return all_cases if measured == table.weighted_cases else f"{measured:,} of {all_cases}"


def _parts(total: TableChange) -> str:
    if total.code is None or total.build is None or not total.build.is_certain:
        return ""
    return f": the code {change_text(total.code.change)}, the build {change_text(total.build.change)}"


def _effort(table: VersionTable) -> str:
    variant = "" if table.variant == "default" else f", variant {table.variant}"
    cases = counted(len(table.rows), "case", "cases")
    return f"{table.range}: {len(table.versions):,} versions, {cases}{variant}"


def _largest_rows(table: VersionTable) -> list[TableRow]:
    """Return the cases with the largest parts in the whole, those that lost first, as many of each as are listed."""
    certain = [
        (row.weight * since.whole.change, row)
        for row in table.measured_rows
        if (since := row.cells[table.since].since) is not None and since.whole.is_certain
    ]
    lost = sorted((pair for pair in certain if pair[0] > 0), key=lambda pair: -pair[0])[:MOST_LISTED]
    gained = sorted((pair for pair in certain if pair[0] < 0), key=lambda pair: pair[0])[:MOST_LISTED]
    return [row for _, row in [*lost, *gained]]


def _large_change(table: VersionTable, row: TableRow) -> Section:
    """Return how a case changed since the version of the headline, its part of the weights, and the largest change."""
    weight = "" if table.weights.kind == "equal" else f", weight {share(row.weight)}"
    since, cause = row.cells[table.since].since, row.cause
    changed = "" if since is None else f"{cell_text(since)} since {table.versions[table.since].name}"
    sentences = []
    if cause is not None:
        subject = f" ({by_author(cause.subject, cause.author)})" if cause.subject else ""
        largest = f"{change(cause.change)} from {cause.after} to {cause.commit}{subject}"
        sentences = [Sentence(text=text) for text in (largest, *cause.reasons[:MOST_REASONS])]
    return Section(key=row.case, title=row.case, remark=f"{changed}{weight}", sentences=sentences)


def _build(difference: BuildDifference) -> str:
    """Write how a version is built differently from the one before, and what that could be told apart by."""
    text = f"{difference.version} is built differently from {difference.after}: {listing(difference.words)}"
    if difference.variant is None:
        return f"{text}; no variant expresses that, and it counts as code"
    text += f"; the build's part is that of {difference.after} by {difference.variant}"
    if difference.not_split:
        text += f", and what no variant expresses counts as code: {listing(difference.not_split)}"
    return text


def _notes(table: VersionTable) -> list[str]:
    """Return what is missing in a table: versions that failed, means over fewer cases, releases without a column."""
    failed = [f"{version.name}: {version.failure}" for version in table.versions if version.failure is not None]
    fewer = [
        f"{version.name}: the mean since then is over {total.since_cases:,} of {table.weighted_cases:,} cases"
        for version, total in zip(table.versions, table.totals, strict=True)
        if total.since_cases < table.weighted_cases
    ]
    return [*failed, *fewer, *table.notes]
