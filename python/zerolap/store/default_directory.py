"""The default directory of a store, in the working directory."""

from pathlib import Path
from typing import Final

DEFAULT_DIRECTORY: Final = ".zerolap"


def keep_from_git(directory: Path) -> None:
    """Make git ignore the directory if it has the default name."""
    if directory.name == DEFAULT_DIRECTORY and not (directory / ".gitignore").exists():
        (directory / ".gitignore").write_text("*\n")
