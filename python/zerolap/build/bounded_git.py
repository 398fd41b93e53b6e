"""Git with bounds: a repository may be hostile, and made to take all the time, memory or disk space that there is."""

import contextlib
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from zerolap.records import EnvironmentMissing
from zerolap.sandbox import Process, launch, remove_abandoned, scratch_directory

PREFIX: Final = "zerolap-git-"
MOST_SHOWN_BYTES: Final = 65536
WITHOUT_PROGRAMS: Final = ("-c", "core.fsmonitor=false", "--no-pager")
"""Options with which git starts no other programs, such as file system monitors and pagers."""


class GitStopped(Exception):
    """Git took too long, or wrote too much; the text is the reason."""


@dataclass(frozen=True)
class GitEnded:
    """How git has ended: its exit code, all that it wrote to its output, and the beginning of its errors."""

    code: int
    output: bytes
    errors: str


def read_git(
    arguments: Sequence[str], most_bytes: int, seconds: float, environment: dict[str, str] | None = None
) -> GitEnded:
    """Run git to its end.

    It belongs to the current `Cancellation`. Raises `GitStopped` where its output has more than `most_bytes`, or where
    it takes more than `seconds`; `EnvironmentMissing` without git, `Interrupted` once the owner is cancelled.
    """
    remove_abandoned(PREFIX)
    with (
        scratch_directory(PREFIX) as scratch,
        running_git(arguments, seconds, scratch / "errors", environment) as (git, stream),
    ):
        output = stream.read(most_bytes + 1)
        if len(output) > most_bytes:
            raise GitStopped(f"the output of git has more than {most_bytes >> 20:,} MiB")
        return GitEnded(git.wait(), output, beginning_of(scratch / "errors"))


@contextlib.contextmanager
def running_git(
    arguments: Sequence[str], seconds: float, errors: Path, environment: dict[str, str] | None = None
) -> Iterator[tuple[Process, IO[bytes]]]:
    """Run git, with its output as a stream; it is killed at the end of the context.

    Its errors are written to the file `errors`. Where it takes more than `seconds`, its output ends early, and the end
    of the context raises `GitStopped`.
    """
    if shutil.which("git") is None:
        raise EnvironmentMissing("git is not installed", hint="apt-get install git")
    is_late = threading.Event()
    variables = git_environment() if environment is None else environment
    with launch(["git", *arguments], environment=variables, output=errors, piped=True) as process:

        def stop() -> None:
            is_late.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise ValueError("the streams of git are no pipes")
            process.stdin.close()
            yield process, process.stdout
        finally:
            timer.cancel()
        if is_late.is_set():
            raise GitStopped(f"git did not end in {seconds:g} s")


def git_environment() -> dict[str, str]:
    """Return the variables for git: in a hook or a CI job others would direct it to another repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"TZ": "UTC"}


def beginning_of(errors: Path) -> str:
    """Return the beginning of what was written to a file of errors."""
    with errors.open("rb") as file:
        return file.read(MOST_SHOWN_BYTES).decode(errors="replace")
