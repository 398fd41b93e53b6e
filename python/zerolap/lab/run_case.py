"""What the engines measured of one case of a run, put together."""

from collections.abc import Sequence

from zerolap import _core
from zerolap.judge import case_validity
from zerolap.lab.conclusions import not_measured
from zerolap.lab.measuring import Measured
from zerolap.lab.plugging import PluggedTrials
from zerolap.lab.sampling import SampledTrials, sampled_side
from zerolap.records import CallGraph, Case, FunctionCost, Measurement, RunCase, Validity
from zerolap.store import Store

LISTED_FUNCTIONS = 10


def run_case(case: Case, measured: Measured, store: Store) -> RunCase:
    """Return the case's metrics and costliest functions; what of it could not be measured is left out, and told."""
    counted, timed = measured.counted.get(case.name), measured.timed.get(case.name)
    sampled, plugged = measured.sampled.get(case.name), measured.plugged.get(case.name, PluggedTrials())
    from_counting = counted.measurements["base"] if counted is not None else []
    from_timing = timed.measurements["base"] if timed is not None else []
    from_sampling = [sampled.measurements["base"]] if sampled is not None and sampled.measurements else []
    failure = next((one.failure for one in (counted, timed) if one is not None and one.failure), None)
    usable_times = from_timing if timed is not None and timed.usable else []
    disturbance = timed.disturbance() if timed is not None else []
    # Stacks say where time goes: that there are none takes nothing from what was counted and timed.
    found = [*from_counting, *([] if disturbance else from_timing), *plugged.valid.values()]
    is_alone = not (found or from_sampling)
    found = found or from_sampling or [*plugged.measurements.values()]
    validity = case_validity(found, []) if found else Validity.of(disturbance)
    if not found and sampled is not None:
        failure = failure or sampled.failure
    if is_alone:
        failure = failure or plugged.failure
    if failure is not None or not validity.checks:
        validity = validity.model_copy(update={"valid": False})
    metrics = _means(from_counting) | _means(usable_times)
    metrics |= plugged.metrics(taken=metrics)
    return RunCase(
        case=case.name,
        commands=case.verbs,
        group=case.group,
        topology=case.topology,
        validity=validity,
        metrics=metrics if validity.valid else {},
        functions=_costliest(from_counting, sampled, metrics.get("cpu_ns_per_op"), store) if validity.valid else [],
        samples=max(len(from_counting), len(usable_times), len(from_sampling), min(1, len(plugged.valid))),
        limits=[*case.limits, *not_measured(timed, sampled), *plugged.limits(alone=is_alone)],
        failure=None if failure is None else "\n".join(part for part in (failure.message, failure.details) if part),
    )


def _means(measured: Sequence[Measurement]) -> dict[str, float]:
    if not measured:
        return {}
    names = [name for name in measured[0].metrics if all(name in one.metrics for one in measured)]
    return {name: sum(one.metrics[name] for one in measured) / len(measured) for name in names}


def _costliest(
    counted: Sequence[Measurement], sampled: SampledTrials | None, cpu_ns_per_op: float | None, store: Store
) -> list[FunctionCost]:
    """Return the functions that cost most: in time where stacks say so, else in instructions."""
    by_work = {(one.function, one.file): one for one in _by_work(counted, store)}
    side = None
    if sampled is not None and sampled.usable and sampled.measurements:
        side = sampled_side(sampled.measurements["base"], cpu_ns_per_op, store.blobs)
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


def _by_work(measured: Sequence[Measurement], store: Store) -> list[FunctionCost]:
    graphs = [store.blobs.get(one.profile) for one in measured if one.profile is not None]
    if not graphs:
        return []
    graph = CallGraph.model_validate_json(_core.merge_call_graphs(graphs))
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
