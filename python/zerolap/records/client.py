"""A load generator's command line as the public format gives it, and what it comes to."""

from pydantic import ConfigDict, Field

from zerolap.records.base import Record
from zerolap.records.command import CONTAINERS, verb_of

DECIDED_BY_THE_LAB = frozenset(
    {
        # Where the server is, and where results go.
        *(
            "server",
            "host",
            "port",
            "unix-socket",
            "uri",
            "authenticate",
            "cluster-mode",
            "tls",
            "cert",
            "key",
            "cacert",
        ),
        *("tls-skip-verify", "sni", "out-file", "json-out-file", "hide-histogram", "print-percentiles"),
        *("print-all-runs", "show-config", "run-count"),
        # What randomness comes from, and which processors it runs on.
        *("seed", "randomize", "cpus"),
    }
)
"""Arguments that are left out of every command line that the lab starts."""
NOT_OF_A_SLICE = DECIDED_BY_THE_LAB | {
    # Who drives the load generator slice by slice says how much, when and over how many connections.
    *("requests", "test-time", "rate", "rate-limiting", "arrivals", "check", "prefill", "warm-up", "control"),
    *("threads", "clients", "lockstep", "reconnect-interval"),
    *("thread-conn-start-min-jitter-micros", "thread-conn-start-max-jitter-micros"),
}
"""Arguments that a slice of a trial leaves out too."""
NOT_OF_A_COMPANION = DECIDED_BY_THE_LAB | {"requests", "test-time", "threads", "clients", "reply-timeout"}
"""Arguments that a program leaves out that works beside the measured one until it is stopped."""


LONG_WORD_BYTES = 64
BLOCKING = frozenset(
    {"BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP"}
)
LONGEST_SECONDS = 24 * 60 * 60


class ClientCommand(Record):
    """A command that a client sends; `keys` is how many `__key__` it has."""

    model_config = ConfigDict(extra="ignore")

    line: str
    name: str
    keys: int
    ratio: int
    key_pattern: str

    @property
    def verb(self) -> str:
        """The name in upper case, of a container with its subcommand: `XINFO STREAM`."""
        return verb_of(self.line) if self.name in CONTAINERS else self.name


class Client(Record):
    """A command line of the load generator, `given` in full names with their values; amounts are of all connections."""

    given: list[tuple[str, str | None]]
    commands: list[ClientCommand]
    key_prefix: str
    key_minimum: int
    key_maximum: int
    connections: int
    listeners: int = 0
    pipeline: int
    data_size: int
    random_data: bool
    requests: int | None
    seconds: float | None
    per_second: int | None
    warnings: list[str] = Field(default_factory=list)

    @property
    def loading_requests(self) -> int:
        """How many requests fill a server: those asked for, or one a key where a time was given."""
        return self.key_maximum - self.key_minimum + 1 if self.requests is None else self.requests

    @property
    def is_driven(self) -> bool:
        """Whether it works only when others do: it listens, or waits for what they write."""
        first = self.sent[:1]
        waits = any(one.name in BLOCKING and (one.name[0] == "B" or " BLOCK " in one.line.upper()) for one in first)
        return not self.connections or waits

    @property
    def leaves_gaps(self) -> bool:
        """Whether each connection writes only the beginning of its part of the range: it matters how many there are."""
        by_parts = any(one.key_pattern == "P" and one.keys for one in self.sent)
        return by_parts and self.loading_requests < self.key_maximum - self.key_minimum + 1

    @property
    def words_per_request(self) -> float:
        """How many words a request has, on average; long ones count for several."""
        sent = self.sent
        words = sum(max(len(one.line.split()), len(one.line) / LONG_WORD_BYTES) * one.ratio for one in sent)
        return words / max(1, sum(one.ratio for one in sent))

    @property
    def sent(self) -> list[ClientCommand]:
        """The commands whose share is not 0."""
        return [command for command in self.commands if command.ratio > 0]

    def arguments(self, without: frozenset[str] = frozenset()) -> list[str]:
        """Return the command line again, without the arguments called so."""
        words = []
        for name, value in self.given:
            if name not in without:
                words.append(f"--{name}" if value is None else f"--{name}={value}")
        return words

    def companion_arguments(self) -> list[str]:
        """Return the command line of a program that goes on until it is stopped, on one thread."""
        keys = ["--key-minimum", str(self.key_minimum), "--key-maximum", str(self.key_maximum)]
        # It may wait for what the measured client does not do between slices.
        endless = ["--test-time", str(LONGEST_SECONDS), "--reply-timeout", str(LONGEST_SECONDS), "--threads", "1"]
        if self.connections:
            endless += ["--clients", str(self.connections)]
        return [*self.arguments(NOT_OF_A_COMPANION), *keys, *endless]

    def slice_arguments(self) -> list[str]:
        """Return what stays of the command line where requests are sent slice by slice, for keys as they are now."""
        keys = ["--key-minimum", str(self.key_minimum), "--key-maximum", str(self.key_maximum)]
        return [*self.arguments(NOT_OF_A_SLICE), *keys]
