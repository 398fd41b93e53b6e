"""Events out: what happens in a fleet, as others find it in a file and on the stream of a real Redis server."""

import asyncio
import contextlib
import json
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from command_line import Zerolap, stop
from redis_process import PASSWORD, RedisProcess
from simulated_fleet import PACE, PLATFORM, HeldTrials, SimulatedFleet, made_up_cases, other_build
from structlog.testing import capture_logs
from waiting import PATIENCE_SECONDS, until, wait_until

from zerolap.documents import read_comparison
from zerolap.engines.simulated import Simulated
from zerolap.errors import UsageError
from zerolap.events import sinks
from zerolap.events.lab_event import LabEvent, RequestEvent, request_event, trigger_event
from zerolap.events.sinks import EventSink, EventStream
from zerolap.lab import SubmissionOptions
from zerolap.records import Request, RequestState
from zerolap.store import Store, StoredTrigger
from zerolap.triggers.settings import EventSettings, TriggerSettings, checked_settings
from zerolap.triggers.trigger import PushTrigger
from zerolap.triggers.webhooks.admission_state import stored_trigger
from zerolap.triggers.work import TriggerWork

STREAM = "lab:events"
COMMIT = "f4481e657f905074fa515701af3f695757817d88"
HOSTILE = "x\ny\r\x1b[31m\x07\x7f\x85\u2028\u202e\N{CYRILLIC SMALL LETTER A}"

Event = dict[str, Any]


pytestmark = pytest.mark.slow


@dataclass
class Heard:
    """What a conductor has told."""

    events: list[LabEvent] = field(default_factory=list)
    sink: EventSink | None = None

    def __call__(self, event: LabEvent) -> None:
        self.events.append(event)
        if self.sink is not None:
            self.sink.emit(event)

    def has_end_of(self, *requests: Request) -> bool:
        """Whether the ends of requests were told, which comes after they were recorded."""
        states = [event for event in self.events if isinstance(event, RequestEvent)]
        ended = {event.request for event in states if event.state not in ("submitted", "waiting", "running")}
        return ended >= {request.id for request in requests}


def by_id(events: Sequence[Event]) -> dict[str, Event]:
    """Two agents begin at one time: which of the two events comes first may differ between destinations."""
    return {str(event["id"]): event for event in events}


