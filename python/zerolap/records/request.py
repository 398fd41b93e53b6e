"""Requests: comparisons and runs as they were asked for."""

from typing import Final, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import BuildSpec, digest_of
from zerolap.records.case import Case
from zerolap.records.comparison import Settings
from zerolap.records.platform import Platform
from zerolap.records.revision import Source
from zerolap.records.skipped import Skipped
from zerolap.records.trial import Side

REQUEST_SCHEMA: Final = "zerolap.request/1"

RequestState: TypeAlias = Literal["running", "done", "interrupted", "failed"]


class RequestedServer(Record):
    """A server as the user asked for it.

    `spec` is the specification of its build, `config` holds the user's settings.
    """

    source: Source
    variant: str
    spec: BuildSpec
    config: dict[str, str] = {}


class Request(Record):
    """A comparison or a run: the servers, the cases, the engines and the settings.

    `servers` are by side; a run has only a head. `cases` are resolved and can be measured, `skipped` ones cannot. With
    `all_stacks` every valid case is sampled, not only those that changed. `platforms` are names, empty for this
    machine. Waiting requests are served by descending `priority`; `trigger` is what caused the request.
    """

    schema_: Literal["zerolap.request/1"] = Field(default=REQUEST_SCHEMA, alias="schema")
    id: str
    kind: Literal["compare", "run"]
    created: str
    command_line: str
    servers: dict[Side, RequestedServer]
    cases: tuple[Case, ...]
    settings: Settings
    platform: Platform
    all_stacks: bool = False
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    priority: int = 0
    trigger: str = "command line"

    @property
    def digest(self) -> str:
        """A digest that is equal for requests of the same contents, cases and settings on the same platform."""
        content = {
            "kind": self.kind,
            "servers": {
                side: (server.spec.digest, sorted(server.config.items())) for side, server in self.servers.items()
            },
            "cases": [_asked_of(case) for case in self.cases],
            "settings": self.settings.model_dump(),
            "platform": self.platform.fingerprint,
            "all_stacks": self.all_stacks,
        }
        return digest_of(repr(content))


def _asked_of(case: Case) -> tuple[object, ...]:
    """Return what determines the measurements of a case and their validity."""
    topology = case.topology.model_dump(exclude={"description"})
    expected = [case.expect, None if case.dataset is None else case.dataset.expect]
    return case.name, case.digest, topology, sorted(case.config.items()), expected
