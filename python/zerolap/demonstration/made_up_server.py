"""The made-up server: its commits, releases and changes, and what its cases cost on both made-up machines."""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, TypeAlias

from zerolap.cases import core_suite
from zerolap.demonstration.made_up_functions import KERNEL, function_tree, object_of
from zerolap.records import Build, BuildSpec, Case, Platform, Revision, RevisionSource, Source

REPOSITORY: Final = Path("/made-up/server")
"""No directory: nothing of the demonstration is built."""
GITHUB_REPOSITORY: Final = "made-up/server"
BRANCH: Final = "unstable"
DAYS: Final = 180
COMMITS: Final = 160
DIGITS_OF_ID: Final = 24

Machine: TypeAlias = Literal["made-up-x86", "made-up-arm"]
X86: Final[Machine] = "made-up-x86"
ARM: Final[Machine] = "made-up-arm"
MACHINES: Final[tuple[Machine, ...]] = (X86, ARM)
NOT_MEASURED: Final = "Made-up data: nothing of this was measured."

RELEASES: Final[Mapping[int, str]] = {0: "7.2.6", 55: "7.4.0", 92: "7.4.1", 128: "8.0-rc1", 150: "8.0.0"}
"""By the position of the commit."""
DO_NOT_BUILD: Final = (133, 134)
EVENT_DAYS: Final = 5
"""So many days ago the kernel of the Arm machine was updated, which made all of its times longer."""
EVENT_SIZE: Final = 0.018


@dataclass(frozen=True)
class PlantedChange:
    """What a commit changed in a case: instructions and time as parts, the time by machine.

    `function` is where, at a line of its file; `accepted` is why the team of the server accepts it.
    """

    position: int
    case: str
    function: str
    line: int
    instructions: float
    time: Mapping[Machine, float]
    accepted: str = ""


def _on_both(change: float) -> Mapping[Machine, float]:
    return dict.fromkeys(MACHINES, change)


ZADD_COMMIT: Final = 70
HASH_COMMIT: Final = 88
PLANTED: Final = (
    PlantedChange(31, "set-ex-100B", "setGenericCommand", 112, 0.041, _on_both(0.038), "expiry is checked on each SET"),
    PlantedChange(52, "set-ex-100B", "dbSetValue", 318, 0.012, {X86: 0.013, ARM: 0.031}),
    PlantedChange(ZADD_COMMIT, "zadd", "zslUpdateScore", 341, 0.046, {X86: 0.049, ARM: 0.064}),
    PlantedChange(HASH_COMMIT, "hset", "hashTypeSet", 288, -0.083, _on_both(-0.071)),
    PlantedChange(HASH_COMMIT, "hgetall-20-fields", "genericHgetallCommand", 807, 0.034, _on_both(0.041)),
    PlantedChange(112, "xadd-auto-id", "createStreamIDString", 1471, 0.168, _on_both(0.094)),
    PlantedChange(121, "eval", "luaCallFunction", 1502, -0.052, _on_both(-0.058)),
    PlantedChange(139, "lrange-100", "addListRangeReply", 442, -0.061, {X86: -0.055, ARM: -0.004}),
    PlantedChange(146, "geosearch-100km", "geohashGetDistanceIfInRadius", 91, 0.027, _on_both(0.031)),
)
DRIFTING: Final = "get-100B"
DRIFT_FIRST, DRIFT_LAST, DRIFT_EVERY, DRIFT_STEP = 74, 132, 4, 0.0016

