"""The documents behind `--json`."""

from zerolap.records import CheckReport, Comparison, RunReport


def comparison_json(comparison: Comparison) -> str:
    """Return the document of a comparison, its keys in the records' order."""
    return _json(comparison)


def run_json(report: RunReport) -> str:
    """Return the document of a run, its keys in the records' order."""
    return _json(report)


def check_json(report: CheckReport) -> str:
    """Return the document of a check, its keys in the records' order."""
    return _json(report)


def _json(document: Comparison | RunReport | CheckReport) -> str:
    return document.model_dump_json(by_alias=True, indent=2) + "\n"
