"""The documents behind `--json`."""

from zerolap.records import Comparison, Record, RunReport
from zerolap.report.written_reading import with_reading


def document_json(document: Record) -> str:
    """Return a document, its keys in the records' order."""
    return document.model_dump_json(by_alias=True, indent=2) + "\n"


def comparison_json(comparison: Comparison) -> str:
    """Return the document of a comparison with its reading."""
    return document_json(with_reading(comparison))


def run_json(report: RunReport) -> str:
    """Return the document of a run."""
    return document_json(report)
