"""What was asked."""

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

    `spec` is what its source and variant come to, `config` holds the user's settings.
    """

    source: Source
    variant: str
    spec: BuildSpec
    config: dict[str, str] = {}


class Request(Record):
    """A comparison or a run: what to measure, on which cases, by which engines, how surely.

    `servers` are by side; a run has a head alone. `cases` are resolved and can be measured, `skipped` are those that
    cannot. With `all_stacks` every valid case is sampled, not only those that changed. `platforms` are names, none for
    this machine. Of requests that wait, the highest `priority` comes first; `trigger` is what caused this one.
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
        """Equal for requests that ask for the same: the same contents, cases and settings on the same platform."""
        asked = {
            "kind": self.kind,
            "servers": {
                side: (server.spec.digest, sorted(server.config.items())) for side, server in self.servers.items()
            },
            "cases": [_asked_of(case) for case in self.cases],
            "settings": self.settings.model_dump(),
            "platform": self.platform.fingerprint,
            "all_stacks": self.all_stacks,
        }
        return digest_of(repr(asked))


def _asked_of(case: Case) -> tuple[object, ...]:
    """Return what makes the measurements of a case, and what must hold for them to be valid."""
    topology = case.topology.model_dump(exclude={"description"})
    expected = [case.expect, None if case.dataset is None else case.dataset.expect]
    return case.name, case.digest, topology, sorted(case.config.items()), expected
