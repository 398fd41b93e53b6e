"""Instruments: whether they are installed, and whether they work on this machine."""

from pathlib import Path

from zerolap.host.diagnosis import Diagnosis, fine, missing, warning
from zerolap.host.hardware_counters import HardwareCounters, hardware_counters
from zerolap.host.probes.programs import installs, version_of
from zerolap.host.system_files import ROOT, read_number, run
from zerolap.host.tracing import probing_obstacle, tracing_obstacle

NOT_PERMITTED = "not permitted"
_NO_COUNTS = "no counted trials: nothing can be screened, and verdicts have no reasons"


def valgrind() -> Diagnosis:
    """Whether valgrind works, which counts instructions and calls."""
    version = version_of(["valgrind"])
    if version is None:
        return missing("valgrind", "not found", _NO_COUNTS, installs("valgrind"))
    outcome = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "true"], seconds=20)
    if outcome is None or not outcome.succeeded:
        words = "it does not start" if outcome is None else outcome.last_words
        return missing("valgrind", f"{version}, but: {words}", _NO_COUNTS, installs("--reinstall valgrind libc6-dbg"))
    return fine("valgrind", version)


def library_symbols(root: Path = ROOT) -> Diagnosis:
    """Whether the symbols of the C library are installed."""
    directory = root / "usr/lib/debug/.build-id"
    if directory.is_dir():
        return fine("C library symbols", "installed")
    return warning(
        "C library symbols",
        "not found",
        "functions inside the C library appear as addresses",
        installs("libc6-dbg"),
    )


def perf() -> Diagnosis:
    """Whether perf is installed, which samples stacks."""
    version = version_of(["perf"])
    if version is None:
        return missing(
            "perf", "not found", "no sampled stacks: costs in the kernel are not visible", installs("linux-perf")
        )
    return fine("perf", version)


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


def strace() -> Diagnosis:
    """What lists system calls."""
    cost = "system calls are counted only where bpftrace works"
    version = version_of(["strace"])
    if version is None:
        return missing("strace", "not found", cost, installs("strace"))
    outcome = run(["strace", "-o", "/dev/null", "true"])
    if outcome is None or not outcome.succeeded:
        words = "it does not start" if outcome is None else outcome.last_words
        return missing("strace", f"{version}, but: {words}", cost, "sudo sysctl kernel.yama.ptrace_scope=0")
    return fine("strace", version)
