"""Cases and their parts."""

import hashlib
import json
import operator
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from zerolap.records.base import STORED, Record
from zerolap.records.client import DEFAULT_DATA_SIZE, Client, Keys, WrittenClient
from zerolap.records.fields import Number, Positive
from zerolap.records.regime import CaseRegimes, InRegime, State
from zerolap.records.skipped import SkipReason
from zerolap.records.topology import STANDALONE, Topology

Reply: TypeAlias = Literal[
    "status",
    "integer",
    "bulk",
    "array",
    "null",
    "map",
    "set",
    "double",
    "boolean",
    "bignumber",
    "verbatim",
    "push",
]
Encoding: TypeAlias = Literal[
    "raw",
    "embstr",
    "int",
    "listpack",
    "listpackex",
    "ziplist",
    "quicklist",
    "linkedlist",
    "intset",
    "hashtable",
    "skiplist",
    "stream",
]
"""What `OBJECT ENCODING` answers."""

BYTES_PER_POINT = 110
"""In a sorted set of a million points Redis 7.0 uses 102 bytes per point, and more while its hash table grows."""

_BOUND = re.compile(r"\s*(>=|<=|==|>|<)\s*([0-9]*\.?[0-9]+)\s*")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}

QUICK_SCALE: Final = 0.1
"""The factor by which `--quick` scales data sets and requests."""
QUICK_LOAD_WORDS: Final = 60_000
"""Upper bound on the words of all requests that fill a suite's data set under `--quick`: 20,000 SETs have as many.
Smaller data sets are not scaled, as suites refer to positions in them."""
WORDS_PER_POINT: Final = 3


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class Expect(Record):
    """What must hold for a measurement to be valid.

    `errors` is the number of error replies allowed, `hit_rate` a bound such as ">= 0.99"; `keys` is, for data sets, the
    number of keys that the server holds after setup and load. `encoding` are those that the keys of requests may have;
    several where versions of servers differ.
    """

    reply: Reply | None = None
    encoding: Annotated[list[Encoding], BeforeValidator(_listed, json_schema_input_type=Encoding | list[Encoding])] = (
        Field(default_factory=list)
    )
    errors: Number = 0
    hit_rate: str | None = None
    keys: Number | None = None

    @field_validator("hit_rate")
    @classmethod
    def _is_a_bound(cls, bound: str | None) -> str | None:
        if bound is not None:
            match = _BOUND.fullmatch(bound)
            if match is None or float(match[2]) > 1:
                text = f'expected a bound from 0 to 1 such as ">= 0.99"; found "{bound}"'
                raise PydanticCustomError("zerolap", "{text}", {"text": text})
        return bound

    def hit_rate_holds(self, rate: float) -> bool:
        """Return whether a hit rate is within the bound; without a bound it always is."""
        if self.hit_rate is None:
            return True
        match = _BOUND.fullmatch(self.hit_rate)
        assert match is not None
        return _COMPARE[match[1]](rate, float(match[2]))


class Generator(Record):
    """Data that the lab generates: `count` points on a map as members 1, 2, 3, … of one key."""

    kind: Literal["geo"]
    key: str
    count: Positive

    @property
    def memory_bytes(self) -> int:
        """The approximate memory that a server needs for the points."""
        return self.count * BYTES_PER_POINT


class Dataset(Record):
    """The data a case works on.

    Sent in this order: `setup` once, each `load` command once for every key of the range, the data of `generator`, the
    requests of `clients`, and each line of `after_load`. The lab's own file format has only the first three.
    """

    name: str
    setup: list[str] = Field(default_factory=list)
    load: list[str] = Field(default_factory=list)
    keys: Keys = Keys(pattern="parallel")
    data_size: int = DEFAULT_DATA_SIZE
    random_data: bool = False
    generator: Generator | None = None
    clients: list[Client] = Field(default_factory=list)
    after_load: list[str] = Field(default_factory=list)
    expect: Expect = Expect()

    @property
    def digest(self) -> str:
        """A digest of the data set's content, regardless of its name."""
        return _digest(self, exclude={"name", "expect"})

    @property
    def is_scaled(self) -> bool:
        """Whether `--quick` makes it smaller; data from setup commands is not scaled."""
        return bool(self.load or self.clients or self.generator)

    @property
    def generated_words(self) -> int:
        """The words of all requests that its generator makes."""
        return 0 if self.generator is None else self.generator.count * WORDS_PER_POINT


