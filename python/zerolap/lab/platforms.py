"""What an execution learns of the platform that carries it out; here of this machine."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import psutil

from zerolap.build import KERNELS, Builder, KernelBuilder, KernelSource, parse_variant
from zerolap.engines import require_visible_in_guest
from zerolap.host import fingerprint
from zerolap.lab.lab import Lab
from zerolap.lab.resolving import KnownPlatform
from zerolap.lab.selection import KnownAbilities, StartableServer, abilities_of_all
from zerolap.records import (
    ANCHOR,
    Abilities,
    BinarySource,
    Build,
    BuildSpec,
    Case,
    Kernel,
    KernelFiles,
    Progress,
    Request,
    Side,
)
from zerolap.sandbox import available, network_missing


class PlatformAway(Exception):
    """What a request needs of its platform is not there yet; the text names what it waits for."""


class PlatformView(Protocol):
    """What can be learned of a platform; each method raises `PlatformAway` while it is not known."""

    def known(self) -> KnownPlatform:
        """Return the platform with its memory."""

    def specs(self, request: Request) -> Mapping[Side, BuildSpec]:
        """Return the specifications of the builds of a request, whose sources are packed; raises `ZerolapError`."""

    def builds(self, specs: Mapping[Side, BuildSpec]) -> Mapping[str, Build]:
        """Return those of the builds that are there, by their digests."""

    def abilities(self, request: Request, specs: Mapping[Side, BuildSpec]) -> KnownAbilities:
        """Return what the servers of a request, which are built, support together.

        An anchor beside both sides is not asked: what it lacks must not change what they are measured with.
        """

    def notes(self, cases: Sequence[Case]) -> Sequence[str]:
        """Return what belongs to results of these cases, because of the platform."""

    def kernel(self, files: KernelFiles) -> Kernel:
        """Return the kernel for emulated machines, built of these files; raises `ZerolapError`."""

    def lab(self) -> Lab:
        """Return the lab, which has the builds of the request on this machine; raises `ZerolapError`."""


class LocalPlatform:
    """This machine."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def known(self) -> KnownPlatform:
        """Return this machine with its memory."""
        return KnownPlatform(fingerprint(), psutil.virtual_memory().total)

    def specs(self, request: Request) -> Mapping[Side, BuildSpec]:
        """Return the specifications of the builds here; raises `UsageError` or `EnvironmentMissing`."""
        builder = Builder(self._lab.store.builds_directory, policy=self._lab.sandbox)
        return {
            side: builder.spec(server.source, parse_variant(server.variant)) for side, server in request.servers.items()
        }

    def builds(self, specs: Mapping[Side, BuildSpec]) -> Mapping[str, Build]:
        """Return the builds that are here."""
        built = [self._lab.builds.find(spec.digest) for spec in specs.values()]
        return {server.record.build: server.record for server in built if server is not None}

    def abilities(self, request: Request, specs: Mapping[Side, BuildSpec]) -> KnownAbilities:
        """Return a function that starts each server briefly."""
        servers = [
            StartableServer(self._lab.builds.get(specs[side].digest).program, server.config)
            for side, server in request.servers.items()
            if side != ANCHOR
        ]

        def asked() -> Abilities:
            with self._lab.cancellation.current():
                return abilities_of_all(servers)

        return asked

    def notes(self, cases: Sequence[Case]) -> Sequence[str]:
        """Return what this machine lacks that results depend on."""
        needs_network = any(case.topology.needs_network for case in cases)
        reason = network_missing() if needs_network else None
        return [*sandbox_notes(), *([] if reason is None else [f"servers had the machine's network: {reason}"])]

    def kernel(self, files: KernelFiles) -> Kernel:
        """Return the kernel, which is built unless it is here.

        Raises `UsageError` for a store that machines cannot see, `EnvironmentMissing` where a tool or disk space is
        missing, `BuildFailed`.
        """
        lab, here = self._lab, self._lab.store.builds_directory
        require_visible_in_guest(here)
        builder = KernelBuilder(
            here / KERNELS, lambda name: lab.listen(Progress(activity="building", subject=name)), lab.sandbox
        )
        with lab.cancellation.current():
            return builder.build(KernelSource.of(files)).record

    def lab(self) -> Lab:
        """Return the lab of this machine."""
        return self._lab


def keep_programs(request: Request, lab: Lab) -> None:
    """Keep the programs of this machine that a request names: they need not be built."""
    builder = Builder(lab.store.builds_directory, policy=lab.sandbox)
    for server in request.servers.values():
        if isinstance(server.source, BinarySource):
            built = builder.build(server.source, parse_variant(server.variant))
            lab.store.record_build(built.record, server.source)


def sandbox_notes() -> list[str]:
    """Return the note that belongs to results measured without a sandbox."""
    reason = available()
    return [] if reason is None else [f"builds and servers ran without a sandbox: {reason}"]
