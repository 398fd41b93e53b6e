"""Old inefficiencies, put back into the release of Redis 7.0.15 or still in it, each with what must be detected."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "cases.yml"


@dataclass(frozen=True)
class Replacement:
    """A text of one file below `src` that occurs once, and what is put in its place."""

    file: str
    old: str
    new: str

    def apply(self, source: Path) -> None:
        """Edit the file; raises `ValueError` if the text does not occur exactly once."""
        path = source / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {text.count(self.old)} times: {self.old.strip().splitlines()[0]}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True)
class Planted:
    """An inefficiency: the edits that make the slow and the fixed tree of the release, and what must be detected.

    `slow` is empty where the release itself has it, `fixed` where the release does not. Any of `functions` is a right
    answer to where it is: the function that does too much, or the one that has it do so. `beside` are further cases,
    which send the same commands with data of other sizes.
    """

    case: str
    detector: str
    functions: frozenset[str]
    slow: tuple[Replacement, ...] = ()
    fixed: tuple[Replacement, ...] = ()
    beside: tuple[str, ...] = ()


def title(name: str) -> str:
    """Return in words what an inefficiency does."""
    text = importlib.import_module(f"{__name__}.{name}").__doc__ or name
    return text.partition("\n")[0].removesuffix(".")


def all_planted() -> Iterator[tuple[str, Planted]]:
    """Yield all by name."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        planted = importlib.import_module(f"{__name__}.{module.name}").PLANTED
        yield module.name, planted
