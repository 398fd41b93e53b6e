"""The directory of a store, which lies in the directory that the user works in."""

from pathlib import Path
from typing import Final

DEFAULT_DIRECTORY: Final = ".zerolap"


def keep_from_git(directory: Path) -> None:
    """Let git ignore the directory, where it has the default name."""
    if directory.name == DEFAULT_DIRECTORY and not (directory / ".gitignore").exists():
        (directory / ".gitignore").write_text("*\n")
