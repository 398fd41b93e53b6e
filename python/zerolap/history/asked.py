"""What a history is asked about: commits, cases, and how they are built and started."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from zerolap.build import RangedCommit
from zerolap.host import fingerprint, runnable_architectures
from zerolap.records import Case, Platform, digest_of
from zerolap.store import HISTORY_TOPIC, Store

OF_REQUESTS: Final = (
    "instructions_per_op",
    "instructions_alone_per_op",
    "syscalls_per_op",
    "allocations_per_op",
    "clock_readings_per_op",
)
"""The counted metrics of requests: exact enough for halving a range."""
WORK: Final = (*OF_REQUESTS, "instructions_per_tick")
"""The counted metrics that a history follows; less is better in all of them."""
TIME: Final = ("cpu_ns_per_op", "elapsed_ns_per_op")
"""The timed ones."""
OF_FLEET: Final = ":fleet:"
"""Ends the topic of a commit in those of requests to a fleet, which has one for the build and one for these cases."""
SEED: Final = 0
"""Of all counted trials of a history: what they draw must not differ between commits."""


@dataclass(frozen=True)
class Asked:
    """The range of a history and what is measured of its commits.

    `text` is the range as it was written; `config` are the server's settings beside those of the cases, `variant` is
    the name of the variant in which all commits are built. `platform` is the machine whose measurements count, by
    default this one; `builder` is the platform of a fleet whose agents build for it, empty for this machine.
    """

    repository: Path
    text: str
    commits: Sequence[RangedCommit]
    cases: Sequence[Case]
    variant: str = "default"
    config: Mapping[str, str] = field(default_factory=dict)
    platform: Platform = field(default_factory=fingerprint)
    builder: str = ""

    def topic(self, position: int) -> str:
        """Return the topic of the requests that count a commit."""
        return f"{HISTORY_TOPIC}{self.commits[position].revision.commit}:{self.conditions}"

    @property
    def conditions(self) -> str:
        """A digest of all but the commits and cases that a measurement depends on: machine, variant and settings."""
        topologies = sorted({case.topology.name for case in self.cases})
        return digest_of(self.platform.fingerprint, self.variant, str(sorted(self.config.items())), *topologies)

    @property
    def architectures(self) -> tuple[str, ...] | None:
        """The architectures of the programs that the platform can execute; none where that is not known."""
        return runnable_architectures(self.platform)

    @property
    def releases(self) -> frozenset[int]:
        """The positions of the commits that a tag of a release names."""
        return frozenset(position for position, commit in enumerate(self.commits) if commit.tags)

    def config_of(self, case: Case) -> tuple[tuple[str, str], ...]:
        """Return the settings of the server of a case, as series have them."""
        return tuple(sorted({**case.config, **self.config}.items()))


def failures_of(asked: Asked, store: Store) -> dict[int, str]:
    """Return why commits of a range could not be built or counted, by position."""
    failures = {_topic_of_commit(topic): failure for topic, failure in store.history.failures().items()}
    topics = {asked.topic(position): position for position in range(len(asked.commits))}
    builds = store.history.builds([commit.revision.commit for commit in asked.commits], asked.architectures)
    built = {build.commit for build in builds if build.variant == asked.variant}
    return {
        topics[topic]: failure.reason
        for topic, failure in failures.items()
        if topic in topics and not (failure.is_build and asked.commits[topics[topic]].revision.commit in built)
    }


def _topic_of_commit(topic: str) -> str:
    """Return the topic of a commit for those of its requests to a fleet."""
    begin, separator, _ = topic.partition(OF_FLEET)
    return begin if separator else topic
