"""Draws the pictures of docs/async-fork.md: `python -m benches.async_fork_pictures DOCUMENT.json DIRECTORY`.

`DOCUMENT.json` is what `zerolap snapshot --kernel --json` has written.
"""

import sys
from pathlib import Path

from zerolap.records import EmulatedSnapshotReport
from zerolap.report import count_pictures


def main() -> None:
    """Write both pictures into the directory."""
    document, directory = map(Path, sys.argv[1:])
    report = EmulatedSnapshotReport.model_validate_json(document.read_text())
    for picture in count_pictures(report):
        (directory / f"async-fork-{picture.name}.svg").write_text(picture.svg)


if __name__ == "__main__":
    main()