@pytest.fixture(autouse=True)
def patient_sinks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine has time for all that waits at the end, and no answer that is late has an event sent again."""
    monkeypatch.setattr(sinks, "STOP_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(sinks, "ANSWER_SECONDS", PATIENCE_SECONDS)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def fleet(store: Store, redis_server: Path, heard: Heard) -> SimulatedFleet:
    return SimulatedFleet(store, redis_server, on_event=heard)


@pytest.fixture
def server(redis_server: Path, tmp_path: Path) -> Iterator[RedisProcess]:
    with RedisProcess.on_a_port(redis_server, tmp_path / "redis") as server:
        yield server


@dataclass
class Listened:
    """The settings of a sink, and what a listener finds at its destinations."""

    settings: EventSettings
    path: Path
    server: RedisProcess

    def lines(self) -> list[Event]:
        return read_lines(self.path)

    def entries(self) -> list[Event]:
        """Return the events of the stream without those that were added again."""
        entries = self.server.entries(STREAM)
        events = [json.loads(entry["json"]) for entry in entries]
        assert [(event["event"], event["id"]) for event in events] == [(one["event"], one["id"]) for one in entries]
        return list({event["id"]: event for event in events}.values())


@pytest.fixture
def listened(server: RedisProcess, tmp_path: Path) -> Listened:
    path = tmp_path / "events.jsonl"
    return Listened(settings(tmp_path, server.url), path, server)


def settings(directory: Path, url: str | None = None) -> EventSettings:
    table: dict[str, Any] = {"file": "events.jsonl", "stream": STREAM}
    if url is not None:
        secret = directory / "url"
        secret.write_text(f"{url}\n")
        secret.chmod(0o600)
        table["redis_url_file"] = "url"
    return checked_settings({"events": table}, directory).events


def read_lines(path: Path) -> list[Event]:
    """Return the events in a file, but for a line that is being written."""
    text = path.read_text(encoding="ascii") if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


@contextlib.asynccontextmanager
async def running(sink: EventSink) -> AsyncIterator[EventSink]:
    work = asyncio.create_task(sink.run())
    # What has not begun ends without sending anything.
    await asyncio.sleep(0)
    try:
        yield sink
    finally:
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


def run_with_sink(
    fleet: SimulatedFleet, settings: EventSettings, scenario: Callable[[SimulatedFleet], Awaitable[None]]
) -> None:
    """Run a scenario whose events go to a sink, which is stopped at its end."""
    assert isinstance(fleet.on_event, Heard)
    sink = fleet.on_event.sink = EventSink(settings)

    async def with_sink(fleet: SimulatedFleet) -> None:
        async with running(sink):
            await scenario(fleet)

    fleet.run(with_sink)


def some_event(number: int) -> LabEvent:
    """Return a event that is like no other."""
    return trigger_event(StoredTrigger(f"t-{number}", "redis/redis", "redis/redis@main", "push", "{}"))


def numbers(events: list[Event]) -> list[int]:
    return [int(event["trigger"].removeprefix("t-")) for event in events if event["event"] == "trigger"]


def of(events: list[Event], name: str, request: Request) -> list[Event]:
    return [event for event in events if event["event"] == name and event["request"] == request.id]


def states(events: list[Event], request: Request) -> list[str]:
    """Return the states that a request went through, but for the wait for an agent that has not reported yet."""
    all_states = [event["state"] for event in of(events, "request", request)]
    return [state for state in all_states if state != "waiting"]


# What a fleet does.


def test_all_that_happens_to_submissions_is_in_the_file_and_on_the_stream(
    fleet: SimulatedFleet, heard: Heard, listened: Listened, tmp_path: Path
) -> None:
    listened.server.start()
    fleet.engine = Simulated(changes={"case-1": 0.1})
    head = other_build(fleet.server, tmp_path / "head")
    submitting = SubmissionOptions("release", "redis/redis#12", "redis/redis#12 by alice")
    first = fleet.submit(made_up_cases(3), submitting=submitting, head=head)
    second = fleet.submit(made_up_cases(2), head=head)

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: heard.has_end_of(first, second))

    run_with_sink(fleet, listened.settings, scenario)
    events = listened.lines()
    times = Counter(event["id"] for event in events)
    assert [event for event in events if times[event["id"]] > 1] == []
    # What a busy server confirms too late is sent again, and may come behind what follows it.
    by_id = {event["id"]: event for event in events}
    assert {event["id"]: event for event in listened.entries()} == by_id
    for request in (first, second):
        assert states(events, request) == ["submitted", "running", "done"]
        trials = [
            (event["case"], event["engine"], event["block"], side)
            for event in of(events, "trial", request)
            for side in event["sides"]
        ]
        recorded = [trial for trial, _ in fleet.store.measurements(request.id)]
        assert sorted(trials) == sorted((trial.case, trial.engine, trial.block, trial.side) for trial in recorded)
        judged = json.loads(read_comparison(fleet.store, request.id).model_dump_json(by_alias=True))
        assert [
            (event["case"], event["verdict"], event["work_verdict"], event["time_verdict"], event["deciding"]["metric"])
            for event in of(events, "verdict", request)
        ] == [(case["case"], case["verdict"], case["work"], case["time"], case["deciding"]) for case in judged["cases"]]
        [comparison] = of(events, "comparison", request)
        assert comparison["summary"] == judged["summary"]
    builds = [(event["source"]["name"], event["state"]) for event in events if event["event"] == "build"]
    assert sorted(builds) == sorted(
        (str(path), state) for path in (fleet.server, head) for state in ("started", "done")
    )
    request = of(events, "request", first)[0]
    assert (request["schema"], request["time"]) == ("zerolap.happening/1", first.created)
    assert (request["kind"], request["platform"], request["priority"]) == ("compare", PLATFORM, "release")
    assert (request["topic"], request["trigger"]) == ("redis/redis#12", "redis/redis#12 by alice")
    assert (request["base"], request["head"]) == (
        {"name": str(fleet.server), "commit": None},
        {"name": str(head), "commit": None},
    )


def test_a_change_is_in_its_verdict_with_its_interval(
    fleet: SimulatedFleet, heard: Heard, listened: Listened, tmp_path: Path
) -> None:
    fleet.engine = Simulated(changes={"case-0": 0.1})
    request = fleet.submit(made_up_cases(1), head=other_build(fleet.server, tmp_path / "head"))

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: heard.has_end_of(request))

    run_with_sink(fleet, settings(tmp_path), scenario)
    [verdict] = of(listened.lines(), "verdict", request)
    deciding = verdict["deciding"]
    assert (verdict["verdict"], deciding["metric"]) == ("regression", "instructions_per_op")
    assert deciding["low"] <= deciding["change"] <= deciding["high"]
    assert deciding["change"] == pytest.approx(0.1)
    trial = of(listened.lines(), "trial", request)[0]
    assert (trial["valid"], trial["seconds"], trial["agent"][:6]) == (True, 1.0, "agent-")
    assert all(side["metrics"].keys() == {"instructions_per_op"} for side in trial["sides"].values())


def test_what_ends_otherwise_is_told_with_the_reason(fleet: SimulatedFleet, heard: Heard, tmp_path: Path) -> None:
    program = tmp_path / "no-server"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    broken = fleet.submit(made_up_cases(1), head=program)
    older = fleet.submit(made_up_cases(50), platform=PLATFORM, submitting=SubmissionOptions(topic="pr-7"))
    requests = [broken, older]
    held = HeldTrials(1)
    fleet.engine.on_trial = held

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: fleet.engine.carried_out)
        newer = fleet.submit(made_up_cases(50), platform=PLATFORM, submitting=SubmissionOptions(topic="pr-7"))
        await fleet.until(lambda: any(told.request == newer.id for told in heard.events))
        assert fleet.store.fleet.set_state(newer.id, "cancelled", "by alice")
        held.release()
        requests.append(newer)
        await fleet.until(lambda: heard.has_end_of(*requests))

    fleet.run(scenario)
    events: list[Event] = [json.loads(event.model_dump_json(by_alias=True)) for event in heard.events]
    ends = {event["request"]: event for event in events if event["event"] == "request"}
    _, _, newer = requests
    assert [ends[request.id]["state"] for request in requests] == ["failed", "superseded", "cancelled"]
    assert "no-server" in ends[broken.id]["reason"]
    assert ends[older.id]["reason"] == f"superseded by {newer.id}"
    assert ends[newer.id]["reason"] == "by alice"
    [failed] = [event for event in of(events, "build", broken) if event["state"] == "failed"]
    assert (failed["source"]["name"], failed["agent"][:6]) == (str(program), "agent-")
    assert failed["seconds"] >= 0
    assert not [event for event in events if event["event"] == "verdict"]


def test_a_state_that_a_slow_store_is_still_writing_is_not_told_again(
    fleet: SimulatedFleet, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep comes back to a request while its state is being written."""
    set_state = fleet.store.fleet.set_state

    def slowly(identity: str, state: RequestState, reason: str = "") -> bool:
        time.sleep(3 * PACE.review_seconds)
        return set_state(identity, state, reason)

    monkeypatch.setattr(fleet.store.fleet, "set_state", slowly)
    held = HeldTrials(1)
    fleet.engine.on_trial = held
    request = fleet.submit(made_up_cases(2))

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: fleet.engine.carried_out)
        # What the request waits for changes with the agents: the sweep and the plan both see it.
        await asyncio.sleep(3 * PACE.review_seconds)
        held.release()
        await fleet.until(lambda: heard.has_end_of(request))

    fleet.run(scenario)
    ids = [event.id for event in heard.events]
    assert len(ids) == len(set(ids))


