"""How a change of a metric is said of commands."""

from dataclasses import dataclass
from typing import Final

from zerolap.records import FAR_TAIL, LONGEST_PAUSE, TAIL, TAIL_AT_HALF


@dataclass(frozen=True)
class Phrase:
    """How a change of a metric is said: `GET takes 3 % more CPU time per request`.

    `brief` is for headlines, where it is larger and where it is smaller; without it, the phrase is short enough.
    A phrase without a verb is said in headlines alone.
    """

    verb: str = ""
    object: str = ""
    less: str = "less"
    brief: tuple[str, str] | None = None

    def direction(self, change: float) -> str:
        """Return the word for a larger or a smaller amount."""
        return "more" if change > 0 else self.less

    def headline(self, change: float, size: str) -> str:
        """Return a change as headlines have it: `takes 4.1 % longer`."""
        if self.brief is not None:
            return self.brief[0 if change > 0 else 1].replace("{}", size)
        return f"{self.verb} {size} {self.direction(change)} {self.object}"


_LONGER: Final = ("takes {} longer", "takes {} less time")
PHRASES: Final[dict[str, Phrase]] = {
    "instructions_per_op": Phrase(
        "executes", "instructions per request", "fewer", ("does {} more work", "does {} less work")
    ),
    "instructions_alone_per_op": Phrase(
        brief=("does {} more work for a request that comes alone", "does {} less work for a request that comes alone")
    ),
    "instructions_per_tick": Phrase(brief=("does {} more work in timers", "does {} less work in timers")),
    "allocations_per_op": Phrase("makes", "memory allocations per request", "fewer"),
    "syscalls_per_op": Phrase("makes", "system calls per request", "fewer"),
    "clock_readings_per_op": Phrase(brief=("reads the clock {} more often", "reads the clock {} less often")),
    "cycles_per_op": Phrase("takes", "processor cycles per request", "fewer", _LONGER),
    "cpu_ns_per_op": Phrase("takes", "CPU time per request", brief=_LONGER),
    "whole_cpu_ns_per_op": Phrase("takes", "CPU time per request in the whole server"),
    "elapsed_ns_per_op": Phrase(
        "takes",
        "time per request",
        brief=("takes {} longer until all replies have come", "takes {} less time until all replies have come"),
    ),
    "ops_per_sec": Phrase("serves", "requests per second", "fewer"),
    "memory_bytes_per_key": Phrase(
        "takes", "bytes per key", "fewer", ("takes {} more memory per key", "takes {} less memory per key")
    ),
    "used_memory_bytes": Phrase("uses", "bytes in the server", "fewer", ("uses {} more memory", "uses {} less memory")),
    "peak_memory_bytes": Phrase(
        "uses", "bytes at most", "fewer", ("uses {} more memory at most", "uses {} less memory at most")
    ),
    "client_memory_bytes": Phrase(
        "takes",
        "bytes for its clients",
        "fewer",
        ("takes {} more memory for clients", "takes {} less memory for clients"),
    ),
    "rss_bytes": Phrase(brief=("makes the process {} larger", "makes the process {} smaller")),
    "latency_p50_us": Phrase(brief=("has a {} higher median latency", "has a {} lower median latency")),
    TAIL_AT_HALF: Phrase(brief=("has a {} higher p99 at half load", "has a {} lower p99 at half load")),
    TAIL: Phrase(brief=("has a {} higher p99 at 80 % load", "has a {} lower p99 at 80 % load")),
    FAR_TAIL: Phrase(brief=("has a {} higher p99.9 at 80 % load", "has a {} lower p99.9 at 80 % load")),
    LONGEST_PAUSE: Phrase(brief=("pauses {} longer at 80 % load", "pauses {} shorter at 80 % load")),
    "latency_p99_us": Phrase(brief=("has a {} higher p99 of latency", "has a {} lower p99 of latency")),
}


def phrase_of(metric: str) -> Phrase | None:
    """Return how a metric is said of commands in full; None for one that is named by its label."""
    phrase = PHRASES.get(metric)
    return phrase if phrase is not None and phrase.verb else None
