"""Builds: their specifications and their artifacts."""

import hashlib
import re
from typing import Final

from zerolap.records.base import Record
from zerolap.records.revision import Source, revision_of

DEFAULT_VARIANT: Final = "default"
"""The name of the variant in which everything is left to the Makefile."""
LANGUAGE: Final = re.compile(r"^GNU \S+ ")
"""How gcc begins the name that it records: with the language, as in `GNU C11 12.2.0`."""


def digest_of(*parts: str) -> str:
    """Return 128 bits of the SHA-256 of the parts, in hexadecimal."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def without_language(compiler: str) -> str:
    """Return a build's compiler without the language, which a flag names: gcc 12 is `GNU C99 12.2.0` by -std=c99."""
    return LANGUAGE.sub("GNU ", compiler)


class BuildSpec(Record):
    """The inputs of a build.

    `content` is the digest of the source's files: git's id of a commit's tree, or the SHA-256 of a tree's files or of a
    binary. `tools` are the architecture and the versions of compiler and linker. A binary has neither variant nor
    recipe; `arguments` are those of its start command.
    """

    content: str
    variant: str = ""
    recipe: int = 0
    tools: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The build's id: equal for equal content, regardless of commit and path."""
        return "b-" + digest_of(self.content, self.variant, str(self.recipe), *self.tools, "", *self.arguments)


class Build(Record):
    """The artifact of a build.

    `build` is the digest of its specification; `build_id` is the linker's note in the artifact, or empty; `flags`
    are the effective compiler flags as recorded in the artifact, or empty where it carries no debug information.
    `variant` is the requested one, in canonical order: `default` for the Makefile's own, empty for a binary.
    `allocator` is what the program reports, or empty. `source_root` is the directory that its debug information names.
    `libc` is the C library that it was linked with. `path` is set if the program cannot be moved, as it has a start
    command. `image` is the digest of all that is loaded of the program, but for its build id: builds of equal images
    are one program. It is empty where that is not known.
    """

    build: str
    version: str
    build_id: str
    flags: str
    compiler: str = ""
    stripped: bool = False
    variant: str = ""
    allocator: str = ""
    architecture: str = ""
    libc: str = ""
    source_root: str = ""
    arguments: tuple[str, ...] = ()
    path: str | None = None
    image: str = ""


class MeasuredServer(Record):
    """A side of a comparison, or the server of a run, in documents: its build, and the name that the user gave.

    `config` holds the settings of the server except those of the case. `subject` is the first line of the commit's
    message, `author` who wrote the commit; both are empty where they are not known.
    """

    name: str
    commit: str | None
    subject: str = ""
    author: str = ""
    version: str
    build: str
    build_id: str
    flags: str
    compiler: str = ""
    stripped: bool = False
    variant: str = ""
    allocator: str = ""
    architecture: str = ""
    libc: str = ""
    config: dict[str, str] = {}

    @classmethod
    def of(cls, build: Build, source: Source, config: dict[str, str]) -> "MeasuredServer":
        """Return how documents describe a build that was made of a source and is started with these settings."""
        revision = revision_of(source)
        stated = {"commit", "subject", "author"}
        of_commit = {"commit": None} if revision is None else revision.model_dump(include=stated)
        of_build = build.model_dump(include=set(cls.model_fields))
        name = server_name(source, build.variant)
        return cls(name=name, config=config, **of_commit, **of_build)


def server_name(source: Source, variant: str) -> str:
    """Return a server's name: what the user called the source, and the variant where it is not the default."""
    return source.name if variant in {"", DEFAULT_VARIANT} else f"{source.name} ({variant})"