def test_a_request_that_waits_and_runs_again_has_new_ids(fleet: SimulatedFleet) -> None:
    request = fleet.submit(made_up_cases(1))
    waits, again = (request_event(request, "waiting", "waits for an agent", times) for times in (1, 2))
    assert (waits.id != again.id, waits.reason) == (True, again.reason)
    assert request_event(request, "waiting", "waits for an agent").id == waits.id


def test_what_is_told_again_after_a_restart_has_the_same_id(fleet: SimulatedFleet, heard: Heard) -> None:
    request = fleet.submit(made_up_cases(20))
    held = HeldTrials(5)
    fleet.engine.on_trial = held

    async def interrupted(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: len(fleet.engine.carried_out) == 5)
        held.release()

    async def finished(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: heard.has_end_of(request))

    fleet.run(interrupted)
    runs = [heard.events]
    heard.events = []
    fleet.run(finished)
    runs.append(heard.events)
    first, again = ({told.id: told for told in events} for events in runs)
    repeated = {told.state for told in again.values() if told.id in first and isinstance(told, RequestEvent)}
    assert repeated >= {"submitted", "running"}
    # What is equal but for the time has the same id, and nothing else has. A request may wait and run several times.
    contents = {(told.id, told.model_dump_json(exclude={"time", "seconds", "id"})) for told in [*runs[0], *runs[1]]}
    assert len(contents) == len({identity for identity, _ in contents})
    of_others = [content for identity, content in contents if not isinstance((first | again)[identity], RequestEvent)]
    assert len(of_others) == len(set(of_others))


