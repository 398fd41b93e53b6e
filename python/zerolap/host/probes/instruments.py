"""Instruments: whether they are installed, and whether they work on this machine."""

from pathlib import Path

from zerolap.host.diagnosis import Diagnosis, fine, fine_if, missing, warning
from zerolap.host.hardware_counters import HardwareCounters, hardware_counters
from zerolap.host.probes.programs import ProgramProbe, installs, version_of
from zerolap.host.system_files import ROOT, read_number
from zerolap.host.tracing import probing_obstacle, tracing_obstacle

NOT_PERMITTED = "not permitted"
valgrind = ProgramProbe(
    "valgrind",
    "valgrind",
    "valgrind",
    "no counted trials: nothing can be screened, and verdicts have no reasons",
    trial=["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "true"],
    remedy=installs("--reinstall valgrind libc6-dbg"),
    seconds=20,
)
perf = ProgramProbe("perf", "perf", "linux-perf", "no sampled stacks: costs in the kernel are not visible")
strace = ProgramProbe(
    "strace",
    "strace",
    "strace",
    "system calls are counted only where bpftrace works",
    trial=["strace", "-o", "/dev/null", "true"],
    remedy="sudo sysctl kernel.yama.ptrace_scope=0",
)


def library_symbols(root: Path = ROOT) -> Diagnosis:
    """Whether the symbols of the C library are installed."""
    is_installed = (root / "usr/lib/debug/.build-id").is_dir()
    return fine_if(
        is_installed,
        "C library symbols",
        "installed" if is_installed else "not found",
        "functions inside the C library appear as addresses",
        installs("libc6-dbg"),
    )


def processor_counters(root: Path = ROOT, counters: HardwareCounters | None = None) -> Diagnosis:
    """Whether the processor's counters can be read, and which of them at the same time."""
    counters = counters or hardware_counters()
    subject = "hardware counters"
    level = read_number("proc/sys/kernel/perf_event_paranoid", root)
    allowed = "" if level is None else f" (perf_event_paranoid is {level})"
    permit = "sudo sysctl kernel.perf_event_paranoid=1"
    refused = "; ".join(f"{event}: {reason}" for event, reason in counters.refused.items())
    is_denied = NOT_PERMITTED in counters.refused.values()
    if not counters.groups:
        cost = (
            "timed trials take longer and have no cycles, cache misses or branch misses; sampling falls back to a timer"
        )
        if is_denied:
            return missing(subject, f"{NOT_PERMITTED}{allowed}", cost, permit)
        enable = "in a virtual machine: turn on the virtual performance counters, or measure on hardware of your own"
        return missing(subject, f"{next(iter(counters.refused.values()))}{allowed}", cost, enable)
    available = f"{', '.join(counters.events)}{allowed}"
    if not refused:
        return fine(subject, available)
    remedy = permit if is_denied else "reserve the counters for Zerolap: sudo sysctl kernel.nmi_watchdog=0"
    return warning(subject, available, f"not counted: {refused}", remedy)


def bpftrace() -> Diagnosis:
    """Whether bpftrace works, which traces the kernel and probes programs; for probes, less is needed."""
    cost = (
        "no traced trials and no traced forks: no system calls by thread, no time off the processor, no delays of the "
        "scheduler"
    )
    obstacle = tracing_obstacle()
    if obstacle is not None:
        if probing_obstacle() is not None:
            cost += "; arguments of calls cannot be checked"
        return missing("bpftrace", obstacle.reason, cost, obstacle.remedy)
    return fine("bpftrace", version_of(["bpftrace"]) or "works")
