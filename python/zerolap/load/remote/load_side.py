"""Load from another machine: the side of the load, which carries out orders.

The orders come from a machine that runs code under test and may be hostile. They name a port of one machine and what
to send to it; command lines are made here, and none of their arguments names another server or a file.
"""

import contextlib
import queue
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from zerolap.host import Disturbance, choose_pinning, read_processors, watch
from zerolap.load.generator import LoadProgram, load_program, packaged, timed_arguments
from zerolap.load.remote.channel import Channel, ChannelClosed
from zerolap.load.remote.orders import (
    LONGEST_MESSAGE,
    BeginWatch,
    EndWatch,
    Order,
    OrderDone,
    OrderFailed,
    Seen,
    Start,
    Stop,
    TakenSlice,
    TakeSlice,
    read_order,
)
from zerolap.records import NOT_OF_A_SLICE, CaseRefused, Check, Client, EnvironmentMissing, Interrupted, TrialFailed
from zerolap.sandbox import (
    Cancellation,
    Confinement,
    Limits,
    Network,
    SandboxPolicy,
    current_cancellation,
    scratch_directory,
)
from zerolap.server import Reach

LOAD_PREFIX = "zerolap-load-"
MOST_GENERATORS = 8
MOST_CONNECTIONS = 20_000
"""The most connections of all load generators together."""
REACHING_SECONDS = 10.0
LIMITS = Limits(memory_bytes=4 << 30, processes=256, disk_bytes=64 << 20)
"""The limits of a load generator, which writes nothing but its log."""
SENT_FROM_HERE = frozenset(
    {
        *("protocol", "ipv4", "ipv6", "select-db", "pipeline", "busy-poll", "connection-timeout", "reply-timeout"),
        *("reconnect-on-error", "max-reconnect-attempts", "reconnect-backoff-factor"),
        *("command", "command-ratio", "command-key-pattern", "ratio"),
        *("scan-incremental-iteration", "scan-incremental-max-iterations"),
        *("key-prefix", "key-minimum", "key-maximum", "key-pattern", "key-stddev", "key-median", "key-zipf-exp"),
        *("compat", "distinct-client-seed", "data-size", "data-size-range", "data-size-pattern", "data-size-list"),
        *("data-offset", "expiry-range", "random-data", "verify", "command-stats-breakdown", "quiet", "debug"),
    }
)
"""Arguments of a client's command line that name no server and no file, and open no further connections."""


def serve_load(channel: Channel, sandbox: SandboxPolicy = SandboxPolicy.REQUIRED) -> None:
    """Carry out the orders of the other side until it closes the channel, which is closed in any case.

    The servers are at the channel's other side: orders name only the port. Load generators run in a sandbox without
    files; `sandbox` decides whether they run without one.

    Raises `Interrupted` once the current `Cancellation` is cancelled, `EnvironmentMissing` if a line is altered or is
    no order. What fails is the other side's to know.
    """
    owner = current_cancellation()
    with contextlib.closing(channel):
        with (
            _Inbox(channel) as inbox,
            # The end of the connection interrupts what is under way.
            contextlib.suppress(ChannelClosed, Interrupted),
            inbox.cancellation.current(),
            scratch_directory(LOAD_PREFIX) as directory,
            _Executor(channel.peer_address, directory, sandbox) as executor,
        ):
            for order in inbox.orders():
                channel.send(executor.carry_out(order).model_dump_json().encode())
        owner.require_going_on()
        if inbox.fault is not None:
            raise inbox.fault


class _Inbox:
    """Reads orders in a thread of its own, so that the end of the connection ends an order that is under way.

    `cancellation` is that of what is started for the orders, `fault` why the connection has not ended as it should.
    """

    def __init__(self, channel: Channel) -> None:
        self.cancellation = Cancellation()
        self._channel = channel
        self._orders = queue.Queue[Order | None](maxsize=2)
        self.fault: EnvironmentMissing | None = None
        self._thread = threading.Thread(target=self._read, name="orders", daemon=True)

    def __enter__(self) -> "_Inbox":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.kill()
        self._thread.join()

    def orders(self) -> Iterator[Order]:
        """Yield orders as they come, until the connection ends."""
        while (order := self._orders.get()) is not None:
            yield order

    def _read(self) -> None:
        try:
            while True:
                self._orders.put_nowait(read_order(self._channel.receive()))
        except (ChannelClosed, Interrupted):
            pass
        except ValidationError:
            self.fault = EnvironmentMissing("the machine of the servers gives an order that is none")
        except queue.Full:
            self.fault = EnvironmentMissing("the machine of the servers does not wait for answers")
        except EnvironmentMissing as fault:
            self.fault = fault
        finally:
            self._end()

    def _end(self) -> None:
        self._channel.kill()
        self.cancellation.cancel()
        with contextlib.suppress(queue.Empty):
            while True:
                self._orders.get_nowait()
        self._orders.put(None)


