"""Executes one job at a place: builds a source, or has an engine carry out trials; whatever happens is an event."""

import errno
import math
import traceback
from collections.abc import Iterator, Mapping

from zerolap import __version__
from zerolap.build import Builder, parse_variant
from zerolap.engines import Engine, Place, disk_full, engine_named
from zerolap.records import (
    BuildDone,
    BuildJob,
    CaseRefused,
    Event,
    JobFailed,
    JobFinished,
    JobStarted,
    Note,
    Progress,
    TrialDone,
    TrialFailed,
    TrialsJob,
    ZerolapError,
)


class Worker:
    """Executes jobs one by one. `engines` stand in for those of their names."""

    def __init__(self, engines: Mapping[str, Engine] | None = None) -> None:
        self._engines = engines or {}

    def engine(self, name: str) -> Engine:
        """Return the engine of that name; raises `UsageError` or `PluginFault`."""
        return self._engines[name] if name in self._engines else engine_named(name)

    def carry_out(self, job: BuildJob | TrialsJob, place: Place) -> Iterator[Event]:
        """Execute a job and yield what happens; the last event is a `BuildDone`, `JobFinished` or `JobFailed`.

        Raises what ends the whole request: `BuildFailed`, `EnvironmentMissing`, `Interrupted` once it is cancelled.
        """
        yield JobStarted(job=job.id)
        with place.cancellation.current():
            events = self._build(job, place) if isinstance(job, BuildJob) else self._measure(job, place)
            try:
                yield from events
            except OSError as fault:
                raise disk_full(fault) if fault.errno == errno.ENOSPC else fault from fault

    def _build(self, job: BuildJob, place: Place) -> Iterator[Event]:
        started: list[str] = []
        builder = Builder(place.builds.directory, started.append, place.builds.policy, archives=place.blobs)
        if place.builds.find(job.spec.digest) is None:
            yield Progress(activity="building", subject=job.source.name)
        built = builder.build(job.source, parse_variant(job.variant), job.objects_of)
        yield BuildDone(job=job.id, build=built.record)

    def _measure(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        engine = self.engine(job.engine)
        finished, trials = False, sum(len(done.measurements) for done in place.recorded)
        try:
            for event in engine.carry_out(job, place):
                _require_sound(event)
                finished = finished or isinstance(event, JobFinished | JobFailed)
                trials += len(event.measurements) if isinstance(event, TrialDone) else 0
                yield _stamped(event) if isinstance(event, TrialDone) else event
        except CaseRefused as refused:
            yield JobFailed(job=job.id, reason=refused.message, hint=refused.hint, refused=True)
        except TrialFailed as fault:
            place.cancellation.require_going_on()
            yield _failed(job, fault)
        except (ZerolapError, OSError):
            raise
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - an engine may be foreign code, which may raise anything
            place.cancellation.require_going_on()
            reason = f"the engine `{job.engine}` failed: {type(fault).__name__}: {fault}"
            yield JobFailed(job=job.id, reason=reason, details=traceback.format_exc())
        else:
            if not finished:
                is_complete = trials >= len(job.blocks) * len(job.servers)
                yield JobFinished(job=job.id, cut_short=job.seconds_left is not None and not is_complete)


def _failed(job: TrialsJob, fault: TrialFailed) -> JobFailed:
    return JobFailed(
        job=job.id,
        reason=fault.message,
        hint=fault.hint,
        details=fault.details,
        side=fault.side,
        block=fault.block,
    )


def _require_sound(event: object) -> None:
    """Raise `TypeError` or `ValueError` for what an engine yields that cannot be recorded."""
    if not isinstance(event, TrialDone | JobFinished | JobFailed | Note | Progress):
        raise TypeError(f"it yielded {event!r}, which is no event of trials")
    if isinstance(event, TrialDone):
        for measurement in event.measurements.values():
            for name, value in measurement.metrics.items():
                if not math.isfinite(value):
                    raise ValueError(f"{name} is {value}")


def _stamped(event: TrialDone) -> TrialDone:
    """Return the event with the version of this program in its measurements."""
    measurements = {
        side: measurement.model_copy(update={"zerolap": __version__})
        for side, measurement in event.measurements.items()
    }
    return event.model_copy(update={"measurements": measurements})
