"""Revisions, and the other sources of a server's code."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record


class Revision(Record):
    """A commit with its repository, parents and commit time (ISO 8601, UTC)."""

    repository: str
    commit: str
    parents: tuple[str, ...] = ()
    time: str = ""
    subject: str = ""


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


Source: TypeAlias = Annotated[EndpointSource | BinarySource | TreeSource | RevisionSource, Field(discriminator="kind")]
"""Where a server's code comes from; `name` is the name that the user gave."""
