"""The platforms that a conductor serves, and the agents that are there."""

import time
from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Protocol

from zerolap import __version__
from zerolap.fleet.delivery import LEASE_SECONDS, AgentName
from zerolap.fleet.messages import PROTOCOL, Hello, Version
from zerolap.fleet.setup.configuration import FleetConfiguration, PlatformRequirement
from zerolap.lab import KnownPlatform
from zerolap.records import GivenJob, Platform, TrialsJob, UnreadableRecord, read_stored
from zerolap.store import FleetPlatform, KnownAgent

GONE_AFTER_LEASES = 4
"""The number of leases without a report after which an agent is gone, and another kind of machine may take its
platform.
"""
GIB = 1 << 30
LOADED_FROM_ELSEWHERE = frozenset({"timed"})
"""The engines that can take load from another machine; all others put it on themselves."""
SPARED_GIB = 1.0
"""How much less memory than its modules hold a machine may report."""


def unmet(requirement: PlatformRequirement, hello: Hello) -> str | None:
    """Return what a machine lacks to be of a platform."""
    if requirement.architecture not in (None, hello.architecture):
        return f"its architecture is {hello.architecture}, not {requirement.architecture}"
    if requirement.processors is not None and hello.platform.cores < requirement.processors:
        return f"it has {hello.platform.cores} processors of {requirement.processors}"
    if requirement.memory_gib is not None and hello.memory_bytes / GIB < requirement.memory_gib - SPARED_GIB:
        return f"it has {hello.memory_bytes / GIB:.1f} GiB of memory of {requirement.memory_gib:g}"
    if requirement.counters and not hello.counters:
        return "it shows no hardware counters"
    return None


@dataclass(frozen=True)
class ServedPlatform:
    """A platform by its name: what its agents must be, and the platform of those that build for it.

    Load on its servers comes from agents of the platform that the requirement names, if it names one. `is_here` states
    that its agent is a part of the conductor, whose machine it is.
    """

    name: str
    builder: str
    requirement: PlatformRequirement = field(default_factory=PlatformRequirement)
    is_here: bool = False

    @property
    def row(self) -> FleetPlatform:
        """What is recorded of it."""
        return FleetPlatform(self.name, self.builder, self.requirement.model_dump_json())


def served_platforms(configuration: FleetConfiguration) -> list[ServedPlatform]:
    """Return the platforms of a fleet's configuration."""
    return [
        ServedPlatform(name, configuration.builder_of(name), requirement)
        for name, requirement in configuration.platforms.items()
    ]


class EpochClock(Protocol):
    """Returns seconds since the epoch."""

    def __call__(self) -> float:
        """Return the time."""


@dataclass(frozen=True)
class PresentAgent:
    """An agent that has reported since the conductor started, or before."""

    name: AgentName
    hello: Hello
    seen: float
    draining: bool = False
    refusal: str | None = None


def recorded_platform(stated: Platform, name: str, served: ServedPlatform | None) -> Platform:
    """Return the machine of an agent, as it states it, with the fingerprint under which the platform is recorded.

    The fingerprint is of the platform: history and verdicts go by it, and an agent may state that of any machine.
    """
    if served is not None and served.is_here:
        return stated
    # No name of a platform has a slash, nor has the fingerprint of this machine.
    return stated.model_copy(update={"fingerprint": f"{name}/{stated.fingerprint}"})


