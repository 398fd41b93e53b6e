"""Writes what known edits save into the package's data, and into the documents that state it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from zerolap.explain import BUILT_IN_DETECTORS, BUILT_IN_GROUP_DETECTORS, calibration_of
from zerolap.records import KnownEdit, KnownEdits
from zerolap.sheets import calibration_text, share

ROOT: Final = Path(__file__).resolve().parents[2]
DATA: Final = ROOT / "python" / "zerolap" / "explain" / "detectors" / "calibration.json"
OPPORTUNITIES: Final = ROOT / "docs" / "opportunities.md"
DETECTORS: Final = ROOT / "docs" / "detectors"
MEASURED_BY: Final = "make bench-explain FIGURES=predicted_factor"
DIGITS: Final = 6
PARAGRAPH: Final = re.compile(r"^\*\*Calibration\*\*: .*\n", re.MULTILINE)
HEADINGS: Final = "| edit | version | detector | predicted | measured |\n|---|---|---|--:|--:|\n"
TABLE: Final = re.compile(re.escape(HEADINGS) + r"(?:\|.*\n)*")


def calibrate(edits: Sequence[KnownEdit]) -> None:
    """Write the data, the table of all edits, and the paragraph of each detector's page."""
    rounded = tuple(
        edit.model_copy(update={"predicted": round(edit.predicted, DIGITS), "measured": round(edit.measured, DIGITS)})
        for edit in sorted(edits, key=lambda edit: (edit.detector, edit.name))
    )
    data = KnownEdits(measured_by=MEASURED_BY, edits=rounded)
    DATA.write_text(data.model_dump_json(indent=2) + "\n", encoding="utf-8")
    _replace(OPPORTUNITIES, TABLE, table(rounded))
    names = [*(detector.name for detector in BUILT_IN_DETECTORS), *(group.name for group in BUILT_IN_GROUP_DETECTORS)]
    for name in names:
        _replace(DETECTORS / f"{name}.md", PARAGRAPH, paragraph(name, rounded))


def table(edits: Sequence[KnownEdit]) -> str:
    """Return the known edits as a table of a document."""
    return HEADINGS + "".join(map(_row, edits))


def _row(edit: KnownEdit) -> str:
    predicted, measured = share(edit.predicted), share(edit.measured)
    untested = "" if edit.is_counted else ", mostly not counted"
    return f"| {edit.name} | {edit.version} | {edit.detector} | {predicted} | {measured}{untested} |\n"


def paragraph(detector: str, edits: Sequence[KnownEdit]) -> str:
    """Return the paragraph on known edits of a detector's page, which is one line."""
    text = calibration_text(calibration_of(detector, edits))
    return f"**Calibration**: {text} ([known edits](../opportunities.md#known-edits)).\n"


def _replace(document: Path, pattern: re.Pattern[str], text: str) -> None:
    """Put a text in place of the part of a document that a pattern matches once."""
    content, number = pattern.subn(lambda _: text, document.read_text(encoding="utf-8"))
    if number != 1:
        raise SystemExit(f"{document} has {number} parts to replace by: {text.splitlines()[0]}")
    document.write_text(content, encoding="utf-8")
