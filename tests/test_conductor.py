"""The conductor over the store: with agents in its process that make their measurements up."""

import asyncio
import hashlib
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import simulated_fleet
from simulated_fleet import PACE, HeldTrials, SimulatedFleet, made_up_cases, other_build
from sqlalchemy import select
from sqlalchemy.exc import DataError
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.build import pack_build
from zerolap.documents import read_comparison
from zerolap.engines import Place
from zerolap.engines.simulated import Simulated
from zerolap.fleet import intake
from zerolap.fleet.agent import Agent
from zerolap.fleet.delivery import MAX_DELIVERIES, AgentName
from zerolap.fleet.fleet_execution import FleetExecution, with_builds
from zerolap.fleet.in_process import InProcess, _Queued
from zerolap.fleet.messages import PROTOCOL, Claim, GiveUp, Heartbeat, Hello, MessageReply, OfferedJob, Report
from zerolap.fleet.roster import Roster, ServedPlatform
from zerolap.host import fingerprint
from zerolap.lab import Lab, Plan, SubmissionOptions
from zerolap.records import (
    Abilities,
    Block,
    Build,
    BuildJob,
    BuildSpec,
    EnvironmentMissing,
    JobFailed,
    JobFinished,
    Measurement,
    Request,
    Side,
    TrialDone,
    TrialFailed,
    TrialsJob,
    UsageError,
    Validity,
    WrittenClient,
)
from zerolap.store import Artifact, Attempt, Outcome, Store
from zerolap.store.tables import platform_facts, series

HERE = "here"
LONG_SECONDS = 10 * PATIENCE_SECONDS
HELLO = (
    f'{{"message":"hello","protocol":{PROTOCOL},"kind":"bench","zerolap":"0","architecture":"","memory_bytes":1,'
    '"platform":{"name":"","fingerprint":"f","cpu":"CPU","cores":CORES,"kernel":""}}'
)


@pytest.fixture
def fleet(store: Store, redis_server: Path, monkeypatch: pytest.MonkeyPatch) -> SimulatedFleet:
    monkeypatch.setattr(simulated_fleet, "PACE", replace(simulated_fleet.PACE, patience_seconds=0))
    return SimulatedFleet(store, redis_server)


def test_a_submission_becomes_a_comparison(fleet: SimulatedFleet, tmp_path: Path) -> None:
    fleet.engine = Simulated(changes={"case-1": 0.1})
    request = fleet.submit(made_up_cases(3), head=other_build(fleet.server, tmp_path / "head"))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    comparison = read_comparison(fleet.store, request.id)
    assert (comparison.state, comparison.platform.name) == ("done", HERE)
    assert {case.case: case.work for case in comparison.cases} == {
        "case-0": "same",
        "case-1": "regression",
        "case-2": "same",
    }
    assert not Counter(fleet.engine.carried_out).most_common(1)[0][1] > 1


@pytest.mark.slow
def test_each_platform_measures_what_its_own_builder_has_made(fleet: SimulatedFleet) -> None:
    fleet.further_platforms = {"west": Simulated()}
    requests = {platform: fleet.submit(made_up_cases(1), platform=platform) for platform in (HERE, "west")}
    source = requests[HERE].servers["base"].source
    digest = BuildSpec(content=hashlib.sha256(fleet.server.read_bytes()).hexdigest()).digest
    forged = Build(build=digest, version="9.9.9", build_id="", flags="")
    none = Abilities(commands=frozenset(), settings=frozenset())
    # By an agent that builds for a platform which has nothing to do with these.
    fleet.store.record_build(forged, source)
    fleet.store.fleet.add_artifact(Artifact(forged, "hostile", None, none))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(*requests.values()) == ["done", "done"]

    fleet.run(scenario)
    for platform, request in requests.items():
        attempts = fleet.store.fleet.attempts(request.id)
        assert {attempt.platform for attempt in attempts if isinstance(attempt.job, BuildJob)} == {platform}
        made = fleet.store.fleet.artifacts([digest], platform)[digest].build
        comparison = fleet.store.comparison(request.id)
        assert comparison.base.build == digest
        assert comparison.base.version == made.version != forged.version


@pytest.mark.slow
def test_platforms_share_no_history_whatever_fingerprint_agents_state(fleet: SimulatedFleet) -> None:
    fleet.further_platforms = {"west": Simulated()}
    requests = {name: fleet.submit(made_up_cases(1), platform=name) for name in (HERE, "west")}

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(*requests.values()) == ["done", "done"]

    fleet.run(scenario)
    # Agents of both are on this machine.
    stated = fingerprint().fingerprint
    for name, request in requests.items():
        platform = fleet.store.comparison(request.id).platform
        assert (platform.name, platform.fingerprint) == (name, f"{name}/{stated}")
        # Verdicts go by this one.
        resolved = fleet.store.resolved(request.id)
        assert resolved is not None
        assert resolved.platform == platform
    with fleet.store._database.read_transaction() as connection:
        assert set(connection.execute(select(series.c.platform)).scalars()) == {f"{HERE}/{stated}", f"west/{stated}"}


