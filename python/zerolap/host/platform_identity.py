"""The platform as a record: the fingerprint of the hardware, and the settings as facts."""

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zerolap.host import machine_settings as settings
from zerolap.host.processors import Processors, read_processors
from zerolap.host.system_files import ROOT, read_fields, read_text
from zerolap.records import Platform

EXECUTED: Final[Mapping[str, tuple[str, ...]]] = {
    "x86_64": ("x86_64", "i686"),
    "aarch64": ("aarch64", "armv7l"),
    "riscv64": ("riscv64",),
    **dict.fromkeys(("i386", "i486", "i586", "i686"), ("i686",)),
    **dict.fromkeys(("armv6l", "armv7l", "armv8l"), ("armv7l",)),
}
"""The architectures of programs, as their files name them, that a machine executes, by what the kernel calls it."""


def fingerprint(machine: Processors | None = None, root: Path = ROOT) -> Platform:
    """Return this machine as a platform; settings do not change its fingerprint.

    `cores` counts the processors that this process may use.
    """
    machine = read_processors(root=root) if machine is None else machine
    identity = {name: _text(value) for name, value in hardware(machine, root).items()}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return Platform(
        name=platform.node() or "unnamed",
        fingerprint=hashlib.sha256(text.encode()).hexdigest()[:16],
        cpu=settings.cpu_model(root),
        cores=len(machine.processors),
        kernel=platform.release(),
        facts=identity | {name: _text(value) for name, value in software(root).items()},
    )


def hardware(machine: Processors, root: Path = ROOT) -> dict[str, object]:
    """Return the facts that identify this machine, by name."""
    return {
        "architecture": os.uname().machine,
        "cpu": settings.cpu_model(root),
        "processors": [[processor.number, processor.core, processor.cache] for processor in machine.processors],
        "memory_gib": round(settings.memory_bytes(root).get("MemTotal", 0) / 2**30),
        "virtualisation": settings.virtualisation(root),
    }


def runnable_architectures(machine: Platform) -> tuple[str, ...] | None:
    """Return the architectures of the programs that a platform can execute, its own first; none where not known."""
    return EXECUTED.get(machine.facts.get("architecture", ""))


def software(root: Path = ROOT) -> dict[str, object]:
    """Return the facts that may change on a machine and affect measurements, by name."""
    return {
        "microcode": read_fields("proc/cpuinfo", root).get("microcode", ""),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "governor": settings.governors(root),
        "turbo": settings.turbo(root),
        "huge_pages": settings.huge_pages(root),
        "huge_pages_defragmentation": settings.huge_pages_defragmentation(root),
        "clock_source": settings.clock_source(root),
        "mitigations": settings.mitigations(root),
        "address_randomisation": read_text("proc/sys/kernel/randomize_va_space", root) or "",
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
