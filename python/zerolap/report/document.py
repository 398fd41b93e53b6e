"""The documents behind `--json`."""

from zerolap.records import CaseProfile, CheckReport, Comparison, RunReport
from zerolap.report.written_reading import with_reading


def comparison_json(comparison: Comparison) -> str:
    """Return the document of a comparison with its reading, its keys in the records' order."""
    return _json(with_reading(comparison))


def run_json(report: RunReport) -> str:
    """Return the document of a run, its keys in the records' order."""
    return _json(report)


def check_json(report: CheckReport) -> str:
    """Return the document of a check, its keys in the records' order."""
    return _json(report)


def profile_json(profile: CaseProfile) -> str:
    """Return the document of a profile, its keys in the records' order."""
    return _json(profile)


def _json(document: Comparison | RunReport | CheckReport | CaseProfile) -> str:
    return document.model_dump_json(by_alias=True, indent=2) + "\n"
