"""Source and variant in, build out: resolved, built in the sandbox, kept under the digest of what went in."""

from zerolap.build.binary import read_source_functions
from zerolap.build.builder import Builder, BuiltServer
from zerolap.build.changes import changes_between
from zerolap.build.program import Program
from zerolap.build.source import Binary, Endpoint, Revision, Source, Tree, resolve
from zerolap.build.variant import DEFAULT, Variant, parse_variant

__all__ = [
    "DEFAULT",
    "Binary",
    "Builder",
    "BuiltServer",
    "Endpoint",
    "Program",
    "Revision",
    "Source",
    "Tree",
    "Variant",
    "changes_between",
    "parse_variant",
    "read_source_functions",
    "resolve",
]
