"""One server measured by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from zerolap import _core
from zerolap.build import Builder, Source
from zerolap.cases import Case
from zerolap.host import fingerprint
from zerolap.judge import MIN_BLOCKS, case_validity
from zerolap.lab.progress import Progress
from zerolap.lab.recording import record_events
from zerolap.lab.session import builds_directory, new_id, now, require_counting, sandbox_note, trials_at_once
from zerolap.lab.trials import QUICK_SCALE, CaseTrials, SideUnderTest, TrialPlan
from zerolap.records import (
    CallGraph,
    FunctionCost,
    Interrupted,
    Measurement,
    RunCase,
    RunReport,
    Settings,
    ZerolapError,
)
from zerolap.sandbox import stop_all
from zerolap.store import Store

LISTED_FUNCTIONS = 10

EndState: TypeAlias = Literal["done", "interrupted", "failed"]


@dataclass(frozen=True)
class RunRequest:
    """What to measure; `server_settings` are given to the server when it starts."""

    server: Source
    cases: Sequence[Case]
    settings: Settings
    command_line: str
    server_settings: Mapping[str, str] = field(default_factory=dict)


def run(request: RunRequest, store: Store, progress: Progress) -> RunReport:
    """Build the server, measure all cases and return the report; all of it is stored too.

    Raises as `compare` does.
    """
    require_counting()
    for note in sandbox_note():
        progress.note(note)
    try:
        server = Builder(builds_directory(store), progress.building).build(request.server)
    except KeyboardInterrupt:
        stop_all()
        raise Interrupted("interrupted while building; nothing was measured yet") from None
    report = RunReport(
        schema="zerolap.run/1",
        id=new_id("r"),
        created=now(),
        command_line=request.command_line,
        server=server.record,
        platform=fingerprint(),
        settings=request.settings,
        machine_seconds=0.0,
        notes=sandbox_note(),
        cases=[],
    )
    store.begin_run(report)
    plan = TrialPlan(
        cases=request.cases,
        sides={"base": SideUnderTest(server, request.server_settings)},
        enough=lambda measured: len(measured["base"]) >= MIN_BLOCKS,
        seed=request.settings.seed,
        scale=QUICK_SCALE if request.settings.quick else 1.0,
        workers=trials_at_once(),
        budget_seconds=request.settings.budget_seconds,
    )
    done: dict[str, CaseTrials] = {}
    try:
        record_events(plan, report.id, store, progress, done, lambda trials: _record_case(trials, report, store))
    except KeyboardInterrupt:
        stopped = _conclude(report, request, done, store, "interrupted")
        raise Interrupted(
            f"interrupted after {len(stopped.cases)} of {len(request.cases)} cases; what was measured is kept",
            hint=f"zerolap explain {report.id}",
        ) from None
    except ZerolapError:
        _conclude(report, request, done, store, "failed")
        raise
    finally:
        progress.finished()
    return _conclude(report, request, done, store, "done")


def _conclude(
    report: RunReport, request: RunRequest, done: Mapping[str, CaseTrials], store: Store, state: EndState
) -> RunReport:
    finished = [done[case.name] for case in request.cases if case.name in done]
    left_out = [trials.case.name for trials in finished if trials.cut_short and not trials.measurements["base"]]
    finished = [trials for trials in finished if trials.case.name not in left_out]
    notes = [f"not measured, as the budget was used up: {', '.join(left_out)}"] if left_out else []
    seconds = sum(one.seconds for trials in finished for one in trials.measurements["base"])
    cases = [_run_case(trials, store) for trials in finished]
    concluded = report.model_copy(update={"cases": cases, "machine_seconds": seconds, "notes": [*report.notes, *notes]})
    store.finish_run(concluded, state)
    return concluded


def _record_case(trials: CaseTrials, report: RunReport, store: Store) -> None:
    """Store a case as soon as it is measured."""
    if trials.measurements["base"] or trials.failure is not None:
        store.record_run_case(report.id, _run_case(trials, store))


def _run_case(trials: CaseTrials, store: Store) -> RunCase:
    measured = trials.measurements["base"]
    validity = case_validity(measured, [])
    if trials.failure is not None or not measured:
        validity = validity.model_copy(update={"valid": False})
    case = trials.case
    return RunCase(
        case=case.name,
        commands=case.verbs,
        group=case.group,
        topology=case.topology,
        validity=validity,
        metrics=_means(measured) if validity.valid else {},
        functions=_costliest(measured, store) if validity.valid else [],
        samples=len(measured),
        failure=_failure(trials),
    )


def _failure(trials: CaseTrials) -> str | None:
    if trials.failure is None:
        return None
    return "\n".join(part for part in (trials.failure.message, trials.failure.details) if part)


def _means(measured: Sequence[Measurement]) -> dict[str, float]:
    names = [name for name in measured[0].metrics if all(name in one.metrics for one in measured)]
    return {name: sum(one.metrics[name] for one in measured) / len(measured) for name in names}


def _costliest(measured: Sequence[Measurement], store: Store) -> list[FunctionCost]:
    graphs = [store.blobs.get(one.profile) for one in measured if one.profile is not None]
    graph = CallGraph.model_validate_json(_core.merge_call_graphs(graphs))
    ranked = sorted(graph.functions, key=lambda function: -function.instructions)[:LISTED_FUNCTIONS]
    return [
        FunctionCost(
            function=function.name,
            file=None if function.file is None else graph.files[function.file],
            self_instructions_per_op=function.instructions,
            calls_per_op=function.calls,
            share=function.instructions / graph.totals.instructions,
        )
        for function in ranked
    ]