def test_what_the_machine_of_the_conductor_measures_is_of_this_machine() -> None:
    hello = Hello.model_validate_json(HELLO.replace("CORES", "4"))
    for is_here, expected in ((True, "f"), (False, "here/f")):
        roster = Roster([ServedPlatform(HERE, HERE, is_here=is_here)])
        roster.introduce(AgentName("lab", HERE, "agent-0"), hello)
        known = roster.snapshot().known_platform(HERE)
        assert known is not None
        assert known.platform.fingerprint == expected


def test_states_of_an_agents_machine_are_recorded_under_its_platform_within_limits(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_STATES", 2)
    fleet.agents = 0
    hello = Hello.model_validate_json(HELLO.replace("CORES", "4"))

    def with_facts(note: str) -> Hello:
        return hello.model_copy(update={"platform": hello.platform.model_copy(update={"facts": {"note": note}})})

    async def scenario(fleet: SimulatedFleet) -> None:
        for note in ("x" * intake.LONGEST_FACTS, "one", "one", "two", "three"):
            assert (await fleet.say(with_facts(note))).accepted

    fleet.run(scenario)
    with fleet.store._database.read_transaction() as connection:
        rows = connection.execute(select(platform_facts.c.fingerprint, platform_facts.c.facts)).all()
    expected = {f'{{"note": "{note}"}}' for note in ("one", "two")}
    assert {fingerprint.partition("/")[::2] for fingerprint, _ in rows} == {(HERE, "f")}
    assert {facts for _, facts in rows} == expected


@pytest.mark.slow
def test_builds_of_different_builders_are_apart_on_the_machine_of_the_conductor(fleet: SimulatedFleet) -> None:
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    lab = Lab(fleet.store)
    digest = fleet.store.comparison(request.id).base.build
    [here] = fleet.store.fleet.artifacts([digest], HERE).values()
    assert with_builds([here], lab) == lab
    sent = replace(here, blob=fleet.store.blobs.put(pack_build(lab.builds, digest)))
    directories = set()
    for builder in ("alpha", "beta"):
        builds = with_builds([replace(sent, builder=builder)], lab).builds
        assert builds.get(digest).record == here.build
        directories.add(builds.directory)
    assert len({lab.builds.directory, *directories}) == 3
    with pytest.raises(UsageError, match="alpha has not sent"):
        with_builds([replace(sent, builder="alpha"), replace(here, builder="alpha")], lab)


def test_what_a_conductor_left_is_finished_by_the_next(fleet: SimulatedFleet) -> None:
    held = HeldTrials(5)
    fleet.engine.on_trial = held
    request = fleet.submit(made_up_cases(20))

    async def interrupted(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: len(fleet.engine.carried_out) == 5)
        held.release()

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(interrupted)
    assert fleet.states(request) == ["running"]
    fleet.run(scenario)
    measured = Counter((trial.case, trial.side, trial.block) for trial, _ in fleet.store.measurements(request.id))
    assert len({case for case, _, _ in measured}) == 20
    assert set(measured.values()) == {1}
    assert not fleet.store.fleet.open_attempts()


def test_a_submission_that_cannot_be_built_fails_with_the_reason(fleet: SimulatedFleet, tmp_path: Path) -> None:
    program = tmp_path / "no-server"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    request = fleet.submit(made_up_cases(1), head=program)

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["failed"]

    fleet.run(scenario)
    assert "no-server" in fleet.store.request(request.id).reason


@pytest.mark.slow
def test_a_large_submission_does_not_hold_up_a_small_one(fleet: SimulatedFleet) -> None:
    fleet.agents = 1
    large = fleet.submit(made_up_cases(100))
    small = fleet.submit(made_up_cases(3))
    # Planning takes no time from the small one.
    fleet.engine.on_trial = lambda _job, _block: wait_until(lambda: has_jobs_or_ended(fleet, small))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(small) == ["done"]
        assert fleet.states(large) == ["running"]
        fleet.store.fleet.set_state(large.id, "cancelled")

    fleet.run(scenario)


@pytest.mark.slow
def test_releases_go_before_pull_requests_and_these_before_backfills(fleet: SimulatedFleet) -> None:
    fleet.agents = 1
    requests = {
        priority: fleet.submit(made_up_cases(4), platform=HERE, submitting=SubmissionOptions(priority))  # type: ignore[arg-type]
        for priority in ("backfill", "pull", "release")
    }
    order: list[str] = []

    def trial(job: TrialsJob, _block: Block) -> None:
        wait_until(lambda: all(has_jobs_or_ended(fleet, request) for request in requests.values()))
        order.append(job.request)

    fleet.engine = Simulated(on_trial=trial)

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(*requests.values()) == ["done"] * 3

    fleet.run(scenario)
    ends = [max(number for number, one in enumerate(order) if one == requests[name].id) for name in requests]
    assert ends == sorted(ends, reverse=True)


def executions(fleet: SimulatedFleet) -> dict[str, FleetExecution]:
    """Return what the conductor works on."""
    assert fleet.conductor is not None
    return fleet.conductor.executions


def has_jobs_or_ended(fleet: SimulatedFleet, request: Request) -> bool:
    """Whether agents have jobs of a request, or can be given some; else the conductor is about to plan for it."""
    execution = executions(fleet).get(request.id)
    if execution is None:
        return fleet.states(request) == ["done"]
    assert fleet.conductor is not None
    attempts = list(fleet.conductor.intake.attempts.values())
    return bool(execution.planned) or any(attempt.request == request.id for attempt in attempts)


def test_a_newer_submission_of_a_topic_supersedes_the_older(fleet: SimulatedFleet) -> None:
    older = fleet.submit(made_up_cases(50), platform=HERE, submitting=SubmissionOptions(topic="pr-7"))
    other = fleet.submit(made_up_cases(1), platform=HERE, submitting=SubmissionOptions(topic="pr-8"))
    newer = []
    held = HeldTrials(20)
    fleet.engine.on_trial = held

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: len(fleet.engine.carried_out) == 20)
        newer.append(fleet.submit(made_up_cases(1), platform=HERE, submitting=SubmissionOptions(topic="pr-7")))
        await fleet.until(lambda: fleet.states(older) == ["superseded"])
        held.release()
        assert await fleet.ended(older, other, newer[0]) == ["superseded", "done", "done"]
        await fleet.until(lambda: older.id not in executions(fleet))

    fleet.run(scenario)
    assert newer[0].id in fleet.store.request(older.id).reason
    assert 0 < len(read_comparison(fleet.store, older.id).cases) < 50