@dataclass(frozen=True)
class RosterSnapshot:
    """The agents as they were when the snapshot was taken: it does not change, and any thread may read it.

    `refusals` are why agents are given no jobs, by platform and name.
    """

    platforms: Mapping[str, ServedPlatform]
    agents: tuple[PresentAgent, ...] = ()
    refusals: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def builder_of(self, platform: str) -> str:
        """Return the platform that builds for a platform."""
        return self.platforms[platform].builder if platform in self.platforms else platform

    def known_platform(self, platform: str) -> KnownPlatform | None:
        """Return what the agents of a platform are, the least memory of them included; none if none has reported."""
        of_platform = [agent for agent in self.agents if agent.name.platform == platform and agent.refusal is None]
        if not of_platform:
            return None
        described = max(of_platform, key=lambda agent: agent.seen).hello.platform
        described = recorded_platform(described, platform, self.platforms.get(platform))
        load_host = self.platforms[platform].requirement.load if platform in self.platforms else None
        return KnownPlatform(described, min(agent.hello.memory_bytes for agent in of_platform), load_host or "")

    def tools_of_builder(self, platform: str) -> Mapping[str, tuple[str, ...]] | None:
        """Return the tools of the agents that build for a platform; none if none has reported."""
        builder = self.builder_of(platform)
        builders = [agent for agent in self.agents if agent.name.platform == builder and agent.refusal is None]
        return max(builders, key=lambda agent: agent.seen).hello.tools if builders else None

    def missing_agent(self, platform: str) -> str:
        """Return the agent that a platform lacks in words, with the reason why one that is there is refused."""
        refusals = self.refusals.get(platform, {})
        first = "".join(f" ({agent} is refused: {reason})" for agent, reason in sorted(refusals.items())[:1])
        return f"an agent of the platform {platform}{first}"


