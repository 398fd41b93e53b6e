"""Source and variant in, build out: resolved, built in the sandbox, kept under the digest of what went in."""

from zerolap.build.builder import Builder, Builds, BuiltServer, measured_server, named
from zerolap.build.changes import changes_between
from zerolap.build.placement import LinkFailed
from zerolap.build.program import Program
from zerolap.build.source import resolve
from zerolap.build.variant import DEFAULT, Variant, parse_variant

__all__ = [
    "DEFAULT",
    "Builder",
    "Builds",
    "BuiltServer",
    "LinkFailed",
    "Program",
    "Variant",
    "changes_between",
    "measured_server",
    "named",
    "parse_variant",
    "resolve",
]
