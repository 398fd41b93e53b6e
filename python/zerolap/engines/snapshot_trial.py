"""A filled server that forks under load: repetitions of an event, each with the latencies around it.

A server is started and filled once for each size; each repetition is a run of the load generator, with the event at a
random moment of it.
"""

import contextlib
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from zerolap.byte_counts import MIB
from zerolap.engines.huge_pages import require_huge_pages
from zerolap.engines.server_trial import PinnedTrial, deployed, filled
from zerolap.engines.snapshot_figures import STARTING_NS, EventMoments, event_metrics
from zerolap.host import watch
from zerolap.load import NS_PER_SECOND, OpenEndedLoad, Target, open_ended_load, timed_arguments
from zerolap.records import (
    Case,
    HugePages,
    Keys,
    SnapshotEvent,
    SnapshotLoad,
    SnapshotRepetition,
    Topology,
    TrialFailed,
    now,
)
from zerolap.server import (
    CommandRefused,
    Deployment,
    RunningServer,
    named_death,
    number_in,
    read_anonymous_memory,
    read_resident_bytes,
    read_total_ns,
)

VALUE_BYTES: Final = 1000
"""The size of a value, which with its header fills a size class of the allocator: 1024 bytes."""
BYTES_PER_KEY: Final = 1100
"""Memory for a key, its value of `VALUE_BYTES` and its entry in the table: Redis 7.0 uses about so much."""
COMMAND: Final = "SET __key__ __data__"

CALM_SECONDS: Final = 1.5
MOST_RANDOM_SECONDS: Final = 1.0
"""The event comes at a random moment within this time after the calm."""
TAIL_SECONDS: Final = 1.5
NOTHING_SECONDS: Final = 2.0
"""How long an event lasts that is none."""
PAUSE_MARGIN_NS: Final = 50_000_000
"""How long after the reply to the forking command replies to delayed requests may still arrive."""
SAVING_SECONDS: Final = 1800
POLL_SECONDS: Final = 0.1
"""Servers look for the end of a child ten times a second."""
KEPT_SHARE: Final = 0.98
"""The share of the rate of an open loop that a server has to reach; one that stays below cannot keep up."""
FORK_METRIC: Final = "fork_us"
SLOTS_BEFORE: Final = 10
SLOTS_AFTER: Final = 89

COMMANDS: Final[Mapping[SnapshotEvent, str]] = {"bgsave": "BGSAVE", "bgrewriteaof": "BGREWRITEAOF"}
IN_PROGRESS: Final = ("rdb_bgsave_in_progress", "aof_rewrite_in_progress", "aof_rewrite_scheduled", "saving")
"""Fields of `INFO persistence`; the last one is Dragonfly's, which saves without a child."""
STATUS: Final[Mapping[SnapshotEvent, str]] = {
    "bgsave": "rdb_last_bgsave_status",
    "bgrewriteaof": "aof_last_bgrewrite_status",
}
COPIED: Final[Mapping[SnapshotEvent, str]] = {
    "bgsave": "rdb_last_cow_size",
    "bgrewriteaof": "aof_last_cow_size",
    "replica": "rdb_last_cow_size",
}
WRITTEN_FILES: Final[Mapping[SnapshotEvent, int]] = {"bgsave": 2, "bgrewriteaof": 2, "replica": 4, "none": 0}
"""How many files with all data there are at most at one time: the last one is removed when the next is complete.

Of a replica there are those of both servers: before Redis 7.0 the primary writes one too.
"""


def snapshot_topology(event: SnapshotEvent) -> Topology:
    """Return how the server is deployed: with a replica, yet to be attached, where that is the event."""
    if event == "replica":
        return Topology(name="replicas-1", description="a primary with one replica", replicas=1)
    return Topology(name="standalone", description="one server, reached over a unix socket")


