"""One server measured by itself."""

from collections.abc import Mapping, Sequence

from zerolap.documents.case_trials import CaseResults, Trials
from zerolap.documents.comparison_document import described_servers
from zerolap.documents.results import Results
from zerolap.documents.side_profiles import merged_graph, sampled_side
from zerolap.documents.traced_sides import mean_metrics, traced_side
from zerolap.documents.unmeasured import failure_text, not_measured
from zerolap.judge import case_validity
from zerolap.records import (
    CONTROL,
    HEAD,
    TRACED,
    FunctionCost,
    Measurement,
    RunCase,
    RunReport,
    Skipped,
    Validity,
)
from zerolap.store import Blobs, Store

LISTED_FUNCTIONS = 10


def run_of(results: Results, store: Store) -> RunReport:
    """Return the report of a run: what was measured of each case, and where it goes."""
    resolved = results.resolved
    cases, not_reached, skipped = [], [], list(resolved.skipped)
    for measured in map(results.of_case, resolved.cases):
        refusal = _refusal(measured)
        if refusal is not None:
            skipped.append(refusal)
        elif _is_begun(measured):
            cases.append(_run_case(measured, store.blobs))
        else:
            not_reached.append(measured.case.name)
    reason = "" if resolved.settings.budget_seconds is None else ", as the budget was used up"
    notes = [f"not measured{reason}: {', '.join(not_reached)}"] if not_reached else []
    return RunReport(
        schema="zerolap.run/1",
        id=resolved.id,
        created=resolved.request.created,
        command_line=resolved.request.exact_command_line,
        server=described_servers(resolved, results, store)[HEAD],
        platform=resolved.platform,
        settings=resolved.settings,
        machine_seconds=results.machine_seconds,
        notes=[*resolved.notes, *notes],
        cases=cases,
        skipped=skipped,
    )


def _refusal(measured: CaseResults) -> Skipped | None:
    """Return that a case was skipped, if all engines that were tried refused it."""
    refusals = [trials.refusal for trials in measured.all]
    reasons = dict.fromkeys(refusal for refusal in refusals if refusal is not None)
    if not reasons or None in refusals:
        return None
    return Skipped(case=measured.case.name, reason="unsupported tool", text="; ".join(reasons))


def _is_begun(measured: CaseResults) -> bool:
    """Whether there is a result of a case, or a reason why there is none: all of its starts were refused, or failed."""
    is_disturbed = measured.timed is not None and bool(measured.timed.disturbance())
    return is_disturbed or any(trials.all or trials.failure for trials in measured.all)


def _run_case(measured: CaseResults, blobs: Blobs) -> RunCase:
    """Return the case's metrics and costliest functions; what of it could not be measured is left out, and reported."""
    case, counted, timed, sampled = measured.case, measured.counted, measured.timed, measured.sampled
    counts, times, stacks = _of_head(counted), _of_head(timed), _of_head(sampled)
    others = {engine: _of_head(trials) for engine, trials in measured.other.items()}
    valid_others = {engine: ones[0] for engine, ones in others.items() if ones and measured.other[engine].usable}
    traced = traced_side(others[TRACED], blobs) if TRACED in valid_others else None
    failure = next((trials.failure for trials in (counted, timed) if trials is not None and trials.failure), None)
    disturbance = timed.disturbance() if timed is not None else []
    # Stacks show where time goes: that there are none takes nothing from what was counted and timed.
    chosen = [*counts, *([] if disturbance else times), *valid_others.values()]
    is_alone = not (chosen or stacks)
    chosen = chosen or stacks or [one for ones in others.values() for one in ones]
    is_disturbed = not chosen and bool(disturbance)
    validity = Validity.of(disturbance) if is_disturbed else case_validity(chosen)
    if not chosen and sampled is not None:
        failure = failure or sampled.failure
    if is_alone:
        failures = [trials.failure for trials in measured.other.values()]
        failure = failure or next((fault for fault in failures if fault is not None), None)
    if failure is not None or not validity.checks:
        validity = validity.model_copy(update={"valid": False})
    metrics = _means(counts) | _means(times if timed is not None and timed.usable else [])
    metrics |= _other_metrics(valid_others, taken=metrics) | mean_metrics(traced)
    samples = [
        *(len(counts), len(times) if timed is not None and timed.usable else 0, len(stacks)),
        *(len(others[engine]) for engine in valid_others),
    ]
    return RunCase(
        case=case.name,
        commands=case.verbs,
        group=case.group,
        topology=case.topology.name,
        validity=validity,
        metrics=metrics if validity.valid else {},
        functions=_costliest(counts, sampled, metrics.get("cpu_ns_per_op"), blobs) if validity.valid else [],
        samples=max(samples),
        traced=traced if validity.valid else None,
        limits=[*case.limits, *not_measured(measured, is_alone=is_alone, is_disturbed=is_disturbed)],
        failure=failure_text(failure),
    )


def _of_head(trials: Trials | None) -> list[Measurement]:
    return [] if trials is None else trials.measurements.get(HEAD, [])


def _other_metrics(valid: Mapping[str, Measurement], taken: Mapping[str, float]) -> dict[str, float]:
    """Return what may be used; a name that another engine has taken bears that of its own engine before it."""
    metrics: dict[str, float] = {}
    for engine, measurement in valid.items():
        for name, value in measurement.metrics.items():
            metrics[f"{engine}_{name}" if name in taken or name in metrics else name] = value
    return metrics


def _means(measurements: Sequence[Measurement]) -> dict[str, float]:
    if not measurements:
        return {}
    # What the machine takes for its reference work is no property of the server.
    first = [name for name in measurements[0].metrics if name != CONTROL]
    names = [name for name in first if all(name in one.metrics for one in measurements)]
    return {name: sum(one.metrics[name] for one in measurements) / len(measurements) for name in names}


def _costliest(
    counted: Sequence[Measurement], sampled: Trials | None, cpu_ns_per_op: float | None, blobs: Blobs
) -> list[FunctionCost]:
    """Return the functions that cost most: in time where there are stacks, else in instructions."""
    by_work = {(cost.function, cost.file): cost for cost in _by_work(counted, blobs)}
    side = None
    if sampled is not None and sampled.usable and sampled.blocks:
        side = sampled_side(_of_head(sampled), cpu_ns_per_op, blobs)
    if side is None:
        return list(by_work.values())[:LISTED_FUNCTIONS]
    ranked = sorted(side.functions, key=lambda function: -side.own_ns(function))[:LISTED_FUNCTIONS]
    costs = []
    for name, file in ranked:
        work = by_work.get((name, file))
        costs.append(
            FunctionCost(
                function=name,
                file=file,
                self_instructions_per_op=work.self_instructions_per_op if work is not None else None,
                calls_per_op=work.calls_per_op if work is not None else None,
                self_cpu_ns_per_op=side.own_ns((name, file)),
                share=side.own_ns((name, file)) / side.cpu_ns_per_op,
            )
        )
    return costs


def _by_work(measurements: Sequence[Measurement], blobs: Blobs) -> list[FunctionCost]:
    if not any(measurement.graph for measurement in measurements):
        return []
    graph = merged_graph(measurements, blobs)
    return [
        FunctionCost(
            function=function.name,
            file=None if function.file is None else graph.files[function.file],
            self_instructions_per_op=function.instructions,
            calls_per_op=function.calls,
            share=function.instructions / graph.totals.instructions,
        )
        for function in sorted(graph.functions, key=lambda function: -function.instructions)
    ]
