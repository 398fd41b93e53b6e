"""What keeps code under test away from the rest of the machine."""

import os
from pathlib import Path

from zerolap.host.diagnosis import Diagnosis, fine, missing, warning
from zerolap.host.probes.programs import installs, version_of
from zerolap.host.readings import ROOT, read_text, run


def bubblewrap() -> Diagnosis:
    """Whether a sandbox can be made."""
    cost = "code under test runs with your rights: compare only commits that you trust"
    version = version_of(["bwrap"])
    if version is None:
        return missing("bwrap", "not found", cost, installs("bubblewrap"))
    outcome = run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"])
    if outcome is None or not outcome.succeeded:
        words = "it does not start" if outcome is None else outcome.last_words
        return missing(
            "bwrap",
            f"{version}, but: {words}",
            cost,
            "sudo sysctl kernel.unprivileged_userns_clone=1, or run as root outside containers",
        )
    return fine("bwrap", version)


def control_groups(root: Path = ROOT) -> Diagnosis:
    """Whether memory and processes of code under test can be limited."""
    base = root / "sys/fs/cgroup"
    unified = (read_text("sys/fs/cgroup/cgroup.controllers", root) or "").split()
    if unified:
        version, needed = "v2", "memory" in unified and "pids" in unified
    elif (base / "memory").is_dir():
        version, needed = "v1", (base / "pids").is_dir()
    else:
        version, needed = "none", False
    cost = "memory and processes of code under test are limited by rlimits only"
    if not needed:
        return warning(
            "control groups", f"{version}, without limits of memory and processes", cost, "boot with cgroups v2"
        )
    target = base if version == "v2" else base / "memory"
    if not os.access(target, os.W_OK):
        return warning(
            "control groups", f"{version}, not writable", cost, "run as root, or under systemd-run --user --scope"
        )
    return fine("control groups", version)
