"""Reads files of the kernel and output of programs, without hanging or raising."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")


def read_text(path: str, root: Path = ROOT) -> str | None:
    """Return the stripped text of a file below `root`, or None if it cannot be read."""
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def read_number(path: str, root: Path = ROOT) -> int | None:
    """Return the whole number in a file below `root`, or None if there is none."""
    text = read_text(path, root)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def read_fields(path: str, root: Path = ROOT) -> dict[str, str]:
    """Return the fields `name: value` of a file below `root`, each as it occurs first; none if it cannot be read."""
    lines = (line.partition(":") for line in reversed((read_text(path, root) or "").splitlines()))
    return {name.strip(): value.strip() for name, _, value in lines}


def chosen(text: str) -> str:
    """Return the word in brackets of a line such as `always [madvise] never`, or the whole line."""
    return text.partition("[")[2].partition("]")[0] or text


def cpu_list(text: str) -> tuple[int, ...]:
    """Return the numbers of a list such as `0-3,8`; raises `ValueError` for anything else."""
    numbers: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(numbers))


@dataclass(frozen=True)
class ProgramOutcome:
    """Exit status and output of a program; `status` is None if it was stopped for taking too long."""

    status: int | None
    output: str
    errors: str

    @property
    def succeeded(self) -> bool:
        """Whether the program ended in time with status 0."""
        return self.status == 0


def failure_of(command: list[str], seconds: float = 5.0) -> str | None:
    """Return why a program fails, by the last line of standard error or else of standard output; none if it does not.

    It is stopped after that many seconds.
    """
    outcome = run(command, seconds)
    if outcome is None:
        return f"`{command[0]}` does not start: it is not installed"
    if outcome.status is None:
        return "it did not end in time"
    lines = (outcome.errors.strip() or outcome.output.strip()).splitlines()
    return None if outcome.succeeded else lines[-1] if lines else f"status {outcome.status}"


def run(command: list[str], seconds: float = 5.0) -> ProgramOutcome | None:
    """Run a program for at most that many seconds; None if there is no such program."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ProgramOutcome(status=None, output="", errors="")
    except OSError as fault:
        return ProgramOutcome(status=126, output="", errors=str(fault))
    return ProgramOutcome(status=done.returncode, output=done.stdout, errors=done.stderr)
