"""Programs that build and serve: whether they are installed, and whether they work on this machine."""

import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zerolap.host.diagnosis import Diagnosis, fine, missing
from zerolap.host.system_files import failure_of, run


def version_of(command: list[str]) -> str | None:
    """Return the version that a program reports; None if the program does not exist or does not start."""
    outcome = run([*command, "--version"])
    if outcome is None or not outcome.succeeded:
        return None
    version = re.search(r"\d+(\.\d+)+", outcome.output or outcome.errors)
    return version.group() if version else "version unknown"


def installs(package: str) -> str:
    """Return the command that installs a Debian package."""
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install {package}"


@dataclass(frozen=True)
class ProgramProbe:
    """Whether a program is installed and, where there is a `trial`, whether this command succeeds in some seconds.

    `cost` is what measuring lacks without the program, `package` what installs it, `remedy` what helps it to succeed.
    """

    subject: str
    program: str
    package: str
    cost: str
    trial: Sequence[str] = ()
    remedy: str = ""
    seconds: float = 5.0

    def __call__(self) -> Diagnosis:
        """Return the diagnosis."""
        version = version_of([self.program])
        if version is None:
            return missing(self.subject, "not found", self.cost, installs(self.package))
        failure = failure_of([*self.trial], self.seconds) if self.trial else None
        if failure is not None:
            return missing(self.subject, f"{version}, but: {failure}", self.cost, self.remedy)
        return fine(self.subject, version)


_NO_BUILDS: Final = "no server can be built; binaries work"
redis_server = ProgramProbe(
    "redis-server", "redis-server", "redis-server", "`zerolap run` needs --server, as its default does not exist"
)
git = ProgramProbe("git", "git", "git", "no comparison of commits, no bisection")
make = ProgramProbe("make", "make", "make", _NO_BUILDS)
ccache = ProgramProbe(
    "ccache", "ccache", "ccache", "a change's build compiles all files again, also those that its base has alike"
)
emulator = ProgramProbe(
    "qemu",
    "qemu-system-x86_64",
    "qemu-system-x86 flex bison bc libelf-dev",
    "no kernels as variants: `zerolap snapshot --kernel`",
)


def python() -> Diagnosis:
    """The running Python interpreter."""
    return fine("python", f"{platform.python_version()} at {sys.executable}")


def compiler() -> Diagnosis:
    """Whether there is a compiler for servers."""
    for program in ("gcc", "clang", "cc"):
        version = version_of([program])
        if version is not None:
            return fine("compiler", f"{program} {version}")
    return missing("compiler", "not found", _NO_BUILDS, installs("gcc libc6-dev"))
