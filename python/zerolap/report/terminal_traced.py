"""What was traced of a case, on a terminal."""

from zerolap.records import ReadingTable
from zerolap.report.lines import Lines, TextColumn
from zerolap.report.traced_reading import TracedReading, TracedTable
from zerolap.sheets import one_line


def show_traced(lines: Lines, case: str, reading: TracedReading | None) -> None:
    """Write the metrics, the system calls by thread, the waiting, and the stacks; nothing where nothing was traced."""
    if reading is None:
        return
    lines.blank()
    lines.line((one_line(case), "bold"), "  ", (reading.headline, "dim"))
    for table in reading.tables:
        show_traced_table(lines, table)
    for heading, stacks in reading.stacks.items():
        lines.line((heading, "dim"), indent=2)
        for share, thread, frames in stacks:
            lines.line(f"{share:>7}  ", (one_line(thread) + "  ", "dim"), one_line(frames), indent=2)
    for note in reading.notes:
        lines.line(("note: ", "bold"), one_line(note), indent=2)


def show_traced_table(lines: Lines, table: TracedTable | ReadingTable) -> None:
    """Write a table below its heading."""
    lines.line((table.heading, "dim"), indent=2)
    columns = []
    for place, header in enumerate(table.columns):
        indent = "  " if place == 0 else ""
        cells = [indent + one_line(row[place]) for row in table.rows]
        is_number = place >= max(table.names, 1)
        columns.append(TextColumn(indent + header, cells, right=is_number, dispensable=max(0, place - 2)))
    lines.table(columns)
