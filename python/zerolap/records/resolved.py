"""What a request means on a platform: which builds, and which cases can be measured."""

from pydantic import Field

from zerolap.records.base import Record
from zerolap.records.build import BuildSpec, digest_of
from zerolap.records.case import Case
from zerolap.records.comparison import Settings
from zerolap.records.emulated_snapshot import Kernel
from zerolap.records.platform import Platform
from zerolap.records.request import Request, RequestKind
from zerolap.records.revision import Source
from zerolap.records.skipped import Skipped
from zerolap.records.trial import Side


class ResolvedServer(Record):
    """A requested server with the specification of its build, and of its count build where that is asked for."""

    source: Source
    variant: str
    spec: BuildSpec
    count_spec: BuildSpec | None = None
    config: dict[str, str] = {}


class Resolved(Record):
    """A request on the platform that carries it out.

    `cases` can be measured there, `skipped` ones cannot; `notes` are those of the request and what belongs to the
    result besides. `load_host` is the platform that puts load on it over a network, empty where it does so itself.
    `kernel` is that of emulated machines.
    """

    request: Request = Field(exclude=True)
    platform: Platform
    load_host: str = ""
    servers: dict[Side, ResolvedServer]
    cases: tuple[Case, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    kernel: Kernel | None = None

    @property
    def id(self) -> str:
        """The id of the request."""
        return self.request.id

    @property
    def kind(self) -> RequestKind:
        """Whether two servers are compared, one is measured, or a sweep of snapshots is made."""
        return self.request.kind

    @property
    def settings(self) -> Settings:
        """How to measure."""
        return self.request.settings

    @property
    def digest(self) -> str:
        """A digest that is equal for requests of the same contents, cases and settings on the same platform.

        The seed is not in it: most are drawn, so that the same command has another one each time.
        """
        content: dict[str, object] = {
            "kind": self.kind,
            "servers": {
                side: (server.spec.digest, sorted(server.config.items())) for side, server in self.servers.items()
            },
            "cases": [_measured_of(case) for case in self.cases],
            "settings": self.settings.model_dump(exclude={"seed"}),
            "platform": self.platform.fingerprint,
            "all_stacks": self.request.all_stacks,
        }
        if self.request.windows or self.request.counted_blocks is not None:
            windows = {case: (of_case.small, of_case.large) for case, of_case in sorted(self.request.windows.items())}
            content |= {"windows": windows, "counted_blocks": str(self.request.counted_blocks)}
        if self.request.most_starts is not None:
            content |= {"most_starts": str(self.request.most_starts)}
        if self.request.count_build:
            content |= {"count_build": True}
        if self.request.regimes != "none":
            content |= {"regimes": self.request.regimes}
        if self.request.sweep is not None:
            measured = self.request.sweep.model_dump(exclude={"kernel"})
            content |= {"sweep": measured, "kernel": (self.platform.kernel, self.kernel and self.kernel.digest)}
        return digest_of(repr(content))


def _measured_of(case: Case) -> tuple[object, ...]:
    """Return what determines the measurements of a case and their validity."""
    topology = case.topology.model_dump(exclude={"description"})
    expected = [case.expect, None if case.dataset is None else case.dataset.expect]
    return case.name, case.digest, topology, sorted(case.config.items()), expected
