"""Source and variant in, build out: resolved, built in the sandbox, kept under the digest of what went in."""

from zerolap.build.builder import Builder, BuiltServer
from zerolap.build.changes import changes_between
from zerolap.build.source import Binary, Endpoint, Revision, Source, Tree, resolve

__all__ = [
    "Binary",
    "Builder",
    "BuiltServer",
    "Endpoint",
    "Revision",
    "Source",
    "Tree",
    "changes_between",
    "resolve",
]