def snapshot_case(size_bytes: int, connections: int, event: SnapshotEvent) -> Case:
    """Return the data set of about this size, and the load: values of all keys are overwritten at random."""
    keys = Keys(minimum=1, maximum=max(1, size_bytes // BYTES_PER_KEY))
    dataset = {
        "name": f"snapshot-{keys.count}",
        "load": [COMMAND],
        "keys": keys.model_copy(update={"pattern": "parallel"}).model_dump(),
        "data_size": VALUE_BYTES,
        "expect": {"keys": keys.count},
    }
    client = {"commands": [COMMAND], "keys": keys.model_dump(), "data_size": VALUE_BYTES}
    client |= {"connections": connections, "pipeline": 1}
    client |= {"topology": snapshot_topology(event)}
    name = f"snapshot-{size_bytes / MIB:.15g}MiB"
    return Case.model_validate({"name": name, "group": "snapshot", "dataset": dataset, **client})


@dataclass(frozen=True)
class SnapshotLoadSettings:
    """The load of repetitions: with a rate requests are due, without one they are sent when a reply has come."""

    load: SnapshotLoad
    rate_per_second: int

    @property
    def arguments(self) -> list[str]:
        """The arguments of the load generator for it."""
        return ["--rate", str(self.rate_per_second)] if self.load == "open" else []


SETTLING_LOAD: Final = SnapshotLoadSettings("closed", rate_per_second=0)


class SnapshotServer:
    """A server that holds the data of a trial, in which events are made to happen under load."""

    def __init__(self, trial: PinnedTrial, deployment: Deployment, event: SnapshotEvent) -> None:
        self._trial = trial
        self._deployment = deployment
        self._event = event

    @property
    def _server(self) -> RunningServer:
        return self._deployment.primaries[0].server

    def _used_ns(self, load: OpenEndedLoad) -> int:
        """Return the CPU time of the servers, their ended children, and the load generator."""
        return load.used_ns() + sum(read_total_ns(node.process) for node in self._deployment.nodes)

    @property
    def process(self) -> int:
        """The process id of the server."""
        return self._server.process

    @property
    def keys(self) -> int:
        """The number of keys that it holds."""
        return self._server.count_keys()

    @property
    def data_bytes(self) -> int | None:
        """The memory that it reports to use; none if it does not report it."""
        return number_in(self._server.info("memory"), "used_memory")

    def repetition(self, load: SnapshotLoadSettings, moments: random.Random) -> SnapshotRepetition:
        """Have an event happen under load, and return what it cost; `moments` draws when it comes.

        Raises `TrialFailed` if the server, the load generator or the save fails.
        """
        began, seed = now(), moments.getrandbits(32)
        self._wait_for_child()
        memory = self._memory_metrics()
        processors = {*self._trial.pinning.server, *self._trial.pinning.client}
        with self._loaded(load, seed) as running:
            with watch(lambda: self._used_ns(running), processors) as disturbance:
                time.sleep(STARTING_NS / NS_PER_SECOND + CALM_SECONDS + moments.uniform(0, MOST_RANDOM_SECONDS))
                running.require_running()
                happened = self._event_happens()
                reported = self._reported()
                time.sleep(TAIL_SECONDS)
            series = running.end()
        self._clear_up()
        metrics = {**event_metrics(series, happened), **reported, **memory}
        return SnapshotRepetition(
            began=began,
            metrics=metrics,
            checks=disturbance.checks(),
            warnings=[*series.warnings, *kept_rate_warnings(load, metrics["outside_ops_per_sec"])],
            series=series.around(happened.begin_ns, SLOTS_BEFORE, SLOTS_AFTER),
        )

    def settle(self, seed: int) -> float | None:
        """Have an event happen that is not measured, and return how long the server forked, in microseconds.

        The pages of a server that has just been filled lie in the order in which it asked for them; each page that is
        written to while a child works is copied to another place. A closed loop copies most of them, so that the
        repetitions find the memory of a server that has saved before. Returns none where the server does not report
        its forks; raises `TrialFailed` if the server, the load generator or the save fails.
        """
        self.event_under_load(SETTLING_LOAD, seed, contextlib.nullcontext())
        return self._reported().get(FORK_METRIC)

    def event_under_load(
        self, load: SnapshotLoadSettings, seed: int, around: contextlib.AbstractContextManager[object]
    ) -> None:
        """Have an event happen under load, within a context, without measuring it; raises `TrialFailed`."""
        self._wait_for_child()
        with self._loaded(load, seed) as running:
            time.sleep(STARTING_NS / NS_PER_SECOND)
            running.require_running()
            with around:
                self._event_happens()
            running.end()
        self._clear_up()

    @contextlib.contextmanager
    def _loaded(self, load: SnapshotLoadSettings, seed: int) -> Iterator[OpenEndedLoad]:
        """Put load on the server, which is named where it dies meanwhile."""
        arguments = [*timed_arguments(self._trial.case.client, seed, self._trial.pinning.client), *load.arguments]
        result = self._trial.directory / "load.json"
        with (
            named_death(*(node.server for node in self._deployment.nodes)),
            open_ended_load(self._deployment.reach, arguments, self._trial.load_log, result) as running,
        ):
            yield running

    def require_huge_pages(self, wanted: HugePages) -> None:
        """Raise `TrialFailed` if the memory of the server does not lie in pages of the kind that was wanted."""
        require_huge_pages(wanted, read_anonymous_memory(self._server.process))

    def _memory_metrics(self) -> dict[str, float]:
        """Return the memory of the server, and how much of it lies in huge pages, where the kernel shows that."""
        process = self._server.process
        anonymous = read_anonymous_memory(process)
        in_huge_pages = {} if anonymous is None else {"huge_page_bytes": float(anonymous.huge_page_bytes)}
        return {"resident_bytes": float(read_resident_bytes(process)), **in_huge_pages}

    def _event_happens(self) -> EventMoments:
        """Have the event happen, and wait for its end; raises `TrialFailed` if the server refuses it, or it fails."""
        begin_ns = time.monotonic_ns()
        if self._event == "none":
            time.sleep(NOTHING_SECONDS)
            end_ns = time.monotonic_ns()
            return EventMoments(begin_ns, end_ns, end_ns)
        if self._event == "replica":
            before = self._full_synchronisations()
            self._deployment.attach_replicas()
            self._wait_for_child()
            end_ns = time.monotonic_ns()
            if before is not None and self._full_synchronisations() == before:
                raise self._server.failure("the replica was attached without a full synchronisation")
            # When the server forks for a replica is not known to others.
            return EventMoments(begin_ns, end_ns, end_ns)
        saved = None if self._reports_saving() else self._last_save()
        self._server.command(COMMANDS[self._event])
        pause_end_ns = time.monotonic_ns() + PAUSE_MARGIN_NS
        if saved is not None:
            self._wait_for_save_after(saved)
        persistence = self._wait_for_child()
        end_ns = time.monotonic_ns()
        status = persistence.get(STATUS[self._event], "ok")
        if status != "ok":
            raise self._server.failure(f"`{COMMANDS[self._event]}` failed")
        return EventMoments(begin_ns, pause_end_ns, max(end_ns, pause_end_ns))

    def _full_synchronisations(self) -> int | None:
        """Return how many the server has carried out; none if it does not report them."""
        return number_in(self._server.info("stats"), "sync_full")

    def _wait_for_child(self) -> Mapping[str, str]:
        """Wait until the server reports no child, and return what it reports of its last one."""
        end = time.monotonic() + SAVING_SECONDS
        while True:
            persistence = self._server.info("persistence")
            if not any(number_in(persistence, field) for field in IN_PROGRESS):
                return persistence
            _require_before(end)
            time.sleep(POLL_SECONDS)

    def _reports_saving(self) -> bool:
        persistence = self._server.info("persistence")
        return any(number_in(persistence, field) is not None for field in IN_PROGRESS)

    def _last_save(self) -> int:
        """Return the time of the server's last save, by which Garnet reports its end.

        Raises `TrialFailed` if it does not report it, or saves for another command than BGSAVE.
        """
        unknown = "it is not known when the server has saved: it reports neither that it saves nor its last save"
        try:
            moment = self._server.command("LASTSAVE") if self._event == "bgsave" else None
        except CommandRefused as refused:
            raise TrialFailed(f"{unknown} ({refused.message})") from refused
        if not isinstance(moment, int):
            raise TrialFailed(unknown)
        return moment

    def _wait_for_save_after(self, moment: int) -> None:
        end = time.monotonic() + SAVING_SECONDS
        while self._last_save() == moment:
            _require_before(end)
            time.sleep(POLL_SECONDS)

    def _reported(self) -> dict[str, float]:
        """Return what the server reports of the event: how long it forked, and the memory that was copied meanwhile.

        A server that has never forked, as it saves otherwise, reports nothing or 0 as the time of its fork.
        """
        if self._event == "none":
            return {}
        fork_us = number_in(self._server.info("stats"), "latest_fork_usec") or None
        copied_bytes = number_in(self._server.info("persistence"), COPIED[self._event])
        reported = {FORK_METRIC: fork_us, "cow_bytes": copied_bytes}
        return {name: float(value) for name, value in reported.items() if value is not None}

    def _clear_up(self) -> None:
        """Take the replica off again, so that its next synchronisation is a full one too."""
        if self._event != "replica":
            return
        for replica in self._deployment.replicas:
            replica.command("REPLICAOF", "NO", "ONE")
            replica.command("FLUSHALL")


def _require_before(end: float) -> None:
    """Raise `TrialFailed` where a save has not ended by a moment."""
    if time.monotonic() > end:
        raise TrialFailed(f"the server did not end its save within {SAVING_SECONDS} s")


def kept_rate_warnings(load: SnapshotLoadSettings, ops_per_sec: float) -> list[str]:
    """Return a warning where the server did not keep up with the rate even outside of the event."""
    if load.load == "closed" or ops_per_sec >= KEPT_SHARE * load.rate_per_second:
        return []
    text = f"the server answered {ops_per_sec:,.0f} of {load.rate_per_second:,} requests a second outside of the event"
    return [f"{text}: a lower --rate is needed"]


@contextlib.contextmanager
def filled_snapshot_server(trial: PinnedTrial, event: SnapshotEvent) -> Iterator[SnapshotServer]:
    """Start the server of a trial, fill it, and stop it at the end of the context.

    Raises `TrialFailed` with the end of its log, also if it does not hold the data afterwards.
    """
    with deployed(trial, trial.server.topology) as deployment:
        target = Target.of(deployment)
        # A replica is attached by the event.
        with filled(trial, deployment, target, attach_replicas=lambda: None) as data:
            for check in data.checks:
                if not check.ok:
                    raise TrialFailed(f"once it was filled, the server holds {check.value} keys, not {check.limit}")
            yield SnapshotServer(trial, deployment, event)
