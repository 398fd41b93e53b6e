"""What is needed to trace the kernel's events and to probe programs by bpftrace, and what of it this machine lacks."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.host.probes.programs import installs, version_of
from zerolap.host.system_files import ROOT, failure_of

EVENT_DIRECTORIES: Final = ("sys/kernel/tracing/events", "sys/kernel/debug/tracing/events")
"""Where the kernel describes its events; bpftrace and perf read either."""
NEEDED_EVENTS: Final = (
    *("raw_syscalls/sys_enter", "raw_syscalls/sys_exit"),
    *("sched/sched_switch", "sched/sched_wakeup"),
)
FIRST_NAMESPACE: Final = 0xEFFFFFFC
"""The inode of the first PID namespace, which is the same on every kernel (`PROC_PID_INIT_INO`)."""
PROBES: Final = "sys/bus/event_source/devices/uprobe"
ATTEMPT: Final = "tracepoint:raw_syscalls:sys_enter { exit(); }"
PROBING_ATTEMPT: Final = "interval:ms:1 { exit(); }"
"""It needs no file of the kernel's, as probes do not."""
ATTEMPT_SECONDS: Final = 20.0
LONGEST_REASON: Final = 200


@dataclass(frozen=True)
class Obstacle:
    """Why something cannot be traced or recorded here, and the command that helps."""

    reason: str
    remedy: str


def tracing_obstacle(root: Path = ROOT) -> Obstacle | None:
    """Return what keeps this process from tracing, or none; bpftrace is tried, which takes about half a second."""
    return _cannot_start() or _lacks_events(root) or _has_other_ids(root) or _refusal(ATTEMPT)


def probing_obstacle(root: Path = ROOT) -> Obstacle | None:
    """Return what keeps this process from probing the functions of programs, or none; bpftrace is tried too."""
    if (obstacle := _cannot_start()) is None and not (root / PROBES).is_dir():
        return Obstacle("the kernel cannot probe programs", "a kernel with CONFIG_UPROBE_EVENTS")
    return obstacle or _has_other_ids(root) or _refusal(PROBING_ATTEMPT)


def events_of(candidates: Collection[str], root: Path = ROOT) -> frozenset[str]:
    """Return those of the events that the kernel has, such as `sched/sched_switch`."""
    return frozenset(
        event for event in candidates if any((root / directory / event).is_dir() for directory in EVENT_DIRECTORIES)
    )


def _lacks_events(root: Path) -> Obstacle | None:
    if not any((root / directory).is_dir() for directory in EVENT_DIRECTORIES):
        return Obstacle(
            "the kernel's events cannot be read: tracefs is not mounted", "mount -t tracefs tracefs /sys/kernel/tracing"
        )
    known = events_of(NEEDED_EVENTS, root)
    absent = [event for event in NEEDED_EVENTS if event not in known]
    if not absent:
        return None
    return Obstacle(
        f"the kernel does not have the events {', '.join(absent)}",
        "a kernel with CONFIG_FTRACE_SYSCALLS and CONFIG_BPF_EVENTS",
    )


def _cannot_start() -> Obstacle | None:
    if version_of(["bpftrace"]) is None:
        return Obstacle("bpftrace is not installed", installs("bpftrace"))
    if os.geteuid() != 0:
        return Obstacle("bpftrace traces for root only", "sudo --preserve-env=PATH zerolap ...")
    return None


def _has_other_ids(root: Path) -> Obstacle | None:
    try:
        if (root / "proc/self/ns/pid").stat().st_ino == FIRST_NAMESPACE:
            return None
    except OSError:
        # Where the kernel does not state it, process ids are taken to be what they are in the kernel.
        return None
    return Obstacle(
        "the kernel's events have other process ids than those seen here",
        "outside of containers, or in one with --pid=host",
    )


def _refusal(attempt: str) -> Obstacle | None:
    """Try the least that has to work: a program at an event that happens at once."""
    failure = failure_of(["bpftrace", "-e", attempt], seconds=ATTEMPT_SECONDS)
    if failure is None:
        return None
    return Obstacle(
        f"bpftrace cannot trace: {failure[:LONGEST_REASON]}",
        "outside of containers, in a kernel with CONFIG_BPF_EVENTS",
    )