def test_names_that_others_have_chosen_stay_in_their_line(
    fleet: SimulatedFleet, heard: Heard, listened: Listened, tmp_path: Path
) -> None:
    listened.server.start()
    [case] = made_up_cases(1)
    head = other_build(fleet.server, tmp_path / HOSTILE)
    submitting = SubmissionOptions(topic=HOSTILE, trigger=HOSTILE)
    request = fleet.submit([case.model_copy(update={"name": HOSTILE})], submitting=submitting, head=head)

    async def scenario(fleet: SimulatedFleet) -> None:
        await fleet.until(lambda: heard.has_end_of(request))

    run_with_sink(fleet, listened.settings, scenario)
    lines = listened.path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert len(lines) == len(listened.server.entries(STREAM))
    assert set(b"".join(lines)) <= set(range(0x20, 0x7F))
    events = listened.lines()
    assert by_id(listened.entries()) == by_id(events)
    assert {event["head"]["name"] for event in of(events, "request", request)} == {str(head)}
    assert {event["topic"] + event["trigger"] for event in of(events, "request", request)} == {HOSTILE * 2}
    assert {event["case"] for event in events if "case" in event} == {HOSTILE}


def test_a_redis_server_that_is_killed_has_all_events_once_it_is_back(
    fleet: SimulatedFleet, heard: Heard, listened: Listened, tmp_path: Path
) -> None:
    server = listened.server
    server.start()
    before = fleet.submit(made_up_cases(10))
    requests = [before]

    async def scenario(fleet: SimulatedFleet) -> None:
        await until(lambda: of(listened.entries(), "trial", before))
        server.kill()
        requests.append(fleet.submit(made_up_cases(3)))
        assert await fleet.ended(*requests) == ["done", "done"]
        await until(lambda: all("done" in states(listened.lines(), one) for one in requests))
        server.start()
        await until(lambda: all("done" in states(listened.entries(), one) for one in requests))
        requests.append(fleet.submit(made_up_cases(1)))
        await fleet.until(lambda: heard.has_end_of(requests[-1]))

    run_with_sink(fleet, listened.settings, scenario)
    events = listened.lines()
    assert [states(events, one) for one in requests] == [["submitted", "running", "done"]] * 3
    assert by_id(listened.entries()) == by_id(events)
    assert not [event for event in events if event["event"] == "lost"]


# Triggers.


