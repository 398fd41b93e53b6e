"""`zerolap serve`: the conductor, the API, and, without a fleet, an agent, in one process."""

import asyncio
import contextlib
import gc
import hashlib
import logging
import os
import re
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import structlog
import uvicorn

from zerolap.api.app import application
from zerolap.api.host_names import KnownHosts, names_of_machine
from zerolap.api.http_protocol import protocol_of
from zerolap.api.listening import ACCEPTED_AT_ONCE, ConnectionLimits, Connections, Listener
from zerolap.api.metrics import EventCounts
from zerolap.api.refusals import Refusals
from zerolap.api.stand_by import STAND_BY, Entrance
from zerolap.api.upkeep import UPKEEP_SECONDS, look_after
from zerolap.events import LabEvent
from zerolap.fleet import (
    Agent,
    AgentName,
    AgentPlace,
    Conductor,
    FilesAreHere,
    InProcess,
    Pace,
    ServedPlatform,
    Tokens,
    follow_configuration,
    served_platforms,
)
from zerolap.fleet.bus import JetStreamDispatcher
from zerolap.fleet.setup import CERTIFICATE, CERTIFICATE_KEY, read_conductor_credentials, read_configuration
from zerolap.lab import Lab
from zerolap.records import EnvironmentMissing, UsageError
from zerolap.sandbox import SandboxPolicy
from zerolap.store import NotConductor, RequestBusy, Retention, Store
from zerolap.triggers import Triggers

LOCAL: Final = "local"
"""The platform, the lab and the name of the agent that is this machine."""
ADDRESS: Final = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|(?P<host>[^\[\]:]+)):(?P<port>[0-9]{1,5})")
LARGEST_PORT: Final = 65_535
STAND_BY_SECONDS: Final = 1.0
IN_PREPARATION: Final = "what the pages show is prepared; ask again in some seconds"
ENDING_SECONDS: Final = 20.0
"""A process that is not the conductor any more is ended after so long, whatever its threads wait for."""

log = structlog.get_logger("zerolap.serve")


@dataclass(frozen=True)
class Address:
    """Where the API listens."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Return the address in a text such as `127.0.0.1:7480` or `[::1]:7480`; raises `UsageError`."""
        match = ADDRESS.fullmatch(text)
        if match is None or int(match["port"]) > LARGEST_PORT:
            hint = "write HOST:PORT, such as 127.0.0.1:7480 or [::1]:7480"
            raise UsageError(f"`--listen {text}` is not an address", hint=hint)
        return cls(match["ipv6"] or match["host"], int(match["port"]))


@dataclass(frozen=True)
class ServeOptions:
    """How a store is served: at these addresses, or at none.

    `fleet` is the directory of a fleet, none where this machine measures; `retention` is which results are kept.
    `hosts` are further names of the lab; with `public_reports` reports need no token, whatever the settings of
    triggers. Serving ends with `until`, if it is given. With `shows_only` nothing is measured, and
    requests stay as they are; what is shown is put into the store by `prepare`, in a thread, once the addresses are
    taken and before pages answer.
    """

    store: Store
    addresses: Sequence[Address]
    fleet: Path | None = None
    sandbox: SandboxPolicy = SandboxPolicy.REQUIRED
    pace: Pace | None = None
    triggers: Triggers | None = None
    retention: Retention = field(default_factory=Retention)
    until: Callable[[], Awaitable[None]] | None = None
    hosts: Sequence[str] = ()
    public_reports: bool = False
    shows_only: bool = False
    prepare: Callable[[], None] | None = None
    counts: EventCounts = field(default_factory=EventCounts)

    @property
    def own_pace(self) -> Pace:
        """The pace of the conductor: what is given, else that of the limits."""
        if self.pace is not None:
            return self.pace
        return Pace() if self.triggers is None else Pace(pull_seconds=self.triggers.settings.limits.pull_seconds)

    def require_served(self, platforms: Sequence[ServedPlatform]) -> None:
        """Raise `UsageError` if the triggers are for a platform that is not one of these."""
        if self.triggers is not None:
            self.triggers.settings.require_served([platform.name for platform in platforms])

    def tell(self, event: LabEvent) -> None:
        """Tell those who listen what happens."""
        self.counts.count(event)
        if self.triggers is not None:
            self.triggers.events.emit(event)


