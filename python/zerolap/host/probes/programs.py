"""Programs that build and serve."""

import os
import platform
import re
import sys

from zerolap.host.diagnosis import Diagnosis, fine, missing
from zerolap.host.readings import run


def version_of(command: list[str]) -> str | None:
    """Return the version that a program tells of itself; None where there is none or it does not start."""
    outcome = run([*command, "--version"])
    if outcome is None or not outcome.succeeded:
        return None
    found = re.search(r"\d+(\.\d+)+", outcome.output or outcome.errors)
    return found.group() if found else "version unknown"


def installs(package: str) -> str:
    """Return the command that installs a Debian package."""
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install {package}"


def python() -> Diagnosis:
    """The interpreter that runs this."""
    return fine("python", f"{platform.python_version()} at {sys.executable}")


def redis_server() -> Diagnosis:
    """The server that is measured when none is named."""
    version = version_of(["redis-server"])
    if version is None:
        return missing(
            "redis-server",
            "not found",
            "`zerolap run` needs --server, for there is no default to measure",
            installs("redis-server"),
        )
    return fine("redis-server", version)


def git() -> Diagnosis:
    """What gets revisions."""
    version = version_of(["git"])
    if version is None:
        return missing("git", "not found", "no comparison of commits, no bisection", installs("git"))
    return fine("git", version)


def compiler() -> Diagnosis:
    """What builds servers from source."""
    for program in ("gcc", "clang", "cc"):
        version = version_of([program])
        if version is not None:
            return fine("compiler", f"{program} {version}")
    return missing("compiler", "not found", "no server can be built; binaries work", installs("gcc libc6-dev"))


def make() -> Diagnosis:
    """What drives the builds of servers."""
    version = version_of(["make"])
    if version is None:
        return missing("make", "not found", "no server can be built; binaries work", installs("make"))
    return fine("make", version)
