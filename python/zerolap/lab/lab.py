"""What work on requests needs: the store, a worker, this machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from zerolap.build import Builds, unpack_build
from zerolap.engines import TRIAL_SECONDS, Place
from zerolap.host import read_processors
from zerolap.lab.worker import Worker
from zerolap.records import Event, UsageError
from zerolap.sandbox import Cancellation, SandboxPolicy
from zerolap.store import Artifact, Store

BUILDERS = "builds-of"
"""The directory, beside that of this machine's builds, with those of the builders of a fleet."""


@dataclass(frozen=True)
class Lab:
    """What work on a request needs: a store, a listener to its events, a worker, and a way to end it.

    `sandbox` is for code of repositories and trees. `builder` is the platform whose agents have made the builds; none
    for those that this machine has made. `wait_seconds` is how long a local request waits for a quiet machine,
    `trial_seconds` how long a trial may take.
    """

    store: Store
    listen: Callable[[Event], None] = lambda _: None
    sandbox: SandboxPolicy = SandboxPolicy.REQUIRED
    worker: Worker = field(default_factory=Worker)
    cancellation: Cancellation = field(default_factory=Cancellation)
    builder: str | None = None
    wait_seconds: float = 0.0
    trial_seconds: float = TRIAL_SECONDS

    @property
    def builds(self) -> Builds:
        """The builds on this machine; those of different builders are apart, as each is trusted for its own."""
        here = self.store.builds_directory
        return Builds(here if self.builder is None else here.with_name(BUILDERS) / self.builder, self.sandbox)

    @property
    def place(self) -> Place:
        """This machine as a place for jobs."""
        return Place(
            self.builds,
            self.store.blobs,
            read_processors(),
            self.cancellation,
            trial_seconds=self.trial_seconds,
        )


def with_builds(artifacts: Sequence[Artifact], lab: Lab) -> Lab:
    """Return the lab with these builds: those of this machine, or what a builder has sent, unpacked.

    Raises `UsageError` for a build that was not sent.
    """
    if all(artifact.blob is None for artifact in artifacts):
        return lab
    [builder] = {artifact.builder for artifact in artifacts}
    lab = replace(lab, builder=builder)
    for artifact in artifacts:
        digest = artifact.build.build
        if artifact.blob is None:
            raise UsageError(f"{builder} has not sent the build {digest}")
        if lab.builds.find(digest) is None:
            unpack_build(lab.builds, digest, lab.store.blobs.get(artifact.blob))
    return lab
