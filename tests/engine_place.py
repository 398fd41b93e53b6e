"""A place on this machine for the jobs of engines, and jobs of one trial on a program."""

from pathlib import Path

from zerolap.build import Builder, Builds
from zerolap.engines import Engine, Place
from zerolap.host import read_processors
from zerolap.records import (
    HEAD,
    BinarySource,
    Block,
    Case,
    Measurement,
    ServerSpec,
    TrialDone,
    TrialsJob,
)
from zerolap.sandbox import Cancellation
from zerolap.store.blobs import open_blobs

CHECK_CASES = Path(__file__).parent / "data" / "checks.yml"
"""Small cases: good ones, and one for each check that fails."""


def place_in(directory: Path) -> Place:
    """Return a place whose builds, blobs and trials lie in an empty directory."""
    trials = directory / "trials"
    trials.mkdir(parents=True)
    builds, blobs = Builds(directory / "builds"), open_blobs(None, directory / "blobs")
    return Place(builds, blobs, read_processors(), Cancellation(), directory=trials)


def job_of(engine: str, case: Case, program: Path, place: Place, load_tool: str | None = None) -> TrialsJob:
    """Return a job of one trial on a program, which is among the builds of the place then."""
    built = Builder(place.builds.directory).build(BinarySource(name=program.name, path=program))
    return TrialsJob(
        request="r-1",
        case=case,
        servers={HEAD: ServerSpec(build=built.record.build, topology=case.topology, config=case.config)},
        engine=engine,
        blocks=(Block(number=0, seed=1),),
        load_tool=load_tool,
    )


def measured(engine: Engine, job: TrialsJob, place: Place) -> Measurement:
    """Carry out a job of one trial and return its measurement."""
    (done,) = engine.carry_out(job, place)
    assert isinstance(done, TrialDone)
    return done.measurements[HEAD]
