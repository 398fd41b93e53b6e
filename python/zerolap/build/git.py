"""Runs git with bounds, and with the lab's settings alone.

A repository may be hostile, and made to use up time, memory or disk space. Settings of this machine must not change the
output of git: only those that it needs to reach repositories, such as credentials, are kept. Programs that the
configuration of a repository names are not run.
"""

import contextlib
import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from zerolap.records import EnvironmentMissing
from zerolap.sandbox import Limits, Process, launch, remove_abandoned, scratch_directory

PREFIX: Final = "zerolap-git-"
SECONDS: Final = 60.0
MOST_OUTPUT_BYTES: Final = 32 << 20
MOST_SHOWN_BYTES: Final = 65536
MOST_SETTINGS_BYTES: Final = 1 << 20
MOST_SETTINGS: Final = 500
FAULTS: Final = ("fatal: ", "error: ")
LIMITS: Final = Limits(memory_bytes=4 << 30, disk_bytes=16 << 30)
"""Of each process of git: the files that it maps do not count as memory; a pack is one file."""
KEPT_SETTINGS: Final = re.compile(
    r"safe\.directory|credential\..+|url\..+\.insteadof"
    r"|http\.(.+\.)?(proxy\w*|ssl\w*|extraheader|cookiefile|emptyauth|delegation|pinnedpubkey)"
)
"""Settings of the user and the machine that git needs to reach repositories."""
GIVEN_SETTING: Final = re.compile(r"GIT_CONFIG_(COUNT|KEY_[0-9]{1,4}|VALUE_[0-9]{1,4})")
"""Variables of settings that the environment gives to git, as that of a CI job does; the same ones are kept."""
OWN_SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    # Larger files are neither held in memory nor compared by lines.
    "core.bigFileThreshold=32m",
    # A name that stands for several commits is refused by this warning.
    "core.warnAmbiguousRefs=true",
    "gc.auto=0",
    "maintenance.auto=false",
)
OWN_OPTIONS: Final = ("--no-pager", *(word for setting in OWN_SETTINGS for word in ("-c", setting)))
OWN_VARIABLES: Final = {
    "TZ": "UTC",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    # The id of an object is that of its content.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # No user is present to enter a password.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
}


class GitStopped(EnvironmentMissing):
    """Git took too long, or wrote too much."""


@dataclass(frozen=True)
class GitEnded:
    """How git has ended: its exit code, all that it wrote to its output, and the beginning of its errors."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        """The output as text, without blanks at its ends."""
        return self.output.decode(errors="replace").strip()

    @property
    def fault(self) -> str:
        """The line of the errors that states what went wrong, without git's own prefix."""
        return fault_in(self.errors) or f"git ended with {self.code}"


def read_git(arguments: Sequence[str], most_bytes: int = MOST_OUTPUT_BYTES, seconds: float = SECONDS) -> GitEnded:
    """Run git to its end.

    It belongs to the current `Cancellation`. Raises `GitStopped` where its output has more than `most_bytes`, or where
    it takes more than `seconds`; `EnvironmentMissing` without git, `Interrupted` once the owner is cancelled.
    """
    with _scratch() as scratch, running_git(arguments, seconds, scratch / "errors") as (git, stream):
        output = stream.read(most_bytes + 1)
        if len(output) > most_bytes:
            raise GitStopped(f"the output of git has more than {most_bytes >> 20:,} MiB")
        return GitEnded(git.wait(), output, beginning_of(scratch / "errors"))


def run_git(repository: Path, *arguments: str) -> GitEnded:
    """Run git in a repository, with the usual bounds; raises as `read_git` does."""
    return read_git(["-C", str(repository), *arguments])


def read_beginning(arguments: Sequence[str], most_bytes: int) -> bytes:
    """Return the beginning of what git writes, which may be any amount; raises as `read_git` does."""
    with _scratch() as scratch, running_git(arguments, SECONDS, scratch / "errors") as (_, stream):
        return stream.read(most_bytes)


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    remove_abandoned(PREFIX)
    with scratch_directory(PREFIX) as scratch:
        yield scratch


@contextlib.contextmanager
def running_git(
    arguments: Sequence[str], seconds: float, errors: Path, *, feeding: bool = False
) -> Iterator[tuple[Process, IO[bytes]]]:
    """Run git, with its output as a stream; it is killed, with all that it started, at the end of the context.

    Its errors are written to the file `errors`. Its input is empty unless `feeding`. Where it takes more than
    `seconds`, its output ends early, and the end of the context raises `GitStopped`.
    """
    if shutil.which("git") is None:
        raise EnvironmentMissing("git is not installed", hint="apt-get install git")
    environment = git_environment() | kept_settings()
    command = [*LIMITS.rlimits(memory=True, processes=False), "git", *OWN_OPTIONS, *arguments]
    is_late = threading.Event()
    with launch(command, environment=environment, output=errors, piped=True) as process:

        def stop() -> None:
            is_late.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise ValueError("the streams of git are no pipes")
            if not feeding:
                process.stdin.close()
            yield process, process.stdout
        finally:
            timer.cancel()
            if is_late.is_set():
                # It replaces any error that the incomplete output led to.
                raise GitStopped(f"git did not end in {seconds:g} s")


def git_environment() -> dict[str, str]:
    """Return the environment for git, without variables of a hook or CI job that name another repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | OWN_VARIABLES


def kept_settings() -> dict[str, str]:
    """Return the variables that give git the settings of this user and machine which it needs to reach repositories.

    They are read each time: the lab may run for months. Raises `EnvironmentMissing` where git cannot read them.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or GIVEN_SETTING.fullmatch(name)
    }
    # In a directory that belongs to no repository.
    command = ["git", "-C", "/", "config", "--list", "--includes", "--null"]
    with launch(command, environment=environment, piped=True) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.daemon = True
        timer.start()
        try:
            listed = b"" if process.stdout is None else process.stdout.read(MOST_SETTINGS_BYTES)
            if process.wait(SECONDS) != 0:
                raise EnvironmentMissing("git cannot read its settings", hint="`git config --list` shows what is wrong")
        finally:
            timer.cancel()
    pairs = [setting.partition("\n")[::2] for setting in listed.decode(errors="surrogateescape").split("\0")[:-1]]
    kept = [(name, value) for name, value in pairs if KEPT_SETTINGS.fullmatch(name)][:MOST_SETTINGS]
    variables = {"GIT_CONFIG_COUNT": str(len(kept))}
    for number, (name, value) in enumerate(kept):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def fault_in(errors: str) -> str:
    """Return the line of git's errors that states what went wrong, without its prefix; empty where there is none."""
    lines = [line for line in errors.splitlines() if line.strip()] or [""]
    wrong = next((line for line in reversed(lines) if line.startswith(FAULTS)), lines[-1])
    return wrong.removeprefix(FAULTS[0]).removeprefix(FAULTS[1])


def beginning_of(errors: Path) -> str:
    """Return the beginning of what was written to a file of errors."""
    with errors.open("rb") as file:
        return file.read(MOST_SHOWN_BYTES).decode(errors="replace")
