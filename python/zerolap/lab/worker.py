"""Executes one job at a place: builds a source, or has an engine carry out trials; whatever happens is an event."""

import errno
import traceback
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import ValidationError

from zerolap import __version__
from zerolap.build import Builder, parse_variant
from zerolap.engines import Engine, Place, disk_full, engine_named
from zerolap.host import fingerprint
from zerolap.lab.selection import StartableServer
from zerolap.records import (
    Abilities,
    BuildDone,
    BuildJob,
    BuildSpec,
    CaseRefused,
    EnvironmentMissing,
    Event,
    FirstFault,
    Interrupted,
    JobFailed,
    JobFinished,
    JobStarted,
    Note,
    Progress,
    TrialDone,
    TrialFailed,
    TrialsJob,
    UsageError,
    ZerolapError,
)

OF_THE_MACHINE: Final = frozenset(
    {errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS}
)
"""Errors of the system that another machine, or this one at another time, need not have."""
LONGEST_TRACEBACK: Final = 20_000
"""Characters: of one that is longer, the end is kept."""


class Worker:
    """Executes jobs one by one. `engines` stand in for those of their names."""

    def __init__(self, engines: Mapping[str, Engine] | None = None) -> None:
        self._engines = engines or {}

    def engine(self, name: str) -> Engine:
        """Return the engine of that name; raises `UsageError` or `PluginFault`."""
        return self._engines[name] if name in self._engines else engine_named(name)

    def carry_out(self, job: BuildJob | TrialsJob, place: Place) -> Iterator[Event]:
        """Execute a job and yield what happens; the last event is a `BuildDone`, `JobFinished` or `JobFailed`.

        Raises only what is not about the job: `EnvironmentMissing` for what this machine lacks, and `Interrupted` once
        it is cancelled.
        """
        yield JobStarted(job=job.id)
        with place.cancellation.current():
            events = self._build(job, place) if isinstance(job, BuildJob) else self._measure(job, place)
            try:
                yield from events
            except (EnvironmentMissing, Interrupted):
                raise
            except (Exception, SystemExit) as fault:  # noqa: BLE001 - hostile code, or an engine, may cause any error
                place.cancellation.require_going_on()
                failed = _failure_of(job, fault)
                if isinstance(job, TrialsJob) and job.part is not None:
                    [side] = job.servers
                    failed = failed.model_copy(update={"side": side})
                yield failed

    def _build(self, job: BuildJob, place: Place) -> Iterator[Event]:
        started: list[str] = []
        builder = Builder(place.builds.directory, started.append, place.builds.policy, archives=place.blobs)
        variant = parse_variant(job.variant)
        spec = builder.spec(job.source, variant)
        if spec != job.spec:
            raise EnvironmentMissing(
                f"`{job.source.name}` cannot be built here as it was asked for: by "
                f"{_how(job.spec)}; here is {_how(spec)}",
                hint="the compilers were changed since it was asked for: ask again",
            )
        if place.builds.find(spec.digest) is None:
            yield Progress(activity="building", subject=job.source.name)
        built = builder.build(job.source, variant, job.objects_of)
        abilities, done = None, BuildDone(job=job.id, build=built.record)
        if place.reports_abilities:
            try:
                abilities = StartableServer(place.builds.get(built.record.build).program, {}).abilities()
            except TrialFailed as fault:
                # It can be measured by cases of the lab's own format nevertheless, or fails in them with its reason.
                abilities = Abilities(commands=frozenset(), settings=frozenset())
                yield Note(text=f"the server `{job.source.name}` does not report its commands: {fault.message}")
        yield done.model_copy(update={"abilities": abilities})

    def _measure(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        engine = self.engine(job.engine)
        # Settings of the machine hardly change within a job; a trial names those with which its job began.
        facts = fingerprint().facts_digest
        finished, trials = False, sum(len(done.measurements) for done in place.recorded)
        for event in engine.carry_out(job, place):
            _require_sound(event)
            finished = finished or isinstance(event, JobFinished | JobFailed)
            trials += len(event.measurements) if isinstance(event, TrialDone) else 0
            yield _stamped(event, facts) if isinstance(event, TrialDone) else event
        if not finished:
            is_complete = trials >= len(job.blocks) * len(job.servers)
            yield JobFinished(job=job.id, cut_short=job.seconds_left is not None and not is_complete)


def _how(spec: BuildSpec) -> str:
    """Return by what a build is made, for a message."""
    return f"{', '.join(spec.tools) or 'no tools'}, recipe {spec.recipe}"


def _failure_of(job: BuildJob | TrialsJob, fault: BaseException) -> JobFailed:
    """Return what happened as the end of a job; raises `EnvironmentMissing` for what is the machine's."""
    match fault:
        case OSError(errno=errno.ENOSPC):
            raise disk_full(fault) from fault
        case OSError(errno=number) if number in OF_THE_MACHINE:
            raise EnvironmentMissing(str(fault)) from fault
        case TrialFailed():
            is_refused = isinstance(fault, CaseRefused)
            failed = JobFailed(job=job.id, reason=fault.message, refused=is_refused, side=fault.side, block=fault.block)
        case ZerolapError():
            is_refused = isinstance(job, BuildJob) and isinstance(fault, UsageError)
            failed = JobFailed(job=job.id, reason=fault.message, refused=is_refused)
        case ValidationError():
            # Its own text has several lines.
            return _failure_of(job, ValueError(str(FirstFault.of(fault))))
        case _:
            subject = f"engine `{job.engine}`" if isinstance(job, TrialsJob) else f"build of `{job.source.name}`"
            reason = f"the {subject} failed: {type(fault).__name__}: {fault}"
            details = "".join(traceback.format_exception(fault))[-LONGEST_TRACEBACK:]
            return JobFailed(job=job.id, reason=reason, details=details)
    return failed.model_copy(update={"hint": fault.hint, "details": fault.details})


def _require_sound(event: object) -> None:
    """Raise `TypeError` for what an engine yields that is no event of trials."""
    if not isinstance(event, TrialDone | JobFinished | JobFailed | Note | Progress):
        raise TypeError(f"it yielded {event!r}, which is no event of trials")


def _stamped(event: TrialDone, facts: str) -> TrialDone:
    """Return the event with the version of this program, and the state of the machine, in its measurements."""
    measurements = {
        side: measurement.model_copy(update={"zerolap": __version__, "facts": facts})
        for side, measurement in event.measurements.items()
    }
    return event.model_copy(update={"measurements": measurements})
