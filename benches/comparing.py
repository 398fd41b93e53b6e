"""Comparisons through the Python API, for the benches."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import zerolap
from benches.figures import DIRECTORY
from zerolap.records import CaseVerdict, Comparison, Verdict

SERVER = "redis-server"
DEMO_REPOSITORY = Path(".demo/redis")
CHANGED: frozenset[CaseVerdict] = frozenset({"regression", "improvement"})


@dataclass(frozen=True)
class ClockedComparison:
    """A comparison's document and the seconds from its beginning to its end, builds included."""

    document: Comparison
    seconds: float

    @property
    def confirmed(self) -> list[str]:
        """The cases whose change was confirmed."""
        return [case.case for case in self.document.cases if case.confirmed]

    @property
    def machine_seconds_per_case(self) -> float:
        """The seconds of machine time that a case's trials took, those of both sides."""
        return self.document.summary.machine_seconds / len(self.document.cases)

    def verdicts(self, metric: str) -> dict[str, Verdict]:
        """Return the verdicts on a metric by case."""
        return {
            case.case: verdict for case in self.document.cases for verdict in case.verdicts if verdict.metric == metric
        }

    def timed_changes(self) -> list[tuple[str, Verdict]]:
        """Return the cases and timed verdicts, on any metric, that report a change."""
        return [
            (case.case, verdict)
            for case in self.document.cases
            for verdict in case.verdicts
            if verdict.engine == "timed" and verdict.verdict in CHANGED
        ]


def empty_store(name: str) -> Path:
    """Return a store without results: what it knew of the machine would be known to the next comparison."""
    store = DIRECTORY / name
    shutil.rmtree(store, ignore_errors=True)
    return store


def compare_servers(options: zerolap.Options, store: Path) -> ClockedComparison:
    """Compare the installed server with itself over the core suite."""
    began = time.monotonic()
    document = zerolap.compare(SERVER, SERVER, options=options, store=store)
    return ClockedComparison(document, time.monotonic() - began)


def compare_demo(options: zerolap.Options, store: Path, cases: Sequence[str] = ()) -> ClockedComparison:
    """Compare the demo's two revisions, by default over the core suite."""
    began = time.monotonic()
    document = zerolap.compare("HEAD~1", "HEAD", cases, repo=DEMO_REPOSITORY, options=options, store=store)
    return ClockedComparison(document, time.monotonic() - began)
