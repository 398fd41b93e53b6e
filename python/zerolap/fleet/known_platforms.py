"""The platforms whose results a store holds: those of its fleet, and other machines that have measured into it."""

from dataclasses import dataclass

from zerolap.fleet.roster import Roster, ServedPlatform
from zerolap.records import Platform, UsageError
from zerolap.store import Store


@dataclass(frozen=True)
class KnownMachine:
    """A platform by its name; `builder` is the platform of the fleet whose agents build for it, empty for none."""

    platform: Platform
    builder: str = ""

    @property
    def is_served(self) -> bool:
        """Whether agents of a fleet measure for it."""
        return self.builder != ""


def machine_named(name: str, store: Store) -> KnownMachine:
    """Return the platform of that name or fingerprint, those of the fleet first; raises `UsageError` for no other.

    What a fleet's platform is its agents report; while none has, it is what was measured under its name before.
    """
    served = {platform.name: platform.builder for platform in store.fleet.platforms()}
    recorded = store.platforms()
    if name in served:
        # Only the agent that is a part of the conductor builds for itself: the configuration of a fleet refuses that.
        roster = Roster([ServedPlatform(name, served[name], is_here=served[name] == name)])
        for agent in store.fleet.agents():
            roster.recall(agent)
        known = roster.snapshot().known_platform(name)
        platform = None if known is None else known.platform
        platform = platform or next((platform for platform in recorded if platform.name == name), None)
        if platform is None:
            raise UsageError(
                f"no agent of the platform `{name}` has reported yet", hint="zerolap fleet status shows its agents"
            )
        return KnownMachine(platform.model_copy(update={"name": name}), served[name])
    matching = [platform for platform in recorded if name in (platform.name, platform.fingerprint)]
    if not matching:
        names = list(dict.fromkeys([*served, *(platform.name for platform in recorded)]))
        raise UsageError(
            f"the store knows no platform `{name}`",
            hint=f"platforms: {', '.join(names)}" if names else "nothing is measured into it yet",
        )
    if len({platform.fingerprint for platform in matching}) > 1:
        fingerprints = ", ".join(platform.fingerprint for platform in matching)
        raise UsageError(
            f"several platforms have the name `{name}`", hint=f"name one by its fingerprint: {fingerprints}"
        )
    return KnownMachine(matching[0])
