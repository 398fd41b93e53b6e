"""All public suites with one command, quickly."""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benches.figures import Figure
from zerolap.records import RunCase, RunReport


def quick_run(suites: Path) -> dict[str, Figure]:
    """Run `zerolap run --cases … --quick` over all suites, and count what ran and what did not."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "run.json"
        command = [str(Path(sys.executable).with_name("zerolap")), "run", "--cases", str(suites), "--quick", "--quiet"]
        began = time.monotonic()
        ended = subprocess.run(
            [*command, "--json", str(report), "--store", f"{directory}/store"],
            check=False,
            capture_output=True,
            text=True,
        )
        seconds = time.monotonic() - began
        if not report.exists():
            raise SystemExit(f"the run gave no report: {ended.stderr[-2000:]}")
        document = RunReport.model_validate_json(report.read_text())
    outcomes = {case.case: outcome(case) for case in document.cases}
    ran = [name for name, word in outcomes.items() if word == "ran"]
    reasons = Counter(skipped.reason for skipped in document.skipped)
    count = len(outcomes) + len(document.skipped)
    return {
        "ran": Figure(
            value=len(ran),
            unit=f"of {count} suites",
            samples=[[name, word] for name, word in outcomes.items()],
            trials=len(outcomes),
            notes=[f"{name}: {word}" for name, word in outcomes.items() if word != "ran"],
        ),
        "skipped": Figure(
            value=len(document.skipped),
            unit="suites",
            samples=[[skipped.case, skipped.reason, skipped.text] for skipped in document.skipped],
            trials=1,
            notes=[f"{reason}: {number}" for reason, number in reasons.most_common()],
        ),
        "seconds_quick": Figure(value=seconds, unit="s", samples=[seconds], trials=1),
    }


def outcome(case: RunCase) -> str:
    """Return `ran` for a case that made requests and got no error reply that it does not declare, or what it was."""
    if case.failure is not None:
        return "failed: " + case.failure.splitlines()[0]
    if case.validity.failed:
        return "invalid: " + ", ".join(f"{check.check} {check.value} ({check.limit})" for check in case.validity.failed)
    return "ran"
