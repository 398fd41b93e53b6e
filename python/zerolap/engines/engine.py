"""What an engine is, ours as those of other distributions; `docs/extending.md` builds one."""

import contextlib
import errno
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from zerolap.build import Builds, LinkFailed, Program
from zerolap.engines.server_trial import PinnedTrial, deployed, filled
from zerolap.engines.shared_start import SharedStart
from zerolap.host import Pinning, Processors, choose_pinning
from zerolap.load import LoadHost, Target
from zerolap.records import (
    Block,
    Check,
    EnvironmentMissing,
    Event,
    Measurement,
    MetricRule,
    Placement,
    ServerSpec,
    Side,
    TrialDone,
    TrialFailed,
    TrialsJob,
    now,
)
from zerolap.sandbox import Cancellation, limited, scratch_directory
from zerolap.server import RunningServer, named_death
from zerolap.store import Blobs

TRIAL_PREFIX = "zerolap-trial-"
TRIAL_SECONDS: Final = 600.0
QUICK_TRIAL_SECONDS: Final = 120.0
"""The time limit of trials whose data sets and requests are scaled down."""


@dataclass(frozen=True)
class Place:
    """Where a job is executed: all that is local, which the job itself does not hold.

    `builds` are the builds of this machine, `blobs` stores what measurements refer to, and trials use `processors`
    only. `recorded` are the trials of the job that an earlier attempt carried out. `clock` returns seconds.
    `load_host` is a machine from which timed trials put load on their servers, by default this one. With
    `reports_abilities`, what was built is started and asked for its commands and settings. A trial may take
    `trial_seconds`. `shared` holds the servers of a start for jobs that are carried out in turn.
    """

    builds: Builds
    blobs: Blobs
    processors: Processors
    cancellation: Cancellation
    recorded: Sequence[TrialDone] = ()
    directory: Path | None = None
    clock: Callable[[], float] = field(default=time.monotonic)
    load_host: LoadHost | None = None
    reports_abilities: bool = False
    trial_seconds: float = TRIAL_SECONDS
    shared: SharedStart | None = None

    def program(self, server: ServerSpec) -> Program:
        """Return the program of a server; raises `EnvironmentMissing` if its build is not here."""
        return self.builds.get(server.build).program

    def placed_programs(self, job: TrialsJob, block: Block) -> tuple[dict[Side, Program], Placement]:
        """Return the programs of all sides with functions and variables in the order of a block's seed.

        Where one side's cannot be ordered, or the job asks for it, all are as they were built. Raises
        `EnvironmentMissing` if a build is not here.
        """
        programs = {side: self.program(server) for side, server in job.servers.items()}
        if job.amounts.as_built:
            return programs, Placement(failure="it was to run as it was built")
        try:
            placed = self._placed([server.build for server in job.servers.values()], block.seed)
        except LinkFailed as failed:
            return programs, Placement(failure=str(failed))
        return {side: placed[server.build] for side, server in job.servers.items()}, Placement(seed=block.seed)

    def _placed(self, builds: Sequence[str], seed: int) -> dict[str, Program]:
        """Return the programs of builds in the order of a seed, linked side by side: nothing is measured meanwhile.

        Raises `LinkFailed`, `EnvironmentMissing` if a build is not here.
        """
        with ThreadPoolExecutor() as pool:
            linked = {
                # Processes of a thread belong to the cancellation of its context.
                build: pool.submit(copy_context().run, self.builds.placed, build, seed)
                for build in dict.fromkeys(builds)
            }
            return {build: program.result() for build, program in linked.items()}

    def pinning(self, job: TrialsJob, *, load_is_here: bool = True) -> Pinning:
        """Return the processors of servers and clients; none is for a load generator that is not on this machine."""
        threads = max(server.busy_threads for server in job.servers.values())
        clients = len(job.case.companions) + load_is_here
        return choose_pinning(self.processors, server_threads=threads, client_threads=clients)

    def measured(self, block: Block, side: Side) -> Measurement | None:
        """Return what an earlier attempt measured of a trial."""
        found = (done.measurements.get(side) for done in self.recorded if done.block == block.number)
        return next((measurement for measurement in found if measurement is not None), None)

    @contextlib.contextmanager
    def trial_directory(self, *, has_limit: bool = True) -> Iterator[Path]:
        """Make a directory for a trial's files, its name of the same length each time; it ends with the context.

        Raises `EnvironmentMissing` where the disk is full, and `TrialFailed` where the trial takes longer than it may.
        """
        limit = limited(self.trial_seconds) if has_limit else contextlib.nullcontext()
        try:
            with limit, scratch_directory(TRIAL_PREFIX, self.directory) as directory:
                yield directory
        except OSError as fault:
            if fault.errno == errno.ENOSPC:
                raise disk_full(fault) from fault
            raise


