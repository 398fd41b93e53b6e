"""What came of a push or tag, as a line of JSON for other programs: the output of `zerolap watch --json`."""

from collections.abc import Sequence
from typing import Final

from pydantic import Field

from zerolap.records import CHANGED, CaseResult, CaseVerdict, Comparison, Record
from zerolap.triggers.notifying import Push, headline, improved_cases, regressed_cases
from zerolap.triggers.trigger import PushTrigger

WATCH_SCHEMA: Final = "zerolap.watch/1"


class PushedChange(Record):
    """A case that a push made worse or better on a platform, by the metric that decided it."""

    case: str
    platform: str
    verdict: CaseVerdict
    metric: str
    change: float
    low: float
    high: float


class PushReport(Record):
    """A push to `branch`, or `tag`, whose comparisons have ended; `failures` are why platforms have none."""

    schema_: str = Field(default=WATCH_SCHEMA, alias="schema", serialization_alias="schema")
    branch: str | None = None
    tag: str | None = None
    commit: str
    headline: str
    comparisons: list[str]
    regressions: list[str]
    improvements: list[str]
    changes: list[PushedChange]
    failures: list[str]

    @classmethod
    def of(cls, push: Push, comparisons: Sequence[Comparison]) -> "PushReport":
        """Return the report of a push from its comparisons."""
        is_branch = isinstance(push.trigger, PushTrigger)
        cases = [(comparison, case) for comparison in comparisons for case in comparison.cases]
        changes = [_change_of(case, comparison.platform.name) for comparison, case in cases]
        return cls(
            branch=push.ref if is_branch else None,
            tag=None if is_branch else push.ref,
            commit=push.commit,
            headline=headline(push, comparisons),
            comparisons=list(push.comparisons),
            regressions=regressed_cases(comparisons),
            improvements=improved_cases(comparisons),
            changes=[change for change in changes if change is not None],
            failures=list(push.failures),
        )


def _change_of(case: CaseResult, platform: str) -> PushedChange | None:
    decided = next((verdict for verdict in case.verdicts if verdict.metric == case.deciding), None)
    if decided is None or case.verdict not in CHANGED:
        return None
    return PushedChange(
        case=case.case,
        platform=platform,
        verdict=case.verdict,
        metric=decided.metric,
        change=decided.change,
        low=decided.low,
        high=decided.high,
    )