async def serve(serving: ServeOptions) -> None:
    """Work until SIGTERM or SIGINT; waits for its turn where another conductor works on the store.

    Raises `EnvironmentMissing` if the address is taken, `UsageError` for the directory of a fleet that is none, and
    `NotConductor` once it has lost the lock of the store: the process has to end, and does so before long.
    """
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    if serving.fleet is not None:
        # Faults of the directory are shown also while another conductor works.
        read_conductor_credentials(serving.fleet)
    entrance, refusals = Entrance(), Refusals()
    listening: list[asyncio.Task[None]] = []
    listeners: list[Listener] = []
    server: _Server | None = None
    if serving.addresses:
        connections = Connections(ConnectionLimits.of_process(), refusals)
        for address in serving.addresses:
            listeners += Listener.all_at(address.host, address.port, connections)
        server = _Server(_uvicorn_settings(serving, entrance, connections))
        listening = [asyncio.create_task(connections.close_slow_always()), asyncio.create_task(refusals.log_always())]
    works: list[asyncio.Task[None]] = [
        asyncio.create_task(_conduct(ConductorSeat(serving, entrance, refusals, stopping)))
    ]
    if server is not None:
        works.append(asyncio.create_task(server.serve([*listeners])))
    done, _ = await asyncio.wait([*works, asyncio.create_task(stopping.wait())], return_when=asyncio.FIRST_COMPLETED)
    stopping.set()
    if server is not None:
        server.should_exit = True
    await asyncio.wait(works, timeout=ENDING_SECONDS)
    for task in listening:
        task.cancel()
    for ended in [one for one in works if one in done] or [one for one in works if one.done()]:
        await ended


@dataclass(frozen=True)
class ConductorSeat:
    """What a process needs to be the conductor while it holds the lock of its store."""

    serving: ServeOptions
    entrance: Entrance
    refusals: Refusals
    stopping: asyncio.Event

    def open(self, conductor: Conductor) -> None:
        """Have the API of this conductor answer from now on."""
        serving = self.serving
        opened = application(
            conductor,
            serving.store,
            serving.triggers,
            serving.fleet,
            refusals=self.refusals,
            counts=serving.counts,
            public_reports=serving.public_reports,
        )
        opened.state.stopping = self.stopping
        # What lives as long as the process is not looked through again and again: that stops all threads for 0.1 s.
        gc.freeze()
        self.entrance.open(opened)


async def _conduct(seat: ConductorSeat) -> None:
    async with _locked(seat) as is_locked:
        if not is_locked:
            return
        directory = seat.serving.fleet
        try:
            await (_work_alone(seat) if directory is None else _lead(seat, directory))
        except (NotConductor, ExceptionGroup) as fault:
            lost = _loss_among(fault)
            if lost is None:
                raise
            log.error("not the conductor any more; ending", reason=lost.message)
            # Threads that wait for a server that does not answer would keep the process from its end.
            last_resort = threading.Timer(ENDING_SECONDS, os._exit, [NotConductor.exit_code])
            last_resort.daemon = True
            last_resort.start()
            raise lost from None


def _loss_among(fault: Exception) -> NotConductor | None:
    """Return the loss of the lock that tasks have ended with."""
    if isinstance(fault, ExceptionGroup):
        return next(filter(None, map(_loss_among, fault.exceptions)), None)
    return fault if isinstance(fault, NotConductor) else None


async def _work_alone(seat: ConductorSeat) -> None:
    serving = seat.serving
    queues = InProcess()
    platforms = [ServedPlatform(LOCAL, builder=LOCAL, is_here=True)]
    serving.require_served(platforms)
    conductor = Conductor(
        serving.store,
        queues,
        platforms,
        sandbox=serving.sandbox,
        pace=serving.own_pace,
        on_event=serving.tell,
    )
    if serving.shows_only:
        await _show_until_stopped(seat, conductor)
        return
    place = AgentPlace(Lab(serving.store, sandbox=serving.sandbox).builds, serving.store.blobs)
    agent = Agent("bench", queues.link(AgentName(LOCAL, LOCAL, LOCAL)), FilesAreHere(), place)
    await _until_stopped(seat, conductor, [], agent)


async def _show_until_stopped(seat: ConductorSeat, conductor: Conductor) -> None:
    """Have the API answer for a conductor that does not work, once what it shows is in the store."""
    if seat.serving.prepare is not None:
        seat.entrance.stand_by(IN_PREPARATION)
        await asyncio.to_thread(seat.serving.prepare)
    seat.open(conductor)
    ending = asyncio.create_task(_stop_after(seat.serving.until, seat.stopping)) if seat.serving.until else None
    await seat.stopping.wait()
    if ending is not None:
        ending.cancel()


async def _lead(seat: ConductorSeat, directory: Path) -> None:
    serving = seat.serving
    credentials = read_conductor_credentials(directory)
    configuration = read_configuration(directory)
    platforms = served_platforms(configuration)
    serving.require_served(platforms)
    pace = serving.own_pace
    dispatcher = await JetStreamDispatcher.connect(credentials, configuration.agent_names(), pace.lease_seconds)
    try:
        conductor = Conductor(
            serving.store,
            dispatcher,
            platforms,
            # The conductor's password is as secret as its tokens have to be.
            tokens=Tokens(hashlib.sha256(f"tokens {credentials.password}".encode()).digest()),
            sandbox=serving.sandbox,
            pace=pace,
            on_event=serving.tell,
        )
        following = asyncio.create_task(follow_configuration(directory, dispatcher, conductor))
        await _until_stopped(seat, conductor, [following])
    finally:
        await dispatcher.close()


