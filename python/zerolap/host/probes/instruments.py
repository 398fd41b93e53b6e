"""Instruments: whether they are installed, and whether they work on this machine."""

from pathlib import Path

from zerolap.host.diagnosis import Diagnosis, fine, missing, warning
from zerolap.host.probes.programs import installs, version_of
from zerolap.host.readings import ROOT, read_number, run

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


def hardware_counters(root: Path = ROOT) -> Diagnosis:
    """Whether the processor's counters can be read."""
    subject = "hardware counters"
    level = read_number("proc/sys/kernel/perf_event_paranoid", root)
    outcome = run(["perf", "stat", "--field-separator=,", "--event=instructions:u", "true"])
    setting = "" if level is None else f" (perf_event_paranoid is {level})"
    cost = "no cycles, cache misses or branch misses; sampling falls back to a timer"
    if outcome is None:
        return missing(subject, f"no perf to read them{setting}", cost, installs("linux-perf"))
    words = outcome.errors + outcome.output
    if outcome.succeeded and any(line.partition(",")[0].isdigit() for line in words.splitlines()):
        return fine(subject, f"available{setting}")
    if "<not supported>" in words:
        return missing(
            subject,
            f"not supported by this machine{setting}",
            cost,
            "in a virtual machine: turn on the virtual performance counters, or measure on hardware of your own",
        )
    return missing(subject, f"not permitted{setting}", cost, "sudo sysctl kernel.perf_event_paranoid=1")


def bpftrace() -> Diagnosis:
    """Whether bpftrace works, which traces the kernel."""
    cost = "no time off the processor, no latency of the scheduler; system calls are traced by strace, slowly"
    version = version_of(["bpftrace"])
    if version is None:
        return missing("bpftrace", "not found", cost, installs("bpftrace"))
    outcome = run(["bpftrace", "-e", "BEGIN { exit(); }"], seconds=10)
    if outcome is None or not outcome.succeeded:
        words = "it does not start" if outcome is None else outcome.last_words
        return missing(
            "bpftrace", f"{version}, but: {words}", cost, "run as root, in a kernel with BPF, outside containers"
        )
    return fine("bpftrace", version)


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
