"""Revisions, and the other sources of a server's code."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record


class Revision(Record):
    """A commit with its repository, parents and commit time (ISO 8601, UTC); `author` is a name without an address."""

    repository: str
    commit: str
    parents: tuple[str, ...] = ()
    time: str = ""
    subject: str = ""
    author: str = ""


class EndpointSource(Record):
    """A running server; the lab neither starts nor stops it."""

    kind: Literal["endpoint"] = "endpoint"
    name: str


class BinarySource(Record):
    """A server's program; `arguments` are those of a start command."""

    kind: Literal["binary"] = "binary"
    name: str
    path: Path
    arguments: tuple[str, ...] = ()


class TreeSource(Record):
    """A directory with a server's source."""

    kind: Literal["tree"] = "tree"
    name: str
    path: Path


class RevisionSource(Record):
    """A commit of a git repository on this machine."""

    kind: Literal["revision"] = "revision"
    name: str
    repository: Path
    revision: Revision

    @property
    def commit(self) -> str:
        """The full id of the commit."""
        return self.revision.commit


class ArchiveSource(Record):
    """A source as it travels to another machine, without its repository and path.

    `archive` is the digest of the blob with its files: a tar of a tree, or a program. `content` is what
    `BuildSpec.content` is of it. `revision` is the commit that it was made from, if any; `arguments` are those of a
    start command. With `links_lead_out`, links of the tree lead out of it, and it stays on the machine that packed it.
    """

    kind: Literal["archive"] = "archive"
    name: str
    form: Literal["tree", "program"]
    content: str
    archive: str
    revision: Revision | None = None
    arguments: tuple[str, ...] = ()
    links_lead_out: bool = False

    @property
    def commit(self) -> str | None:
        """The full id of the commit that it was made from, if any."""
        return None if self.revision is None else self.revision.commit


Source: TypeAlias = Annotated[
    EndpointSource | BinarySource | TreeSource | RevisionSource | ArchiveSource, Field(discriminator="kind")
]
"""Where a server's code comes from; `name` is the name that the user gave."""


def revision_of(source: Source) -> Revision | None:
    """Return the revision that a source is of, or none if it is of no commit."""
    return source.revision if isinstance(source, RevisionSource | ArchiveSource) else None
