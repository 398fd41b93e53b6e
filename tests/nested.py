"""Directories nested deeper than programs recurse, and deeper than a path is long."""

import os
from pathlib import Path


def nest(directory: Path, levels: int, name: str = "nested", file_bytes: int = 0) -> None:
    """Make so many directories in each other below one that is there, with a file of that size in the innermost."""
    here = os.open(directory, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(file, bytes(file_bytes))
    os.close(file)
    os.close(here)
