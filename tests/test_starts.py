"""How the timed engine carries out a job: which starts it repeats, and when it ends. What starts measure is made up."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from engine_place import job_of, place_in

from zerolap.engines import Place, timed as timed_engine
from zerolap.engines.timed import REPEATS, StartOutcome, Timed, TimedStart
from zerolap.host.processors import Processor, Processors
from zerolap.records import (
    BASE,
    HEAD,
    Amounts,
    Block,
    Case,
    Check,
    Event,
    JobFinished,
    Measurement,
    Timeline,
    TrialDone,
    TrialsJob,
    Validity,
    WrittenClient,
)

CASE = Case(name="get", group="string", client=WrittenClient(commands=["GET __key__"]).client)
TWO_CORES = Processors((Processor(0, core=0, cache=0), Processor(1, core=1, cache=0)))
BLOCKS = tuple(Block(number=number, seed=100 + number) for number in range(3))
ASKED = Amounts(pairs=4)
CHOSEN_REQUESTS = 320
SECONDS = 2.0
"""Of each side of a start."""


@dataclass
class MadeUpStarts:
    """Stands in for servers: `failing` has the checks that fail in one start after the other, none in further ones."""

    failing: Sequence[Sequence[str]] = ()
    carried_out: list[TimedStart] = field(default_factory=list)

    def __call__(self, start: TimedStart) -> StartOutcome:
        number = len(self.carried_out)
        self.carried_out.append(start)
        names = self.failing[number] if number < len(self.failing) else ()
        checks = [Check(check="errors", ok=True, value=0.0, limit="<= 0")]
        checks += [Check(check=name, ok=False, value=1.0, limit="<= 0") for name in names]
        requests = start.amounts.slice_requests or CHOSEN_REQUESTS
        measurement = Measurement(
            metrics={"cpu_ns_per_op": 1000.0},
            validity=Validity.of(checks),
            amounts=start.amounts.model_copy(update={"slice_requests": requests}),
            seconds=SECONDS,
        )
        timeline = Timeline(slices=[], histogram_ns=[(1000, 1 + number)])
        return StartOutcome(dict.fromkeys(start.servers, measurement), dict.fromkeys(start.servers, timeline))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place of two cores, the clock of which goes on by a minute each time that it is read."""
    minutes = itertools.count(step=60.0)
    return replace(place_in(tmp_path), processors=TWO_CORES, clock=lambda: next(minutes))


@pytest.fixture
def job(redis_server: Path, place: Place) -> TrialsJob:
    one_sided = job_of("timed", CASE, redis_server, place)
    servers = {BASE: one_sided.servers[HEAD], HEAD: one_sided.servers[HEAD]}
    return one_sided.model_copy(update={"servers": servers, "blocks": BLOCKS, "amounts": ASKED})


def carried_out(
    job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch, failing: Sequence[Sequence[str]] = ()
) -> tuple[list[Event], list[TimedStart]]:
    """Return the events of a job and the starts that were carried out for it."""
    starts = MadeUpStarts(failing)
    monkeypatch.setattr(timed_engine, "time_start", starts)
    return list(Timed().carry_out(job, place)), starts.carried_out


def trials_of(events: Sequence[Event]) -> list[TrialDone]:
    """Return the trials, after which the job must have ended."""
    *trials, finished = events
    assert isinstance(finished, JobFinished)
    assert not finished.cut_short
    assert all(isinstance(trial, TrialDone) for trial in trials)
    return [trial for trial in trials if isinstance(trial, TrialDone)]


