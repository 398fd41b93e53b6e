"""Clients: connections of a load generator, what they send or listen to, and the keys in it."""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from zerolap.records.base import Record
from zerolap.records.command import CONTAINERS, KEY, parse_command, verb_of
from zerolap.records.fields import Number

Pattern: TypeAlias = Literal["random", "sequential", "parallel"]

LETTER_OF_PATTERN: dict[Pattern, str] = {"random": "R", "sequential": "S", "parallel": "P"}
"""The load generator's letters for the patterns of case files."""
PATTERN_OF_LETTER = {letter: pattern for pattern, letter in LETTER_OF_PATTERN.items()}


class KeyRange(Record):
    """The fields of `keys` in a file; missing ones may come from the data set."""

    prefix: str = "key:"
    minimum: Number = 1
    maximum: Number = 1
    pattern: Pattern = "random"


class LoadRange(KeyRange):
    """The fields of a data set's `keys`."""

    pattern: Pattern = "parallel"


class Keys(KeyRange):
    """The values of `__key__`: the prefix and a number of the range, chosen by the pattern.

    `parallel` splits the range over the connections, each of which uses its part in order.
    """

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        if self.minimum > self.maximum:
            text = f"minimum {self.minimum} is above maximum {self.maximum}"
            raise PydanticCustomError("zerolap", "{text}", {"text": text})
        return self

    @property
    def count(self) -> int:
        """The number of keys in the range."""
        return self.maximum - self.minimum + 1


DECIDED_BY_THE_LAB = frozenset(
    {
        # The address of the server, and the files of results.
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
        # The seed, and the processors that it runs on.
        *("seed", "randomize", "cpus"),
    }
)
"""Arguments that the lab sets itself, and omits from every command line."""
NOT_OF_A_SLICE = DECIDED_BY_THE_LAB | {
    # The lab sets the number of requests, their times and the connections of each slice.
    *("requests", "test-time", "rate", "rate-limiting", "arrivals", "check", "prefill", "warm-up", "control"),
    *("threads", "clients", "lockstep", "reconnect-interval"),
    *("thread-conn-start-min-jitter-micros", "thread-conn-start-max-jitter-micros"),
}
"""Arguments that are omitted for the slices of a trial."""
NOT_OF_A_COMPANION = DECIDED_BY_THE_LAB | {"requests", "test-time", "threads", "clients", "reply-timeout"}
"""Arguments that are omitted for a companion, which runs until it is stopped."""


DEFAULT_DATA_SIZE = 32
LONG_WORD_BYTES = 64
BLOCKING = frozenset(
    {"BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP"}
)
BROADCAST = frozenset({"SUBSCRIBE", "PSUBSCRIBE"})
"""Their messages reach every node of a cluster."""
LONGEST_SECONDS = 24 * 60 * 60


class ClientCommand(Record):
    """A command that a client sends; `keys` is the number of its words that contain `__key__`."""

    model_config = ConfigDict(extra="ignore")

    line: str
    name: str
    keys: int
    ratio: int
    key_pattern: str

    @classmethod
    def of(cls, line: str, ratio: int, pattern: Pattern) -> Self:
        """Return the command in that line; raises `UsageError` if its quotes are unbalanced."""
        words = parse_command(line)
        name = words[0].decode(errors="replace").upper() if words else ""
        keys = sum(KEY.encode() in word for word in words)
        return cls(line=line, name=name, keys=keys, ratio=ratio, key_pattern=LETTER_OF_PATTERN[pattern])

    @property
    def verb(self) -> str:
        """The name in upper case, with the subcommand of a container: `XINFO STREAM`."""
        return verb_of(self.line) if self.name in CONTAINERS else self.name


