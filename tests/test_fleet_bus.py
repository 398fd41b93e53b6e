"""Delivery over a real bus: jobs to agents, their messages to the conductor, and a bus that fails for both."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from nats_server import NatsServer, required_program, until_none_wait
from waiting import PATIENCE_SECONDS, run_bounded

from zerolap.fleet.bus import (
    JetStreamDispatcher,
    JetStreamLink,
    bus_connection as jetstream_connection,
    dispatcher as jetstream_dispatcher,
    link as jetstream_link,
)
from zerolap.fleet.delivery import MAX_DELIVERIES, AgentName, BusLost, JobMessage
from zerolap.fleet.setup.bus_configuration import MAX_AGENT_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES
from zerolap.fleet.setup.configuration import AgentEntry
from zerolap.fleet.setup.credentials import read_conductor_credentials
from zerolap.records import PRIORITIES, EnvironmentMissing

LONG_SECONDS = 10 * PATIENCE_SECONDS
"""A lease that does not end within a test: a job that got lost does not come back."""


@pytest.fixture(scope="module")
def program() -> Path:
    return required_program()


@pytest.fixture
def server(program: Path, tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer.started(program, tmp_path) as server:
        yield server


def job(content: str, platform: str = "alpha", priority: str = "pull", request: str = "r-1") -> JobMessage:
    """Return a job whose message has its content as id."""
    return JobMessage(platform, priority, request, f"message-{content}", content.encode())


async def eventually(condition: Callable[[], Awaitable[object]]) -> None:
    """Wait until a condition holds; a bus that is lost is not an end of waiting."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with contextlib.suppress(BusLost):
                if await condition():
                    return
            await asyncio.sleep(0.05)


async def is_set_up(dispatcher: JetStreamDispatcher) -> bool:
    await dispatcher.set_up({"alpha": 3, "beta": 1})
    return True


async def version_of(server: NatsServer) -> tuple[int, int, int]:
    """Return the version that a server states."""
    async with server.client("alpha-1") as client:
        version = client.nats.connected_server_version
        return version.major, version.minor, version.patch


async def contents_of(link: JetStreamLink, count: int) -> list[str]:
    """Return the contents of the next jobs, which are done then."""
    contents = []
    for _ in range(count):
        delivered = await link.next_job(PATIENCE_SECONDS)
        assert delivered is not None
        contents.append(delivered.content.decode())
        await delivered.done()
    return contents


