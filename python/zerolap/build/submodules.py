"""Submodules of a source: a commit holds where their files come from, and not the files."""

import re
from pathlib import Path
from typing import Final

from zerolap.records import BuildFailed
from zerolap.sandbox import FileRefused, read_file

NAMES: Final = ".gitmodules"
MOST_NAMES_BYTES: Final = 1 << 16
LONGEST_PATH: Final = 200
PATH: Final = re.compile(r"^\s*path\s*=\s*(\S.*?)\s*$", re.MULTILINE)
SHOWN: Final = 5


def empty_submodules(tree: Path) -> list[str]:
    """Return the paths of submodules that have no files in a tree."""
    try:
        text = read_file(tree / NAMES, MOST_NAMES_BYTES).decode(errors="replace")
    except FileRefused:
        return []
    paths = [path for path in PATH.findall(text) if len(path) <= LONGEST_PATH and ".." not in Path(path).parts]
    return [path for path in paths if not path.startswith("/") and "\0" not in path and _is_empty(tree / path)]


def _is_empty(directory: Path) -> bool:
    try:
        return next(directory.iterdir(), None) is None
    except FileNotFoundError:
        return True
    except OSError:
        return False


def for_lack_of_submodules(failed: BuildFailed, empty: list[str]) -> BuildFailed:
    """Return the failure of a build with the submodules that it lacked, which may be the cause."""
    more = f" and {len(empty) - SHOWN} more" if len(empty) > SHOWN else ""
    return BuildFailed(
        f"{failed.message}; its submodules are empty: {', '.join(empty[:SHOWN])}{more}",
        hint="a commit has no files of submodules: check it out, run git submodule update --init --recursive, and give"
        " the directory as the source tree",
        details=failed.details,
    )