def test_a_trigger_is_told_with_what_became_of_it(store: Store, tmp_path: Path) -> None:
    pushed = PushTrigger(repository="redis/redis", branch="unstable", before=None, after=COMMIT, actor="alice")
    stored = stored_trigger(pushed, "push", 1.0)
    store.triggers.add(stored)
    events: list[LabEvent] = []
    work = TriggerWork(store, TriggerSettings(), tmp_path / "mirrors", None, events.append)
    asyncio.run(work.work_on(stored))
    [told] = events
    assert told.event == "trigger"
    assert (told.trigger, told.subject, told.actor, told.state) == (stored.id, pushed.subject, "alice", "refused")
    assert "neither a permitted repository nor a watched one" in told.reason
    assert (told.request, told.requests) == (None, ())


# The file.


def test_a_file_that_is_moved_away_is_begun_anew(tmp_path: Path) -> None:
    path, moved = tmp_path / "events.jsonl", tmp_path / "events.jsonl.1"

    async def scenario() -> None:
        async with running(EventSink(settings(tmp_path))) as sink:
            sink.emit(some_event(1))
            await until(lambda: numbers(read_lines(path)) == [1])
            path.rename(moved)
            sink.emit(some_event(2))
            await until(lambda: numbers(read_lines(path)) == [2])
            path.unlink()
            sink.emit(some_event(3))
            await until(lambda: numbers(read_lines(path)) == [3])

    asyncio.run(scenario())
    assert numbers(read_lines(moved)) == [1]


def test_lines_are_added_to_those_that_are_there_and_not_to_half_a_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"

    async def sent(number: int) -> None:
        async with running(EventSink(settings(tmp_path))) as sink:
            sink.emit(some_event(number))

    asyncio.run(sent(1))
    with path.open("a") as file:
        file.write('{"half')
    asyncio.run(sent(2))
    first, half, last = path.read_text().splitlines()
    assert half == '{"half'
    assert numbers([json.loads(first), json.loads(last)]) == [1, 2]


def test_what_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.mkdir()

    async def scenario() -> None:
        async with running(EventSink(settings(tmp_path))) as sink:
            sink.emit(some_event(1))
            with capture_logs() as logs:
                await until(lambda: logs)
            assert (logs[0]["event"], logs[0]["destination"]) == ("events wait", str(path))
            path.rmdir()
            sink.emit(some_event(2))
            await until(lambda: numbers(read_lines(path)) == [1, 2])

    asyncio.run(scenario())


def test_a_file_without_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no directory"):
        EventSink(checked_settings({"events": {"file": "none/events.jsonl"}}, tmp_path).events)


# The stream.


def test_what_does_not_fit_the_queue_is_counted_where_it_is_missing(listened: Listened) -> None:
    async def scenario() -> None:
        async with running(EventSink(listened.settings, most_waiting=5)) as sink:
            of_file, of_stream = sink._deliveries
            for start in range(0, 20, 5):
                for number in range(start, start + 5):
                    sink.emit(some_event(number))
                # A line is in the file before its place in the queue is free.
                await until(lambda: not of_file._waiting)
            listened.server.start()
            await until(lambda: len(listened.entries()) == 6 and not of_stream._waiting)
            sink.emit(some_event(20))

    with capture_logs() as logs:
        asyncio.run(scenario())
    assert numbers(listened.lines()) == list(range(21))
    events = listened.entries()
    assert numbers(events) == [0, 1, 2, 3, 4, 20]
    assert (events[5]["event"], events[5]["count"], events[5]["request"]) == ("lost", 15, None)
    assert [entry["events"] for entry in logs if entry["event"] == "events were lost"] == [15]


def test_a_redis_server_that_does_not_answer_holds_up_nothing(listened: Listened) -> None:
    listened.server.start()

    async def scenario() -> None:
        async with running(EventSink(listened.settings)) as sink:
            sink.emit(some_event(1))
            await until(lambda: numbers(listened.entries()) == [1])
            with listened.server.frozen():
                sink.emit(some_event(2))
                await until(lambda: numbers(listened.lines()) == [1, 2])
                sink.emit(some_event(3))
                await until(lambda: numbers(listened.lines()) == [1, 2, 3])
            await until(lambda: numbers(listened.entries()) == [1, 2, 3])

    asyncio.run(scenario())


