"""What builds cost beside the server's own make: `build_ratio_first` and `build_ratio_second`.

The first is a build from nothing against `make` from nothing. The second is the build of a commit that changes one file
of C, after its parent was built, against `make` after that file was changed in the tree of the parent. Both make the
same program with as many jobs, at turns with each other.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.comparing import DEMO_REPOSITORY
from benches.figures import DIRECTORY, Figure
from zerolap.build import Builder, resolve
from zerolap.build.recipe import recipe_for

SOURCE_VARIABLE = "ZEROLAP_BENCH_SOURCE"
"""Names a git repository of another server, which is built too."""
ROUNDS = 3
SEARCHED_COMMITS = 2000


@dataclass(frozen=True)
class ChangeOfOneFile:
    """A commit of a repository that changes one file of C beside the Makefile, and nothing else."""

    repository: Path
    commit: str
    file: str

    @classmethod
    def newest(cls, repository: Path) -> "ChangeOfOneFile":
        """Return the newest such commit; raises `ValueError` if there is none."""
        log = ("log", "--no-merges", "--no-renames", f"--max-count={SEARCHED_COMMITS}", "--format=%x00%H", "--raw")
        for listed in _git(repository, *log).decode().split("\0")[1:]:
            commit, *changes = [line for line in listed.splitlines() if line]
            status, _, file = changes[0].partition("\t") if len(changes) == 1 else ("", "", "")
            if status.endswith(" M") and Path(file).parent == Path("src") and file.endswith(".c"):
                return cls(repository, commit, file)
        raise ValueError(f"no commit of `{repository}` changes one file of C alone")

    @property
    def parent(self) -> str:
        """The revision before it."""
        return f"{self.commit}^"


@dataclass(frozen=True)
class BuildSeconds:
    """The seconds of one build from nothing and of one after a file was changed, both ways."""

    source: str
    own_first: float
    own_second: float
    first: float
    second: float


def build_ratios() -> dict[str, Figure]:
    """Build the demo's server, and that of the source in the environment, by their own make and by the lab."""
    named = os.environ.get(SOURCE_VARIABLE)
    repositories = [DEMO_REPOSITORY, *([Path(named)] if named else [])]
    changes = [ChangeOfOneFile.newest(repository) for repository in repositories]
    samples = [_timed(change, number) for number in range(ROUNDS) for change in changes]
    shortest = [_shortest([one for one in samples if one.source == str(change.repository)]) for change in changes]
    first = [of.first / of.own_first for of in shortest]
    second = [of.second / of.own_second for of in shortest]
    both = [(of.first + of.second) / (of.own_first + of.own_second) for of in shortest]
    notes = [
        f"{change.repository}, {change.file} of {change.commit[:12]}: first {of_first:.2f}, second {of_second:.2f}, "
        f"both {of_both:.2f}"
        for change, of_first, of_second, of_both in zip(changes, first, second, both, strict=True)
    ]
    unit = "of own make, most"
    raw = [asdict(sample) for sample in samples]
    return {
        "build_ratio_first": Figure(max(first), unit, raw, len(samples), notes=notes),
        "build_ratio_second": Figure(max(second), unit, raw, len(samples), notes=notes),
    }


def _shortest(samples: Sequence[BuildSeconds]) -> BuildSeconds:
    """Return the shortest time of each kind: what disturbs a build only makes it longer."""
    return BuildSeconds(
        samples[0].source,
        own_first=min(sample.own_first for sample in samples),
        own_second=min(sample.own_second for sample in samples),
        first=min(sample.first for sample in samples),
        second=min(sample.second for sample in samples),
    )


def _timed(change: ChangeOfOneFile, number: int) -> BuildSeconds:
    own: Callable[[ChangeOfOneFile, Path], tuple[float, float]] = _own_seconds
    seconds = {}
    for built in (own, _lab_seconds) if number % 2 == 0 else (_lab_seconds, own):
        directory = DIRECTORY / "truth" / "builds"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        seconds[built] = built(change, directory)
        shutil.rmtree(directory)
    sample = BuildSeconds(str(change.repository), *seconds[own], *seconds[_lab_seconds])
    print(sample, file=sys.stderr)
    return sample


def _own_seconds(change: ChangeOfOneFile, directory: Path) -> tuple[float, float]:
    archive = _git(change.repository, "archive", change.parent)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(directory, filter="tar")
    recipe = recipe_for("own", directory, os.cpu_count() or 1)
    first = _make_seconds(recipe.command, directory / recipe.directory)
    (directory / change.file).write_bytes(_git(change.repository, "show", f"{change.commit}:{change.file}"))
    return first, _make_seconds(recipe.command, directory / recipe.directory)


def _make_seconds(command: Sequence[str], directory: Path) -> float:
    began = time.monotonic()
    subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def _lab_seconds(change: ChangeOfOneFile, directory: Path) -> tuple[float, float]:
    builder, seconds, parent = Builder(directory), [], None
    for revision in (change.parent, change.commit):
        began = time.monotonic()
        built = builder.build(resolve(revision, change.repository), objects_of=parent)
        seconds.append(time.monotonic() - began)
        parent = built.record.build
        failure = builder.builds.relinking(parent).failure
        if failure:
            raise ValueError(f"the build of {revision} has no placements: {failure}")
    return seconds[0], seconds[1]


def _git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=True).stdout
