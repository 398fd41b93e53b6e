"""What was traced of a case, as Markdown."""

from zerolap.records import ReadingTable
from zerolap.report.markdown import bullets, code, folded, prose, table
from zerolap.report.traced_reading import TracedReading, TracedTable

LONGEST_STACK = 400
LONGEST_NAME = 60


def traced_markdown(case: str, reading: TracedReading) -> str:
    """Return a folded section with the metrics, the system calls by thread, the waiting, and the stacks."""
    blocks = [block for traced in reading.tables for block in (prose(traced.heading), traced_table(traced))]
    for heading, stacks in reading.stacks.items():
        lines = [
            f"{share} {code(thread, LONGEST_NAME)} {code(frames, LONGEST_STACK)}" for share, thread, frames in stacks
        ]
        blocks += [prose(heading), bullets(lines)]
    blocks += [prose(note) for note in reading.notes]
    return folded(f"{code(case)} {reading.headline}", "\n\n".join(blocks))


def traced_table(traced: TracedTable | ReadingTable) -> str:
    """Return a table; names are code."""
    rows = [[*(code(name, LONGEST_NAME) for name in row[: traced.names]), *row[traced.names :]] for row in traced.rows]
    return table(traced.columns, rows, numbers=range(max(traced.names, 1), len(traced.columns)))