class Roster:
    """Knows which agents are there; used from the conductor's event loop only, other threads get a snapshot.

    `changes` counts the changes of what agents are, which platforms and tools there are.
    """

    def __init__(
        self, platforms: Sequence[ServedPlatform], lease_seconds: float = LEASE_SECONDS, clock: EpochClock = time.time
    ) -> None:
        self.platforms: Mapping[str, ServedPlatform] = {platform.name: platform for platform in platforms}
        self._builders = {platform.builder for platform in platforms}
        self.loads = {platform.requirement.load for platform in platforms if platform.requirement.load is not None}
        self.lease_seconds = lease_seconds
        self._clock = clock
        self._agents: dict[str, PresentAgent] = {}
        self._refused: dict[str, KnownAgent] = {}
        self.changes = 0

    def snapshot(self) -> RosterSnapshot:
        """Return the agents as they are now."""
        refusals: dict[str, dict[str, str]] = {}
        for row in self._refused.values():
            refusals.setdefault(row.platform, {})[row.name] = row.refusal or ""
        for present in self._agents.values():
            if present.refusal is not None:
                refusals.setdefault(present.name.platform, {})[present.name.agent] = present.refusal
        return RosterSnapshot(self.platforms, tuple(self._agents.values()), refusals)

    def recall(self, known: KnownAgent) -> None:
        """Take in an agent that reported to an earlier conductor."""
        try:
            hello = read_stored(Hello, known.document, f"the agent {known.name}")
        except UnreadableRecord:
            # It introduces itself again.
            hello = None
        if hello is None or hello.protocol != PROTOCOL:
            if known.refusal is not None:
                self._refused[known.name] = known
            return
        name = AgentName(known.lab, known.platform, known.name)
        self._agents[known.name] = PresentAgent(name, hello, known.seen, known.draining, known.refusal)

    def introduce(self, name: AgentName, hello: Hello) -> PresentAgent:
        """Take in what an agent reports of itself, and whether it can be used."""
        refusal = self._refusal(name, hello)
        before = self._agents.get(name.agent)
        draining = before is not None and before.draining
        self._agents[name.agent] = PresentAgent(name, hello, self._clock(), draining, refusal)
        self._refused.pop(name.agent, None)
        self.changes += 1
        return self._agents[name.agent]

    def refuse_version(self, name: AgentName, version: Version) -> KnownAgent:
        """Note that an agent speaks another protocol, and return what is to be recorded of it, with the reason."""
        refusal = (
            f"its protocol is {version.protocol} (Zerolap {version.zerolap or 'of an unknown version'}), that of the"
            f" conductor is {PROTOCOL} (Zerolap {__version__}): install the same version on both"
        )
        self._agents.pop(name.agent, None)
        document = version.model_dump_json()
        self._refused[name.agent] = KnownAgent(
            name.agent, name.lab, name.platform, document, self._clock(), refusal=refusal
        )
        self.changes += 1
        return self._refused[name.agent]

    def get(self, name: AgentName) -> PresentAgent | None:
        """Return an agent that has introduced itself under that name, lab and platform."""
        present = self._agents.get(name.agent)
        return present if present is not None and present.name == name else None

    def forget(self, name: AgentName) -> None:
        """Have an agent that does not belong to the fleet any more be given no jobs."""
        self._refused.pop(name.agent, None)
        if self.get(name) is not None:
            del self._agents[name.agent]
        self.changes += 1

    def saw(self, present: PresentAgent) -> None:
        """Note that an agent is there."""
        self._agents[present.name.agent] = replace(present, seen=self._clock())

    def is_there(self, agent: str | None) -> bool:
        """Whether an agent was heard of within a lease."""
        present = self._agents.get(agent or "")
        return present is not None and self._clock() - present.seen <= self.lease_seconds

    def set_draining(self, draining: AbstractSet[str]) -> None:
        """Take over the names of the agents that are to be drained."""
        for name, present in list(self._agents.items()):
            if present.draining != (name in draining):
                self._agents[name] = replace(present, draining=name in draining)

    def usable(self, platform: str) -> list[PresentAgent]:
        """Return the agents of a platform that take jobs."""
        return [
            present
            for present in self._agents.values()
            if present.name.platform == platform
            and present.refusal is None
            and not present.draining
            and self.is_there(present.name.agent)
        ]

    def machines(self) -> dict[str, int]:
        """Return the number of agents that take jobs, by platform; what builds or puts load on others is one too."""
        names = {*self.platforms, *self._builders, *self.loads}
        return {name: len(self.usable(name)) for name in sorted(names)}

    def builder_of(self, platform: str) -> str:
        """Return the platform that builds for a platform."""
        return self.platforms[platform].builder if platform in self.platforms else platform

    def load_of(self, platform: str, job: GivenJob) -> str | None:
        """Return the platform that puts load on the servers of a job; none if the machine does so itself."""
        return self.load_for(platform, job.engine if isinstance(job, TrialsJob) else None)

    def load_for(self, platform: str, engine: str | None) -> str | None:
        """Return the platform that puts load on the servers of trials by an engine; none as `load_of`."""
        if engine not in LOADED_FROM_ELSEWHERE or platform not in self.platforms:
            return None
        return self.platforms[platform].requirement.load

    def rows(self) -> list[KnownAgent]:
        """Return what is to be recorded of the agents."""
        return [
            KnownAgent(
                present.name.agent,
                present.name.lab,
                present.name.platform,
                present.hello.model_dump_json(),
                present.seen,
                present.draining,
                present.refusal,
            )
            for present in self._agents.values()
        ]

    def _refusal(self, name: AgentName, hello: Hello) -> str | None:
        if name.platform not in {*self.platforms, *self._builders, *self.loads}:
            return f"there is no platform {name.platform}"
        if name.platform in self._builders:
            other = self._other_tools(name, hello)
            if other is not None:
                return f"its compilers are not those of {other}, which builds for the same platforms"
        served = self.platforms.get(name.platform)
        return None if served is None else self._refusal_to_measure(served, name, hello)

    def _refusal_to_measure(self, served: ServedPlatform, name: AgentName, hello: Hello) -> str | None:
        lacking = unmet(served.requirement, hello)
        if lacking is not None:
            return f"the machine is not of the platform {name.platform}: {lacking}"
        if served.requirement.load is not None and not hello.address:
            return (
                f"agents of the platform {served.requirement.load} put load on its servers: `--address` of"
                " `zerolap agent bench` has to state where they reach this machine"
            )
        for present in self._agents.values():
            if present.name.platform != name.platform or present.name.agent == name.agent or present.refusal:
                continue
            is_gone = self._clock() - present.seen > GONE_AFTER_LEASES * self.lease_seconds
            if not is_gone and present.hello.platform.fingerprint != hello.platform.fingerprint:
                return (
                    f"the platform {name.platform} is machines like {present.name.agent} "
                    f"({present.hello.platform.fingerprint}), this one is another ({hello.platform.fingerprint})"
                )
        return None

    def _other_tools(self, name: AgentName, hello: Hello) -> str | None:
        """Return an agent of the same platform with other compilers."""
        for present in self._agents.values():
            is_other = present.name.platform == name.platform and present.name.agent != name.agent
            is_gone = self._clock() - present.seen > GONE_AFTER_LEASES * self.lease_seconds
            if is_other and not is_gone and present.refusal is None and present.hello.tools != hello.tools:
                return present.name.agent
        return None
