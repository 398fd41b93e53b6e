"""Clones of the demo's repository with edits of its release as commits."""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import zerolap
from benches.comparing import DEMO_REPOSITORY, ClockedComparison
from benches.truth.harmless import Edit
from benches.truth.samples import Unavailable
from zerolap import Options
from zerolap.records import Case

RELEASE = "HEAD~1"
"""In the demo's repository."""
IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false")
DATE = "2024-01-10T09:00:00+00:00"
"""Of all commits: the same edit is the same commit."""


@dataclass(frozen=True)
class Edited:
    """A clone whose last commits are edits of the release, one each."""

    repository: Path
    base: str = "HEAD~1"
    head: str = "HEAD"

    @classmethod
    def demo(cls) -> "Edited":
        """Return the demo's repository as it is; raises `Unavailable` without it."""
        if not DEMO_REPOSITORY.exists():
            raise Unavailable("the demo's repository is not there; hint: make demo")
        return cls(DEMO_REPOSITORY)

    @classmethod
    def make(cls, repository: Path, *edits: Edit) -> "Edited":
        """Clone, edit and commit; raises `Unavailable` without the demo's repository."""
        demo = cls.demo().repository
        shutil.rmtree(repository, ignore_errors=True)
        repository.parent.mkdir(parents=True, exist_ok=True)
        _git("clone", "--quiet", str(demo), str(repository))
        _git("-C", str(repository), "checkout", "--quiet", RELEASE)
        for number, edit in enumerate(edits, 1):
            edit(repository / "src")
            _git(*IDENTITY, "-C", str(repository), "commit", "--quiet", "--all", "--message", f"Edit {number}")
        return cls(repository)

    def build(self, store: Path) -> None:
        """Build both commits unless they are there, so that the next comparison takes the time of measuring."""
        self.compare(Options(engines=["counted"], quick=True, seed=1), store, ["get-100B"])

    def compare(self, options: Options, store: Path, cases: Sequence[str | Case] = ()) -> ClockedComparison:
        """Compare the last commit with the one before it, by default over the core suite."""
        began = time.monotonic()
        document = zerolap.compare(self.base, self.head, cases, repo=self.repository, options=options, store=store)
        return ClockedComparison(document, time.monotonic() - began)


def directory_name(text: str) -> str:
    """Return a text as the name of a directory."""
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def _git(*arguments: str) -> None:
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    subprocess.run(["git", *arguments], check=True, env=os.environ | dates)
