"""Lists the newest comparisons and runs of a store."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from zerolap.store import Store


def show_newest(store: Store) -> None:
    """Print a table of the newest entries."""
    rows = store.comparisons()
    console = Console()
    if not rows:
        console.print("The store is empty. Fill it: zerolap run, zerolap compare")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "created", "state", "servers", "outcome"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        servers = row.head if row.base is None else f"{row.base} .. {row.head}"
        outcome = row.unreadable
        if row.summary is not None:
            counts = row.summary.model_dump(exclude={"machine_seconds"})
            outcome = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        table.add_row(*map(Text, (row.id, row.created, row.state, servers, outcome)))
    console.print(table)
