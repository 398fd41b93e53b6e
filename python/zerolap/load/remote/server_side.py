"""Load from another machine: the side of the servers, which orders it.

The channel to it is of `listen_for_load_host` (`channel.py`); its other side is `load_side.py`.
"""

import contextlib
import itertools
import math
from collections.abc import Iterator
from typing import TypeVar

from pydantic import ValidationError

from zerolap.errors import ZerolapError
from zerolap.load.generator import REPLY_SECONDS, SliceResult
from zerolap.load.remote.channel import Channel
from zerolap.load.remote.orders import (
    MOST_REQUESTS,
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
    read_reply,
)
from zerolap.records import DISTURBANCES, LOAD_HOST, Case, CaseRefused, Check, EnvironmentMissing, TrialFailed

ANSWER_SECONDS = REPLY_SECONDS + 60
"""How long the reply to an order may take: longer than the load host waits for its load generator."""
LONGEST_LIMIT = 40
"""The longest limit of a check, in characters."""

AnswerT = TypeVar("AnswerT", OrderDone, TakenSlice, Seen)


class RemoteLoadHost:
    """The load host at the other end of a channel; a `LoadHost`.

    `address` is the IP address by which the load host reaches this machine. `name` is by default the IP address of the
    load host. The owner of the channel closes it.
    """

    def __init__(self, channel: Channel, name: str = "") -> None:
        self.address = channel.own_address
        self.name = name or channel.peer_address
        self._conversation = _Conversation(channel)
        self._numbers = itertools.count(1)

    @contextlib.contextmanager
    def start(self, case: Case, seed: int, port: int) -> Iterator["RemoteLoad"]:
        """Start a load generator there, as `LoadHost.start`."""
        name = str(next(self._numbers))
        self._conversation.ask(Start(name=name, client=case.client, seed=seed, port=port), OrderDone)
        try:
            yield RemoteLoad(self._conversation, name)
        except ZerolapError:
            self._conversation.ask(Stop(name=name), OrderDone)
            raise
        self._conversation.ask(Stop(name=name), OrderDone)

    @contextlib.contextmanager
    def watch(self) -> Iterator["RemoteWatch"]:
        """Watch that machine, as `LoadHost.watch`."""
        self._conversation.ask(BeginWatch(), OrderDone)
        watch = RemoteWatch()
        yield watch
        watch.seen = self._conversation.ask(EndWatch(), Seen).checks
        if sorted(check.check for check in watch.seen) != sorted(DISTURBANCES) or not all(map(_is_sound, watch.seen)):
            raise self._conversation.lost("its checks are not those of a machine")


class RemoteLoad:
    """A load generator of the load host; a `LoadGenerator`."""

    def __init__(self, conversation: "_Conversation", name: str) -> None:
        self._conversation = conversation
        self._name = name

    def slice(self, requests: int, per_second: int | None = None) -> SliceResult:
        """Send requests, as `LoadGenerator.slice`."""
        if requests > MOST_REQUESTS:
            # Slices grow until they last long enough.
            raise self._conversation.lost("it reports times that cannot be")
        order = TakeSlice(name=self._name, requests=requests, per_second=per_second)
        result = self._conversation.ask(order, TakenSlice).result
        has_latencies = result.latency_us is not None and bool(result.histogram_ns)
        if result.requests != requests or not (result.elapsed_ns and result.ops_per_sec and has_latencies):
            raise self._conversation.lost("its figures are not those of the slice")
        return result

    def used_ns(self) -> int:
        """Return 0: it uses nothing of this machine."""
        return 0


class RemoteWatch:
    """What the load host did beside a trial; a `MachineWatch`."""

    def __init__(self) -> None:
        self.seen: list[Check] = []

    def checks(self) -> list[Check]:
        """Return the checks under the names of another machine's, once the watch has ended."""
        if not self.seen:
            raise ValueError("the watch has not ended")
        return [check.model_copy(update={"check": LOAD_HOST + check.check}) for check in self.seen]


def _is_sound(check: Check) -> bool:
    return isinstance(check.value, float) and math.isfinite(check.value) and len(check.limit) <= LONGEST_LIMIT


class _Conversation:
    """Orders and answers in turns."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._is_waiting = False

    def ask(self, order: Order, kind: type[AnswerT]) -> AnswerT:
        """Give an order, and return its answer, of the kind that belongs to it.

        Raises `EnvironmentMissing` if the load host is lost or cannot carry it out, `TrialFailed` if the trial fails,
        `CaseRefused` if the load host does not send what the case asks for.
        """
        if self._is_waiting:
            raise self.lost("an answer to an earlier order is still to come")
        self._is_waiting = True
        self._channel.send(order.model_dump_json().encode())
        try:
            answer = read_reply(self._channel.receive(ANSWER_SECONDS))
        except ValidationError as wrong:
            raise self.lost("its answer cannot be read") from wrong
        self._is_waiting = False
        if isinstance(answer, OrderFailed):
            raise _failure(answer)
        if not isinstance(answer, kind):
            raise self.lost("it answers another order")
        return answer

    def lost(self, reason: str) -> ZerolapError:
        return self._channel.lost(reason)


def _failure(failed: OrderFailed) -> ZerolapError:
    match failed.by:
        case "trial":
            return TrialFailed(failed.message)
        case "case":
            return CaseRefused(failed.message)
        case "environment":
            return EnvironmentMissing(f"the load host cannot put load on the server: {failed.message}")