@runtime_checkable
class Engine(Protocol):
    """Measures the trials of a job; the name is that of its entry point."""

    def missing(self) -> str | None:
        """Return why it cannot measure on this machine, or none."""

    def carry_out(self, job: TrialsJob, place: Place) -> Iterator[Event]:
        """Carry out the trials of a job that `place` has no record of, and yield each as it is done.

        The end of the job need not be yielded: where trials are missing then, the job's time was over.

        Raises `CaseRefused` for a case that it cannot measure, `TrialFailed` where a trial fails: the case ends, others
        go on. `EnvironmentMissing` ends the whole request.
        """


@runtime_checkable
class ComparingEngine(Engine, Protocol):
    """An engine whose trials of two servers can be compared: blocks are pairs, each of one seed.

    `metrics` are those of its metrics that are judged.
    """

    metrics: Sequence[MetricRule]


class Deadline:
    """The end of the time that a job may take."""

    def __init__(self, job: TrialsJob, place: Place) -> None:
        self._clock = place.clock
        self._end = None if job.seconds_left is None else place.clock() + job.seconds_left

    @property
    def is_over(self) -> bool:
        """Whether no further block may begin."""
        return self._end is not None and self._clock() > self._end


@dataclass(frozen=True)
class EngineTrial(PinnedTrial):
    """One trial of a job: a block of it, on one side."""

    job: TrialsJob
    block: Block
    side: Side
    began: str = field(default_factory=now, kw_only=True)

    @classmethod
    def of(
        cls, job: TrialsJob, block: Block, side: Side, program: Program, directory: Path, pinning: Pinning
    ) -> "EngineTrial":
        """Return a side's trial of a block, by the program of the side, in an empty directory."""
        return cls(program, job.servers[side], job.case, block.seed, directory, pinning, job, block, side)

    def done(self, measurement: Measurement) -> TrialDone:
        """Return the event that this trial has been carried out, with the time at which it began."""
        measurement = measurement.model_copy(update={"began": self.began})
        return TrialDone(job=self.job.id, block=self.block.number, measurements={self.side: measurement})


def trials_of(job: TrialsJob, place: Place) -> Generator[EngineTrial, None, None]:
    """Yield the trials of a job that are yet to be carried out, side after side, each with a directory of its own.

    Ends early once the job's time is over.
    """
    deadline, pinning = Deadline(job, place), place.pinning(job)
    for block in job.blocks:
        if deadline.is_over:
            return
        for side, server in job.servers.items():
            if place.measured(block, side) is None:
                with place.trial_directory() as directory:
                    yield EngineTrial.of(job, block, side, place.program(server), directory, pinning)


@contextlib.contextmanager
def named_failure(sides: Collection[Side], side: Side | None, block: Block | None = None) -> Iterator[None]:
    """Give a failure the number of its block, and the name of its side where there are several."""
    try:
        yield
    except TrialFailed as fault:
        number = None if block is None else block.number
        raise fault.at(side if len(sides) > 1 else None, number) from fault.__cause__


def disk_full(fault: OSError) -> EnvironmentMissing:
    """Return the error for a disk without space."""
    return EnvironmentMissing(
        f"no space left on the disk of `{fault.filename2 or fault.filename or tempfile.gettempdir()}`",
        hint="free some, or set TMPDIR to a directory on another disk",
    )


@dataclass(frozen=True)
class FilledServer:
    """A server that holds a case's data: the lab's connection to it, the checks of what it holds."""

    server: RunningServer
    checks: list[Check]


@contextlib.contextmanager
def filled_server(trial: EngineTrial) -> Iterator[FilledServer]:
    """Start the trial's server on its processors, fill it, and stop it at the end of the context.

    Raises `TrialFailed` with the end of the server's log.
    """
    topology = trial.server.topology
    if topology.needs_network:
        raise TrialFailed(f"the topology `{topology.name}` cannot be measured by this engine")
    with deployed(trial, topology) as deployment:
        target = Target.of(deployment)
        with (
            filled(trial, deployment, target, processors=trial.pinning.client) as data,
            named_death(target.server),
        ):
            yield FilledServer(target.server, data.checks)
            data.beside.require_running()
