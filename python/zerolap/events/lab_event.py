"""Events for other programs: requests, builds, trials, verdicts, triggers.

An event that is sent again, such as after a restart of the conductor, has the same `id`.
"""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records import (
    ANCHOR,
    RUN_TABLE,
    BuildDone,
    BuildJob,
    CaseVerdict,
    Comparison,
    Event,
    JobFailed,
    JobStarted,
    MeasuredServer,
    Priority,
    Record,
    Request,
    RequestedServer,
    RequestKind,
    RequestState,
    Side,
    Source,
    Summary,
    TimeWord,
    TrialDone,
    TrialsJob,
    Verdict,
    VerdictWord,
    digest_of,
    revision_of,
)
from zerolap.store import Attempt, RecordedRequest, StoredTrigger

HAPPENING_SCHEMA: Final = "zerolap.happening/1"
MAIN_METRICS: Final = RUN_TABLE
LONGEST_REASON: Final = 1000
"""In characters: a reason may quote what a compiler or a server has written."""


class _LabEvent(Record):
    """`time` is in UTC (ISO 8601); `request` is the id of the request that the event belongs to, null without one."""

    schema_: Literal["zerolap.happening/1"] = Field(default=HAPPENING_SCHEMA, alias="schema")
    event: str
    id: str
    time: str
    request: str | None


class NamedServer(Record):
    """A server: the name that the user gave, and its commit if its source is one."""

    name: str
    commit: str | None = None


class RequestEvent(_LabEvent):
    """A request was submitted, waits, runs, or has ended; `reason` states what it waits for, or why it has ended.

    A run has no base, and a sweep has the first of its sides as one, where there are several.
    """

    event: Literal["request"] = "request"
    request: str
    state: Literal["submitted"] | RequestState
    reason: str = ""
    kind: RequestKind
    platform: str
    priority: Priority
    topic: str
    trigger: str
    base: NamedServer | None
    head: NamedServer


class BuildEvent(_LabEvent):
    """An agent of `platform` has begun a build, or ended it after `seconds`."""

    event: Literal["build"] = "build"
    request: str
    state: Literal["started", "done", "failed"]
    reason: str = ""
    build: str
    variant: str
    source: NamedServer
    platform: str
    agent: str | None
    seconds: float | None = None


class TrialSide(Record):
    """The outcome of a trial of one side: the main metrics, and the checks that did not hold."""

    valid: bool
    failed_checks: tuple[str, ...] = ()
    metrics: dict[str, float]


class TrialEvent(_LabEvent):
    """Trials of a block were recorded, of all sides or of one, or have failed; `seconds` is their machine time.

    `block` is null where the case as a whole has failed.
    """

    event: Literal["trial"] = "trial"
    request: str
    state: Literal["done", "failed"]
    reason: str = ""
    job: str
    case: str
    engine: str
    block: int | None
    valid: bool
    sides: dict[Side, TrialSide]
    platform: str
    agent: str | None
    seconds: float | None = None


class VerdictEvent(_LabEvent):
    """A case was judged, its work and its time.

    `deciding` is the verdict of the metric that decides the case, null where there is none.
    """

    event: Literal["verdict"] = "verdict"
    request: str
    case: str
    platform: str
    verdict: CaseVerdict
    work_verdict: VerdictWord | None
    time_verdict: TimeWord | None
    memory_verdict: VerdictWord | None = None
    confirmed: bool
    deciding: Verdict | None


class ComparisonEvent(_LabEvent):
    """All cases of a comparison were judged."""

    event: Literal["comparison"] = "comparison"
    request: str
    platform: str
    base: NamedServer
    head: NamedServer
    summary: Summary


class TriggerEvent(_LabEvent):
    """Work on a trigger has ended; `requests` are the ids of the requests that it has led to."""

    event: Literal["trigger"] = "trigger"
    request: None = None
    trigger: str
    kind: str
    repository: str
    subject: str
    actor: str | None
    state: str
    reason: str
    requests: tuple[str, ...]


class LostEvent(_LabEvent):
    """`count` events between the previous event and the next one were not sent: too many were waiting."""

    event: Literal["lost"] = "lost"
    request: None = None
    count: int


LabEvent: TypeAlias = RequestEvent | BuildEvent | TrialEvent | VerdictEvent | ComparisonEvent | TriggerEvent | LostEvent


def event_json(event: LabEvent) -> str:
    """Return an event as a line of JSON in ASCII, so that names of others cannot break lines or control terminals.

    A float that is not finite, such as the missing bound of an interval, is null.
    """
    return json.dumps(json.loads(event.model_dump_json(by_alias=True)), allow_nan=False, separators=(",", ":"))


def request_event(request: Request, state: RequestState, reason: str = "", times: int = 1) -> RequestEvent:
    """Return the event that a request waits or runs from now on, for the same reason so many `times` by now."""
    return _of_request(request, state, reason, _text_of(time.time()), str(times) if times > 1 else "")


def submitted_event(request: Request) -> RequestEvent:
    """Return the event that a request was submitted."""
    return _of_request(request, "submitted", "", request.created)


