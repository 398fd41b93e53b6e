"""The files of a server's repository: which may become part of a program, and which are compiled by themselves."""

from pathlib import PurePosixPath
from typing import Final

NOT_BUILT: Final = ("tests/", "utils/", "doc/", "docs/", ".github/", "src/unit/")
DOCUMENTS: Final = frozenset({".conf", ".md", ".pdf", ".png", ".rst", ".svg", ".tcl", ".yaml", ".yml"})
DOCUMENT_NAMES: Final = frozenset(
    {".clang-format", ".codespellrc", ".gitattributes", ".gitignore", "00-RELEASENOTES", "BUGS", "COPYING", "LICENSE"}
)
COMPILED: Final = frozenset({".c", ".cc", ".cpp", ".cxx"})


def may_be_built(file: str) -> bool:
    """Whether a file may be part of what is built: it is neither a document nor a test."""
    path = PurePosixPath(file)
    return not (file.startswith(NOT_BUILT) or path.suffix in DOCUMENTS or path.name in DOCUMENT_NAMES)


def is_compiled(file: str) -> bool:
    """Whether a file holds functions that may be built: a header may declare types alone."""
    return may_be_built(file) and PurePosixPath(file).suffix in COMPILED
