"""A commit, and the sources that a server's code comes from."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from zerolap.records.base import Record


class Revision(Record):
    """A commit with its repository, parents and time (ISO 8601, UTC, of the commit)."""

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
    """A server's program; a start command gives it arguments of its own."""

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
"""Where a server's code comes from; `name` is what the user called it."""
