"""Why work changed from one commit to another: from the call graphs of both, which their counts have left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from zerolap import __version__
from zerolap.build import BuiltServer
from zerolap.history.history_range import HistoryRange
from zerolap.judge import StringCosts
from zerolap.lab import Explainer, Lab, with_builds
from zerolap.records import OF_INSTRUCTIONS, CallGraph, Finding, ZerolapError
from zerolap.store import BlobDamaged, Blobs, CountedPoint, ExplainedStep

MOST_REASONS = 3
EXPLAINED_BY: Final = f"{__version__}, 2"
"""The revision of these reasons: those of another are found anew. The number grows when their sentences change."""
MOST_STRING_COSTS: Final = 20_000
"""The most call graphs whose costs of strings are kept in memory: those beside small steps of a history."""
MOST_EXPLAINERS: Final = 64
"""The most explainers in memory, each with the functions of both programs and the lines that differ."""


@dataclass(frozen=True)
class WorkReasons:
    """Explains changes of counted work over a range, as far as the lab has its builds."""

    asked: HistoryRange
    lab: Lab
    _explainers: dict[tuple[str, str], Explainer] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, after: int, position: int, points: tuple[CountedPoint, CountedPoint]) -> tuple[str, ...]:
        """Return the reasons for a change between two commits as sentences; none where there is nothing to see."""
        base, head = points
        if base.graph is None or head.graph is None:
            return ()
        step = ExplainedStep(base.build, head.build, base.graph, head.graph, base.series.metric, EXPLAINED_BY)
        known = self.lab.store.history.reasons(step)
        if known is not None:
            return known
        try:
            findings = self._findings(after, position, base, head)
        except (ZerolapError, BlobDamaged, ValueError, OSError) as fault:
            return (f"The change cannot be explained: {fault}",)
        reasons = tuple(finding.text for finding in findings)[:MOST_REASONS]
        if reasons:
            self.lab.store.history.keep_reasons(step, reasons)
        return reasons

    def log_by_string_places(self, points: tuple[CountedPoint, CountedPoint]) -> float:
        """Return what the places of strings account for of a change of instructions, as a logarithm; 0 if unknown."""
        base, head = points
        if base.graph is None or head.graph is None or base.series.metric not in OF_INSTRUCTIONS:
            return 0.0
        try:
            of_base, of_head = (_string_costs(graph, self.lab.store.blobs) for graph in (base.graph, head.graph))
            instructions = of_base.difference_by_places(of_head)
        except (ZerolapError, BlobDamaged, ValueError, OSError):
            # The change stands then, with what is damaged as its reason.
            return 0.0
        return math.log(head.value / (head.value - instructions)) if head.value > max(instructions, 0.0) else 0.0

    def of_comparison(self, identity: str, case: str) -> tuple[str, ...]:
        """Return the reasons that a comparison found for a change of a case, its culprits first."""
        try:
            results = self.lab.store.comparison(identity).cases
        except ZerolapError as fault:
            return (f"The comparison {identity} cannot be read: {fault}",)
        findings = [finding for result in results if result.case == case for finding in result.findings]
        return tuple(finding.text for finding in findings)[:MOST_REASONS]

    def _findings(self, after: int, position: int, base: CountedPoint, head: CountedPoint) -> Sequence[Finding]:
        builds = self._builds([point.build for point in (base, head)])
        if builds[0] is None or builds[1] is None or base.graph is None or head.graph is None:
            return []
        explainer = self._explainer(after, position, builds[0], builds[1])
        old, new = (_read_graph(digest, self.lab.store.blobs) for digest in (base.graph, head.graph))
        return explainer.explain_work(old, new, base.series.metric)

    def _builds(self, digests: Sequence[str]) -> list[BuiltServer | None]:
        """Return builds as far as the lab has them: those of a fleet's builder are unpacked here."""
        lab = self.lab
        if self.asked.builder:
            artifacts = lab.store.fleet.artifacts(digests, self.asked.builder)
            lab = with_builds(list(artifacts.values()), lab)
        return [lab.builds.find(digest) for digest in digests]

    def _explainer(self, after: int, position: int, base: BuiltServer, head: BuiltServer) -> Explainer:
        """Return the explainer of two commits: all cases and metrics that changed there need the same one."""
        key = base.record.build, head.record.build
        if key not in self._explainers:
            if len(self._explainers) >= MOST_EXPLAINERS:
                self._explainers.pop(next(iter(self._explainers)))
            sources = self.asked.commits[after].source, self.asked.commits[position].source
            self._explainers[key] = Explainer(base, head, sources, self.lab.store.blobs)
        return self._explainers[key]


def _read_graph(digest: str, blobs: Blobs) -> CallGraph:
    return CallGraph.model_validate_json(blobs.get(digest))


@lru_cache(maxsize=MOST_STRING_COSTS)
def _string_costs(digest: str, blobs: Blobs) -> StringCosts:
    """Return what functions for strings cost in a call graph; kept, as a branch is judged after each push."""
    return StringCosts.of(_read_graph(digest, blobs))