class Client(Record):
    """Connections of a load generator, and what they send; amounts are totals over all connections.

    `given` is the client's command line as full names with values, if it has one; it may specify more than the other
    fields. `protocol` is the version that it asks for, such as `resp3`, empty for the server's default.
    """

    given: list[tuple[str, str | None]] | None = None
    commands: list[ClientCommand]
    key_prefix: str
    key_minimum: int
    key_maximum: int
    connections: int
    listeners: int = 0
    pipeline: int
    data_size: int
    random_data: bool
    requests: int | None = None
    seconds: float | None = None
    per_second: int | None = None
    protocol: str = ""
    warnings: list[str] = Field(default_factory=list)

    @property
    def keys(self) -> Keys:
        """The values of `__key__`, with the pattern of the first command that has a key."""
        # A case file has one pattern for all commands, a command line one for each.
        letters = [command.key_pattern for command in self.sent if command.keys or self.given is None]
        pattern = PATTERN_OF_LETTER.get(letters[0], "random") if letters else "random"
        return Keys(prefix=self.key_prefix, minimum=self.key_minimum, maximum=self.key_maximum, pattern=pattern)

    @property
    def cycle(self) -> int:
        """The number of requests after which a connection begins with the first command again."""
        return sum(command.ratio for command in self.sent)

    @property
    def loading_requests(self) -> int:
        """The number of requests that fill a server: those of the client, or one per key if it has a time instead."""
        return self.key_maximum - self.key_minimum + 1 if self.requests is None else self.requests

    @property
    def is_driven(self) -> bool:
        """Whether other clients drive it: it only listens, or begins with a command that waits for their writes."""
        waits = any(
            command.name in BLOCKING and (command.name[0] == "B" or " BLOCK " in command.line.upper())
            for command in self.sent[:1]
        )
        return not self.connections or waits

    @property
    def leaves_gaps(self) -> bool:
        """Whether each connection writes only the beginning of its part of the range, so their number matters."""
        by_parts = any(command.key_pattern == "P" and command.keys for command in self.sent)
        return by_parts and self.loading_requests < self.key_maximum - self.key_minimum + 1

    @property
    def words_per_request(self) -> float:
        """The average number of words of a request; long words count several times."""
        words = sum(
            max(len(command.line.split()), len(command.line) / LONG_WORD_BYTES) * command.ratio for command in self.sent
        )
        return words / max(1, self.cycle)

    @property
    def sent(self) -> list[ClientCommand]:
        """The commands whose ratio is not 0."""
        return [command for command in self.commands if command.ratio > 0]

    @property
    def listening(self) -> list[str]:
        """The commands of its listeners, which only read afterwards, such as `SUBSCRIBE news`."""
        return [value for name, value in self.given or () if name == "listen" and value]

    @property
    def needs_one_server(self) -> bool:
        """Whether it connects to a single server, and so cannot run against a cluster."""
        return bool(self.connections) or any(verb_of(line) not in BROADCAST for line in self.listening)

    def arguments(self, without: frozenset[str] = frozenset()) -> list[str]:
        """Return the client's command line, if it has one, without the arguments of these names."""
        words = []
        for name, value in self.given or ():
            if name not in without:
                words.append(f"--{name}" if value is None else f"--{name}={value}")
        return words

    def companion_arguments(self) -> list[str]:
        """Return the command line of a companion, which runs on one thread until it is stopped."""
        keys = ["--key-minimum", str(self.key_minimum), "--key-maximum", str(self.key_maximum)]
        # Between slices a companion may wait for the measured client, which is idle.
        endless = ["--test-time", str(LONGEST_SECONDS), "--reply-timeout", str(LONGEST_SECONDS), "--threads", "1"]
        if self.connections:
            endless += ["--clients", str(self.connections)]
        return [*self.arguments(NOT_OF_A_COMPANION), *keys, *endless]

    def slice_arguments(self) -> list[str]:
        """Return the arguments for sending requests slice by slice, with the present key range."""
        keys = ["--key-minimum", str(self.key_minimum), "--key-maximum", str(self.key_maximum)]
        return [*self.arguments(NOT_OF_A_SLICE), *keys]


class WrittenClient(Record):
    """The measured client as in case files: `commands` mixed by `ratios`, all with keys of one pattern."""

    commands: list[str] = Field(min_length=1)
    ratios: list[Annotated[int, Field(ge=1)]] = Field(default=[], validate_default=True)
    keys: Keys = Keys()
    data_size: int = DEFAULT_DATA_SIZE
    random_data: bool = False
    connections: int = 20
    pipeline: int = 16

    @field_validator("ratios")
    @classmethod
    def _one_for_each_command(cls, ratios: list[int], info: ValidationInfo) -> list[int]:
        commands: list[str] = info.data.get("commands", [])
        ratios = ratios or [1] * len(commands)
        if commands and len(ratios) != len(commands):
            text = f"expected one ratio for each of {len(commands)} commands; found {len(ratios)}"
            raise PydanticCustomError("zerolap", "{text}", {"text": text})
        return ratios

    @classmethod
    def of(cls, client: Client) -> Self:
        """Return the part of a client that case files can describe."""
        return cls(
            commands=[command.line for command in client.sent],
            ratios=[command.ratio for command in client.sent],
            keys=client.keys,
            data_size=client.data_size,
            random_data=client.random_data,
            connections=client.connections,
            pipeline=client.pipeline,
        )

    @property
    def client(self) -> Client:
        """The client; raises `UsageError` if the quotes of a command are unbalanced."""
        return Client(
            commands=[
                ClientCommand.of(line, ratio, self.keys.pattern)
                for line, ratio in zip(self.commands, self.ratios, strict=True)
            ],
            key_prefix=self.keys.prefix,
            key_minimum=self.keys.minimum,
            key_maximum=self.keys.maximum,
            connections=self.connections,
            pipeline=self.pipeline,
            data_size=self.data_size,
            random_data=self.random_data,
        )