def test_a_job_is_delivered_extended_and_done(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            assert await dispatcher.waiting() == {"alpha": 0, "beta": 0, "alpha-build": 0}
            await dispatcher.publish([job("one")])
            delivered = await link.next_job(PATIENCE_SECONDS)
            assert delivered is not None
            assert (delivered.content, delivered.delivery) == (b"one", 1)
            assert await delivered.extend()
            assert (await dispatcher.waiting())["alpha"] == 1
            await delivered.done()
            await until_none_wait(dispatcher, "alpha")
            assert await link.next_job(0) is None

    run_bounded(test())


def test_jobs_reach_agents_of_their_platform(server: NatsServer) -> None:
    async def test() -> None:
        async with (
            server.dispatcher() as dispatcher,
            server.link("alpha-3") as alpha,
            server.link("beta-1") as beta,
            server.link("builder-1") as builder,
        ):
            await dispatcher.publish([job(platform, platform) for platform in ("beta", "alpha-build", "alpha")])
            assert await contents_of(alpha, 1) == ["alpha"]
            assert await contents_of(beta, 1) == ["beta"]
            assert await contents_of(builder, 1) == ["alpha-build"]

    run_bounded(test())


def test_an_agent_that_waits_is_given_the_next_job(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            for number, priority in enumerate([*PRIORITIES, *PRIORITIES]):
                waiting = asyncio.create_task(contents_of(link, 1))
                await asyncio.sleep(0.1)
                await dispatcher.publish([job(str(number), priority=priority)])
                assert await waiting == [str(number)]

    run_bounded(test())


def test_an_agent_asks_for_jobs_by_priority(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            await dispatcher.publish(
                [job(f"{name}-{number}", priority=name) for number in (1, 2) for name in PRIORITIES]
            )
            assert await contents_of(link, 6) == [f"{name}-{number}" for name in PRIORITIES for number in (1, 2)]

    run_bounded(test())


def test_a_job_is_delivered_again_when_its_lease_has_ended(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher(1) as dispatcher, server.link("alpha-1") as first, server.link("alpha-3") as other:
            await dispatcher.publish([job("one")])
            lost = await first.next_job(PATIENCE_SECONDS)
            again = await other.next_job(PATIENCE_SECONDS)
            assert lost is not None
            assert again is not None
            assert (again.content, again.delivery) == (b"one", 2)

    run_bounded(test())


@pytest.mark.slow
def test_a_job_whose_lease_is_extended_is_not_delivered_again(server: NatsServer) -> None:
    lease = 2.0

    async def is_kept(dispatcher: JetStreamDispatcher, first: JetStreamLink, other: JetStreamLink) -> bool | None:
        """Whether nobody else was given the job; None if this machine held up the test for too long to know."""
        delivered = await first.next_job(PATIENCE_SECONDS)
        assert delivered is not None
        clock = asyncio.get_running_loop().time
        begun = extended = clock()
        waiting = asyncio.create_task(other.next_job(2 * lease))
        gaps = []
        while clock() < begun + 2 * lease:
            await asyncio.sleep(lease / 10)
            is_extended = await delivered.extend()
            gaps.append(clock() - extended)
            assert is_extended or gaps[-1] > lease / 2
            extended = clock()
        stolen = await waiting
        await delivered.done()
        return None if max(gaps) > lease / 2 else stolen is None

    async def test() -> None:
        async with server.dispatcher(lease) as dispatcher, server.link() as first, server.link("alpha-2") as other:
            kept, tries = None, 0
            while kept is None and tries < 5:
                tries += 1
                await dispatcher.publish([job(f"try {tries}")])
                kept = await is_kept(dispatcher, first, other)
            assert kept is not False

    run_bounded(test())


def test_a_job_that_is_given_back_is_delivered_again(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher(LONG_SECONDS) as dispatcher, server.link() as link:
            await dispatcher.publish([job("one")])
            for delivery in (1, 2, 3):
                delivered = await link.next_job(PATIENCE_SECONDS)
                assert delivered is not None
                assert delivered.delivery == delivery
                await delivered.give_back(0.1)
            assert (await dispatcher.waiting())["alpha"] == 1

    run_bounded(test())


def test_a_job_that_is_refused_is_gone(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            await dispatcher.publish([job("one")])
            delivered = await link.next_job(PATIENCE_SECONDS)
            assert delivered is not None
            await delivered.refuse()
            await until_none_wait(dispatcher, "alpha")

    run_bounded(test())


def test_a_job_that_is_published_twice_is_kept_once(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            await dispatcher.publish([job("one"), job("two")])
            await dispatcher.publish([job("one"), job("three")])
            assert sorted(await contents_of(link, 3)) == ["one", "three", "two"]
            await until_none_wait(dispatcher, "alpha")

    run_bounded(test())


def test_the_largest_job_reaches_an_agent(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            content = b"x" * dispatcher.largest_bytes()
            assert len(content) > MAX_PAYLOAD_BYTES // 2
            await dispatcher.publish([JobMessage("alpha", "pull", "r-1", "a-0123456789abcdef01234567.50", content)])
            delivered = await link.next_job(PATIENCE_SECONDS)
            assert delivered is not None
            assert delivered.content == content
            await delivered.done()

    run_bounded(test())


def test_many_jobs_reach_many_agents_once_each(program: Path, tmp_path: Path) -> None:
    """Nothing gets lost where several agents ask at the same time: leases do not end within this test."""
    count = 300
    agents = {f"alpha-{number}": AgentEntry(lab="berlin", platform="alpha") for number in range(12)}

    async def work(link: JetStreamLink, seen: list[str]) -> None:
        while len(seen) < count:
            # Short, so that waiting often ends at the moment at which a job comes.
            delivered = await link.next_job(0.2)
            if delivered is not None:
                seen.append(delivered.content.decode())
                await delivered.done()

    async def test(server: NatsServer) -> None:
        async with server.dispatcher(LONG_SECONDS) as dispatcher, contextlib.AsyncExitStack() as stack:
            await dispatcher.set_up({"alpha": len(agents)})
            seen: list[str] = []
            links = [await stack.enter_async_context(server.link(name)) for name in agents]
            working = asyncio.gather(*(work(link, seen) for link in links))
            jobs = [job(str(number), priority=PRIORITIES[number % 3]) for number in range(count)]
            for first in range(0, count, 10):
                await dispatcher.publish(jobs[first : first + 10])
                await asyncio.sleep(0.02)
            await working
            assert sorted(seen) == sorted(str(number) for number in range(count))
            await until_none_wait(dispatcher, "alpha")

    with NatsServer.started(program, tmp_path, agents) as server:
        run_bounded(test(server))


def test_waiting_that_is_cancelled_loses_no_job(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher(LONG_SECONDS) as dispatcher, server.link() as link:
            for number in range(20):
                waiting = asyncio.create_task(link.next_job(PATIENCE_SECONDS))
                publishing = asyncio.create_task(dispatcher.publish([job(str(number))]))
                await asyncio.sleep(number * 0.0005)
                waiting.cancel()
                await asyncio.wait({waiting})
                await publishing
                if waiting.cancelled():
                    assert await contents_of(link, 1) == [str(number)]
                elif (delivered := waiting.result()) is not None:
                    await delivered.done()

    run_bounded(test())


def test_no_more_jobs_are_with_agents_than_there_are_machines(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as first, server.link("alpha-2") as other:
            await dispatcher.set_up({"alpha-build": 1, "beta": 1, "alpha": 1})
            await dispatcher.publish([job(str(number)) for number in range(4)])
            held = [await link.next_job(PATIENCE_SECONDS) for link in (first, other, first)]
            assert None not in held
            assert await other.next_job(0.5) is None
            await dispatcher.set_up({"alpha": 4})
            assert await contents_of(other, 1) == ["3"]

    run_bounded(test())


@pytest.mark.slow
def test_an_agent_that_waits_while_no_more_jobs_may_be_delivered_is_given_one_then(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream_link, "QUICK_SECONDS", 0.1)

    async def test() -> None:
        async with server.dispatcher(LONG_SECONDS) as dispatcher, server.link("beta-1") as link:
            # The only machine gives its job back for a while, which goes on counting as delivered meanwhile.
            await dispatcher.publish([job(str(number), "beta") for number in range(4)])
            first = await link.next_job(PATIENCE_SECONDS)
            assert first is not None
            await first.give_back(3)
            for _ in range(10):
                if (delivered := await link.next_job(0.2)) is not None:
                    break
            delivered = delivered or await link.next_job(PATIENCE_SECONDS)
            assert delivered is not None
            assert (delivered.content, delivered.delivery) == (first.content, 2)
            await delivered.done()
            # What was asked for in vain is not delivered to it again and again while it is busy.
            for _ in range(3):
                delivered = await link.next_job(PATIENCE_SECONDS)
                assert delivered is not None
                assert delivered.delivery <= 2
                await asyncio.sleep(0.5)
                await delivered.done()
            await until_none_wait(dispatcher, "beta")

    run_bounded(test())


def test_an_exhausted_job_is_reported_once_and_removed(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher(LONG_SECONDS) as dispatcher, server.link() as link:
            await dispatcher.publish([job("poison")])
            for delivery in range(1, MAX_DELIVERIES + 1):
                delivered = await link.next_job(PATIENCE_SECONDS)
                assert delivered is not None
                assert delivered.delivery == delivery
                assert await dispatcher.exhausted() == []
                await delivered.give_back(0)
            await dispatcher.publish([job("other")])
            found: list[bytes] = []

            async def is_reported() -> bool:
                assert await link.next_job(0) is None or not found
                found.extend(await dispatcher.exhausted())
                return bool(found)

            await eventually(is_reported)
            assert found == [b"poison"]
            assert await dispatcher.exhausted() == []
            assert (await dispatcher.waiting())["alpha"] == 1

    run_bounded(test())


def test_a_job_that_was_done_late_is_not_exhausted(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher(LONG_SECONDS) as dispatcher, server.link() as link:
            await dispatcher.publish([job("slow")])
            first = await link.next_job(PATIENCE_SECONDS)
            assert first is not None
            await first.give_back(0)
            for _ in range(MAX_DELIVERIES - 1):
                delivered = await link.next_job(PATIENCE_SECONDS)
                assert delivered is not None
                await delivered.give_back(0)
            await first.done()
            assert await dispatcher.exhausted() in ([], [b"slow"])
            assert await dispatcher.exhausted() == []
            await until_none_wait(dispatcher, "alpha")

    run_bounded(test())


def test_purging_removes_the_jobs_of_one_request(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            jobs = [
                job(f"{request}-{platform}-{priority}", platform, priority, request)
                for request in ("r-1", "r-10")
                for platform in ("alpha", "beta")
                for priority in PRIORITIES
            ]
            await dispatcher.publish(jobs)
            held = await link.next_job(PATIENCE_SECONDS)
            assert held is not None
            assert held.content == b"r-1-alpha-release"
            await dispatcher.purge("r-1")
            assert await dispatcher.waiting() == {"alpha": 3, "beta": 3, "alpha-build": 0}
            await held.done()
            assert await contents_of(link, 3) == [f"r-10-alpha-{priority}" for priority in PRIORITIES]

    run_bounded(test())


def test_agents_of_a_platform_are_told_what_is_cancelled(server: NatsServer) -> None:
    async def test() -> None:
        told: dict[str, list[str]] = {"alpha-1": [], "alpha-3": [], "beta-1": []}
        async with server.dispatcher() as dispatcher, contextlib.AsyncExitStack() as stack:
            for name, requests in told.items():
                link = await stack.enter_async_context(server.link(name))
                link.on_cancel(requests.append)
                await link.next_job(0)  # The server has its subscriptions by then.
            await dispatcher.cancel("alpha", "r-1")
            await dispatcher.cancel("beta", "r-2")

            async def all_are_told() -> bool:
                return all(told.values())

            await eventually(all_are_told)
            assert told == {"alpha-1": ["r-1"], "alpha-3": ["r-1"], "beta-1": ["r-2"]}

    run_bounded(test())


def test_agents_are_answered_under_the_names_that_the_bus_knows_them_by(server: NatsServer) -> None:
    async def answering(name: AgentName, content: bytes) -> bytes:
        return f"{name.lab} {name.platform} {name.agent}: {content.decode()}".encode()

    async def test() -> None:
        async with (
            server.dispatcher() as dispatcher,
            server.link("alpha-3") as alpha,
            server.link("builder-1") as builder,
        ):
            await dispatcher.reply(answering)
            assert await alpha.ask(b"one", PATIENCE_SECONDS) == b"porto alpha alpha-3: one"
            assert await builder.ask(b"two", PATIENCE_SECONDS) == b"berlin alpha-build builder-1: two"
            large = b"x" * MAX_AGENT_PAYLOAD_BYTES
            answer = await alpha.ask(large, PATIENCE_SECONDS)
            assert answer == b"porto alpha alpha-3: " + large
            with pytest.raises(EnvironmentMissing, match="the bus takes"):
                await alpha.ask(large + b"x", PATIENCE_SECONDS)

    run_bounded(test())


def test_messages_are_answered_several_at_a_time(server: NatsServer) -> None:
    together = 20

    async def test() -> None:
        barrier = asyncio.Barrier(together)

        async def answering(name: AgentName, content: bytes) -> bytes:
            await barrier.wait()
            return content

        async with server.dispatcher() as dispatcher, server.link() as first, server.link("beta-1") as other:
            await dispatcher.reply(answering)
            asked = [
                (first, other)[number % 2].ask(str(number).encode(), PATIENCE_SECONDS) for number in range(together)
            ]
            assert await asyncio.gather(*asked) == [str(number).encode() for number in range(together)]

    run_bounded(test())


def test_a_message_that_cannot_be_answered_keeps_no_other_from_it(server: NatsServer) -> None:
    async def answering(name: AgentName, content: bytes) -> bytes:
        if content == b"bad":
            raise RuntimeError("cannot be answered")
        return content

    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            await dispatcher.reply(answering)
            asked = await asyncio.gather(link.ask(b"bad", 1), *(link.ask(b"good", PATIENCE_SECONDS) for _ in range(50)))
            assert asked == [None, *[b"good"] * 50]

    run_bounded(test())


def test_an_agent_waits_for_a_conductor_that_is_not_there_yet(server: NatsServer) -> None:
    async def answering(name: AgentName, content: bytes) -> bytes:
        return b"here"

    async def test() -> None:
        async with server.link() as link:
            assert await link.ask(b"?", 0.1) is None
            asking = asyncio.create_task(link.ask(b"?", PATIENCE_SECONDS))
            async with server.dispatcher() as dispatcher:
                await dispatcher.reply(answering)
                assert await asking == b"here"

    run_bounded(test())


def test_a_bus_that_was_wiped_is_noticed_and_set_up_again(server: NatsServer) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            await dispatcher.publish([job("one")])
            delivered = await link.next_job(PATIENCE_SECONDS)
            assert delivered is not None
            await asyncio.to_thread(server.wipe)

            async def has_forgotten() -> bool:
                try:
                    await dispatcher.waiting()
                except BusLost as lost:
                    return "stream not found" in str(lost)
                return False

            await eventually(has_forgotten)
            with pytest.raises(BusLost, match="does not take"):
                await dispatcher.publish([job("two")])
            for method in (dispatcher.exhausted(), dispatcher.purge("r-1")):
                with pytest.raises(BusLost):
                    await method
            assert not await delivered.extend()
            waiting = asyncio.create_task(contents_of(link, 1))
            await dispatcher.set_up({"alpha": 1})
            await dispatcher.publish([job("one")])
            assert await waiting == ["one"]

    run_bounded(test())


def test_the_server_forgets_its_jobs_when_it_ends_and_all_others_wait_for_it(server: NatsServer) -> None:
    async def answering(name: AgentName, content: bytes) -> bytes:
        return content

    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link, server.link("beta-1") as other:
            await dispatcher.reply(answering)
            created = await dispatcher.set_up({"alpha": 3, "beta": 1})
            assert await dispatcher.set_up({"alpha": 3, "beta": 1}) == created
            await dispatcher.publish([job("before")])
            held = await link.next_job(PATIENCE_SECONDS)
            assert held is not None
            await dispatcher.publish([job("forgotten", "beta")])
            waiting = asyncio.create_task(contents_of(link, 1))
            cancelled: list[str] = []
            link.on_cancel(cancelled.append)
            await asyncio.sleep(0.1)
            await asyncio.to_thread(server.restart)
            await eventually(lambda: is_set_up(dispatcher))
            assert await dispatcher.set_up({"alpha": 3, "beta": 1}) != created
            assert set((await dispatcher.waiting()).values()) == {0}
            await dispatcher.publish([job("after"), job("again", "beta")])
            # Of a job that was forgotten, not of the one that is the first now.
            await held.done()
            assert (await dispatcher.waiting())["beta"] == 1
            assert await waiting == ["after"]
            assert await contents_of(other, 1) == ["again"]
            assert await link.ask(b"still there?", PATIENCE_SECONDS) == b"still there?"

            async def is_told() -> bool:
                await dispatcher.cancel("alpha", "r-1")
                return bool(cancelled)

            await eventually(is_told)

    run_bounded(test())


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_connected_to_again(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream_connection, "PING_SECONDS", 0.5)
    monkeypatch.setattr(jetstream_connection, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(jetstream_dispatcher, "API_SECONDS", 0.5)
    monkeypatch.setattr(jetstream_dispatcher, "PUBLISH_SECONDS", 0.5)

    async def test() -> None:
        # A short lease: the job may be delivered to the connection that was given up.
        async with server.dispatcher(1) as dispatcher, server.link() as link:
            waiting = asyncio.create_task(contents_of(link, 1))
            with server.frozen():
                with pytest.raises(BusLost):
                    await dispatcher.publish([job("one")])

                async def is_lost() -> bool:
                    with pytest.raises(BusLost) as lost:
                        await dispatcher.waiting()
                    # The connection is lost, and connecting does not succeed either.
                    return "Timeout" in str(lost.value)

                await eventually(is_lost)

            async def is_published() -> bool:
                await dispatcher.publish([job("one")])
                return True

            await eventually(is_published)
            assert await waiting == ["one"]

    run_bounded(test())


def test_a_connection_ends_though_its_client_loses_a_cancellation(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []
    monkeypatch.setattr(jetstream_connection, "PING_SECONDS", 0.05)
    monkeypatch.setattr(jetstream_connection, "CLOSING_SECONDS", 0.1)

    async def test() -> None:
        is_asking = asyncio.Event()

        async def answered_while_cancelled(_: object, timeout: float = 0) -> float:
            is_asking.set()
            try:
                await asyncio.sleep(LONG_SECONDS)
            except asyncio.CancelledError:
                if lost:
                    raise
                lost.append("cancellation")
            return 0.0

        async with server.link():
            monkeypatch.setattr(jetstream_connection.Client, "rtt", answered_while_cancelled)
            await is_asking.wait()
        assert lost

    run_bounded(test())


def test_nothing_raises_for_an_agent_while_there_is_no_bus(server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream_link, "CONFIRM_SECONDS", 0.1)

    async def test() -> None:
        async with server.dispatcher() as dispatcher, server.link() as link:
            await dispatcher.publish([job("one")])
            held = await link.next_job(PATIENCE_SECONDS)
            assert held is not None
            await asyncio.to_thread(server.kill)

            async def is_lost() -> bool:
                try:
                    await dispatcher.waiting()
                except BusLost:
                    return True
                return False

            await eventually(is_lost)
            for method in (
                dispatcher.set_up({"alpha": 1}),
                dispatcher.publish([job("two")]),
                dispatcher.purge("r-1"),
                dispatcher.cancel("alpha", "r-1"),
                dispatcher.exhausted(),
            ):
                with pytest.raises(BusLost):
                    await method
            assert await link.next_job(0.1) is None
            assert await link.ask(b"?", 0.1) is None
            assert not await held.extend()
            await held.give_back(0)
            await held.done()
            await asyncio.to_thread(server.start)
            await eventually(lambda: is_set_up(dispatcher))
            await eventually(held.extend)

    run_bounded(test())


def test_connecting_begins_before_there_is_a_bus(server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jetstream_connection, "OPENING_SECONDS", 0.1)

    async def test() -> None:
        server.kill()
        links = [await JetStreamLink.connect(server.credentials(name)) for name in ("alpha-1", "alpha-2")]
        assert await links[0].next_job(0) is None
        await links[1].close()
        await asyncio.to_thread(server.start)
        async with server.dispatcher() as dispatcher:
            await dispatcher.publish([job("one")])
            assert await contents_of(links[0], 1) == ["one"]
        await links[0].close()

    run_bounded(test())


def test_a_server_with_which_agents_can_remove_jobs_of_others_is_refused(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        version = await version_of(server)
        # Older than the oldest server that is accepted.
        monkeypatch.setattr(jetstream_dispatcher, "LEAST_SERVER", (*version[:2], version[2] + 1))
        least = ".".join(map(str, jetstream_dispatcher.LEAST_SERVER))
        reason = rf"nats-server {'.'.join(map(str, version))} lets .*: {least} or newer is needed"
        with pytest.raises(EnvironmentMissing, match=reason):
            await JetStreamDispatcher.connect(read_conductor_credentials(server.directory), [])
        monkeypatch.setattr(jetstream_dispatcher, "LEAST_SERVER", version)
        async with server.dispatcher() as dispatcher:
            await dispatcher.publish([job("one")])
            # One that takes the place of a newer one during the work.
            monkeypatch.setattr(jetstream_dispatcher, "LEAST_SERVER", (*version[:2], version[2] + 1))
            await asyncio.to_thread(server.restart)

            async def is_refused() -> bool:
                try:
                    await dispatcher.set_up({"alpha": 3})
                except BusLost as lost:
                    return re.search(reason, str(lost)) is not None
                return False

            await eventually(is_refused)

    run_bounded(test())


@pytest.mark.parametrize(
    "bad",
    [
        JobMessage("alpha", "urgent", "r-1", "m", b""),
        JobMessage("alpha", "pull", "r.1", "m", b""),
        JobMessage("alpha", "pull", "", "m", b""),
        JobMessage("*", "pull", "r-1", "m", b""),
    ],
)
def test_a_job_without_a_subject_is_not_published(server: NatsServer, bad: JobMessage) -> None:
    async def test() -> None:
        async with server.dispatcher() as dispatcher:
            with pytest.raises(ValueError, match="not to be published"):
                await dispatcher.publish([job("one"), bad])
            await until_none_wait(dispatcher, "alpha")

    run_bounded(test())
