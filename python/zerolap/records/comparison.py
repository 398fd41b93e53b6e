"""One comparison on one platform: the stable document behind `--json`."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import Field

from zerolap.fail_on import FailOn
from zerolap.records.base import Record
from zerolap.records.build import MeasuredServer
from zerolap.records.changed_function import ChangedFunction, ChangedFunctions
from zerolap.records.finding import Finding
from zerolap.records.measured_regime import MeasuredRegime
from zerolap.records.measurement import Validity
from zerolap.records.metric import MetricRule
from zerolap.records.open_loads import TAIL
from zerolap.records.platform import Platform
from zerolap.records.pooled_change import PooledChange
from zerolap.records.skipped import Skipped
from zerolap.records.traced_case import TracedSides
from zerolap.records.trial import HEAD, Side
from zerolap.records.verdict import Verdict, VerdictWord

COMPARISON_SCHEMA = "zerolap.comparison/1"

CaseVerdict: TypeAlias = Literal["regression", "improvement", "same", "unsure", "invalid"]

DocumentState: TypeAlias = Literal["running", "done", "interrupted", "failed"]
"""How far the work on a document has come."""

TimeWord: TypeAlias = Literal["regression", "improvement", "same", "unsure"]

REGRESSION_RULE = "interval beyond 0, estimate beyond the minimum effect"


class Settings(Record):
    """What the comparison was asked to do; `min_effect` by engine, as a fraction.

    `load_policy` names whose oddities the load generator kept: nobody's (`lab`), as without its `--compat`. `load_tool`
    is the program that the engine `loaded` uses, all others use the lab's own. `plugin_metrics` are the ones of
    engines of plugins, by which these compare.

    How verdicts are concluded stands in the documents of comparisons, null in what older versions wrote: `level` is the
    confidence of all intervals, `equivalence_level` the error of the test by which a metric is the same, and
    `regression_rule` states what a regression is. Both levels hold for all looks at a case together: `look_shares` is
    the part of their error that a look has, by engine and number of blocks or starts.
    """

    engines: list[str]
    min_effect: dict[str, float]
    q: float
    budget_seconds: float | None
    seed: int
    quick: bool = False
    load_policy: Literal["lab"] = "lab"
    load_tool: str = "zerolap-load"
    plugin_metrics: list[MetricRule] = []
    level: float | None = None
    equivalence_level: float | None = None
    regression_rule: str | None = None
    look_shares: dict[str, dict[int, float]] | None = None

    @property
    def plugin_engines(self) -> list[str]:
        """The engines of plugins that compare."""
        return sorted({rule.engine for rule in self.plugin_metrics})

    @property
    def asks_for_time(self) -> bool:
        """Whether cases are to be timed."""
        return "timed" in self.engines and not self.quick


class Summary(Record):
    """Cases by verdict, an identical one counted as same, and the seconds of machine time that trials took.

    `memory_regression` and `memory_improvement` count the cases whose memory changed, whatever their verdict is.
    """

    regression: int
    improvement: int
    same: int
    unsure: int
    invalid: int
    machine_seconds: float
    memory_regression: int = 0
    memory_improvement: int = 0


class CaseResult(Record):
    """What a comparison concludes for a case; an invalid one has no verdicts.

    `regime` is in which it was counted besides its own circumstances, empty for the case itself.
    `work` is what the code does, `time` what its user feels, `memory` what its data take; each is null where it was not
    measured, and in an invalid case. `verdict` is what is certain: time where it is decided, else a change of work;
    where that is no change, one of memory; else `unsure` where time was measured, else work; of identical code it is
    the same, unless time or memory changed. `deciding`, `work_deciding`, `time_deciding` and `memory_deciding` are the
    metrics that they rest on, null where there is none. `confirmed` is a change of time that
    does not rest on one layout of code and data on each side. `failed_sides` are the sides that make a case invalid: a
    trial failed there, or the server's replies were not those that the case expects. There are none where the machine
    or the load is the reason, or where one side failed before a trial of the other succeeded. `traced` is null where
    nothing was traced; there are no verdicts on it.
    """

    case: str
    commands: list[str]
    group: str
    topology: str
    regime: str = ""
    verdict: CaseVerdict
    work: VerdictWord | None = None
    time: TimeWord | None = None
    memory: VerdictWord | None = None
    deciding: str | None = None
    work_deciding: str | None = None
    time_deciding: str | None = None
    memory_deciding: str | None = None
    confirmed: bool
    validity: Validity
    verdicts: list[Verdict]
    findings: list[Finding]
    failure: str | None = None
    failed_sides: list[Side] = []
    traced: TracedSides | None = None

    @property
    def fails_on_head_only(self) -> bool:
        """Whether the head makes the case invalid, and the base does not: the change is worse than any regression."""
        return self.verdict == "invalid" and self.failed_sides == [HEAD]

    @property
    def is_regression(self) -> bool:
        """Whether the case, its work, time or memory is a regression, also one that timing does not confirm."""
        return "regression" in (self.verdict, self.work, self.time, self.memory)

    @property
    def has_open_tail(self) -> bool:
        """Whether time is unsure by the p99 of the open loop alone: CPU time and throughput are the same."""
        return self.time == "unsure" and self.time_deciding == TAIL

    def has_answer_for(self, when: FailOn) -> bool:
        """Return whether anything was measured of what decides whether the comparison counts as failed."""
        match when:
            case "never":
                return True
            case "work":
                return self.work is not None
            case "time":
                return self.time_deciding is not None or self.work == "identical"
            case "memory":
                return self.memory is not None
            case "suite" | "regression" | "unmeasured" | "unsure":
                return bool(self.verdicts)


class Reading(Record):
    """How a comparison is read, in the words of all reports, so that these cannot differ.

    `answers` are the outcomes by work and time where both were measured, `effort` is how much was measured, `state`
    states why a comparison is not complete. `order` has the names of the cases, those with a change first;
    `statements` are sentences on the work and the time of each, `sentences` state what happened to it and how sure
    that is, for a reader who does not know these words. `remarks` stand beside the verdicts of some cases: what a
    change that is not confirmed rests on, or the sides that fail.
    """

    headline: str
    answers: list[str]
    effort: str
    state: str | None
    order: list[str]
    statements: dict[str, list[str]]
    sentences: dict[str, list[str]] = {}
    remarks: dict[str, str] = {}


class ChangedFiles(Record):
    """The changed source files that are compiled into a server, and those of them that no measured case executes."""

    compiled: list[str]
    unexecuted: list[str]

    @property
    def are_all_unexecuted(self) -> bool:
        """Whether what was measured shows nothing of the change."""
        return bool(self.compiled) and self.unexecuted == self.compiled


class Comparison(Record):
    """The document of one comparison; `reading` is added where it is written for others.

    `changed_files`, and `changed_functions` with those that are `unmeasured`, are null where it is not known what the
    cases execute. `unmeasured` has at most 500 of the changed functions that no case executed. `suite` has what cases
    show together; it is empty where they are too few.
    """

    schema_: str = Field(default=COMPARISON_SCHEMA, alias="schema", serialization_alias="schema")
    id: str
    created: str
    command_line: str
    state: DocumentState
    base: MeasuredServer
    head: MeasuredServer
    platform: Platform
    settings: Settings
    summary: Summary
    notes: list[str] = []
    cases: list[CaseResult]
    skipped: list[Skipped] = []
    changed_files: ChangedFiles | None = None
    changed_functions: ChangedFunctions | None = None
    unmeasured: list[ChangedFunction] | None = None
    suite: list[PooledChange] = []
    regimes: list[MeasuredRegime] = []
    reading: Reading | None = None

    def fails_on(self, when: FailOn) -> bool:
        """Return whether the comparison counts as failed.

        It does if one of its cases fails or several do together, if no case executed a function that changed, and if it
        has no answer at all: nothing shows then that there is no regression.
        """
        fails = self.failing_cases(when) or self.failing_together(when) or self.is_unseen(when)
        return bool(fails) or not self.has_answer_for(when)

    def failing_together(self, when: FailOn) -> list[PooledChange]:
        """Return what got worse of cases together, because of which the comparison counts as failed."""
        if when not in ("suite", "regression", "unsure"):
            return []
        return [pooled for pooled in self.suite if pooled.verdict == "regression"]

    def is_unseen(self, when: FailOn) -> bool:
        """Return whether a changed function that no case executed lets the comparison count as failed."""
        return when in ("unmeasured", "unsure") and bool(self.unmeasured)

    def failing_cases(self, when: FailOn) -> list[CaseResult]:
        """Return the cases because of which the comparison counts as failed.

        `work`, `time`, `memory` and `regression` are a regression of that, also one that timing does not confirm, or a
        case that fails on the head only; `unsure` is all of these, and a case that is not decided.
        """
        return [case for case in self.cases if self._fails(case, when)]

    def _fails(self, result: CaseResult, when: FailOn) -> bool:
        match when:
            case "never" | "suite" | "unmeasured":
                return False
            case "work":
                return result.work == "regression" or result.fails_on_head_only
            case "time":
                return result.time == "regression" or result.fails_on_head_only
            case "memory":
                return result.memory == "regression" or result.fails_on_head_only
            case "regression":
                return result.is_regression or result.fails_on_head_only
            case "unsure":
                return result.is_regression or self.is_undecided(result)

    def is_undecided(self, case: CaseResult) -> bool:
        """Return whether a case is invalid or unsure, or one of its answers is unsure or could not be measured.

        Identical code takes the same time, whether it was timed or not. A p99 that alone is open is stated, and leaves
        no case undecided: on a machine that others use, it is open in most cases without a change.
        """
        if case.has_open_tail and case.verdict != "invalid":
            return "unsure" in (case.work, case.memory)
        if case.verdict in ("unsure", "invalid") or "unsure" in (case.work, case.memory):
            return True
        is_time_open = case.time == "unsure" or (case.time is None and self.settings.asks_for_time)
        return is_time_open and case.work != "identical"

    def has_answer_for(self, when: FailOn) -> bool:
        """Return whether what decides if the comparison counts as failed was measured of any case."""
        if (when == "unmeasured" and self.changed_functions is None) or (when == "suite" and not self.suite):
            return False
        return when == "never" or any(case.has_answer_for(when) for case in self.cases)


@dataclass(frozen=True)
class FalseAlarms:
    """The false alarms of a platform: `alarms` reported changes of time in `timed_cases` timed cases of identical work.

    `period` is when the cases were judged, such as `since 2026-08-01`.
    """

    alarms: int
    timed_cases: int
    period: str = ""