SUBJECTS_OF_CHANGES: Final[Mapping[int, str]] = {
    31: "SET checks the time to live before it replaces a value",
    52: "Values of strings are moved into the entry of their key",
    ZADD_COMMIT: "Sorted sets compare scores without branches when an element moves",
    HASH_COMMIT: "Hashes reserve the listpack of all fields at once, and iterate it backwards",
    112: "XADD makes the text of an id once more, for replicas",
    121: "Scripts keep the wrapper of a call between calls",
    139: "LRANGE replies from the listpack without copies",
    146: "Distances are computed in double precision throughout",
    133: "Modules: a hook for evicted keys",
    134: "Modules: the hook compiles with clang too",
}
CODE_SUBJECTS: Final = (
    "The event loop reads the clock once per iteration",
    "Replies of integers below 10,000 are shared",
    "Cluster: slots are counted by the hash of their first key",
    "The reply buffer of a client shrinks after a minute of rest",
    "ACL: selectors are checked in the order of their use",
    "Listpacks: integers of 24 bits are written without a branch",
    "Replication: the backlog is trimmed in blocks of 16 KiB",
    "RESP3: attributes are skipped by clients of RESP2",
    "The active defragmenter leaves keys of scripts alone",
    "Dicts: the second table is freed by the background thread",
)
OTHER_SUBJECTS: Final = (
    "Tests: a longer timeout for slow machines",
    "A typo in the comment of dictScan",
    "Documentation of maxmemory-policy names allkeys-lrm",
    "CI: builds with gcc 14 too",
    "The README links to the new site",
    "Tests of CONFIG SET are independent of their order",
    "The Tcl client of the tests speaks RESP3",
    "Update of the maintainers' list",
)
AUTHORS: Final = ("Ada Example", "Edsger Muster", "Grace Sample", "Rózsa Minta")

COSTS: Final[Mapping[str, tuple[float, float]]] = {
    "get-100B": (3520.0, 612.0),
    "hset": (6290.0, 1040.0),
    "hgetall-20-fields": (21_400.0, 3180.0),
    "rpush-lpop": (4910.0, 798.0),
    "lrange-100": (38_200.0, 5120.0),
    "sismember": (3610.0, 626.0),
    "zadd": (8730.0, 1395.0),
    "zrange-100-withscores": (592_400.0, 71_300.0),
    "xadd-auto-id": (11_200.0, 1710.0),
    "geosearch-100km": (141_000.0, 23_300.0),
    "set-ex-100B": (5360.0, 902.0),
    "eval": (31_400.0, 5240.0),
}
"""Instructions, and nanoseconds of CPU time on the x86 machine, that a request takes at the first commit."""
ARM_FACTOR: Final = 1.22


@dataclass(frozen=True)
class MadeUpCommit:
    """A commit of the main branch; `node` counts the programs: a commit that changes no code has that before it."""

    position: int
    commit: str
    time: datetime
    subject: str
    author: str
    changes_code: bool
    node: int
    tags: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether it cannot be built."""
        return self.position in DO_NOT_BUILD

    @property
    def name(self) -> str:
        """The tag, or the beginning of the commit's id."""
        return self.tags[0] if self.tags else self.commit[:12]


