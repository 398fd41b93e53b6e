"""The part of the machine that a confined process can access."""

import functools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from zerolap.records import EnvironmentMissing
from zerolap.sandbox.limits import NO_LIMITS, Limits
from zerolap.sandbox.system_calls import system_call_filter

SYSTEM_DIRECTORIES = ("/usr", "/opt", "/nix")
SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
# Only those files of /etc that the dynamic linker, compilers and name look-ups read: /etc also holds secrets.
SYSTEM_FILES = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
)
PROBE_SECONDS = 10
RESTRICTS_NAMESPACES = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
PROFILE_COMMAND = (
    r"printf '%s\n' 'abi <abi/4.0>,' 'include <tunables/global>'"
    " 'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }'"
    " | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser --replace /etc/apparmor.d/bwrap"
)


class SandboxPolicy(StrEnum):
    """Whether code is refused if no sandbox is available, or runs with the permissions of the lab."""

    REQUIRED = "required"
    UNSAFE = "unsafe"


@functools.cache
def available() -> str | None:
    """Return why no sandbox is available on this machine, or None if one is."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    try:
        with system_call_filter() as filter_:
            probe = Confinement().command(["true"], {}, filter_)
            done = subprocess.run(
                probe, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False, pass_fds=[filter_]
            )
    except ValueError as fault:
        return f"system calls cannot be filtered: {fault}"
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"bubblewrap does not start: {fault}"
    if done.returncode != 0:
        return f"bubblewrap is not permitted here: {done.stderr.strip()}"
    return None


def namespaces_remedy() -> str | None:
    """Return what lets bubblewrap make namespaces where AppArmor keeps it from that, as on Ubuntu since 24.04."""
    if shutil.which("bwrap") is None or available() is None:
        return None
    try:
        is_restricted = RESTRICTS_NAMESPACES.read_text().strip() == "1"
    except OSError:
        return None
    return f"AppArmor lets only programs with a profile make namespaces: {PROFILE_COMMAND}" if is_restricted else None


def require_sandbox(policy: SandboxPolicy, what: str) -> None:
    """Raise `EnvironmentMissing` if the policy requires a sandbox and none is available."""
    reason = available()
    if reason is not None and policy is SandboxPolicy.REQUIRED:
        remedy = namespaces_remedy() or "apt-get install bubblewrap"
        raise EnvironmentMissing(
            f"{what} needs a sandbox: {reason}",
            hint=f"{remedy}; or, for code that you trust with your permissions, `--unsafe-no-sandbox`",
        )


@functools.cache
def _sizes_scratch() -> bool:
    """Whether bubblewrap can limit the size of a temporary file system, as since version 0.7."""
    done = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    return "--size" in done.stdout


@dataclass(frozen=True)
class Network:
    """A network that several processes share: that of the process `holder`, or the machine's if it is None."""

    holder: int | None = None

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the command line that runs `arguments` in the network."""
        if self.holder is None:
            return list(arguments)
        namespaces = [f"--net=/proc/{self.holder}/ns/net"]
        if os.geteuid() != 0:
            # Entering a network requires membership in the user namespace that owns it.
            namespaces = [f"--user=/proc/{self.holder}/ns/user", "--preserve-credentials", *namespaces]
        return ["nsenter", *namespaces, "--", *arguments]


@dataclass(frozen=True)
class Confinement:
    """A sandbox: the system read-only, the given paths at their usual places, no network, no other processes visible.

    System calls that code under test has no use for are refused. Paths are the same inside and outside, so that a
    process works the same without a sandbox. `network` is shared with other processes, for servers that are reached
    over the loopback; without it the process has a private loopback, which others can enter if `holds_network`.
    `listening` is the descriptor of a listening socket of another network, which the process inherits under this
    number: it can then accept connections, of that socket or others, and open none. `limits` apply without a sandbox,
    too; `policy` decides whether the process may run without one. `placed` are files that are shown at other places, by
    these places.
    """

    writable: Sequence[Path] = ()
    read_only: Sequence[Path] = ()
    directory: Path = Path("/")
    network: Network | None = None
    holds_network: bool = False
    listening: int | None = None
    limits: Limits = NO_LIMITS
    policy: SandboxPolicy = SandboxPolicy.UNSAFE
    placed: Mapping[Path, Path] = field(default_factory=dict)

    def command(self, arguments: Sequence[str], environment: Mapping[str, str], filter_: int) -> list[str]:
        """Return the command line that runs `arguments` inside, with only `environment` set.

        `filter_` is a descriptor of `system_call_filter`, which the process that runs the command inherits.
        """
        view = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        if self.network is not None:
            view += ["--share-net"]
        if self.holds_network:
            # A process that enters the user namespace needs a user that is mapped there, which bubblewrap maps to root.
            view += ["--unshare-user-try", "--uid", "0", "--gid", "0"]
        # As root, bubblewrap would keep all capabilities, which would let it leave the sandbox.
        view += ["--cap-drop", "ALL", "--seccomp", str(filter_)]
        scratch = self.limits.scratch_bytes
        size = [] if scratch is None or not _sizes_scratch() else ["--size", str(scratch)]
        view += ["--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", "/dev/shm", *size, "--tmpfs", "/tmp"]
        view += ["--hostname", "zerolap"]
        for path in SYSTEM_DIRECTORIES + SYSTEM_FILES:
            view += ["--ro-bind-try", path, path]
        for link in SYSTEM_LINKS:
            if Path(link).is_symlink():
                view += ["--symlink", str(Path(link).readlink()), link]
            else:
                view += ["--ro-bind-try", link, link]
        for path_ in self.read_only:
            view += ["--ro-bind", str(path_), str(path_)]
        for place, path_ in self.placed.items():
            view += ["--ro-bind", str(path_), str(place)]
        for path_ in self.writable:
            view += ["--bind", str(path_), str(path_)]
        # The kernel's settings below /proc/sys are writable for root, also without any capability.
        view += ["--remount-ro", "/proc"]
        # These are temporary file systems too, without a limit on their size.
        view += ["--remount-ro", "/dev", "--remount-ro", "/"]
        view += ["--chdir", str(self.directory)]
        for name, value in environment.items():
            view += ["--setenv", name, value]
        return [*view, "--", *arguments]


def tied_command(arguments: Sequence[str], *, is_confined: bool = False) -> list[str]:
    """Return the command line whose process is killed when the lab ends, where `setpriv` is at hand.

    If the lab ends before the kernel has recorded that, the process has another parent when it looks, and ends itself.
    When memory runs out, the kernel kills a process that `is_confined` first, even if the lab itself is protected:
    otherwise the process would inherit that protection.
    """
    setpriv = shutil.which("setpriv")
    raises = "{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null; " if is_confined else ""
    if setpriv is None:
        return ["/bin/sh", "-c", f'{raises}exec "$@"', "sh", *arguments] if is_confined else list(arguments)
    looks = ["/bin/sh", "-c", f'test "$PPID" = "$0" || exit 1; {raises}exec "$@"', str(os.getpid())]
    return [setpriv, "--pdeathsig", "KILL", "--", *looks, *arguments]


def open_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line without a sandbox: killed with its parent, also where credentials change before it."""
    setpriv = shutil.which("setpriv")
    return list(arguments) if setpriv is None else [setpriv, "--pdeathsig", "KILL", "--", *arguments]
