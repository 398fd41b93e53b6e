"""Whatever happens while a job is executed is an event of the job, but for what is about the machine or the user."""

import errno
from pathlib import Path

import pytest
from engine_place import job_of, place_in
from simulated_fleet import made_up_cases
from toy_server import ToySource

from zerolap import __version__
from zerolap.build import Builder, pack_source, resolve
from zerolap.engines import Place
from zerolap.engines.simulated import Simulated
from zerolap.host import fingerprint
from zerolap.lab import Worker
from zerolap.records import (
    ArchiveSource,
    Block,
    BuildJob,
    BuildSpec,
    EnvironmentMissing,
    Event,
    Interrupted,
    JobFailed,
    TrialDone,
    TrialFailed,
    TrialsJob,
    UsageError,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_in(tmp_path / "place")


def events_of_a_trial(fault: BaseException, place: Place, redis_server: Path) -> list[Event]:
    """Return the events of a trial in which something is raised."""

    def fail(_job: TrialsJob, _block: Block) -> None:
        raise fault

    job = job_of("counted", made_up_cases(1)[0], redis_server, place)
    return list(Worker({"counted": Simulated(on_trial=fail)}).carry_out(job, place))


@pytest.mark.parametrize(
    "fault",
    [RecursionError("too deep"), MemoryError(), OSError(errno.ELOOP, "a loop"), SystemExit(3), UnicodeError("text")],
)
def test_what_an_engine_raises_is_the_end_of_its_job(fault: BaseException, place: Place, redis_server: Path) -> None:
    failed = events_of_a_trial(fault, place, redis_server)[-1]
    assert isinstance(failed, JobFailed)
    assert f"the engine `counted` failed: {type(fault).__name__}" in failed.reason
    assert "Traceback" in failed.details
    assert "in fail" in failed.details


def test_a_trial_names_the_program_and_the_state_of_the_machine(place: Place, redis_server: Path) -> None:
    case = made_up_cases(1)[0]
    events = Worker({"counted": Simulated()}).carry_out(job_of("counted", case, redis_server, place), place)
    [done] = [event for event in events if isinstance(event, TrialDone)]
    here = fingerprint()
    for measurement in done.measurements.values():
        assert (measurement.zerolap, measurement.facts) == (__version__, here.facts_digest)
    other = here.model_copy(update={"facts": here.facts | {"governor": "another"}})
    assert other.facts_digest != here.facts_digest


def test_a_failure_of_a_trial_is_reported_with_its_place(place: Place, redis_server: Path) -> None:
    fault = TrialFailed("it died", hint="look", details="a log", side="head", block=3)
    failed = events_of_a_trial(fault, place, redis_server)[-1]
    assert isinstance(failed, JobFailed)
    assert (failed.reason, failed.hint, failed.details) == ("it died", "look", "a log")
    assert (failed.side, failed.block, failed.refused) == ("head", 3, False)


def test_a_place_is_added_to_a_failure_that_has_none() -> None:
    fault = TrialFailed("it died", block=1)
    assert (fault.at("base", 2).side, fault.at("base", 2).block) == ("base", 1)
    assert (fault.side, fault.block) == (None, 1)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENOMEM])
def test_what_the_machine_lacks_fails_no_job(number: int, place: Place, redis_server: Path) -> None:
    with pytest.raises(EnvironmentMissing):
        events_of_a_trial(OSError(number, "lacking"), place, redis_server)


def test_the_user_and_a_cancellation_end_more_than_the_job(place: Place, redis_server: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        events_of_a_trial(KeyboardInterrupt(), place, redis_server)
    place.cancellation.cancel()
    with pytest.raises(Interrupted):
        events_of_a_trial(RuntimeError("killed"), place, redis_server)


@pytest.mark.parametrize(
    ("fault", "reason", "refused"),
    [
        (RecursionError("deep"), "the build of `redis-server` failed: RecursionError: deep", False),
        (UsageError("no compiler"), "no compiler", True),
    ],
)
def test_what_a_build_raises_is_the_end_of_its_job(
    place: Place, monkeypatch: pytest.MonkeyPatch, fault: Exception, reason: str, refused: bool
) -> None:
    def fail(*_: object) -> None:
        raise fault

    source = ArchiveSource(name="redis-server", form="program", content="a", archive="b")
    job = BuildJob(request="r-1", source=source, variant="default", spec=BuildSpec(content="a"))
    monkeypatch.setattr(Builder, "build", fail)
    failed = list(Worker().carry_out(job, place))[-1]
    assert isinstance(failed, JobFailed)
    assert (failed.reason, failed.refused) == (reason, refused)


def test_a_build_by_other_tools_than_asked_for_is_not_made(place: Place, toy: ToySource) -> None:
    source = pack_source(resolve(toy.first, toy.path), place.blobs)
    asked = Builder(place.builds.directory, archives=place.blobs).spec(source)
    other = asked.model_copy(update={"tools": ("x86_64", "gcc 1.0")})
    job = BuildJob(request="r-1", source=source, variant="default", spec=other)
    with pytest.raises(EnvironmentMissing, match=r"by x86_64, gcc 1\.0, recipe \d+; here is "):
        list(Worker().carry_out(job, place))
    assert place.builds.find(job.spec.digest) is None
