"""Records that tests make up: verdicts, cases, comparisons, runs, histories, and what those are made of.

What a test does not name has a plain value. What follows from verdicts is concluded as the lab does it.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from zerolap.judge import case_answers
from zerolap.records import (
    METRICS,
    CaseOpportunity,
    CaseResult,
    Check,
    Comparison,
    CountedWork,
    Estimate,
    Finding,
    FunctionCost,
    History,
    HistoryChange,
    HistoryCommit,
    HistorySeries,
    MeasuredServer,
    Measurement,
    Platform,
    Record,
    RunCase,
    RunReport,
    SeriesKey,
    Settings,
    SliceRecord,
    Summary,
    Validity,
    Verdict,
)

R = TypeVar("R", bound=Record)

CREATED = "2026-11-20T21:00:00Z"
CHECK = Check(check="hit_rate", ok=True, value=1.0, limit=">= 0.99")
VALID = Validity.of([CHECK])
INVALID = Validity.of([CHECK.model_copy(update={"ok": False, "value": 0.1234})])
"""Of a server that finds too little."""
FAILED = Validity(valid=False, checks=[])
"""Of a case that could not be measured."""
PLATFORM = Platform(name="laptop", fingerprint="p-1", cpu="a cpu", cores=2, kernel="6.1")
SERVER = MeasuredServer(
    name="HEAD~1", commit="1f3c5a7b9d0e4455", version="7.0.15", build="b-1", build_id="ff", flags="-O2 -g"
)
SETTINGS = Settings(engines=["counted"], min_effect={"counted": 0.005}, q=0.01, budget_seconds=None, seed=7)
BOTH_ASKED = SETTINGS.model_copy(update={"engines": ["counted", "timed"]})
NOTHING = Summary(regression=0, improvement=0, same=0, unsure=0, invalid=0, machine_seconds=412.4)
CULPRIT = Finding.model_validate(
    {
        "kind": "culprit",
        "rank": 1,
        "function": "createStreamIDString",
        "file": "t_stream.c",
        "lines": [2210],
        "instructions_per_op": {"base": 790.1, "head": 1580.4},
        "calls_per_op": {"base": 1.0, "head": 2.0},
        "share_of_change": 0.42,
        "in_diff": True,
        "callers": [
            {"function": "xaddCommand", "file": None, "calls_per_op": {"base": None, "head": 2.0}, "in_diff": True}
        ],
        "text": "It runs twice per request.",
    }
)


def changed(record: R, **changes: Any) -> R:
    """Return a record with other values, as records or as JSON has them, of which each is checked."""
    return type(record).model_validate({**record.model_dump(by_alias=True), **changes})


def a_verdict(word: str = "same", metric: str = "instructions_per_op", **changes: Any) -> Verdict:
    """Return a verdict on a metric whose values are nearly equal, unless `changes` says otherwise."""
    engine = METRICS[metric].engine if metric in METRICS else "counted"
    fields = {
        "metric": metric,
        "engine": engine,
        "verdict": word,
        "base": 11201.4,
        "head": 11203.6,
        "change": 0.0002,
        "low": -0.0008,
        "high": 0.0011,
        "q": None,
        "samples": 3,
        "pairs": 3,
        "min_effect": 0.005,
        "detectable": 0.002,
    }
    return Verdict.model_validate({**fields, **changes})


def a_work(word: str, change: float, base: float = 11201.4) -> Verdict:
    """Return a verdict on instructions that change by so much, within 0.1 %."""
    return a_verdict(word, base=base, head=base * (1 + change), change=change, low=change - 0.001, high=change + 0.001)


def a_time(word: str, change: float, metric: str = "cpu_ns_per_op", half: float = 0.01, **changes: Any) -> Verdict:
    """Return a verdict on a timed metric that changes by so much, within 1 %."""
    base = changes.pop("base", 1500.0)
    evidence = {"base": base, "head": base * (1 + change), "low": change - half, "high": change + half}
    return a_verdict(word, metric, change=change, samples=6, **{"min_effect": 0.02, **evidence, **changes})


def a_case(name: str, *verdicts: Verdict, **changes: Any) -> CaseResult:
    """Return a case with these verdicts, and the answers that follow from them; without any, its work is the same."""
    verdicts = verdicts or (a_verdict(),)
    return _case(name, verdicts, VALID, changes)


def an_invalid_case(name: str, failure: str | None = None, **changes: Any) -> CaseResult:
    """Return a case that failed, or one of whose checks did."""
    return _case(name, (), INVALID if failure is None else FAILED, {"failure": failure, **changes})


def _case(name: str, verdicts: Sequence[Verdict], validity: Validity, changes: dict[str, Any]) -> CaseResult:
    fields = {
        **asdict(case_answers(verdicts, validity)),
        "case": name,
        "commands": ["XADD"],
        "group": "stream",
        "topology": "standalone",
        "validity": validity,
        "verdicts": list(verdicts),
        "findings": [],
    }
    return CaseResult.model_validate({**fields, **changes})


def a_comparison(cases: Sequence[CaseResult] = (), **changes: Any) -> Comparison:
    """Return a finished comparison of two commits."""
    fields = {
        "id": "c-20261120-4f1a",
        "created": CREATED,
        "command_line": "zerolap compare HEAD~1 HEAD 'xadd*'",
        "state": "done",
        "base": SERVER,
        "head": SERVER.model_copy(update={"name": "HEAD", "build": "b-2"}),
        "platform": PLATFORM,
        "settings": SETTINGS,
        "summary": NOTHING,
        "cases": list(cases),
    }
    return Comparison.model_validate({**fields, **changes})


def a_run_case(name: str, metrics: dict[str, float], **changes: Any) -> RunCase:
    """Return a case of a run."""
    fields = {
        "case": name,
        "commands": ["GET"],
        "group": "string",
        "topology": "standalone",
        "validity": VALID,
        "metrics": metrics,
        "functions": [],
        "samples": 3,
    }
    return RunCase.model_validate({**fields, **changes})


def a_function(name: str, share: float, **costs: float) -> FunctionCost:
    """Return what a function costs in a case of a run."""
    return FunctionCost(function=name, file=f"{name}.c", share=share, **costs)


def a_run(cases: Sequence[RunCase] = (), **changes: Any) -> RunReport:
    """Return a run of these cases."""
    fields = {
        "id": "r-4f1a",
        "created": CREATED,
        "command_line": "zerolap run --server ./src/redis-server",
        "server": SERVER,
        "platform": PLATFORM,
        "settings": SETTINGS,
        "machine_seconds": 412.4,
        "notes": [],
        "cases": list(cases),
    }
    return RunReport.model_validate({**fields, **changes})


def a_measurement(**changes: Any) -> Measurement:
    """Return a valid measurement without metrics."""
    return Measurement.model_validate({"metrics": {}, "validity": VALID, "seconds": 0.5, **changes})


def a_slice(**changes: Any) -> SliceRecord:
    """Return a slice of a timed trial whose load generator has time left."""
    fields: dict[str, Any] = {
        "requests": 1000,
        "seconds": 0.02,
        "client_busy": 0.3,
        "server_busy": 0.95,
        "requests_per_read": 16.0,
        "requests_per_cycle": None,
        "metrics": {},
    }
    return SliceRecord.model_validate({**fields, **changes})


def an_opportunity(function: str, saved: float, **changes: Any) -> CaseOpportunity:
    """Return an opportunity that saves so many instructions."""
    fields = {
        "detector": "costly-formatting",
        "function": function,
        "file": "server.c",
        "category": "formatting",
        "saved_instructions_per_op": Estimate(low=saved, expected=saved, high=saved),
        "confidence": "high",
        "evidence": {},
        "text": f"wastes {saved:.0f} instructions",
    }
    return CaseOpportunity.model_validate({**fields, **changes})


def counted_work(instructions: float, *opportunities: CaseOpportunity, **changes: Any) -> CountedWork:
    """Return what a call graph of so many instructions shows."""
    fields = {
        "instructions_per_op": instructions,
        "is_by_source": True,
        "functions": (),
        "categories": {"other": instructions},
        "opportunities": opportunities,
    }
    return CountedWork.model_validate({**fields, **changes})


def a_series_key(**changes: Any) -> SeriesKey:
    """Return the key of a counted series of a case `get`."""
    fields = {
        "case": "get",
        "case_digest": "d",
        "metric": "instructions_per_op",
        "engine": "counted",
        "topology": "standalone",
        "config": (),
        "variant": "default",
        "platform": PLATFORM.fingerprint,
        "method": 1,
    }
    return SeriesKey.model_validate({**fields, **changes})


def a_step(after: int, position: int, change: float, **changes: Any) -> HistoryChange:
    """Return a step of a history, of exactly this relative size."""
    fields = {"id": f"{position}", "kind": "step", "after": after, "position": position}
    return HistoryChange.model_validate({**fields, "change": change, "low": change, "high": change, **changes})


def a_history(commits: Sequence[HistoryCommit], series: Sequence[HistorySeries], **changes: Any) -> History:
    """Return a history of these commits and series."""
    fields = {
        "created": CREATED,
        "command_line": "zerolap history",
        "repository": "/somewhere",
        "range": "tags:1.0..1.9",
        "variant": "default",
        "config": {},
        "platform": PLATFORM,
        "commits": tuple(commits),
        "series": tuple(series),
    }
    return History.model_validate({**fields, **changes})
