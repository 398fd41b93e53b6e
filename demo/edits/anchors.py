"""Edits of a source tree by anchored text; an anchor that does not fit exactly once changes nothing."""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path


class AnchorError(Exception):
    """The text to be changed is not in the tree as expected."""


def replace_once(path: Path, replacements: dict[str, str]) -> None:
    """Replace each anchor in a file by its text, or change nothing.

    Raises:
        AnchorError: an anchor is not in the file exactly once, or the file cannot be read.
    """
    text = _read(path)
    for anchor, replacement in replacements.items():
        count = text.count(anchor)
        if count != 1:
            first = anchor.strip().partition("\n")[0]
            raise AnchorError(f"{path}: expected once, but found {count} times: {first}")
        text = text.replace(anchor, replacement)
    path.write_text(text, encoding="latin-1")


def rename_words(paths: list[Path], names: dict[str, str]) -> None:
    """Rename whole words in all files together, or change nothing.

    Raises:
        AnchorError: an old name is in no file, a new one is in use, or a file cannot be read.
    """
    before = {path: _read(path) for path in paths}
    together = "\n".join(before.values())
    for old, new in names.items():
        if not re.search(rf"\b{old}\b", together):
            raise AnchorError(f"expected, but found in none of {len(paths)} files: {old}")
        if re.search(rf"\b{new}\b", together):
            raise AnchorError(f"already in use: {new}")
    pattern = re.compile(rf"\b({'|'.join(names)})\b")
    for path, text in before.items():
        renamed = pattern.sub(lambda found: names[found.group()], text)
        if renamed != text:
            path.write_text(renamed, encoding="latin-1")


def main(apply: Callable[[Path], None], description: str) -> int:
    """Apply an edit to the tree that the command line names; 1 where it does not fit."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("directory", type=Path, help="the root of a source tree of Redis 7.0.15")
    try:
        apply(parser.parse_args().directory)
    except AnchorError as fault:
        print(f"error: {fault}", file=sys.stderr)
        print("hint: the edits are made for Redis 7.0.15, and each is applied once", file=sys.stderr)
        return 1
    return 0


def _read(path: Path) -> str:
    try:
        # Every byte is a character of Latin-1, so that what is not changed is written back as it was.
        return path.read_text(encoding="latin-1")
    except OSError as fault:
        raise AnchorError(f"{path}: {fault.strerror}") from fault
