"""The topologies of the package, look-up by name, and whether a topology can run on this machine."""

import functools
import shlex
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from zerolap.cases._document import read_document
from zerolap.cases._values import near
from zerolap.records import Topology, UsageError

_SNAPSHOT = "snapshot"
_SETTINGS_OF_FILES = ("aclfile", "include", "loadmodule")


@functools.cache
def standard_topologies() -> Mapping[str, Topology]:
    """Return the topologies that come with the package, by name."""
    resource = resources.files("zerolap.cases") / "topologies" / "standard.yml"
    document = read_document(resource.read_text(encoding="utf-8"), str(resource))
    topologies = [Topology.model_validate(entry) for entry in document.data]
    return {topology.name: topology for topology in topologies}


def topology_named(
    name: str, extra: Mapping[str, Topology] | None = None, left_out: Mapping[str, str] | None = None
) -> Topology:
    """Return the topology of that name, from the package or from `extra`.

    Raises `UsageError` for an unknown name, with the most similar one, and for one of `left_out`, with the reason.
    """
    known = {**(extra or {}), **standard_topologies()}
    if name in known:
        return known[name]
    if name == _SNAPSHOT:
        hint = "write zerolap snapshot HEAD --base BASE; or --vary KEY=A,B for settings of one server"
        raise UsageError("snapshots are no topology: servers are compared over sizes of data", hint=hint)
    if left_out and name in left_out:
        raise UsageError(f'the topology "{name}" cannot be used: {left_out[name]}')
    listed = f"there are {', '.join(known)}"
    if not extra:
        listed += "; and, with `--cases`, those of the topologies.yml beside the suites"
    raise UsageError(f'no topology is called "{name}"', hint=f"{near(name, known)} {listed}".strip())


def obstacle_of(topology: Topology) -> str | None:
    """Return why the topology cannot run on this machine, or None if it can.

    More busy threads than processors are no obstacle: the topology runs oversubscribed.
    """
    for name in _SETTINGS_OF_FILES:
        for word in shlex.split(topology.settings.get(name, ""))[:1]:
            if not Path(word).is_file():
                return f"its setting `{name}` names {word}, which is not there"
    return None
