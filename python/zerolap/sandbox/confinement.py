"""The view of the machine that a confined process gets."""

import functools
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Confinement:
    """A sandbox: the system read-only, the given paths at their own places, no network, no other process in sight.

    Paths are the same inside and outside, so that one without a sandbox works alike. `network` gives the machine's
    network, all of it, to what has to listen on the loopback: only for topologies that cannot do without.
    """

    writable: Sequence[Path] = ()
    read_only: Sequence[Path] = ()
    directory: Path = Path("/")
    network: bool = False

    def command(self, arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """Return the command line that runs `arguments` inside, with only `environment` set."""
        view = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        if self.network:
            view += ["--share-net"]
        # As root bubblewrap keeps all capabilities otherwise, and with them the means to leave.
        view += ["--cap-drop", "ALL"]
        view += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--hostname", "zerolap"]
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
        view += ["--chdir", str(self.directory)]
        for name, value in environment.items():
            view += ["--setenv", name, value]
        return [*view, "--", *arguments]


def open_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line without a sandbox: still gone when the lab is gone, where `setpriv` is at hand."""
    setpriv = shutil.which("setpriv")
    return list(arguments) if setpriv is None else [setpriv, "--pdeathsig", "KILL", "--", *arguments]
