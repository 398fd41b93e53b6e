"""One server measured by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from zerolap.build import DEFAULT, Builder, Source, Variant
from zerolap.cases import Case
from zerolap.engines import Engine
from zerolap.host import fingerprint
from zerolap.judge import MIN_BLOCKS
from zerolap.lab.measuring import Measured, Work, measure
from zerolap.lab.plugging import require_engines
from zerolap.lab.progress import Progress
from zerolap.lab.run_case import run_case
from zerolap.lab.session import builds_directory, case_notes, new_id, now, require_instruments, sandbox_note
from zerolap.lab.skipping import select_possible
from zerolap.lab.trials import CaseTrials, SideUnderTest
from zerolap.records import (
    Interrupted,
    RunReport,
    Settings,
    Skipped,
    ZerolapError,
)
from zerolap.sandbox import Cancellation, SandboxPolicy, current_cancellation
from zerolap.store import Store

EndState: TypeAlias = Literal["done", "interrupted", "failed"]


@dataclass(frozen=True)
class RunRequest:
    """What to measure, built in a variant; `server_settings` are given to the server when it starts.

    `plugged` are the engines of the settings that are not the lab's own; `sandbox` is for code of repositories and
    trees.
    """

    server: Source
    cases: Sequence[Case]
    settings: Settings
    command_line: str
    server_settings: Mapping[str, str] = field(default_factory=dict)
    variant: Variant = DEFAULT
    plugged: Mapping[str, Engine] = field(default_factory=dict)
    sandbox: SandboxPolicy = SandboxPolicy.REQUIRED


def run(request: RunRequest, store: Store, progress: Progress, cancellation: Cancellation | None = None) -> RunReport:
    """Build the server, measure all cases and return the report; all of it is stored too.

    Raises as `compare` does.
    """
    with (cancellation or Cancellation()).current():
        return _run(request, store, progress)


def _run(request: RunRequest, store: Store, progress: Progress) -> RunReport:
    require_instruments(request.settings.engines)
    require_engines(request.plugged)
    for note in sandbox_note():
        progress.note(note)
    try:
        server = Builder(builds_directory(store), progress.building, request.sandbox).build(
            request.server, request.variant
        )
    except (KeyboardInterrupt, Interrupted):
        current_cancellation().cancel()
        raise Interrupted("interrupted while building; nothing was measured yet") from None
    under_test = SideUnderTest(server, request.server_settings)
    selection = select_possible(request.cases, {"base": under_test}, request.settings)
    request = replace(request, cases=selection.cases)
    report = RunReport(
        schema="zerolap.run/1",
        id=new_id("r"),
        created=now(),
        command_line=request.command_line,
        server=under_test.record,
        platform=fingerprint(),
        settings=request.settings,
        machine_seconds=0.0,
        notes=[*sandbox_note(), *case_notes(request.cases, request.settings.engines)],
        cases=[],
        skipped=selection.skipped,
    )
    store.begin_run(report)
    measured = Measured()
    work = Work(
        identity=report.id,
        cases=request.cases,
        sides={"base": under_test},
        settings=request.settings,
        enough=lambda _: True,
        # What is not compared need not show how well it repeats, where time matters most.
        blocks=1 if request.settings.quick else MIN_BLOCKS,
        on_counted=lambda trials: _record_case(trials, report, store),
        worth_sampling=lambda measured: _worth_sampling(measured, request),
        plugged=request.plugged,
    )
    try:
        measure(work, store, progress, measured)
    except (KeyboardInterrupt, Interrupted):
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
    cases, left_out, skipped = [], [], []
    for case in measured.cases(request.cases):
        refused = _only_refused(case, measured)
        if refused is not None:
            skipped.append(refused)
        elif _was_not_reached(case, measured):
            left_out.append(case.name)
        else:
            cases.append(run_case(case, measured, store))
    notes = [f"not measured, as the budget was used up: {', '.join(left_out)}"] if left_out else []
    concluded = report.model_copy(
        update={
            "cases": cases,
            "machine_seconds": measured.seconds(),
            "notes": [*report.notes, *notes],
            "skipped": [*report.skipped, *skipped],
        }
    )
    store.finish_run(concluded, state)
    return concluded


def _was_not_reached(case: Case, measured: Measured) -> bool:
    """Whether the budget ended before the first trial of any engine."""
    counted, timed = measured.counted.get(case.name), measured.timed.get(case.name)
    uncounted = counted is None or (counted.cut_short and not counted.measurements["base"])
    untimed = timed is None or (timed.cut_short and not timed.measurements["base"])
    plugged = measured.plugged.get(case.name)
    unplugged = plugged is None or (plugged.cut_short and not plugged.measurements)
    return uncounted and untimed and unplugged and case.name not in measured.sampled


def _only_refused(case: Case, measured: Measured) -> Skipped | None:
    """Return that a case was skipped, if no engine took it: the only ones there were refused it."""
    plugged = measured.plugged.get(case.name)
    if plugged is None or not plugged.is_refused:
        return None
    if case.name in measured.counted or case.name in measured.timed or case.name in measured.sampled:
        return None
    reasons = dict.fromkeys(plugged.refusals.values())
    return Skipped(case=case.name, reason="unsupported tool", text="; ".join(reasons))


def _record_case(trials: CaseTrials, report: RunReport, store: Store) -> None:
    """Store a case as soon as it is counted."""
    if trials.measurements["base"] or trials.failure is not None:
        counted = Measured(counted={trials.case.name: trials})
        store.record_run_case(report.id, run_case(trials.case, counted, store))


def _worth_sampling(measured: Measured, request: RunRequest) -> list[Case]:
    """Return the cases that nothing spoke against so far."""
    return [
        case
        for case in request.cases
        if (case.name not in measured.counted or measured.counted[case.name].usable)
        and (case.name not in measured.timed or measured.timed[case.name].failure is None)
    ]
