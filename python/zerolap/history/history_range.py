"""What a history is asked about, and what is known of its commits beside measurements.

That is why some could not be measured, and which changes their team accepts: after an accepted change of a series, its
ledger and its drifts begin anew.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from zerolap.build import RangedCommit
from zerolap.host import fingerprint, runnable_architectures
from zerolap.records import SHORT_COMMIT, Case, Platform, digest_of
from zerolap.store import HISTORY_TOPIC, AcceptedChange, Store

INSTRUCTIONS: Final = "instructions_per_op"
OF_REQUESTS: Final = (
    INSTRUCTIONS,
    "instructions_alone_per_op",
    "syscalls_per_op",
    "allocations_per_op",
    "clock_readings_per_op",
)
"""The counted metrics of requests: exact enough for halving a range."""
MEMORY: Final = ("memory_bytes_per_key",)
"""The metrics of memory that a history follows."""
WORK: Final = (*OF_REQUESTS, "instructions_per_tick", *MEMORY)
"""The counted metrics that a history follows; less is better in all of them."""
TIME: Final = ("cpu_ns_per_op", "elapsed_ns_per_op")
"""The timed metrics that a history follows."""
OF_FLEET: Final = ":fleet:"
"""Stands between the topic of a commit and what a request to a fleet does: one builds, others measure these cases."""
MOST_STEPS_NAMED: Final = 5
"""The most steps that a drift or a note names."""
SEED: Final = 0
"""All counted trials of a history have this seed: what they draw must not differ between commits."""


@dataclass(frozen=True)
class HistoryRange:
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

    def change_id(self, position: int, case: str, metric: str) -> str:
        """Return the id of a change at a commit."""
        return f"{self.commits[position].revision.commit[:SHORT_COMMIT]}:{case}:{metric}"

    def named_steps(self, steps: Sequence[tuple[int, float]]) -> tuple[str, ...]:
        """Return the largest steps of a drift as words, from their positions and logarithms."""
        largest = [
            (self.commits[position], math.expm1(log_change)) for position, log_change in steps[:MOST_STEPS_NAMED]
        ]
        return tuple(f"{commit.source.name} {change:+.2%} ({commit.revision.subject})" for commit, change in largest)

    def config_of(self, case: Case) -> tuple[tuple[str, str], ...]:
        """Return the settings of the server of a case, as series have them."""
        return tuple(sorted({**case.config, **self.config}.items()))


def failures_of(asked: HistoryRange, store: Store) -> dict[int, str]:
    """Return why commits of a range could not be built or counted, by position."""
    failures = {topic.partition(OF_FLEET)[0]: failure for topic, failure in store.history.failures().items()}
    topics = {asked.topic(position): position for position in range(len(asked.commits))}
    builds = store.history.builds([commit.revision.commit for commit in asked.commits], asked.architectures)
    built = {build.commit for build in builds if build.variant == asked.variant}
    return {
        topics[topic]: failure.reason
        for topic, failure in failures.items()
        if topic in topics and not (failure.is_build and asked.commits[topics[topic]].revision.commit in built)
    }


@dataclass(frozen=True)
class AcceptedChanges:
    """The accepted changes of the commits of a range, in the order in which they were accepted."""

    asked: HistoryRange
    changes: Sequence[AcceptedChange]

    def reason(self, position: int, case: str, metric: str) -> str | None:
        """Return why a change is accepted, as was said last; none where it is not."""
        commit = self.asked.commits[position].revision.commit
        reasons = [change.reason for change in self._of_series(case, metric) if change.commit == commit]
        return reasons[-1] if reasons else None

    def positions(self, case: str, metric: str) -> frozenset[int]:
        """Return the positions of the commits at which a change of a series is accepted."""
        commits = {change.commit for change in self._of_series(case, metric)}
        return frozenset(
            position for position, commit in enumerate(self.asked.commits) if commit.revision.commit in commits
        )

    def _of_series(self, case: str, metric: str) -> list[AcceptedChange]:
        return [change for change in self.changes if change.case in ("", case) and change.metric in ("", metric)]


def read_accepted(asked: HistoryRange, store: Store) -> AcceptedChanges:
    """Return the accepted changes of a range."""
    return AcceptedChanges(asked, store.history.accepted([commit.revision.commit for commit in asked.commits]))