async def _until_stopped(
    seat: ConductorSeat, conductor: Conductor, beside: list[asyncio.Task[None]], agent: Agent | None = None
) -> None:
    """Run the conductor, the tasks beside it and an agent until one of them fails, or they are to stop."""
    serving, stopping = seat.serving, seat.stopping
    seat.open(conductor)
    ended_by_cancelling = [*beside, asyncio.create_task(conductor.run()), asyncio.create_task(_keep_in_bounds(serving))]
    if serving.triggers is not None:
        serving.triggers.on_event = serving.counts.count
        ended_by_cancelling.append(asyncio.create_task(serving.triggers.run()))
    if serving.until is not None:
        ended_by_cancelling.append(asyncio.create_task(_stop_after(serving.until, stopping)))
    works: list[asyncio.Task[None]] = list(ended_by_cancelling)
    if agent is not None:
        works.append(asyncio.create_task(agent.run()))
    waiting = asyncio.create_task(stopping.wait())
    done, _ = await asyncio.wait({*works, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if done == {waiting}:
        log.info("stopping")
    if agent is not None:
        # Its job is stopped, and done again by the next conductor.
        agent.drain()
        agent.drain()
    for cancelled in ended_by_cancelling:
        cancelled.cancel()
    await asyncio.wait(works, timeout=10)
    for ended in done - {waiting}:
        await ended


async def _keep_in_bounds(serving: ServeOptions) -> None:
    while True:
        await asyncio.sleep(UPKEEP_SECONDS)
        try:
            upkeep = await asyncio.to_thread(look_after, serving.store, serving.retention)
        except EnvironmentMissing as fault:
            log.error("the store cannot be looked after", fault=fault.message)
            continue
        removed = upkeep.removed
        log.info(
            "looked after the store",
            results=len(removed.requests),
            histories=removed.histories,
            blobs=removed.blobs,
            builds=upkeep.builds,
        )


async def _stop_after(until: Callable[[], Awaitable[None]], stopping: asyncio.Event) -> None:
    await until()
    stopping.set()


class _Server(uvicorn.Server):
    """Leaves the signals to the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _uvicorn_settings(serving: ServeOptions, entrance: Entrance, connections: Connections) -> uvicorn.Config:
    fleet = serving.fleet
    # A line for each malformed request would be theirs who send them; they are counted.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return uvicorn.Config(
        KnownHosts(entrance, _names(serving), connections.refusals),
        http=protocol_of(connections),
        backlog=ACCEPTED_AT_ONCE,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        ssl_certfile=None if fleet is None else str(fleet / CERTIFICATE),
        ssl_keyfile=None if fleet is None else str(fleet / CERTIFICATE_KEY),
    )


def _names(serving: ServeOptions) -> frozenset[str]:
    """Return the names that a request may have in its header Host, beside addresses."""
    names = {*names_of_machine(), *(host.lower() for host in serving.hosts)}
    names |= {address.host.lower() for address in serving.addresses}
    public = None if serving.triggers is None else serving.triggers.settings.lab.public_url
    if public is not None:
        names.add((urlsplit(public).hostname or "").lower())
    if serving.fleet is not None:
        names.add((urlsplit(read_configuration(serving.fleet).artifacts).hostname or "").lower())
    return frozenset(names)


@contextlib.asynccontextmanager
async def _locked(seat: ConductorSeat) -> AsyncIterator[bool]:
    """Hold the lock of the store as its only conductor; yields false if stopped before."""
    store, is_standing_by = seat.serving.store, False
    with contextlib.ExitStack() as held:
        while not seat.stopping.is_set():
            try:
                await asyncio.to_thread(held.enter_context, store.conduct())
            except RequestBusy:
                if not is_standing_by:
                    log.info("stand-by: another conductor works on the store", store=store.address)
                is_standing_by = True
                seat.entrance.stand_by(STAND_BY)
            except EnvironmentMissing as fault:
                if not is_standing_by:
                    raise
                # The database of a stand-by may be restarted as that of a conductor.
                log.warning("stand-by: the store cannot be used", fault=fault.message)
                seat.entrance.stand_by(f"stand-by: the store cannot be used: {fault.message}")
            else:
                if is_standing_by:
                    log.info("taking over", store=store.address)
                yield True
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STAND_BY_SECONDS):
                    await seat.stopping.wait()
        yield False
