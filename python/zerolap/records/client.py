"""A client: a load generator's connections and what they send or listen to."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from zerolap.records.base import Record
from zerolap.records.command import CONTAINERS, KEY, parse_command, verb_of
from zerolap.records.keys import LETTER_OF_PATTERN, PATTERN_OF_LETTER, Keys, Pattern

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


DEFAULT_DATA_SIZE = 32
LONG_WORD_BYTES = 64
BLOCKING = frozenset(
    {"BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP"}
)
BROADCAST = frozenset({"SUBSCRIBE", "PSUBSCRIBE"})
"""What they listen to reaches every node of a cluster."""
LONGEST_SECONDS = 24 * 60 * 60


class ClientCommand(Record):
    """A command that a client sends; `keys` is how many of its words have `__key__`."""

    model_config = ConfigDict(extra="ignore")

    line: str
    name: str
    keys: int
    ratio: int
    key_pattern: str

    @classmethod
    def of(cls, line: str, ratio: int, pattern: Pattern) -> Self:
        """Return the command in that line; raises `UsageError` where its quotes are unbalanced."""
        words = parse_command(line)
        name = words[0].decode(errors="replace").upper() if words else ""
        keys = sum(KEY.encode() in word for word in words)
        return cls(line=line, name=name, keys=keys, ratio=ratio, key_pattern=LETTER_OF_PATTERN[pattern])

    @property
    def verb(self) -> str:
        """The name in upper case, of a container with its subcommand: `XINFO STREAM`."""
        return verb_of(self.line) if self.name in CONTAINERS else self.name


class Client(Record):
    """Connections of a load generator, and what they send; amounts are of all of them together.

    `given` is the command line that asks for all this, in full names with their values, where there is one: it may say
    more than the other fields.
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
    warnings: list[str] = Field(default_factory=list)

    @property
    def keys(self) -> Keys:
        """The values of `__key__`, with the pattern of the first command that has one."""
        # A case file gives all commands one pattern, a command line each its own.
        letters = [command.key_pattern for command in self.sent if command.keys or self.given is None]
        pattern = PATTERN_OF_LETTER.get(letters[0], "random") if letters else "random"
        return Keys(prefix=self.key_prefix, minimum=self.key_minimum, maximum=self.key_maximum, pattern=pattern)

    @property
    def cycle(self) -> int:
        """How many requests a connection sends until it begins with the first command again."""
        return sum(command.ratio for command in self.sent)

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
        return words / max(1, self.cycle)

    @property
    def sent(self) -> list[ClientCommand]:
        """The commands whose share is not 0."""
        return [command for command in self.commands if command.ratio > 0]

    @property
    def listening(self) -> list[str]:
        """The commands after which its listeners only read, such as `SUBSCRIBE news`."""
        return [value for name, value in self.given or () if name == "listen" and value]

    @property
    def needs_one_server(self) -> bool:
        """Whether nodes of a cluster, each with a part of the keys, do not do: it connects to one of them."""
        return bool(self.connections) or any(verb_of(line) not in BROADCAST for line in self.listening)

    def arguments(self, without: frozenset[str] = frozenset()) -> list[str]:
        """Return the command line that was given again, if there was one, without the arguments called so."""
        words = []
        for name, value in self.given or ():
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


class WrittenClient(Record):
    """A client as case files describe the measured one: `commands` mixed by `ratios`, all with keys of one pattern."""

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
        """Return what can be described so of a client."""
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
        """The client; raises `UsageError` where the quotes of a command are unbalanced."""
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
