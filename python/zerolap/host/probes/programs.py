"""Programs that build and serve."""

import os
import platform
import re
import sys

from zerolap.host.diagnosis import Diagnosis, fine, missing
from zerolap.host.system_files import run


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


def python() -> Diagnosis:
    """The running Python interpreter."""
    return fine("python", f"{platform.python_version()} at {sys.executable}")


def redis_server() -> Diagnosis:
    """Whether the default server is installed."""
    version = version_of(["redis-server"])
    if version is None:
        return missing(
            "redis-server",
            "not found",
            "`zerolap run` needs --server, as its default does not exist",
            installs("redis-server"),
        )
    return fine("redis-server", version)


def git() -> Diagnosis:
    """Whether git is installed, which provides revisions."""
    version = version_of(["git"])
    if version is None:
        return missing("git", "not found", "no comparison of commits, no bisection", installs("git"))
    return fine("git", version)


def compiler() -> Diagnosis:
    """Whether there is a compiler for servers."""
    for program in ("gcc", "clang", "cc"):
        version = version_of([program])
        if version is not None:
            return fine("compiler", f"{program} {version}")
    return missing("compiler", "not found", "no server can be built; binaries work", installs("gcc libc6-dev"))


def make() -> Diagnosis:
    """Whether make is installed, which builds servers."""
    version = version_of(["make"])
    if version is None:
        return missing("make", "not found", "no server can be built; binaries work", installs("make"))
    return fine("make", version)


def ccache() -> Diagnosis:
    """Whether there is a cache of compiled objects."""
    version = version_of(["ccache"])
    if version is None:
        cost = "a change's build compiles all files again, also those that its base has alike"
        return missing("ccache", "not found", cost, installs("ccache"))
    return fine("ccache", version)


def emulator() -> Diagnosis:
    """Whether there is an emulator of machines, in which kernels are variants."""
    version = version_of(["qemu-system-x86_64"])
    if version is None:
        cost = "no kernels as variants: `zerolap snapshot --kernel`"
        return missing("qemu", "not found", cost, installs("qemu-system-x86 flex bison bc libelf-dev"))
    return fine("qemu", version)