class Case(Record):
    """One benchmark.

    The server gets the data set's setup and load, then `setup`, then the requests of `client`, which are measured.
    `companions` run beside it. `file` and `line` are where the case is defined, `topologies` those that it is meant
    for, `warnings` the faults of its file, `cannot_run` the reason why it cannot be measured, and `limits` the parts
    that are left out. `regimes` states in which regimes it may be counted besides; a case in one has a `regime`. Where
    it `skips_unknown`, it is skipped for servers that lack a command or setting of it, or one of `needs`, instead of
    failing.

    In JSON the fields `commands`, `ratios`, `keys`, `data_size`, `random_data`, `connections` and `pipeline` describe
    the client as in a case file; `client` is null unless these fields do not describe it completely.
    """

    name: str
    description: str = ""
    group: str
    state: State = "stable"
    setup: list[str] = Field(default_factory=list)
    dataset: Dataset | None = None
    expect: Expect = Expect()
    topology: Topology = STANDALONE
    config: dict[str, str] = Field(default_factory=dict)
    client: Client
    companions: list[Client] = Field(default_factory=list)
    groups: list[str] = Field(default_factory=list)
    topologies: list[str] = Field(default_factory=list)
    memory_bytes: int | None = None
    priority: int | None = None
    cannot_run: tuple[SkipReason, str] | None = None
    needs: list[str] = Field(default_factory=list)
    skips_unknown: bool = False
    warnings: list[str] = Field(default_factory=list)
    limits: list[str] = Field(default_factory=list)
    file: str = ""
    line: int = 0
    regimes: CaseRegimes | None = None
    regime: InRegime | None = None

    @field_validator("client")
    @classmethod
    def _sends(cls, client: Client) -> Client:
        if not client.sent:
            raise PydanticCustomError("zerolap", "{text}", {"text": "expected commands that the client sends"})
        return client

    @model_validator(mode="before")
    @classmethod
    def _read(cls, document: Any, info: ValidationInfo) -> Any:
        if not isinstance(document, dict) or "commands" not in document:
            return document
        # Looked up once: requests have thousands of cases.
        of_client = WrittenClient.model_fields.keys()
        fields = {name: value for name, value in document.items() if name not in of_client}
        if fields.get("client") is None:
            written = {name: value for name, value in document.items() if name in of_client}
            extra: Literal["ignore", "forbid"] = "ignore" if info.context == STORED else "forbid"
            fields["client"] = WrittenClient.model_validate(written, extra=extra).client
        return fields

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        written = WrittenClient.of(self.client)
        if self.client.given is None and written.client == self.client:
            document["client"] = None
        first = {name: document.pop(name) for name in ("name", "description", "group") if name in document}
        return first | written.model_dump() | document

    @property
    def is_public(self) -> bool:
        """Whether it is a suite of the public format, whose client is given as a command line."""
        return self.client.given is not None

    @property
    def verbs(self) -> list[str]:
        """The commands' names in upper case, with subcommands (`XINFO STREAM`), each once, in order."""
        return list(dict.fromkeys(command.verb for command in self.client.sent))

    @property
    def own_verbs(self) -> list[str]:
        """The commands' names without those that a regime has sent beside them."""
        sent = self.client.sent
        own = sent if self.regime is None else sent[: len(sent) - self.regime.beside]
        return list(dict.fromkeys(command.verb for command in own))

    @property
    def quick_factor(self) -> float:
        """The factor by which `--quick` scales the case down."""
        dataset = self.dataset
        if not self.is_public:
            return min(QUICK_SCALE, QUICK_LOAD_WORDS / max(1, 0 if dataset is None else dataset.generated_words))
        if dataset is None:
            return 1.0
        sent = sum(client.loading_requests * client.words_per_request for client in dataset.clients)
        return min(1.0, QUICK_LOAD_WORDS / max(1.0, sent + dataset.generated_words))

    @property
    def digest(self) -> str:
        """A digest of what is sent and stored, regardless of the case's name."""
        return _digest(self, exclude=_NOT_SENT, exclude_of_dataset={"name", "expect"})


_NOT_SENT = {"name", "description", "group", "groups", "priority", "expect", "file", "line"}
_NOT_SENT |= {
    "needs",
    "skips_unknown",
    "topology",
    "config",
    "topologies",
    "memory_bytes",
    "cannot_run",
    "warnings",
    "limits",
    "regimes",
}


def _digest(record: Record, exclude: set[str], exclude_of_dataset: set[str] | None = None) -> str:
    content = record.model_dump(mode="json", exclude=exclude)
    dataset = content.get("dataset") or {}
    for field in exclude_of_dataset or ():
        dataset.pop(field, None)
    clients = [content.get("client"), *content.get("companions", []), *dataset.get("clients", [])]
    for client in filter(None, [*clients, *content.get("clients", [])]):
        client.pop("warnings", None)
        # Cases without one have the digests that they had before there were any.
        if not client.get("protocol"):
            client.pop("protocol", None)
    if content.get("regime") is None:
        content.pop("regime", None)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
