"""The samples behind figures: what they were measured with, and the file that keeps them between runs."""

import fcntl
import functools
import hashlib
import json
import lzma
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from zerolap.engines import counted, timed
from zerolap.host import fingerprint

SCHEMA = "zerolap.truth/1"
SOURCE = Path(__file__).resolve().parents[2]
KEPT = SOURCE / "benches" / "samples"
"""The files of earlier runs, compressed."""
MEASURING_PACKAGES = ("records", "cases", "sandbox", "host", "build", "server", "load", "engines", "judge", "lab")
"""What plans, measures and judges a comparison. Other packages show or carry results, and leave them as they are."""
DIGITS = 16
TRIES = 3

Data: TypeAlias = Mapping[str, Any]
"""What was measured, as JSON."""


class Unavailable(Exception):
    """This machine, or what is set up on it, does not allow a measurement; the text is the reason."""


@dataclass(frozen=True)
class PlannedSample:
    """A measurement that is planned; `key` is unique in its experiment. `measure` takes a seed."""

    key: str
    measure: Callable[[int], Data]


@dataclass(frozen=True)
class Experiment:
    """Measurements of one kind, from whose samples one or more figures are computed.

    `sources` are the files beside this one that state what is measured; `version` is raised when that is done in
    another way. `plan` returns all that is wanted, in order; it gets a directory, which is kept until the code changes.
    It may raise `Unavailable`. A sample that `is_usable` refuses is kept, and measured again in the next run, up to
    `TRIES` times in all.
    """

    name: str
    version: int
    sources: Sequence[str]
    plan: Callable[[Path], Sequence[PlannedSample]]
    is_usable: Callable[[Data], bool] = lambda _: True

    def has_measured(self, planned: PlannedSample, samples: Iterable["Sample"]) -> bool:
        """Return whether there is a usable sample of what is planned, or as many as are tried."""
        measured = [sample.data for sample in samples if sample.key == planned.key]
        return len(measured) >= TRIES or any(map(self.is_usable, measured))

    @cached_property
    def code(self) -> str:
        """The digest of all that decides what a sample is, as it was first; different digests are not mixed."""
        here = Path(__file__).resolve().parent
        return code_digest([here / name for name in self.sources], f"{self.name} {self.version} {measuring_digest()}")


@dataclass(frozen=True)
class Sample:
    """One measurement with its circumstances.

    `host` is the fingerprint of the machine, `code` the digest of the code that measured, `methods` the versions of the
    engines' methods.
    """

    experiment: str
    key: str
    seed: int
    host: str
    code: str
    methods: Mapping[str, int]
    began: str
    seconds: float
    data: Data


@dataclass
class Run:
    """One go of the bench: when, for which figures, with what time limit, and why it ended."""

    began: str
    figures: list[str]
    limit_seconds: float | None
    ended: str = ""
    stopped_by: str = "killed"
    trials: int = 0
    failures: list[str] = field(default_factory=list)


class SampleFile:
    """A file of samples, figures and runs; every change replaces the file at once, and leaves all else in it.

    A compressed one can be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.samples: list[Sample] = []
        self.figures: dict[str, dict[str, Any]] = {}
        self.hosts: dict[str, dict[str, Any]] = {}
        self.runs: list[Run] = []
        if path.exists():
            content = path.read_bytes()
            document = json.loads(lzma.decompress(content) if path.suffix == ".xz" else content)
            # Older files hold figures without samples that could be continued.
            if document.get("schema") == SCHEMA:
                self.samples = [Sample(**sample) for sample in document["samples"]]
                self.figures = document["figures"]
                self.hosts = document["hosts"]
                self.runs = [Run(**run) for run in document["runs"]]

    def of(self, experiment: Experiment, host: str, *, any_code: bool = False) -> list[Sample]:
        """Return the samples of an experiment that were measured on a host with the code as it is, or with any."""
        code = experiment.code
        return [
            sample
            for sample in self.samples
            if sample.experiment == experiment.name and sample.host == host and (any_code or sample.code == code)
        ]

    def count(self, experiment: Experiment) -> int:
        """Return the number of all samples of an experiment, whatever they were measured with."""
        return sum(sample.experiment == experiment.name for sample in self.samples)

    def add(self, sample: Sample) -> None:
        """Add a sample and write the file."""
        self.samples.append(sample)
        self.write()

    def write(self) -> None:
        """Write the file; who reads it meanwhile sees the old or the new content."""
        document = {
            "schema": SCHEMA,
            "hosts": self.hosts,
            "figures": self.figures,
            "runs": [asdict(run) for run in self.runs],
            "samples": [asdict(sample) for sample in self.samples],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".new")
        with beside.open("w") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock beside a file; raises `BlockingIOError` where another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def this_host() -> tuple[str, dict[str, Any]]:
    """Return the fingerprint of this machine, and all that is known of it."""
    platform = fingerprint()
    return platform.fingerprint, platform.model_dump()


def methods() -> dict[str, int]:
    """Return the versions of the engines' methods."""
    return {"counted": counted.METHOD, "timed": timed.METHOD}


def seed_of(experiment: str, key: str, tries: int = 0) -> int:
    """Return the seed of a sample after so many tries: another one for each, the same on every machine."""
    return int(hashlib.sha256(f"{experiment} {key} {tries}".encode()).hexdigest()[:8], 16)


@functools.cache
def measuring_digest() -> str:
    """Return the digest of all that measures and judges, with the cases and the locked versions of crates."""
    packages = [SOURCE / "python" / "zerolap" / name for name in MEASURING_PACKAGES]
    python = [file for package in packages for kind in ("*.py", "*.yml") for file in package.rglob(kind)]
    rust = [file for crate in (SOURCE / "crates").glob("*/src") for file in crate.rglob("*.rs")]
    return code_digest([*python, *rust, SOURCE / "Cargo.lock"])


def code_digest(files: Iterable[Path], beside: str = "") -> str:
    """Return a digest of files by name and content, and of what is to be known beside them."""
    digest = hashlib.sha256(beside.encode())
    for file in sorted(files):
        content = file.read_bytes() if file.exists() else b""
        digest.update(f"\n{file.relative_to(SOURCE)} {hashlib.sha256(content).hexdigest()}".encode())
    return digest.hexdigest()[:DIGITS]


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
