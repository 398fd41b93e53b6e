"""One server measured by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from zerolap import _core
from zerolap.build import Builder, Source
from zerolap.cases import Case
from zerolap.host import fingerprint
from zerolap.judge import MIN_BLOCKS, case_validity
from zerolap.lab.measuring import Measured, Work, measure
from zerolap.lab.progress import Progress
from zerolap.lab.session import builds_directory, new_id, now, require_counting, sandbox_note
from zerolap.lab.timed_trials import TimedTrials
from zerolap.lab.trials import CaseTrials, SideUnderTest
from zerolap.records import (
    CallGraph,
    FunctionCost,
    Interrupted,
    Measurement,
    RunCase,
    RunReport,
    Settings,
    Validity,
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
    if "counted" in request.settings.engines:
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
        server=SideUnderTest(server, request.server_settings).record,
        platform=fingerprint(),
        settings=request.settings,
        machine_seconds=0.0,
        notes=sandbox_note(),
        cases=[],
    )
    store.begin_run(report)
    measured = Measured()
    work = Work(
        identity=report.id,
        cases=request.cases,
        sides={"base": SideUnderTest(server, request.server_settings)},
        settings=request.settings,
        enough=lambda found: len(found["base"]) >= MIN_BLOCKS,
        on_counted=lambda trials: _record_case(trials, report, store),
    )
    try:
        measure(work, store, progress, measured)
    except KeyboardInterrupt:
        stopped = _conclude(report, request, measured, store, "interrupted")
        raise Interrupted(
            f"interrupted after {len(stopped.cases)} of {len(request.cases)} cases; what was measured is kept",
            hint=f"zerolap explain {report.id}",
        ) from None
    except ZerolapError:
        _conclude(report, request, measured, store, "failed")
        raise
    finally:
        progress.finished()
    return _conclude(report, request, measured, store, "done")


def _conclude(report: RunReport, request: RunRequest, measured: Measured, store: Store, state: EndState) -> RunReport:
    cases, left_out = [], []
    for case in measured.cases(request.cases):
        counted = measured.counted.get(case.name)
        if counted is not None and counted.cut_short and not counted.measurements["base"]:
            left_out.append(case.name)
        else:
            cases.append(_run_case(case, counted, measured.timed.get(case.name), store))
    notes = [f"not measured, as the budget was used up: {', '.join(left_out)}"] if left_out else []
    concluded = report.model_copy(
        update={"cases": cases, "machine_seconds": measured.seconds(), "notes": [*report.notes, *notes]}
    )
    store.finish_run(concluded, state)
    return concluded


def _record_case(trials: CaseTrials, report: RunReport, store: Store) -> None:
    """Store a case as soon as it is counted."""
    if trials.measurements["base"] or trials.failure is not None:
        store.record_run_case(report.id, _run_case(trials.case, trials, None, store))


def _run_case(case: Case, counted: CaseTrials | None, timed: TimedTrials | None, store: Store) -> RunCase:
    """Put together what the engines measured; times that the machine disturbed are left out, and their checks told."""
    from_counting = counted.measurements["base"] if counted is not None else []
    from_timing = timed.measurements["base"] if timed is not None else []
    validity = case_validity([*from_counting, *from_timing], [])
    failure = next((one.failure for one in (counted, timed) if one is not None and one.failure is not None), None)
    usable_times = from_timing if timed is not None and timed.usable else []
    if timed is not None and timed.disturbed:
        validity = case_validity(from_counting, []) if from_counting else Validity.of(timed.disturbed)
    if failure is not None or not validity.checks:
        validity = validity.model_copy(update={"valid": False})
    return RunCase(
        case=case.name,
        commands=case.verbs,
        group=case.group,
        topology=case.topology,
        validity=validity,
        metrics=_means(from_counting) | _means(usable_times) if validity.valid else {},
        functions=_costliest(from_counting, store) if validity.valid and from_counting else [],
        samples=max(len(from_counting), len(usable_times)),
        failure=None if failure is None else "\n".join(part for part in (failure.message, failure.details) if part),
    )


def _means(measured: Sequence[Measurement]) -> dict[str, float]:
    if not measured:
        return {}
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