@dataclass(frozen=True)
class MadeUpServer:
    """All that the demonstration's data follow from; equal for equal seeds and moments."""

    seed: int
    moment: datetime
    cases: tuple[Case, ...] = field(default_factory=lambda: tuple(c for c in core_suite() if c.name in COSTS))

    def draw(self, *subject: object) -> random.Random:
        """Return random numbers of a subject, the same each time."""
        return random.Random(f"{self.seed} {subject}")

    def digits(self, *subject: object) -> str:
        """Return 64 hexadecimal digits of a subject."""
        return hashlib.sha256(f"{self.seed} {subject}".encode()).hexdigest()

    def identity(self, prefix: str, *subject: object) -> str:
        """Return an id of a request, a job or an attempt."""
        return f"{prefix}-{self.digits(prefix, *subject)[:DIGITS_OF_ID]}"

    @cached_property
    def commits(self) -> tuple[MadeUpCommit, ...]:
        """The commits of the main branch, the oldest first."""
        first, step = self.moment - timedelta(days=DAYS), timedelta(days=DAYS) / COMMITS
        commits: list[MadeUpCommit] = []
        node = 0
        for position in range(COMMITS):
            draw = self.draw("commit", position)
            is_of_drift = DRIFT_FIRST <= position <= DRIFT_LAST and (position - DRIFT_FIRST) % DRIFT_EVERY == 0
            is_planned = position in SUBJECTS_OF_CHANGES or position in RELEASES or is_of_drift
            changes_code = is_planned or draw.random() < 0.5
            node += changes_code and position > 0
            subject = SUBJECTS_OF_CHANGES.get(position) or draw.choice(
                CODE_SUBJECTS if changes_code else OTHER_SUBJECTS
            )
            tags = (RELEASES[position],) if position in RELEASES else ()
            commits.append(
                MadeUpCommit(
                    position,
                    self.digits("commit", position)[:40],
                    (first + position * step + timedelta(hours=8 * draw.random())).replace(microsecond=0),
                    f"Release {tags[0]}" if tags else f"{subject} (#{1200 + 7 * position})",
                    self.draw("author", position).choice(AUTHORS),
                    changes_code,
                    node,
                    tags,
                )
            )
        return tuple(commits)

    def instructions(self, case: str, position: int) -> float:
        """Return what a request of a case takes at a commit, in instructions."""
        level = COSTS[case][0]
        for change in PLANTED:
            if change.case == case and change.position <= position:
                level *= 1 + change.instructions
        return level * (1 + DRIFT_STEP) ** self._drifted(case, position)

    def nanoseconds(self, case: str, position: int, machine: Machine) -> float:
        """Return what a request of a case takes at a commit, in ns of CPU time, before the machine changed."""
        level = COSTS[case][1] * (ARM_FACTOR if machine == ARM else 1.0)
        for change in PLANTED:
            if change.case == case and change.position <= position:
                level *= 1 + change.time[machine]
        return level * (1 + DRIFT_STEP) ** self._drifted(case, position)

    def _drifted(self, case: str, position: int) -> int:
        if case != DRIFTING or position < DRIFT_FIRST:
            return 0
        return (min(position, DRIFT_LAST) - DRIFT_FIRST) // DRIFT_EVERY + 1

    def platform_effect(self, machine: Machine, when: datetime) -> float:
        """Return the factor by which the state of a machine makes all times longer."""
        return 1 + EVENT_SIZE if machine == ARM and when >= self.moment - timedelta(days=EVENT_DAYS) else 1.0

    def function_weights(self, case: str, position: int, machine: Machine | None) -> dict[tuple[str, ...], float]:
        """Return each stack of a case with its part of a request's cost at the first commit, grown by the changes.

        The cost is the CPU time on a machine, or, without one, instructions, of which those of the kernel are not
        counted. The sum is 1 where nothing changed.
        """
        weights = dict(function_tree(case))
        if machine is None:
            counted = {path: weight for path, weight in weights.items() if object_of(path[-1]) != KERNEL}
            weights = {path: weight / sum(counted.values()) for path, weight in counted.items()}
        for change in PLANTED:
            if change.case == case and change.position <= position:
                path = next(path for path in weights if path[-1] == change.function)
                size = change.instructions if machine is None else change.time[machine]
                weights[path] = max(0.002, weights[path] + size * sum(weights.values()))
        return weights

    def first_line(self, function: str) -> int:
        """Return the first line of a function that requests execute: where it was changed, if it was."""
        changed = [change.line for change in PLANTED if change.function == function]
        return changed[0] if changed else 40 + self.draw("line", function).randrange(1200)

    # Machines.

    def platform(self, machine: Machine, when: datetime) -> Platform:
        """Return a machine in the state that it was in at a time."""
        state = sum(when >= changed for changed in self.states(machine)[1:])
        facts = _FACTS[machine] | {"kernel": _KERNELS[machine][state], "microcode": _MICROCODES[machine][state]}
        return Platform(
            name=machine,
            fingerprint=self.digits("platform", machine)[:16],
            cpu=facts["cpu"],
            cores=len(facts["processors"].split("], [")),
            kernel=facts["kernel"],
            facts=facts | {"made up": NOT_MEASURED},
        )

    def states(self, machine: Machine) -> tuple[datetime, ...]:
        """Return when each state of a machine began."""
        changed = 61 if machine == X86 else EVENT_DAYS
        return (self.moment - timedelta(days=DAYS), self.moment - timedelta(days=changed))

    # Builds.

    def revision(self, position: int) -> Revision:
        """Return a commit as the store records it."""
        commit = self.commits[position]
        parents = (self.commits[position - 1].commit,) if position else ()
        return Revision(
            repository=str(REPOSITORY),
            commit=commit.commit,
            parents=parents,
            time=instant(commit.time),
            subject=commit.subject,
            author=commit.author,
        )

    def source(self, position: int) -> Source:
        """Return the source of a commit."""
        commit = self.commits[position]
        return RevisionSource(name=commit.name, repository=REPOSITORY, revision=self.revision(position))

    def spec(self, position: int, machine: Machine) -> BuildSpec:
        """Return the specification of the build of a commit for a machine."""
        return BuildSpec(
            content=self.digits("tree", self.commits[position].commit)[:40],
            variant="default",
            recipe=4,
            tools=(_FACTS[machine]["architecture"], "gcc 12.2.0", "ld 2.40"),
        )

    def build(self, position: int, machine: Machine) -> Build:
        """Return the build of a commit for a machine; commits that change no code have one program."""
        node = self.commits[position].node
        return Build(
            build=self.spec(position, machine).digest,
            version=self.version(position),
            build_id=self.digits("build id", position, machine)[:40],
            flags="-g -ggdb -O2 -std=c11 -ffunction-sections -fdata-sections",
            compiler="GNU C11 12.2.0",
            variant="default",
            allocator="jemalloc-5.3.0",
            architecture=_FACTS[machine]["architecture"],
            libc="glibc 2.36",
            source_root="/zerolap/source",
            image=self.digits("image", node, machine),
        )

    def version(self, position: int) -> str:
        """Return the version of a commit: that of the last release before it."""
        return next(RELEASES[place] for place in sorted(RELEASES, reverse=True) if place <= position)

    def is_identical(self, base: int, head: int, case: str) -> bool:
        """Whether a case executes the same at both commits."""
        if self.commits[base].node == self.commits[head].node:
            return True
        return self.last_changes[case][base] == self.last_changes[case][head]

    @cached_property
    def last_changes(self) -> Mapping[str, list[int]]:
        """By case and commit, the position of the last commit that changed what the case executes."""
        last_changes: dict[str, list[int]] = {}
        for case in COSTS:
            last_changes[case] = [0]
            for position in range(1, COMMITS):
                is_untouched = self._is_untouched(position, case)
                last_changes[case].append(last_changes[case][-1] if is_untouched else position)
        return last_changes

    def _is_untouched(self, position: int, case: str) -> bool:
        """Whether a case executes the same at a commit as at the one before it."""
        if self.commits[position].node == self.commits[position - 1].node:
            return True
        if any(change.case == case and change.position == position for change in PLANTED):
            return False
        if self._drifted(case, position) != self._drifted(case, position - 1):
            return False
        return self.draw("touches", position, case).random() < 0.75


