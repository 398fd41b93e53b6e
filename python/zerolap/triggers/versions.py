"""The order of tags that name versions."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


def version_of(tag: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts tags as versions: numbers by value, a release after its candidates."""
    parts = re.findall(r"\d+|[A-Za-z]+", re.sub(r"^v(?=\d)", "", tag))
    ordered = tuple((1, int(part), "") if part.isdecimal() else (-1, 0, part.lower()) for part in parts)
    return (*ordered, (0, 0, ""))


def tag_before(tag: str, tags: Iterable[str], globs: Sequence[str]) -> str | None:
    """Return the tag before a tag in the order of versions, among those that match a glob."""
    measured = [name for name in tags if any(fnmatchcase(name, glob) for glob in globs or ["*"])]
    earlier = [name for name in measured if version_of(name) < version_of(tag)]
    return max(earlier, key=version_of, default=None)
