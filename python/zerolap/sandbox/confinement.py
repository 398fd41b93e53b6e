"""The view of the machine that a confined process gets."""

import functools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from zerolap.records import EnvironmentMissing
from zerolap.sandbox.limits import NO_LIMITS, Limits

SYSTEM_DIRECTORIES = ("/usr", "/opt", "/nix")
SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
# Of /etc only what the dynamic linker, compilers and name look-ups read: it also holds secrets.
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


class SandboxPolicy(StrEnum):
    """What is done where no sandbox can be had: code is refused, or runs with the rights of the lab."""

    REQUIRED = "required"
    UNSAFE = "unsafe"


@functools.cache
def available() -> str | None:
    """Return why no sandbox can be had here, or none if it can."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    probe = Confinement().command(["true"], {})
    try:
        done = subprocess.run(probe, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"bubblewrap does not start: {fault}"
    if done.returncode != 0:
        return f"bubblewrap is not permitted here: {done.stderr.strip()}"
    return None


def require_sandbox(policy: SandboxPolicy, what: str) -> None:
    """Raise `EnvironmentMissing` if code is to run in a sandbox only, and none can be had."""
    reason = available()
    if reason is not None and policy is SandboxPolicy.REQUIRED:
        raise EnvironmentMissing(
            f"{what} needs a sandbox: {reason}",
            hint="apt-get install bubblewrap, or, for code that you trust with your rights, `--unsafe-no-sandbox`",
        )


@functools.cache
def _sizes_scratch() -> bool:
    """Whether this bubblewrap can limit the size of a temporary file system, as 0.7 and later can."""
    done = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    return "--size" in done.stdout


@dataclass(frozen=True)
class Network:
    """A network that several processes share: that of the process `holder`, or the machine's if there is none."""

    holder: int | None = None

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the command line that runs `arguments` in the network."""
        if self.holder is None:
            return list(arguments)
        namespaces = [f"--net=/proc/{self.holder}/ns/net"]
        if os.geteuid() != 0:
            # Only who belongs to the user namespace that a network belongs to may enter it.
            namespaces = [f"--user=/proc/{self.holder}/ns/user", "--preserve-credentials", *namespaces]
        return ["nsenter", *namespaces, "--", *arguments]


@dataclass(frozen=True)
class Confinement:
    """A sandbox: the system read-only, the given paths at their own places, no network, no other process in sight.

    Paths are the same inside and outside, so that one without a sandbox works alike. `network` is what the process
    shares with others, for servers that have to be reached over the loopback; without one it has a loopback of its own.
    With `holds_network` its own loopback is one that others can enter. `limits` hold without a sandbox too; `policy`
    decides whether the process may run without one.
    """

    writable: Sequence[Path] = ()
    read_only: Sequence[Path] = ()
    directory: Path = Path("/")
    network: Network | None = None
    holds_network: bool = False
    limits: Limits = NO_LIMITS
    policy: SandboxPolicy = SandboxPolicy.UNSAFE

    def command(self, arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """Return the command line that runs `arguments` inside, with only `environment` set."""
        view = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        if self.network is not None:
            view += ["--share-net"]
        if self.holds_network:
            # Who enters its user namespace has to be somebody there whom bubblewrap takes for root.
            view += ["--unshare-user-try", "--uid", "0", "--gid", "0"]
        # As root bubblewrap keeps all capabilities otherwise, and with them the means to leave.
        view += ["--cap-drop", "ALL"]
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
        for path_ in self.writable:
            view += ["--bind", str(path_), str(path_)]
        # These are temporary file systems too, whose size nothing limits.
        view += ["--remount-ro", "/dev", "--remount-ro", "/"]
        view += ["--chdir", str(self.directory)]
        for name, value in environment.items():
            view += ["--setenv", name, value]
        return [*view, "--", *arguments]


def tied_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line whose process is killed when the lab ends, where `setpriv` is at hand.

    If the lab ends before the kernel knows of the tie, the process has another parent when it looks, and ends itself.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return list(arguments)
    looks = ["/bin/sh", "-c", 'test "$PPID" = "$0" || exit 1; exec "$@"', str(os.getpid())]
    return [setpriv, "--pdeathsig", "KILL", "--", *looks, *arguments]


def open_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line without a sandbox: killed with its parent, also where credentials change before it."""
    setpriv = shutil.which("setpriv")
    return list(arguments) if setpriv is None else [setpriv, "--pdeathsig", "KILL", "--", *arguments]
