"""How many files have to be edited for a new column of a document, tried on a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

FILE: Final = "zerolap/sheets/snapshot_sheet.py"
BEFORE: Final = '    "event_seconds": SnapshotFigure('
COLUMN: Final = '    "during_p99_us": SnapshotFigure("p99 in the event", "ms", 1000),\n'
HEADING: Final = "p99 in the event, ms"
PROGRAM: Final = """
import io, json, sys
from rich.console import Console
from made_snapshots import report
from zerolap.report import (sheet_csv, sheet_html, sheet_markdown, show_sheet)
from zerolap.sheets import sweep_sheet
sheet = sweep_sheet(report())
terminal = io.StringIO()
show_sheet(sheet, Console(file=terminal, width=240))
columns = [column.title for table in sheet.tables for column in table.columns]
forms = {"terminal": terminal.getvalue(), "markdown": sheet_markdown(sheet), "csv": sheet_csv(sheet)}
forms["page"] = sheet.model_dump_json()
sheet_html(report(), sheet)
print(json.dumps({"columns": columns, "forms": forms}))
"""


def edits_for_a_column(package: Path) -> list[str]:
    """Return the files that were edited until a new column was in each form of a document.

    Raises `RuntimeError` if a form lacks the column, or its table differs from that of another form.
    """
    with TemporaryDirectory() as directory:
        copy = Path(directory)
        shutil.copytree(package / "zerolap", copy / "zerolap", symlinks=True)
        edited = copy / FILE
        text = edited.read_text(encoding="utf-8")
        if text.count(BEFORE) != 1:
            raise RuntimeError(f"{FILE} has no place for a column any more")
        edited.write_text(text.replace(BEFORE, COLUMN + BEFORE), encoding="utf-8")
        tests = package.parent / "tests"
        environment = os.environ | {"PYTHONPATH": f"{copy}:{tests}"}
        command = [sys.executable, "-c", PROGRAM]
        output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    drawn = json.loads(output)
    if HEADING not in drawn["columns"]:
        raise RuntimeError("the sheet has no new column")
    for form, content in drawn["forms"].items():
        words = ["p99 in the event"] if form == "page" else [HEADING]
        if not all(word in content for word in words):
            raise RuntimeError(f"the {form} lacks the new column")
    return [FILE]
