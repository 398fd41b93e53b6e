"""How a version table is read, in the words of all reports."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from zerolap.records import (
    FLAT,
    METRICS,
    BoundedChange,
    BuildDifference,
    TableCause,
    TableCell,
    TableChange,
    TableRow,
    TableTotal,
    TableVersion,
    VersionTable,
)
from zerolap.report.history_reading import change_text
from zerolap.sheets import (
    change,
    counted,
    interval,
    listing,
    metric_label,
    one_line,
    rough_percent,
    share,
    weighting,
)

MOST_LISTED: Final = 5
"""Of the cases that lost most, and of those that gained most."""


@dataclass(frozen=True)
class TableLine:
    """A line of a table, with its changes by version: commands and their case, or what `kind` says.

    A `case` is one of several that send the commands of a line above; `all` is the mean over all cases, and a `part` is
    that of the code or of the build in it.
    """

    kind: Literal["commands", "case", "all", "part"]
    name: str
    case: str
    weight: float
    changes: tuple[TableChange | None, ...]


@dataclass(frozen=True)
class ShownTable:
    """One of the two tables: from each version to the last one, or from the version before to each.

    `versions` are those of its columns. The last lines are of all cases, and of the parts of code and build.
    """

    title: str
    versions: tuple[TableVersion, ...]
    lines: tuple[TableLine, ...]


def shown_tables(table: VersionTable) -> list[ShownTable]:
    """Return the tables of a document: where there are only two versions, both would be the same."""
    last = table.versions[-1].name
    since = _shown(table, f"from each version to {last}", range(len(table.versions) - 1), _since)
    if len(table.versions) == 2:
        return [since]
    return [since, _shown(table, "from the version before", range(1, len(table.versions)), _step)]


def _since(entry: TableCell | TableTotal) -> TableChange | None:
    return entry.since


def _step(entry: TableCell | TableTotal) -> TableChange | None:
    return entry.step


Choose: TypeAlias = Callable[[TableCell | TableTotal], TableChange | None]


def _shown(table: VersionTable, title: str, columns: Sequence[int], choose: Choose) -> ShownTable:
    totals = tuple(choose(table.totals[index]) for index in columns)
    lines = [*_lines(table, columns, choose), TableLine("all", "all", "", 1.0, totals)]
    if any(total is not None and total.build is not None and total.build.is_certain for total in totals):
        code = (None if total is None else total.code for total in totals)
        build = (None if total is None else total.build for total in totals)
        lines += [_part("of the code", code), _part("of the build", build)]
    return ShownTable(title, tuple(table.versions[index] for index in columns), tuple(lines))


def _lines(table: VersionTable, columns: Sequence[int], choose: Choose) -> Iterator[TableLine]:
    rows = {row.case: row for row in table.rows}
    for command in table.commands:
        name = listing(command.commands)
        if len(command.cases) > 1:
            totals = tuple(choose(command.totals[index]) for index in columns)
            yield TableLine("commands", name, f"{len(command.cases)} cases", command.weight, totals)
        for case in command.cases:
            cells = tuple(choose(rows[case].cells[index]) for index in columns)
            if len(command.cases) == 1:
                yield TableLine("commands", name, case, command.weight, cells)
            else:
                yield TableLine("case", case, "", rows[case].weight, cells)


def _part(name: str, parts: Iterable[BoundedChange | None]) -> TableLine:
    changes = tuple(None if part is None else TableChange(whole=part) for part in parts)
    return TableLine("part", name, "", 1.0, changes)


def cell_text(cell: TableChange | None) -> str:
    """Write a change; in parentheses where it may as well be none, and nothing where it is not measured."""
    if cell is None:
        return ""
    text = change_text(cell.whole.change)
    return text if cell.whole.is_certain or cell.whole.is_flat else f"({text})"


def table_headline(table: VersionTable) -> str:
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


def table_effort(table: VersionTable) -> str:
    """Write what the table is made of."""
    variant = "" if table.variant == "default" else f", variant {table.variant}"
    cases = counted(len(table.rows), "case", "cases")
    return f"{one_line(table.range)}: {len(table.versions):,} versions, {cases}{variant}"


def largest_rows(table: VersionTable) -> list[TableRow]:
    """Return the cases with the largest parts in the whole, those that lost first, as many of each as are listed."""
    certain = [
        (row.weight * since.whole.change, row)
        for row in table.measured_rows
        if (since := row.cells[table.since].since) is not None and since.whole.is_certain
    ]
    lost = sorted((pair for pair in certain if pair[0] > 0), key=lambda pair: -pair[0])[:MOST_LISTED]
    gained = sorted((pair for pair in certain if pair[0] < 0), key=lambda pair: pair[0])[:MOST_LISTED]
    return [row for _, row in [*lost, *gained]]


def row_text(table: VersionTable, row: TableRow) -> str:
    """Write how a case changed since the version of the headline, and its part of the weights."""
    weight = "" if table.weights.kind == "equal" else f", weight {share(row.weight)}"
    since = row.cells[table.since].since
    changed = "" if since is None else f"{cell_text(since)} since {table.versions[table.since].name}"
    return f"{changed}{weight}"


def cause_text(cause: TableCause) -> str:
    """Write the largest change of a case: its size and where it lies."""
    subject = f" ({one_line(cause.subject)})" if cause.subject else ""
    return f"{change(cause.change)} from {cause.after} to {cause.commit}{subject}"


def build_text(difference: BuildDifference) -> str:
    """Write how a version is built differently from the one before, and what that could be told apart by."""
    words = one_line(listing(difference.words))
    text = f"{difference.version} is built differently from {difference.after}: {words}"
    if difference.variant is None:
        return f"{text}; no variant expresses that, and it counts as code"
    text += f"; the build's part is that of {difference.after} by {one_line(difference.variant)}"
    if difference.not_split:
        text += f", and what no variant expresses counts as code: {one_line(listing(difference.not_split))}"
    return text


def table_notes(table: VersionTable) -> list[str]:
    """Return what is missing in a table: versions that failed, means over fewer cases, releases without a column."""
    failed = [f"{version.name}: {version.failure}" for version in table.versions if version.failure is not None]
    fewer = [
        f"{version.name}: the mean since then is over {total.since_cases:,} of {table.weighted_cases:,} cases"
        for version, total in zip(table.versions, table.totals, strict=True)
        if total.since_cases < table.weighted_cases
    ]
    return [one_line(note) for note in [*failed, *fewer, *table.notes]]