def end_events(work: RecordedRequest, document: Record | None = None) -> Iterator[LabEvent]:
    """Yield the verdicts of a document, and then the end of its request; nothing if the request has not ended."""
    if work.ended is None:
        return
    # A request that is carried out again ends again, with other ids.
    end, request = repr(work.ended), work.request.id
    when, platform = _text_of(work.ended), work.request.platform
    if isinstance(document, Comparison):
        for case in document.cases:
            yield VerdictEvent(
                id=_identity("verdict", request, case.case, end),
                time=when,
                request=request,
                case=case.case,
                platform=platform,
                verdict=case.verdict,
                work_verdict=case.work,
                time_verdict=case.time,
                memory_verdict=case.memory,
                confirmed=case.confirmed,
                deciding=next((verdict for verdict in case.verdicts if verdict.metric == case.deciding), None),
            )
        yield ComparisonEvent(
            id=_identity("comparison", request, end),
            time=when,
            request=request,
            platform=platform,
            base=_named_measured(document.base),
            head=_named_measured(document.head),
            summary=document.summary,
        )
    yield _of_request(work.request, work.state, work.reason, when, end)


def attempt_events(attempt: Attempt, event: Event | None) -> Iterator[LabEvent]:
    """Yield the event for an event of an attempt; nothing for one that is not published, such as giving up."""
    job = attempt.job
    if isinstance(job, BuildJob) and isinstance(event, JobStarted | BuildDone | JobFailed):
        yield _of_build(attempt, job, event)
    elif isinstance(job, TrialsJob) and isinstance(event, TrialDone):
        yield _of_trial(attempt, job, event)
    elif isinstance(job, TrialsJob) and isinstance(event, JobFailed):
        yield _of_failed_trial(attempt, job, event)


def trigger_event(trigger: StoredTrigger) -> TriggerEvent:
    """Return the event that work on a trigger has ended."""
    return TriggerEvent.taken_from(
        trigger,
        id=_identity("trigger", trigger.id, trigger.state),
        time=_text_of(time.time()),
        trigger=trigger.id,
        reason=_short(trigger.reason),
    )


def lost_event(count: int, since: float) -> LostEvent:
    """Return the event that `count` events were lost from `since` on, in seconds since the epoch."""
    return LostEvent(id=_identity("lost", repr(since), str(count)), time=_text_of(time.time()), count=count)


def _of_request(
    request: Request,
    state: Literal["submitted"] | RequestState,
    reason: str,
    when: str,
    occurrence: str = "",
) -> RequestEvent:
    servers = [server for side, server in request.servers.items() if side != ANCHOR]
    return RequestEvent.taken_from(
        request,
        id=_identity("request", request.id, state, reason, occurrence),
        time=when,
        request=request.id,
        state=state,
        reason=_short(reason),
        base=_named(servers[0]) if len(servers) > 1 else None,
        head=_named(servers[-1]),
    )


def _of_build(attempt: Attempt, job: BuildJob, event: JobStarted | BuildDone | JobFailed) -> BuildEvent:
    now = time.time()
    is_started = isinstance(event, JobStarted)
    return BuildEvent(
        # If an agent is lost, another agent begins the same attempt.
        id=_identity("build", attempt.id, event.event, attempt.agent or "", str(attempt.delivery)),
        time=_text_of(now),
        request=attempt.request,
        state="started" if is_started else "failed" if isinstance(event, JobFailed) else "done",
        reason=_short(event.reason) if isinstance(event, JobFailed) else "",
        build=job.spec.digest,
        variant=job.variant,
        source=_named_source(job.source),
        platform=attempt.platform,
        agent=attempt.agent,
        seconds=None if is_started or attempt.claimed is None else round(now - attempt.claimed, 3),
    )


def _of_trial(attempt: Attempt, job: TrialsJob, event: TrialDone) -> TrialEvent:
    sides = {
        side: TrialSide(
            valid=measurement.validity.valid,
            failed_checks=tuple(check.check for check in measurement.validity.failed),
            metrics={name: measurement.metrics[name] for name in MAIN_METRICS if name in measurement.metrics},
        )
        for side, measurement in event.measurements.items()
    }
    # A trial that is carried out again because its job was interrupted is another event.
    outcomes = (f"{side} {sides[side].model_dump_json()}" for side in sorted(sides))
    return TrialEvent.taken_from(
        attempt,
        event,
        id=_identity("trial", job.id, str(event.block), attempt.agent or "", *outcomes),
        time=_text_of(time.time()),
        state="done",
        reason="",
        job=job.id,
        case=job.case.name,
        valid=all(side.valid for side in sides.values()),
        sides=sides,
        event="trial",
        seconds=round(sum(measurement.seconds for measurement in event.measurements.values()), 3),
    )


def _of_failed_trial(attempt: Attempt, job: TrialsJob, event: JobFailed) -> TrialEvent:
    return TrialEvent.taken_from(
        attempt,
        event,
        id=_identity("failed trial", attempt.id, str(event.block), event.side or "", attempt.agent or "", event.reason),
        time=_text_of(time.time()),
        state="failed",
        reason=_short(event.reason),
        job=job.id,
        case=job.case.name,
        valid=False,
        sides={},
        event="trial",
    )


def _named(server: RequestedServer) -> NamedServer:
    return _named_source(server.source)


def _named_source(source: Source) -> NamedServer:
    revision = revision_of(source)
    return NamedServer(name=source.name, commit=None if revision is None else revision.commit)


def _named_measured(server: MeasuredServer) -> NamedServer:
    return NamedServer(name=server.name, commit=server.commit)


def _identity(*parts: str) -> str:
    return "e-" + digest_of(*parts)


def _short(reason: str) -> str:
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _text_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