def test_each_block_is_a_start_of_all_sides(job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    events, starts = carried_out(job, place, monkeypatch)
    trials = trials_of(events)
    assert [trial.block for trial in trials] == [0, 1, 2]
    assert all(trial.measurements.keys() == {BASE, HEAD} for trial in trials)
    assert [start.seed for start in starts] == [block.seed for block in BLOCKS]
    assert all(start.programs[BASE].path.is_file() for start in starts)
    digest = trials[1].measurements[HEAD].timeline
    assert digest is not None
    assert Timeline.model_validate_json(place.blobs.get(digest)).histogram_ns == [(1000, 2)]
    assert place.directory is not None
    assert list(place.directory.iterdir()) == []


def test_the_requests_that_the_first_start_chose_hold_for_all(
    job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, starts = carried_out(job, place, monkeypatch)
    chosen = Amounts(pairs=4, slice_requests=CHOSEN_REQUESTS)
    assert [start.amounts for start in starts] == [ASKED, chosen, chosen]
    assert {trial.measurements[BASE].amounts for trial in trials_of(events)} == {chosen}


def test_a_disturbed_start_is_repeated_and_its_time_counts(
    job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, starts = carried_out(job, place, monkeypatch, failing=[["other_load", "swap"]])
    trials = trials_of(events)
    assert [start.seed for start in starts] == [100, 100, 101, 102]
    assert len({start.directory for start in starts}) == len(starts)
    assert all(measurement.validity.valid for trial in trials for measurement in trial.measurements.values())
    assert [trial.measurements[BASE].seconds for trial in trials] == [2 * SECONDS, SECONDS, SECONDS]


def test_a_start_that_stays_disturbed_is_the_last(
    job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    always = [["steal"]] * (1 + REPEATS)
    events, starts = carried_out(job, place, monkeypatch, failing=always)
    (trial,) = trials_of(events)
    assert len(starts) == 1 + REPEATS
    assert [check.check for check in trial.measurements[HEAD].validity.failed] == ["steal"]


@pytest.mark.parametrize("failing", [["hit_rate"], ["hit_rate", "steal"]])
def test_a_start_whose_replies_are_wrong_is_not_repeated(
    failing: list[str], job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, starts = carried_out(job, place, monkeypatch, failing=[failing])
    (trial,) = trials_of(events)
    assert len(starts) == 1
    assert [check.check for check in trial.measurements[HEAD].validity.failed] == failing


@pytest.mark.parametrize(("per_second", "again"), [(None, None), (20_000, 50)])
def test_slices_that_were_too_short_are_chosen_again_at_full_speed(
    per_second: int | None, again: int | None, job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At an equal rate requests are as they were at full speed: others would come in other batches."""
    amounts = ASKED.model_copy(update={"slice_requests": 50, "per_second": per_second})
    asked = job.model_copy(update={"amounts": amounts})
    _, starts = carried_out(asked, place, monkeypatch, failing=[["slice_seconds"]])
    assert [start.amounts.slice_requests for start in starts[:2]] == [50, again]


def test_what_was_recorded_is_not_measured_again(job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Amounts(pairs=4, slice_requests=77)
    measurement = Measurement(metrics={}, validity=Validity.of([]), amounts=chosen)
    recorded = TrialDone(job=job.id, block=0, measurements={BASE: measurement, HEAD: measurement})
    events, starts = carried_out(job, replace(place, recorded=[recorded]), monkeypatch)
    assert [trial.block for trial in trials_of(events)] == [1, 2]
    assert [start.amounts for start in starts] == [chosen, chosen]


def test_no_start_begins_once_the_time_is_over(job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is read when the job begins and before each start: the third would begin after 180 s."""
    events, starts = carried_out(job.model_copy(update={"seconds_left": 150.0}), place, monkeypatch)
    assert len(starts) == 2
    assert events[-1] == JobFinished(job=job.id, cut_short=True)
    assert [event.block for event in events if isinstance(event, TrialDone)] == [0, 1]


def test_nothing_starts_where_busy_threads_would_share_a_core(
    job: TrialsJob, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_core = replace(place, processors=Processors(TWO_CORES.processors[:1]))
    events, starts = carried_out(job, one_core, monkeypatch)
    (trial,) = trials_of(events)
    assert starts == []
    for measurement in trial.measurements.values():
        assert [check.check for check in measurement.validity.failed] == ["oversubscribed"]
