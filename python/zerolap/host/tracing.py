"""What is needed to trace the kernel's events and to probe programs by bpftrace, and what of it this machine lacks."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from zerolap.host.probes.programs import installs, version_of
from zerolap.host.system_files import ROOT, run

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
class TracingObstacle:
    """Why the kernel's events cannot be traced here, and the command that helps."""

    reason: str
    remedy: str


def tracing_obstacle(root: Path = ROOT) -> TracingObstacle | None:
    """Return what keeps this process from tracing, or none; bpftrace is tried, which takes about half a second."""
    cannot_start = _cannot_start()
    if cannot_start is not None:
        return cannot_start
    if not any((root / directory).is_dir() for directory in EVENT_DIRECTORIES):
        return TracingObstacle(
            "the kernel's events cannot be read: tracefs is not mounted", "mount -t tracefs tracefs /sys/kernel/tracing"
        )
    absent = [event for event in NEEDED_EVENTS if not has_event(event, root)]
    if absent:
        return TracingObstacle(
            f"the kernel does not have the events {', '.join(absent)}",
            "a kernel with CONFIG_FTRACE_SYSCALLS and CONFIG_BPF_EVENTS",
        )
    return _has_other_ids(root) or _refusal(ATTEMPT)


def probing_obstacle(root: Path = ROOT) -> TracingObstacle | None:
    """Return what keeps this process from probing the functions of programs, or none; bpftrace is tried too."""
    cannot_start = _cannot_start()
    if cannot_start is not None:
        return cannot_start
    if not (root / PROBES).is_dir():
        return TracingObstacle("the kernel cannot probe programs", "a kernel with CONFIG_UPROBE_EVENTS")
    return _has_other_ids(root) or _refusal(PROBING_ATTEMPT)


def has_event(event: str, root: Path = ROOT) -> bool:
    """Whether the kernel has an event, such as `sched/sched_switch`."""
    return any((root / directory / event).is_dir() for directory in EVENT_DIRECTORIES)


def events_of(candidates: Collection[str], root: Path = ROOT) -> frozenset[str]:
    """Return those of the events that the kernel has."""
    return frozenset(event for event in candidates if has_event(event, root))


def _cannot_start() -> TracingObstacle | None:
    if version_of(["bpftrace"]) is None:
        return TracingObstacle("bpftrace is not installed", installs("bpftrace"))
    if os.geteuid() != 0:
        return TracingObstacle("bpftrace traces for root only", "sudo --preserve-env=PATH zerolap ...")
    return None


def _has_other_ids(root: Path) -> TracingObstacle | None:
    if _is_in_first_namespace(root):
        return None
    return TracingObstacle(
        "the kernel's events have other process ids than those seen here",
        "outside of containers, or in one with --pid=host",
    )


def _is_in_first_namespace(root: Path) -> bool:
    """Whether process ids are here what they are in the kernel; taken to be so where the kernel does not state it."""
    try:
        return (root / "proc/self/ns/pid").stat().st_ino == FIRST_NAMESPACE
    except OSError:
        return True


def _refusal(attempt: str) -> TracingObstacle | None:
    """Try the least that has to work: a program at an event that happens at once."""
    outcome = run(["bpftrace", "-e", attempt], seconds=ATTEMPT_SECONDS)
    if outcome is not None and outcome.succeeded:
        return None
    words = "it does not start" if outcome is None else outcome.last_words[:LONGEST_REASON]
    return TracingObstacle(
        f"bpftrace cannot trace: {words}", "outside of containers, in a kernel with CONFIG_BPF_EVENTS"
    )
