"""The platform as a record, with the fingerprint of its settings."""

import hashlib
import json
import os
import platform
from pathlib import Path

from zerolap.host import settings
from zerolap.host.processors import Processors, read_processors
from zerolap.host.readings import ROOT, read_text
from zerolap.records import Platform


def fingerprint(machine: Processors | None = None, root: Path = ROOT) -> Platform:
    """Return this machine; its fingerprint stays the same as long as nothing changes that can change a measurement.

    `cores` counts the processors that this process may use.
    """
    machine = read_processors(root=root) if machine is None else machine
    facts = influences(machine, root)
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return Platform(
        name=platform.node() or "unnamed",
        fingerprint=hashlib.sha256(text.encode()).hexdigest()[:16],
        cpu=settings.cpu_model(root),
        cores=len(machine.processors),
        kernel=settings.kernel(),
    )


def influences(machine: Processors, root: Path = ROOT) -> dict[str, object]:
    """Return what goes into the fingerprint, by name."""
    return {
        "architecture": os.uname().machine,
        "cpu": settings.cpu_model(root),
        "microcode": settings.cpu_field("microcode", root),
        "processors": [[item.number, item.core, item.cache] for item in machine.processors],
        "memory_gib": round(settings.memory_bytes(root).get("MemTotal", 0) / 2**30),
        "kernel": settings.kernel(),
        "libc": " ".join(platform.libc_ver()),
        "governor": settings.governors(root),
        "turbo": settings.turbo(root),
        "huge_pages": settings.huge_pages(root),
        "huge_pages_defragmentation": settings.huge_pages_defragmentation(root),
        "virtualisation": settings.virtualisation(root),
        "clock_source": settings.clock_source(root),
        "mitigations": settings.mitigations(root),
        "address_randomisation": read_text("proc/sys/kernel/randomize_va_space", root) or "",
    }
