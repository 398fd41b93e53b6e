"""The text of lines of source code, from the tree that a build has left."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from zerolap.build.kept_tree import TREE
from zerolap.sandbox import FileRefused, read_file

LARGEST_SOURCE_BYTES: Final = 4 << 20
MOST_BYTES: Final = 32 << 20
"""Of all files together: debug information of code under test names any files of its tree."""
PLACES: Final = ("src", "")
"""Where files are that debug information names relative to the tree: names are without `src/`."""


def source_lines(build_directory: Path, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """Return the text of lines by file and number, without control characters.

    Files have the names that stacks have. Nothing where the tree was removed, or a file lies outside of it or is too
    large.
    """
    numbers: dict[str, list[int]] = {}
    for file, number in wanted:
        numbers.setdefault(file, []).append(number)
    left_bytes = MOST_BYTES
    texts: dict[tuple[str, int], str] = {}
    for file, of_file in numbers.items():
        content = _content(build_directory / TREE, file, min(left_bytes, LARGEST_SOURCE_BYTES))
        left_bytes -= len(content)
        lines = content.split(b"\n") if content else []
        for number in of_file:
            if 0 < number <= len(lines):
                text = lines[number - 1].decode(errors="replace").expandtabs(4).rstrip()
                # Marks that turn the direction of text would show another line than the compiler has read.
                texts[file, number] = "".join(
                    letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
                )
    return texts


def _content(tree: Path, file: str, most_bytes: int) -> bytes:
    root = os.path.realpath(tree)
    for place in PLACES:
        path = Path(root, place, file)
        # The build may have put a link in place of a directory.
        if not Path(file).is_absolute() and "\0" not in file and Path(os.path.realpath(path)).is_relative_to(root):
            try:
                return read_file(path, most_bytes)
            except FileRefused:
                continue
    return b""