def test_a_stream_is_kept_short(listened: Listened) -> None:
    listened.server.start()

    async def scenario() -> None:
        async with running(EventSink(listened.settings.model_copy(update={"maxlen": 100}))) as sink:
            for number in range(1000):
                sink.emit(some_event(number))
            await until(lambda: listened.entries() and numbers(listened.entries())[-1] == 999)

    asyncio.run(scenario())
    assert 100 <= len(listened.entries()) <= 300


def test_a_key_of_another_type_is_reported_and_events_wait(listened: Listened) -> None:
    listened.server.start()
    listened.server.client.set(STREAM, "text")

    async def scenario() -> None:
        async with running(EventSink(listened.settings)) as sink:
            sink.emit(some_event(1))
            with capture_logs() as logs:
                await until(lambda: logs)
            assert "WRONGTYPE" in logs[0]["trouble"]
            listened.server.client.delete(STREAM)
            await until(lambda: numbers(listened.entries()) == [1])

    asyncio.run(scenario())


# Secrets.


def test_a_wrong_password_is_not_logged(server: RedisProcess, tmp_path: Path) -> None:
    server.start()
    secret = "s3cret-of-nobody"

    async def scenario(url: str) -> list[Any]:
        with capture_logs() as logs:
            async with running(EventSink(settings(tmp_path, url))) as sink:
                sink.emit(some_event(1))
                await until(lambda: any(entry["event"] == "events wait" for entry in logs))
        return list(logs)

    logs = asyncio.run(scenario(f"redis://:{secret}@127.0.0.1:{server.port}"))
    assert secret not in repr(logs)
    assert f"127.0.0.1:{server.port}" in repr(logs)
    server.kill()
    logs = asyncio.run(scenario(server.url))
    assert PASSWORD not in repr(logs)
    assert server.url not in repr(logs)


@pytest.mark.parametrize(
    "url",
    [
        "s3cret",
        "https://:s3cret@host",
        "redis://:s3cret@",
        "redis://:s3cret@host:port",
        "redis://user:s3cret/more@host:6379",
        "redis://user:123#s3cret@host:6379",
        "redis://user:123?s3cret@host:6379",
        "redis://:s3cret@host:6379?no_option=1",
        "redis://:s3cret@host:6379?socket_timeout=s3cret",
        "redis://[s3cret",
        "unix://:s3cret@",
    ],
)
def test_a_url_that_is_none_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        EventStream(url, STREAM, 100)
    assert "s3cret" not in refused.value.message + refused.value.hint
    assert "not valid" in refused.value.message


# zerolap serve.


def test_serve_sends_what_happens(zerolap: Zerolap, redis_server: Path, server: RedisProcess) -> None:
    server.start()
    (zerolap.directory / "url").write_text(server.url)
    (zerolap.directory / "url").chmod(0o600)
    (zerolap.directory / "triggers.toml").write_text('[events]\nfile = "e.jsonl"\nredis_url_file = "url"\n')
    program = zerolap.directory / "no-server"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    place = ("--store", zerolap.store)
    path = zerolap.directory / "e.jsonl"
    child = zerolap.start("serve", "--triggers", "triggers.toml", "--listen", "127.0.0.1:0", *place)
    try:
        submit = ("compare", redis_server, program, "get-100B", "--platform", "local", "--no-wait", *place)
        wait_until(lambda: zerolap(*submit).code == 0)
        wait_until(lambda: any(event.get("state") == "failed" for event in requests_of(path)))
        wait_until(lambda: len(server.entries("zerolap:events")) >= len(read_lines(path)))
    finally:
        ended = stop(child, signal.SIGTERM)
    assert ended.code == 0, ended
    assert PASSWORD not in ended.out + ended.err
    # What the server confirms too late on a busy machine is sent again.
    assert by_id([json.loads(entry["json"]) for entry in server.entries("zerolap:events")]) == by_id(read_lines(path))


def requests_of(path: Path) -> list[Event]:
    return [event for event in read_lines(path) if event["event"] == "request"]
