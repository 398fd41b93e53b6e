"""Draws the pictures of docs/async-fork.md: `python -m benches.async_fork_pictures DOCUMENT.json DIRECTORY`.

`DOCUMENT.json` is what `zerolap snapshot --kernel --json` has written.
"""

import sys
from pathlib import Path

from zerolap.records import EmulatedSnapshotReport
from zerolap.report import fork_picture, wait_picture


def main() -> None:
    """Write both pictures into the directory."""
    document, directory = map(Path, sys.argv[1:])
    report = EmulatedSnapshotReport.model_validate_json(document.read_text())
    (directory / "async-fork-fork.svg").write_text(fork_picture(report))
    (directory / "async-fork-wait.svg").write_text(wait_picture(report))


if __name__ == "__main__":
    main()