@dataclass(frozen=True)
class _Generator:
    """A running load generator; `running` ends it."""

    program: LoadProgram
    connections: int
    running: contextlib.ExitStack


class _Executor:
    """Carries out orders: load generators by name, and a watch; all end with the context."""

    def __init__(self, address: str, directory: Path, sandbox: SandboxPolicy) -> None:
        self._address = address
        self._log = directory / "load.log"
        self._sandbox = sandbox
        self._processors = choose_pinning(read_processors(), server_threads=1, client_threads=0).server
        self._generators: dict[str, _Generator] = {}
        self._watching = contextlib.ExitStack()
        self._disturbance: Disturbance | None = None

    def __enter__(self) -> "_Executor":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.ExitStack() as stack:
            for generator in self._generators.values():
                stack.push(generator.running)

    def carry_out(self, order: Order) -> OrderDone | TakenSlice | Seen | OrderFailed:
        try:
            return self._carried_out(order)
        except CaseRefused as refused:
            return _failed("case", refused.message)
        except TrialFailed as fault:
            return _failed("trial", fault.message)
        except (EnvironmentMissing, OSError) as fault:
            return _failed("environment", str(fault))

    def _carried_out(self, order: Order) -> OrderDone | TakenSlice | Seen:
        match order:
            case Start():
                self._start(order)
            case TakeSlice(name=name, requests=requests, per_second=per_second):
                return TakenSlice(result=self._named(name).program.slice(requests, per_second))
            case Stop(name=name):
                self._named(name).running.close()
                del self._generators[name]
            case BeginWatch():
                self._watching.close()
                watched = watch(self._used_ns, self._processors, interrupts_are_load=True)
                self._disturbance = self._watching.enter_context(watched)
            case EndWatch():
                return Seen(checks=self._seen())
        return OrderDone()

    def _start(self, order: Start) -> None:
        connections = order.client.connections + sum(one.connections for one in self._generators.values())
        if order.name in self._generators or len(self._generators) == MOST_GENERATORS:
            raise EnvironmentMissing(f"it runs {len(self._generators)} load generators, of which one is `{order.name}`")
        if connections > MOST_CONNECTIONS:
            raise CaseRefused(f"the load host opens {MOST_CONNECTIONS} connections at most, and not {connections}")
        arguments = arguments_from_here(order.client, order.seed, self._processors)
        self._require_reached(order.port)
        reach = Reach(["--server", self._address, "--port", str(order.port)])
        confinement = Confinement(
            read_only=[packaged("zerolap-load")], network=Network(), limits=LIMITS, policy=self._sandbox
        )
        with contextlib.ExitStack() as running:
            program = running.enter_context(load_program(reach, self._log, arguments, confinement))
            self._generators[order.name] = _Generator(program, order.client.connections, running.pop_all())

    def _named(self, name: str) -> _Generator:
        try:
            return self._generators[name]
        except KeyError:
            raise EnvironmentMissing(f"it runs no load generator `{name}`") from None

    def _require_reached(self, port: int) -> None:
        """Raise `EnvironmentMissing` where the network is in the way: that is no failure of the server."""
        try:
            socket.create_connection((self._address, port), REACHING_SECONDS).close()
        except OSError as fault:
            raise EnvironmentMissing(f"it does not reach port {port} of `{self._address}`: {fault}") from fault

    def _seen(self) -> list[Check]:
        if self._disturbance is None:
            raise EnvironmentMissing("it has watched nothing")
        self._watching.close()
        return self._disturbance.checks()

    def _used_ns(self) -> int:
        return sum(generator.program.used_ns() for generator in self._generators.values())


def arguments_from_here(client: Client, seed: int, processors: Sequence[int]) -> list[str]:
    """Return the arguments of a load generator for another machine's client, which are not of its choice alone.

    Raises `CaseRefused` for a client whose command line has arguments that this machine does not accept from others.
    """
    names = {name for name, _ in client.given or ()} - NOT_OF_A_SLICE
    if refused := sorted(names - SENT_FROM_HERE):
        listed = ", ".join(f"`--{name}`" for name in refused)
        raise CaseRefused(f"the load host does not accept these arguments from the machine of the servers: {listed}")
    arguments = timed_arguments(client, seed, processors)
    if any("\0" in argument for argument in arguments):
        raise CaseRefused("an argument of the load generator has a zero byte")
    return arguments


def _failed(by: Literal["trial", "case", "environment"], message: str) -> OrderFailed:
    return OrderFailed(by=by, message=message[:LONGEST_MESSAGE])
