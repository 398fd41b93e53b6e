"""A trial: what it measured, in which slices, on which machine, and whether it counts."""

import math
from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field, ValidationError

from zerolap.documents import latency_points
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.trial_list import placement_of
from zerolap.records import (
    Amounts,
    Check,
    Platform,
    Record,
    Side,
    Timeline,
    UnreadableRecord,
    UsageError,
)
from zerolap.store import BlobDamaged, Store, TrialRecord

MOST_SLICES: Final = 1_000
BARS_PER_DECADE: Final = 40
LONGEST_LOG_BYTES: Final = 64 << 10
LONGEST_ARGUMENTS: Final = 2_000


class TrialParameters(Parameters):
    """Which trial."""

    number: Annotated[int, Field(ge=1, le=2**53, description="Its number in the store.")]


class TrialBuild(Record):
    """The build of a trial's server, with the flags that took effect; empty where they are not known."""

    build: str
    version: str
    build_id: str
    compiler: str
    flags: str
    libc: str
    allocator: str
    architecture: str
    variant: str
    is_stripped: bool


class DrawnSlice(Record):
    """A slice of a trial, or several in a row; `at_seconds` is where it begins, in measured time of this side.

    `client_busy` and `server_busy` are parts of its time. `is_disturbed`: others had the processors in a part of it.
    """

    at_seconds: float
    requests_per_sec: float
    client_busy: float
    server_busy: float
    requests_per_read: float | None
    requests_per_cycle: float | None
    is_disturbed: bool


class LatencyBar(Record):
    """How many requests were answered within a range of microseconds."""

    from_us: float
    to_us: float
    requests: int


class TrialDetails(Record):
    """A trial with all that was recorded of it.

    `latency` has points of a share of requests and the microseconds within which they were answered; `together` is how
    many slices a point of `slices` stands for. `missing` states what could not be read, and why.
    """

    number: int
    request: str
    path: str
    case: str
    commands: list[str]
    side: Side
    sides: list[Side]
    engine: str
    block: int
    per_second: int | None
    valid: bool
    checks: list[Check]
    metrics: dict[str, float]
    seconds: float
    began: str
    method: int
    zerolap: str
    instrument: str
    load_host: str
    placement: str
    amounts: Amounts
    topology: str
    config: dict[str, str]
    build: TrialBuild | None
    platform: Platform | None
    bars: list[LatencyBar]
    latency: list[tuple[float, float]]
    slices: list[DrawnSlice]
    together: int
    stacks: bool
    log: str
    missing: list[str]


def _read(sources: QuerySources, parameters: TrialParameters) -> TrialDetails:
    store = sources.store
    record = store.reports.trial(parameters.number)
    if record is None:
        raise UsageError(f"the store holds no trial {parameters.number}")
    numbered, of_job = record.numbered, record.job
    measurement, trial = numbered.measurement, numbered.trial
    if measurement is None:
        raise UnreadableRecord(numbered.unreadable, hint="the store is damaged")
    missing: list[str] = []
    timeline = _timeline(store, measurement.timeline, missing)
    slices, together = _slices(timeline)
    server = of_job.servers[trial.side]
    return TrialDetails(
        number=numbered.number,
        request=record.request,
        path="comparisons" if record.kind == "compare" else "runs",
        case=trial.case,
        commands=list(of_job.case.verbs),
        side=trial.side,
        sides=list(of_job.servers),
        engine=trial.engine,
        block=trial.block,
        per_second=trial.per_second,
        valid=measurement.validity.valid,
        checks=measurement.validity.checks,
        metrics=measurement.metrics,
        seconds=measurement.seconds,
        began=measurement.began,
        method=measurement.method,
        zerolap=measurement.zerolap,
        instrument=measurement.instrument,
        load_host=measurement.load_host,
        placement=placement_of(numbered),
        amounts=measurement.amounts,
        topology=server.topology.name,
        config=server.settings,
        build=_build(store, server.build),
        platform=record.platform,
        bars=[] if timeline is None else _bars(timeline),
        latency=[] if timeline is None else latency_points([timeline]),
        slices=slices,
        together=together,
        # Of a traced trial they are those of waits, which the page of sampled stacks does not have.
        stacks=measurement.stacks is not None and trial.engine == "sampled",
        log=_log(store, record, missing),
        missing=missing,
    )


