"""Sources of servers in few words."""

from pathlib import Path

from zerolap.records import BinarySource, Revision, RevisionSource, TreeSource


def binary_source(name: str, path: Path, arguments: tuple[str, ...] = ()) -> BinarySource:
    return BinarySource(name=name, path=path, arguments=arguments)


def tree_source(name: str, path: Path) -> TreeSource:
    return TreeSource(name=name, path=path)


def revision_source(name: str, repository: Path, commit: str) -> RevisionSource:
    """Return a commit as a source, without what git knows of it beside."""
    return RevisionSource(
        name=name, repository=repository, revision=Revision(repository=str(repository), commit=commit)
    )
