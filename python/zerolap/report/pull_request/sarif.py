"""Regressions as SARIF 2.1.0, which code scanning shows beside the lines of a change.

The format is https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
"""

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from zerolap import __version__
from zerolap.fail_on import FailOn
from zerolap.records import CaseResult, Comparison, Finding
from zerolap.sheets import ChangedLines, case_sentences, locations_of, one_line, ranked

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES: Final = {
    "regression-of-time": "A request takes more time than before.",
    "regression-of-work": "A request makes the server do more work than before.",
}
REASONS: Final = ("culprit", "allocation", "cause", "diffuse")


def comparison_sarif(comparison: Comparison, changed: Sequence[ChangedLines], when: FailOn) -> str:
    """Return a result for each regression, at the changed lines that are its reason where they are known.

    Where they are not, it is at the first changed line of all; without changed lines it has no location. A result is an
    error where `--fail-on` applies to its case, else a warning.
    """
    failing = {case.case for case in comparison.failing_cases(when)}
    results = [
        _result(case, changed, "error" if case.case in failing else "warning")
        for case in comparison.cases
        if case.is_regression
    ]
    driver = {
        "name": "Zerolap",
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"zerolap/{one_line(comparison.platform.name)}/{comparison.id}"},
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(case: CaseResult, changed: Sequence[ChangedLines], level: str) -> dict[str, Any]:
    findings = [finding for kind in REASONS for finding in ranked(case, kind)]
    texts = [one_line(text) for text in [*case_sentences(case), *(finding.text for finding in findings[:1])]]
    rule = "regression-of-time" if case.time == "regression" else "regression-of-work"
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": f"{one_line(case.case)}: {' '.join(dict.fromkeys(texts))}"},
        "locations": [_location(lines) for lines in _locations(findings, changed)[:1]],
        "relatedLocations": [_location(lines) for lines in _locations(findings, changed)[1:]],
        "partialFingerprints": {"zerolapCase/v1": f"{rule}:{one_line(case.case)}"},
    }


def _locations(findings: Sequence[Finding], changed: Sequence[ChangedLines]) -> list[ChangedLines]:
    """Return the changed lines of the first reason that has any, else the first changed lines of all."""
    of_reasons = (locations_of(finding, changed) for finding in findings)
    return next((locations for locations in of_reasons if locations), list(changed[:1]))


def _location(lines: ChangedLines) -> dict[str, Any]:
    first = max(1, min(lines.first_line, lines.last_line))
    region = {"startLine": first, "endLine": max(first, lines.last_line)}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(lines.file, errors="replace")}, "region": region}}