def _timeline(store: Store, digest: str | None, missing: list[str]) -> Timeline | None:
    if digest is None:
        return None
    try:
        return Timeline.model_validate_json(store.blobs.get(digest))
    except BlobDamaged as fault:
        missing.append(f"slices and latencies: {fault.message}")
    except ValidationError:
        missing.append("slices and latencies: another version of Zerolap has recorded them")
    return None


def _build(store: Store, digest: str) -> TrialBuild | None:
    build = store.build(digest)
    if build is None:
        return None
    same = ("build", "version", "build_id", "compiler", "flags", "libc", "allocator", "architecture", "variant")
    return TrialBuild(**{name: getattr(build, name) for name in same}, is_stripped=build.stripped)


def _slices(timeline: Timeline | None) -> tuple[list[DrawnSlice], int]:
    """Return the slices, several together where there are too many, and how many these are."""
    if timeline is None:
        return [], 1
    together = max(1, math.ceil(len(timeline.slices) / MOST_SLICES))
    drawn, now = [], 0.0
    for first in range(0, len(timeline.slices), together):
        parts = timeline.slices[first : first + together]
        seconds = sum(part.seconds for part in parts)
        if seconds <= 0:
            continue
        of_reads = [part.requests_per_read for part in parts if part.requests_per_read is not None]
        of_cycles = [part.requests_per_cycle for part in parts if part.requests_per_cycle is not None]
        drawn.append(
            DrawnSlice(
                at_seconds=round(now, 6),
                requests_per_sec=sum(part.requests for part in parts) / seconds,
                client_busy=sum(part.client_busy * part.seconds for part in parts) / seconds,
                server_busy=sum(part.server_busy * part.seconds for part in parts) / seconds,
                requests_per_read=sum(of_reads) / len(of_reads) if of_reads else None,
                requests_per_cycle=sum(of_cycles) / len(of_cycles) if of_cycles else None,
                is_disturbed=any(part.is_disturbed for part in parts),
            )
        )
        now += seconds
    return drawn, together


def _bars(timeline: Timeline) -> list[LatencyBar]:
    """Return the histogram in bars that are equally wide on a logarithmic axis."""
    counts: dict[int, int] = {}
    for edge_ns, requests in timeline.histogram_ns:
        place = math.floor(math.log10(max(edge_ns, 1)) * BARS_PER_DECADE)
        counts[place] = counts.get(place, 0) + requests
    return [
        LatencyBar(
            from_us=10 ** (place / BARS_PER_DECADE) / 1000,
            to_us=10 ** ((place + 1) / BARS_PER_DECADE) / 1000,
            requests=requests,
        )
        for place, requests in sorted(counts.items())
    ]


def _log(store: Store, record: TrialRecord, missing: list[str]) -> str:
    """Return the end of the log that the trial's job has left, empty without one."""
    if record.log is None:
        return ""
    try:
        content = store.blobs.get(record.log)
    except BlobDamaged as fault:
        missing.append(f"the log: {fault.message}")
        return ""
    return content[-LONGEST_LOG_BYTES:].decode(errors="replace")


def _rows(answer: TrialDetails) -> Iterable[TableRow]:
    yield ("metric", "value")
    yield from answer.metrics.items()


TRIAL: Final = PageQuery(
    name="trial",
    summary="A trial: metrics, slices, latencies, checks, machine and build",
    parameters=TrialParameters,
    result=TrialDetails,
    read=_read,
    table=_rows,
)