@pytest.mark.slow
def test_a_cancelled_submission_is_taken_up_again(fleet: SimulatedFleet) -> None:
    request = fleet.submit(made_up_cases(30))
    held = HeldTrials(3)
    fleet.engine.on_trial = held

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: len(fleet.engine.carried_out) == 3)
        assert fleet.store.fleet.set_state(request.id, "cancelled", "by a test")
        held.release()
        await fleet.until(lambda: not fleet.store.fleet.open_attempts())
        await fleet.until(lambda: request.id not in executions(fleet))
        with pytest.raises(UsageError, match="no request"):
            fleet.store.fleet.retry("c-unknown")
        fleet.store.fleet.retry(request.id)
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    measured = Counter((trial.case, trial.side, trial.block) for trial, _ in fleet.store.measurements(request.id))
    assert set(measured.values()) == {1}
    assert len(read_comparison(fleet.store, request.id).cases) == 30


def test_a_job_that_agents_give_up_is_tried_again_and_fails_in_the_end(fleet: SimulatedFleet) -> None:
    tries: Counter[str] = Counter()

    def trial(job: TrialsJob, block: Block) -> None:
        tries[job.case.name] += 1
        if job.case.name == "case-0" or tries[job.case.name] == 1:
            raise EnvironmentMissing("the disk is full")

    fleet.engine = Simulated(on_trial=trial)
    request = fleet.submit(made_up_cases(2))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    cases = {case.case: case for case in read_comparison(fleet.store, request.id).cases}
    assert "given up 3 times" in (cases["case-0"].failure or "")
    assert "the disk is full" in (cases["case-0"].failure or "")
    assert cases["case-1"].verdict == "same"
    assert tries["case-0"] >= 3


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_job_that_has_ended_does_not_fail_for_having_been_given_up(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch, is_restarted: bool
) -> None:
    """Neither once patience is over, nor by a conductor that reads from the store how often it was given up."""
    monkeypatch.setattr(simulated_fleet, "PACE", replace(simulated_fleet.PACE, patience_seconds=LONG_SECONDS))
    tries: Counter[str] = Counter()
    go_on = threading.Event()

    def trial(job: TrialsJob, block: Block) -> None:
        if job.case.name == "case-1":
            assert_set(go_on)
            return
        tries[job.id] += 1
        if len(tries) == 1 and tries[job.id] <= 3:
            raise EnvironmentMissing("the disk is full")

    fleet.engine, fleet.agents = Simulated(on_trial=trial), 3
    request = fleet.submit(made_up_cases(2))

    def has_ended() -> bool:
        attempts = fleet.store.fleet.attempts(request.id)
        return any(one.state == "done" and tries[one.job.id] > 3 for one in attempts)

    async def to_its_end(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    async def scenario(fleet: SimulatedFleet) -> None:
        assert fleet.conductor is not None
        try:
            await fleet.until(has_ended)
            fleet.conductor._pace = replace(fleet.conductor._pace, patience_seconds=0)
        finally:
            go_on.set()
        if not is_restarted:
            await to_its_end(fleet)

    fleet.run(scenario)
    monkeypatch.setattr(simulated_fleet, "PACE", replace(simulated_fleet.PACE, patience_seconds=0))
    fleet.run(to_its_end)
    events = [event for recorded in fleet.store.jobs(request.id) for event in recorded.events]
    assert not [event for event in events if isinstance(event, JobFailed)]


def test_a_build_that_was_made_for_another_submission_does_not_fail(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [fleet.submit(made_up_cases(1)) for _ in range(2)]
    held = HeldTrials()
    fleet.engine.on_trial = held

    async def scenario(fleet: SimulatedFleet) -> None:
        conductor = fleet.conductor
        assert conductor is not None
        await fleet.until(lambda: requests[1].id in conductor.executions)

        def builds() -> list[Attempt]:
            attempts = [attempt for request in requests for attempt in fleet.store.fleet.attempts(request.id)]
            return [attempt for attempt in attempts if isinstance(attempt.job, BuildJob)]

        await fleet.until(builds)
        built = builds()[0]
        [other] = {request.id for request in requests} - {built.request}
        # As if agents had given up the other's, before it was made for this one.
        job = built.job.model_copy(update={"request": other})
        of_other = replace(built, id="a-other", request=other, given=job, state="given up")
        fleet.store.fleet.add_attempts([of_other])
        for _ in range(3):
            conductor._gave_up(of_other)
        held.release()
        assert await fleet.ended(*requests) == ["done", "done"]

    fleet.run(scenario)


@pytest.mark.slow
def test_a_job_is_tried_until_what_agents_lack_is_there_again(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated_fleet, "PACE", replace(simulated_fleet.PACE, patience_seconds=LONG_SECONDS))
    tries: Counter[str] = Counter()

    def trial(job: TrialsJob, block: Block) -> None:
        tries[job.case.name] += 1
        if tries[job.case.name] <= 4:
            raise EnvironmentMissing("the disk is full")

    fleet.engine = Simulated(on_trial=trial)
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    [case] = read_comparison(fleet.store, request.id).cases
    assert (case.failure, case.verdict) == (None, "same")


def test_a_trial_that_fails_while_the_disk_is_full_is_tried_again(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instrument that cannot write what it has counted looks like a server that does not run."""
    tries: list[str] = []

    def trial(job: TrialsJob, block: Block) -> None:
        tries.append(job.id)
        if len(tries) == 1:
            raise TrialFailed("the instrument wrote nothing")

    monkeypatch.setattr(Agent, "_is_disk_full", lambda _: len(tries) == 1)
    fleet.engine = Simulated(on_trial=trial)
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    [case] = read_comparison(fleet.store, request.id).cases
    assert (case.failure, case.verdict) == (None, "same")


def test_a_trial_that_fails_is_reported_in_its_case(fleet: SimulatedFleet) -> None:
    def trial(job: TrialsJob, block: Block) -> None:
        if job.case.name == "case-0":
            raise TrialFailed("the server crashed", details="its log")

    fleet.engine = Simulated(on_trial=trial)
    request = fleet.submit(made_up_cases(2))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    cases = {case.case: case for case in read_comparison(fleet.store, request.id).cases}
    assert (cases["case-0"].verdict, cases["case-1"].verdict) == ("invalid", "same")
    assert "the server crashed" in (cases["case-0"].failure or "")


@pytest.mark.slow
def test_a_drained_agent_takes_no_further_job(fleet: SimulatedFleet) -> None:
    fleet.agents = 1
    request = fleet.submit(made_up_cases(20))
    held = HeldTrials(3)
    fleet.engine.on_trial = held

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: len(fleet.engine.carried_out) == 3)
        assert fleet.store.fleet.drain("agent-0") == ["agent-0"]
        assert fleet.conductor is not None
        await fleet.until(lambda: not fleet.conductor.roster.usable(HERE))  # type: ignore[union-attr]
        held.release()
        await fleet.until(lambda: all(one.state == "ready" for one in fleet.store.fleet.open_attempts()))
        assert fleet.states(request) == ["running"]
        fleet.store.fleet.drain(HERE, draining=False)
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)


def test_what_is_stuck_has_a_reason(fleet: SimulatedFleet) -> None:
    fleet.agents = 0
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: "an agent of the platform here" in fleet.store.request(request.id).reason)

    fleet.run(scenario)
    assert fleet.states(request) == ["waiting"]


def test_only_who_holds_an_attempt_can_report(fleet: SimulatedFleet) -> None:
    fleet.agents = 1
    request = fleet.submit(made_up_cases(1))
    held: list[OfferedJob] = []
    go_on = threading.Event()

    def wait(job: TrialsJob, block: Block) -> None:
        held.append(OfferedJob(attempt="", token="", job=job))
        go_on.wait(PATIENCE_SECONDS)

    fleet.engine = Simulated(on_trial=wait)
    made_up = Measurement(
        metrics={"instructions_per_op": 1.0},
        validity=Validity(valid=True, checks=[]),
        seconds=1.0,
        method=1,
        zerolap="0",
    )

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: held)
        [attempt] = fleet.store.fleet.open_attempts()
        job = attempt.job
        assert isinstance(job, TrialsJob)
        lie = TrialDone(job=job.id, block=job.blocks[0].number, measurements={"base": made_up, "head": made_up})
        assert (await fleet.say(Heartbeat(), "agent-9")).unknown
        await fleet.agent(9)._introduce()
        assert not (await fleet.say(Report(attempt=attempt.id, event=lie), "agent-9")).accepted
        assert not (await fleet.say(Claim(attempt=attempt.id, delivery=1), "agent-9")).accepted
        for wrong in (
            lie.model_copy(update={"block": 99}),
            lie.model_copy(update={"job": "j-other"}),
            lie.model_copy(update={"measurements": {"other": made_up}}),
            lie.model_copy(update={"measurements": {}}),
            lie.model_copy(update={"measurements": {"base": made_up.model_copy(update={"graph": "0" * 64})}}),
            lie.model_copy(
                update={"measurements": {"base": made_up.model_copy(update={"metrics": {"m" * 3000: 1.0}})}}
            ),
        ):
            assert not (await fleet.say(Report(attempt=attempt.id, event=wrong))).accepted, wrong
        unreadable = await fleet.conductor.intake.reply(  # type: ignore[union-attr]
            fleet.running[0]._link._name,  # type: ignore[attr-defined]
            b"{",
        )
        assert b'"again":true' in unreadable
        go_on.set()
        assert await fleet.ended(request) == ["done"]
        # Its answer was lost: the same report again is accepted, and changes nothing.
        again = Report(attempt=attempt.id, event=JobFinished(job=job.id))
        assert (await fleet.say(again)).accepted
        assert not (await fleet.say(again, "agent-9")).accepted

    fleet.run(scenario)
    values = [measurement.metrics["instructions_per_op"] for _, measurement in fleet.store.measurements(request.id)]
    assert values
    assert 1.0 not in values


class Failing:
    """Has a method of a store raise as if the database was away, a number of times, before or after it did its work."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, times: int, *, after: bool) -> None:
        self.left = times
        self._work = getattr(owner, name)
        self._after = after
        monkeypatch.setattr(owner, name, self)

    def __call__(self, *arguments: object, **options: object) -> object:
        if self.left == 0:
            return self._work(*arguments, **options)
        if self._after:
            self._work(*arguments, **options)
        self.left -= 1
        raise EnvironmentMissing("no connection to the store")


def test_a_conductor_that_starts_while_the_store_is_away_begins_once_it_is_there(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(monkeypatch, fleet.store.fleet, "set_platforms", 2, after=False)
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    assert failing.left == 0


@pytest.mark.parametrize("after", [False, True])
def test_jobs_that_could_not_be_recorded_are_given_out_later(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """A database that is lost while it ends a transaction does not tell whether the attempts are recorded."""
    failing = Failing(monkeypatch, fleet.store.fleet, "add_attempts", 5, after=after)
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    assert failing.left == 0
    attempts = fleet.store.fleet.attempts(request.id)
    assert len(attempts) == len({attempt.job.id for attempt in attempts})
    assert {attempt.state for attempt in attempts} == {"done"}


def test_the_failure_of_a_job_that_could_not_be_recorded_is_recorded_later(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldTrials()

    def trial(job: TrialsJob, block: Block) -> None:
        held(job, block)
        raise EnvironmentMissing("the disk is full")

    fleet.engine = Simulated(on_trial=trial)
    request = fleet.submit(made_up_cases(1))
    failing: list[Failing] = []

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: request.id in fleet.conductor.executions)  # type: ignore[union-attr]
        failing.append(Failing(monkeypatch, fleet.store.fleet, "attempts", 2, after=False))
        held.release()
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    assert failing[0].left == 0
    [case] = read_comparison(fleet.store, request.id).cases
    assert "given up 3 times" in (case.failure or "")


@dataclass
class Misreporting(Simulated):
    """Reports timed trials of one request that cannot be judged: by a whole metric of zero, or a broken timeline."""

    of_request: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    timeline: bytes | None = None

    def _measurement(self, job: TrialsJob, block: Block, side: Side, place: Place) -> Measurement:
        measured = super()._measurement(job, block, side, place)
        if job.request != self.of_request:
            return measured
        timeline = measured.timeline if self.timeline is None else place.blobs.put(self.timeline)
        return measured.model_copy(update={"metrics": {**measured.metrics, **self.metrics}, "timeline": timeline})


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine",
    [Misreporting(metrics={"whole_cpu_ns_per_op": 0.0}), Misreporting(timeline=b"no timeline")],
    ids=["zero", "timeline"],
)
def test_results_that_cannot_be_judged_fail_their_submission_alone(fleet: SimulatedFleet, engine: Misreporting) -> None:
    fleet.engine = engine
    wrong, right = (fleet.submit(made_up_cases(count), engines=("timed",)) for count in (1, 2))
    engine.of_request = wrong.id

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(wrong, right) == ["failed", "done"]
        await fleet.until(lambda: fleet.store.state(wrong.id) == "failed")

    fleet.run(scenario)
    assert "cannot be worked with" in fleet.store.request(wrong.id).reason
    assert read_comparison(fleet.store, wrong.id).state == "failed"
    # So it is by a conductor that reads them from the store.
    fleet.store.fleet.retry(wrong.id)
    fleet.run(scenario)
    assert read_comparison(fleet.store, wrong.id).state == "failed"


@pytest.mark.slow
def test_a_report_that_a_database_does_not_take_is_refused(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in = fleet.store.fleet.take_in
    wrong, right = (fleet.submit(made_up_cases(1)) for _ in range(2))

    def taken_in(changed: Sequence[Attempt], outcomes: Sequence[Outcome]) -> None:
        if any(isinstance(outcome.event, TrialDone) and outcome.attempt.request == wrong.id for outcome in outcomes):
            refused.set()
            raise DataError("INSERT", {}, Exception("index row size 5016 exceeds btree maximum"))
        take_in(changed, outcomes)

    refused = threading.Event()
    monkeypatch.setattr(fleet.store.fleet, "take_in", taken_in)

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(refused.is_set)
        assert await fleet.ended(right) == ["done"]

    fleet.run(scenario)
    assert fleet.states(wrong) == ["running"]
    assert not fleet.store.measurements(wrong.id)


def test_an_agent_that_lacks_something_leaves_jobs_to_others(fleet: SimulatedFleet) -> None:
    broken, tries = set[str](), Counter[str]()

    def trial(job: TrialsJob, block: Block) -> None:
        assert fleet.conductor is not None
        [attempt] = [one for one in list(fleet.conductor.intake.attempts.values()) if one.job.id == job.id]
        assert attempt.agent is not None
        tries[attempt.agent] += 1
        if not broken or attempt.agent in broken:
            broken.add(attempt.agent)
            raise EnvironmentMissing("the disk is full")

    fleet.engine = Simulated(on_trial=trial)
    request = fleet.submit(made_up_cases(6))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    assert not [case for case in read_comparison(fleet.store, request.id).cases if case.failure]
    assert len(tries) == 2


def test_a_job_of_an_agent_that_has_forgotten_it_goes_to_another(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that was killed is heard of again once it was started again, but not of the job that it held."""
    fleet.agents = 0
    fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert fleet.conductor is not None
        for number in (0, 1):
            await fleet.agent(number)._introduce()
        await fleet.until(fleet.store.fleet.open_attempts)
        [attempt] = fleet.store.fleet.open_attempts()
        assert (await fleet.say(Claim(attempt=attempt.id, delivery=1))).accepted
        assert not (await fleet.say(Claim(attempt=attempt.id, delivery=1), "agent-1")).accepted
        monkeypatch.setattr(fleet.conductor.roster, "lease_seconds", 0.05)

        async def takes_over() -> bool:
            await fleet.say(Heartbeat())
            return (await fleet.say(Claim(attempt=attempt.id, delivery=1), "agent-1")).accepted

        while not await takes_over():
            await asyncio.sleep(0.05)

    fleet.run(scenario)


def test_a_value_that_no_database_takes_is_refused(fleet: SimulatedFleet) -> None:
    fleet.agents = 1
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        opened: list[Attempt] = []

        def has_opened() -> bool:
            opened[:] = fleet.store.fleet.open_attempts()
            return opened != []

        await fleet.until(has_opened)
        assert fleet.conductor is not None
        name = AgentName("lab", HERE, "agent-0")
        attempt = opened[0]
        for wrong in (
            '{"message":"claim","attempt":"ATTEMPT","delivery":2147483648}',
            '{"message":"claim","attempt":"ATTEMPT","delivery":-1}',
            HELLO.replace("CORES", "1").replace("CPU", r"\u0000"),
            HELLO.replace("CORES", "1e18").replace("CPU", "cpu"),
            HELLO.replace("CORES", "1").replace('"f"', f'"{"f" * 3000}"'),
        ):
            content = wrong.replace("ATTEMPT", attempt.id).encode()
            answer = MessageReply.model_validate_json(await fleet.conductor.intake.reply(name, content))
            assert not answer.accepted, wrong
            assert answer.again, wrong
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)


@pytest.mark.slow
def test_what_was_built_while_it_was_planned_is_not_built_again(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A plan that was begun before a build was recorded is adopted after that, and others wait for the same build."""
    plan = FleetExecution.plan

    async def slow(execution: FleetExecution) -> Plan:
        planned = await plan(execution)
        await asyncio.sleep(0.3)
        return planned

    monkeypatch.setattr(FleetExecution, "plan", slow)
    heads = [other_build(fleet.server, tmp_path / f"head-{number}") for number in range(2)]
    requests = [fleet.submit(made_up_cases(1), head=head) for head in heads]

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(*requests) == ["done", "done"]

    fleet.run(scenario)
    attempts = [attempt for one in requests for attempt in fleet.store.fleet.attempts(one.id)]
    builds = [attempt.job.spec.digest for attempt in attempts if isinstance(attempt.job, BuildJob)]
    assert len(builds) == len(set(builds))


def test_a_conductor_ends_while_the_store_is_away(fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        failing = Failing(monkeypatch, fleet.store.fleet, "take_in", 1_000_000, after=False)
        await fleet.until(lambda: failing.left < 1_000_000)

    fleet.run(scenario)


def test_a_job_that_is_given_up_while_the_store_is_away_is_given_up_once(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its agent repeats its message until it is answered."""
    fleet.agents = 0
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert fleet.conductor is not None
        await fleet.agent(0)._introduce()
        await fleet.until(fleet.store.fleet.open_attempts)
        [attempt] = fleet.store.fleet.open_attempts()
        assert (await fleet.say(Claim(attempt=attempt.id, delivery=1))).accepted
        failing = Failing(monkeypatch, fleet.store.fleet, "take_in", 2, after=False)
        message = GiveUp(attempt=attempt.id, reason="the disk is full")
        answers = await asyncio.gather(*(fleet.say(message) for _ in range(3)))
        assert failing.left == 0
        assert all(answer.accepted for answer in answers)
        assert fleet.conductor.executions[request.id].given_up == {attempt.job.id: 1}

    fleet.run(scenario)


def test_an_agent_repeats_what_the_store_did_not_take(fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.agents = 0

    async def scenario(fleet: SimulatedFleet) -> None:
        failing = Failing(monkeypatch, fleet.store.fleet, "saw_agents", 2, after=False)
        await fleet.agent(0)._introduce()
        assert failing.left == 0
        assert [agent.name for agent in fleet.store.fleet.agents()] == ["agent-0"]

    fleet.run(scenario)


class Forgetful(InProcess):
    """Queues that can lose all that they have, as a bus does that was started again."""

    times_lost = 0

    async def set_up(self, platforms: dict[str, int]) -> str:
        return str(self.times_lost)

    def lose(self) -> None:
        self._waiting, self._delivered = [], []
        self.times_lost += 1


@pytest.mark.slow
def test_what_the_bus_lost_is_published_once_more_while_an_agent_goes_on_with_its_job(fleet: SimulatedFleet) -> None:
    released = threading.Event()
    fleet.new_queues, fleet.agents = Forgetful, 1
    fleet.engine.on_trial = lambda _job, _block: assert_set(released)
    request = fleet.submit(made_up_cases(8))

    def in_state(state: str) -> list[Attempt]:
        return [attempt for attempt in fleet.store.fleet.open_attempts() if attempt.state == state]

    async def scenario(fleet: SimulatedFleet) -> None:
        conductor, queues = fleet.conductor, fleet.queues
        assert conductor is not None
        assert isinstance(queues, Forgetful)
        try:
            await fleet.until(lambda: in_state("claimed") and in_state("ready"))
            await fleet.until(lambda: all(one.publications for one in conductor.intake.attempts.values()))
            [held] = in_state("claimed")
            queues.lose()
            others = [one for one in conductor.intake.attempts if one != held.id]
            await fleet.until(lambda: all(conductor.intake.attempts[one].publications == 2 for one in others))
            await asyncio.sleep(5 * PACE.review_seconds)
            publications = {one.id: one.publications for one in conductor.intake.attempts.values()}
            assert publications.pop(held.id) == 1
            assert set(publications.values()) == {2}
        finally:
            released.set()
        assert await fleet.ended(request) == ["done"]
        assert len(fleet.engine.carried_out) == len(set(fleet.engine.carried_out))

    fleet.run(scenario)


def test_a_loss_is_noticed_though_the_bus_has_what_agents_hold(fleet: SimulatedFleet) -> None:
    """As after a start of the conductor, which does not know what the bus has."""
    released = threading.Event()
    fleet.new_queues, fleet.agents = Forgetful, 1
    fleet.engine.on_trial = lambda _job, _block: assert_set(released, LONG_SECONDS)
    request = fleet.submit(made_up_cases(8))

    async def scenario(fleet: SimulatedFleet) -> None:
        conductor, queues = fleet.conductor, fleet.queues
        assert conductor is not None
        assert isinstance(queues, Forgetful)
        attempts = conductor.intake.attempts

        def waiting() -> list[Attempt]:
            return [attempts[one.attempt] for one in map(offered, queues._waiting) if one.attempt in attempts]

        try:
            await fleet.until(lambda: {one.state for one in attempts.values()} == {"claimed", "ready"} and waiting())
            queues.times_lost += 1
            await fleet.until(lambda: conductor._publisher._losses._queues == str(queues.times_lost))
            [lost] = waiting()
            queues._waiting.clear()
            await fleet.until(lambda: attempts[lost.id].publications == 2)
        finally:
            released.set()
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)


@pytest.mark.parametrize("is_poison", [False, True])
def test_a_job_fails_that_agents_were_given_again_and_again(fleet: SimulatedFleet, is_poison: bool) -> None:
    """But not one that was given back because there was no conductor to answer."""
    fleet.agents = 0
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        assert fleet.conductor is not None
        attempts = fleet.conductor.intake.attempts
        await fleet.agent(0)._introduce()
        await fleet.until(lambda: [one for one in attempts.values() if one.publications])
        [attempt] = attempts.values()
        for delivery in range(1, MAX_DELIVERIES + 1):
            delivered = await fleet.queues.link(AgentName("lab", HERE, "agent-0")).next_job(PATIENCE_SECONDS)
            assert delivered is not None
            assert delivered.delivery == delivery
            if is_poison or delivery == 1:
                assert (await fleet.say(Claim(attempt=attempt.id, delivery=delivery))).accepted
            await delivered.give_back(0)
        if is_poison:
            assert await fleet.ended(request) == ["failed"]
            return
        await fleet.until(lambda: attempts[attempt.id].publications == 2)
        fleet.start(fleet.agent(0))
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)


def test_a_job_that_agents_do_not_keep_waits_for_one_that_does(
    fleet: SimulatedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zerolap.fleet.publisher.MANY_PUBLICATIONS", 2)
    monkeypatch.setattr("zerolap.fleet.request_planning.MANY_PUBLICATIONS", 2)
    monkeypatch.setattr("zerolap.fleet.publisher.SELDOM_SECONDS", 0.5)
    fleet.agents = 0
    request = fleet.submit(made_up_cases(1))

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.agent(0)._introduce()

        async def give_back_all() -> None:
            while True:
                delivered = await fleet.queues.link(AgentName("lab", HERE, "agent-0")).next_job(PATIENCE_SECONDS)
                assert delivered is not None
                await delivered.give_back(0)

        giving_back = asyncio.create_task(give_back_all())
        await fleet.until(lambda: "an agent that keeps its jobs" in fleet.store.request(request.id).reason)
        giving_back.cancel()
        assert fleet.states(request) == ["running"]
        fleet.start(fleet.agent(0))
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    assert {attempt.state for attempt in fleet.store.fleet.attempts(request.id)} == {"done"}


def test_a_job_that_is_too_large_for_the_bus_fails_alone(fleet: SimulatedFleet) -> None:
    fleet.new_queues = lambda: InProcess(largest_content_bytes=50_000)
    small, large = made_up_cases(2)
    client = WrittenClient(commands=[f"SET __key__ {'x' * 60_000}"]).client
    request = fleet.submit([small, large.model_copy(update={"client": client})])

    async def scenario(fleet: SimulatedFleet) -> None:
        assert await fleet.ended(request) == ["done"]

    fleet.run(scenario)
    cases = {case.case: case for case in read_comparison(fleet.store, request.id).cases}
    assert (cases["case-0"].failure, cases["case-0"].verdict) == (None, "same")
    assert "and the bus takes 50,000" in (cases["case-1"].failure or "")
    assert "times" not in (cases["case-1"].failure or "")


def offered(queued: _Queued) -> OfferedJob:
    return OfferedJob.model_validate_json(queued.job.content)


def assert_set(event: threading.Event, seconds: float = PATIENCE_SECONDS) -> None:
    assert event.wait(seconds)