def instant(when: datetime) -> str:
    """Return a time as records have it."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_KERNELS: Final[Mapping[Machine, tuple[str, str]]] = {
    X86: ("6.1.0-25-amd64", "6.1.0-28-amd64"),
    ARM: ("6.8.0-47-generic", "6.8.0-51-generic"),
}
_MICROCODES: Final[Mapping[Machine, tuple[str, str]]] = {X86: ("0xa0011d1", "0xa0011d5"), ARM: ("", "")}
_FACTS: Final[Mapping[Machine, dict[str, str]]] = {
    X86: {
        "architecture": "x86_64",
        "cpu": "made-up x86 processor",
        "processors": str([[number, number, 0] for number in range(16)]),
        "memory_gib": "64",
        "virtualisation": "none",
        "libc": "glibc 2.36",
        "governor": "performance",
        "turbo": "off",
        "huge_pages": "madvise",
        "clock_source": "tsc",
        "address_randomisation": "2",
    },
    ARM: {
        "architecture": "aarch64",
        "cpu": "made-up Arm processor",
        "processors": str([[number, number, 0] for number in range(32)]),
        "memory_gib": "128",
        "virtualisation": "virtual machine",
        "libc": "glibc 2.36",
        "governor": "",
        "turbo": "",
        "huge_pages": "madvise",
        "clock_source": "arch_sys_counter",
        "address_randomisation": "2",
    },
}
