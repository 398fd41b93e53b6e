"""The isolation of code under test from the rest of the machine."""

import os
import platform
import re
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from zerolap.host.diagnosis import Diagnosis, fine, missing, warning
from zerolap.host.probes.programs import ProgramProbe
from zerolap.host.system_files import failure_of, read_text
from zerolap.records import ZerolapError
from zerolap.sandbox import (
    Confinement,
    LimitReached,
    Limits,
    available,
    launch,
    namespaces_remedy,
    network_missing,
    usable_parents,
)

TRIED_BYTES = 32 << 20
TRIED_PROCESSES = 16
TRY_SECONDS = 5
PATIENCE_SECONDS = 20
CEILING_KIB = 1 << 20
"""Address space that the trial of the memory limit can use if the limit does not hold."""
REFUSED_CALL = ["setarch", platform.machine(), "--uname-2.6", "true"]
"""Makes a system call that needs no privileges: only the filter of the sandbox refuses it."""


def bubblewrap() -> Diagnosis:
    """Whether a sandbox can be made."""
    return ProgramProbe(
        "bwrap",
        "bwrap",
        "bubblewrap",
        "code under test runs with your rights: compare only commits that you trust",
        trial=["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"],
        remedy=namespaces_remedy()
        or "sudo sysctl kernel.unprivileged_userns_clone=1, or run as root outside containers",
    )()


def memory_limit() -> Diagnosis:
    """Whether code that allocates without end is stopped, and by what."""
    by = "the size of each process's data, and a watch every quarter of a second"
    return _limit("memory limit", "tail /dev/zero", Limits(memory_bytes=TRIED_BYTES), _by_groups() or by)


def process_limit() -> Diagnosis:
    """Whether code that starts processes without end is stopped, and by what."""
    script = f"for n in $(seq {4 * TRIED_PROCESSES}); do sleep {PATIENCE_SECONDS} & done; wait; exit 1"
    by = "a watch every quarter of a second"
    if os.geteuid() != 0:
        by = f"the number of the user's processes in the sandbox, and {by}"
    return _limit("process limit", script, Limits(processes=TRIED_PROCESSES), _by_groups() or by)


def disk_limit() -> Diagnosis:
    """Whether code that fills its directories is stopped, and by what."""
    by = "the size of each file and of temporary file systems; builds also by a watch every quarter of a second"
    return _limit("disk limit", "head -c 2M /dev/zero > /tmp/file", Limits(disk_bytes=1 << 20), by)


def time_limit() -> Diagnosis:
    """Whether code that does not end is stopped."""
    return _limit("time limit", f"sleep {PATIENCE_SECONDS}", Limits(seconds=0.1), "a watch every quarter of a second")


def network() -> Diagnosis:
    """Whether servers that listen on the loopback can have a private network."""
    reason = network_missing()
    if reason is None:
        return fine("network of servers", "servers on TCP have a private loopback")
    return missing(
        "network of servers",
        reason,
        "no TCP, TLS, replicas or clusters for code of repositories; your own programs use the machine's network",
        namespaces_remedy()
        or "apt-get install bubblewrap util-linux; as user, sudo sysctl kernel.unprivileged_userns_clone=1",
    )


def system_calls() -> Diagnosis:
    """Whether code under test is refused system calls that it has no use for, and what the filter costs."""
    subject = "system calls"
    cost = "code under test can reach all of the kernel: an error in rarely used parts can let it out of the sandbox"
    remedy = namespaces_remedy() or "apt-get install bubblewrap util-linux, on a kernel with CONFIG_SECCOMP_FILTER"
    if (reason := available()) is not None:
        return missing(subject, reason, cost, remedy)
    if (failure := failure_of(REFUSED_CALL)) is not None:
        return warning(subject, f"the filter cannot be tried: {failure}", cost, remedy)
    try:
        code, output = _in_sandbox(f"cat /proc/self/status; {' '.join(REFUSED_CALL)}")
    except (ZerolapError, OSError, subprocess.TimeoutExpired) as fault:
        return warning(subject, f"the filter cannot be tried: {fault}", cost, remedy)
    if code == 0 or "Operation not permitted" not in output:
        return warning(subject, "the filter does not hold: a call that it refuses was made", cost, remedy)
    if _mitigated(output) and not _mitigated(read_text("proc/self/status") or ""):
        return warning(
            subject,
            "filtered; the kernel mitigates speculative execution in filtered programs only",
            "servers are slower than outside of the sandbox, on both sides of a comparison",
            "start the kernel with spec_store_bypass_disable=prctl, the default since Linux 5.16",
        )
    return fine(subject, "a filter refuses those that servers and compilers do not need")


def _mitigated(status: str) -> bool:
    """Whether a process, by its file `status`, does not speculate about stores, which slows it down."""
    return re.search(r"^Speculation_Store_Bypass:.*\bmitigated", status, re.MULTILINE) is not None


def _in_sandbox(script: str) -> tuple[int, str]:
    """Run a script in a sandbox, and return its exit code and output."""
    with tempfile.NamedTemporaryFile(prefix="zerolap-doctor-") as file:
        log = Path(file.name)
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        command = ["sh", "-c", script]
        with launch(command, environment=environment, output=log, confinement=Confinement()) as tried:
            code = tried.wait(PATIENCE_SECONDS)
        return code, log.read_text(errors="replace")


def _by_groups() -> str | None:
    parents = usable_parents()
    return None if parents is None else f"a control group ({parents.version})"


def _limit(subject: str, script: str, limits: Limits, by: str) -> Diagnosis:
    """Run a script that exceeds the limits, which are too low to do harm, and return whether it was stopped."""
    cost = "code under test can use up the machine's resources"
    remedy = (
        namespaces_remedy() or "apt-get install bubblewrap util-linux; run as root, or under systemd-run --user --scope"
    )
    if (reason := available()) is not None:
        return missing(subject, reason, cost, remedy)
    # The limit is far below what a machine has; if it does not hold, the script itself ends soon.
    confinement = Confinement(limits=replace(limits, seconds=limits.seconds or TRY_SECONDS))
    try:
        with (
            tempfile.NamedTemporaryFile(prefix="zerolap-doctor-") as log,
            launch(
                ["sh", "-c", f"ulimit -v {CEILING_KIB}; {script}"],
                environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
                output=Path(log.name),
                confinement=confinement,
            ) as tried,
        ):
            code = tried.wait_within_limits()
    except LimitReached as reached:
        if limits.seconds is None and str(reached).endswith(" s"):
            return warning(subject, "does not hold: stopped by the time limit only", cost, remedy)
        return fine(subject, f"by {by}")
    except (ZerolapError, OSError) as fault:
        return warning(subject, f"cannot be tried: {fault}", cost, remedy)
    return warning(subject, f"does not hold: the code continued and ended with {code}", cost, remedy)
