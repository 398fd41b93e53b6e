"""The stacks of a case, or of many cases merged, as a call tree with the samples of each side."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from zerolap import _core
from zerolap.documents import off_cpu_ns_per_op
from zerolap.queries.query import PageQuery, QuerySources, TableRow
from zerolap.queries.sampled_cases import (
    ENGINES,
    LeftOutCase,
    Part,
    ProfiledCase,
    ProfiledResult,
    SampledCases,
    StackSelection,
    StackTime,
    Weights,
    readable_tables,
    selected_cases,
)
from zerolap.records import DrawnSide, NamedLines, Record, StackFrame

LEAST_SHARE: Final = 0.0005
MOST_NODES: Final = 60_000
SHARES: Final = (0.0, 0.000_05, LEAST_SHARE, 0.002, 0.01, 0.05)
"""Smallest shares that are tried one after the other until there are few enough nodes."""
MOST_FINDINGS: Final = 100
WHOLE: Final = TypeAdapter(dict[str, Any])


class ProfileParameters(StackSelection):
    """Which stacks, and how small a part of them is shown."""

    least_share: Annotated[
        float,
        Field(ge=0, le=0.05, description="Frames with a smaller share of all sides are put together."),
    ] = LEAST_SHARE


class ProfileCalls(Record):
    """A call tree in columns: a node's caller precedes it and is -1 at the root of a thread."""

    thread: list[int]
    parent: list[int]
    frame: list[int]


class ProfileSide(Record):
    """What a side has in each node of the tree, without the nodes below.

    `own` are samples, weighted by case so that their sum is `samples`, the number that was taken, or, of waits, the
    nanoseconds; these have no variance, and `cpu_ns_per_op` is their time off the processor. `variance` is that of
    each: a sample of a case that counts s adds s squared, as in a Poisson process. `cpu_ns_per_op` is the CPU time of a
    request, of several cases the mean; null where it is not known. `cpu_error` is its relative standard error.
    """

    side: DrawnSide
    samples: int
    lost: int
    cpu_ns_per_op: float | None
    cpu_error: float
    pruned_share: float
    own: list[float]
    variance: list[float]


class StackProfile(Record):
    """Stacks of one case or of several; `time` is what they are of, of `times` that there are.

    `all_cases` are the names of all cases of these results that have passes.
    `frame_cases` states in how many cases each frame has samples. Nodes below `least_share` of every side are put
    together as `[other]` below their caller; there were `pruned_nodes` of them. `lines` are those that findings name;
    those that have samples are in `stack-lines`.
    """

    results: tuple[ProfiledResult, ...]
    cases: tuple[ProfiledCase, ...]
    all_cases: tuple[str, ...]
    left_out: tuple[LeftOutCase, ...]
    weights: Weights
    time: StackTime
    times: tuple[StackTime, ...]
    events: list[str]
    threads: list[str]
    frames: list[StackFrame]
    frame_cases: list[int]
    nodes: ProfileCalls
    sides: tuple[ProfileSide, ...]
    least_share: float
    pruned_nodes: int
    lines: tuple[NamedLines, ...]


def merged_profile(parts: Sequence[Part], least_share: float) -> tuple[bytes, float]:
    """Return the merged stacks as JSON, and the share below which nodes were put together."""
    for share in (least_share, *(share for share in SHARES if share > least_share)):
        with readable_tables():
            merged = _core.stack_profile(list(parts), share)
        # Counting the nodes takes no parsing: each has one caller.
        if merged.count(b",", merged.find(b'"parent"'), merged.find(b"]", merged.find(b'"parent"'))) < MOST_NODES:
            break
    return merged, share


def read_profile(sources: QuerySources, parameters: ProfileParameters) -> StackProfile:
    """Return the stacks of a selection."""
    chosen = selected_cases(sources, parameters)
    merged, share = merged_profile(chosen.parts, parameters.least_share)
    profile = WHOLE.validate_json(merged)
    sides = []
    for place, (side, of_side) in enumerate(zip(chosen.sides, profile["sides"] or [_NO_SAMPLES] * 2, strict=False)):
        cost, error = chosen.cost_of(place)
        if parameters.time == "waits":
            cost = _off_ns_per_op(sources, chosen, side)
        sides.append(ProfileSide(side=side, cpu_ns_per_op=cost, cpu_error=error, **of_side))
    return StackProfile(
        results=chosen.results,
        cases=chosen.counted_cases(profile["part_samples"]),
        all_cases=chosen.all_names,
        left_out=chosen.left_out,
        weights=chosen.weights,
        time=parameters.time,
        times=chosen.times,
        events=profile["events"],
        threads=profile["threads"],
        frames=profile["frames"],
        frame_cases=profile["frame_cases"],
        nodes=profile["nodes"],
        sides=tuple(sides),
        least_share=share,
        pruned_nodes=profile["pruned_nodes"],
        lines=_lines(sources, parameters, chosen),
    )


def _off_ns_per_op(sources: QuerySources, chosen: SampledCases, side: DrawnSide) -> float | None:
    """Return the time off the processor of a request; none for several cases, whose requests differ."""
    if len(chosen.cases) != 1:
        return None
    [case] = chosen.cases
    trials = sources.store.reports.trials_of(case.result, case.case, side)
    passes = [
        each.measurement for each in trials if each.measurement is not None and each.trial.engine == ENGINES["waits"]
    ]
    return off_cpu_ns_per_op(passes, sources.store.blobs)


def _lines(sources: QuerySources, parameters: ProfileParameters, chosen: SampledCases) -> tuple[NamedLines, ...]:
    if parameters.id is None:
        return ()
    stated = sources.store.stacks.lines_of_functions(parameters.id, MOST_FINDINGS)
    return tuple(lines for lines in stated if lines.case in chosen.case_names)


_NO_SAMPLES: Final[dict[str, Any]] = {"samples": 0, "lost": 0, "own": [], "variance": [], "pruned_share": 0.0}


def profile_rows(profile: StackProfile) -> list[TableRow]:
    """Return the nodes of a profile as a table, the functions from the root to the node in one cell."""
    units = [f"{side.side} samples" for side in profile.sides]
    rows: list[TableRow] = [("thread", "stack", "file", "object", *units)]
    paths: list[str] = []
    nodes = profile.nodes
    for node, parent in enumerate(nodes.parent):
        frame = profile.frames[nodes.frame[node]]
        paths.append(f"{paths[parent]};{frame.function}" if parent >= 0 else frame.function)
        own = [side.own[node] for side in profile.sides]
        if any(own):
            rows.append((profile.threads[nodes.thread[node]], paths[node], frame.file, frame.object, *own))
    return rows


STACK_PROFILE: Final = PageQuery(
    name="stacks",
    summary="Sampled stacks of a case, or of many cases merged, as a call tree",
    parameters=ProfileParameters,
    result=StackProfile,
    read=read_profile,
    table=profile_rows,
)
