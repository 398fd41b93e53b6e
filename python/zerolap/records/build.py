"""A source and the build made from it."""

from zerolap.records.base import Record


class SourceName(Record):
    """How the user named a source, and the revision it stands for where there is one."""

    name: str
    commit: str | None = None


class Build(Record):
    """The artifact: what a comparison's JSON says of a side.

    `build` is the digest of what went in (for a binary, of the binary itself); `build_id` is the linker's own note in
    the artifact, or empty; `flags` are the effective compiler flags as recorded in the artifact, or empty where it
    carries no debug information. `variant` is what was asked of the build, in one order of words: `default` for the
    Makefile's own, empty for a binary. `allocator` is what the program itself says, or empty. `config` holds the
    settings that the server was started with beside the case's own.
    """

    name: str
    commit: str | None
    version: str
    build: str
    build_id: str
    flags: str
    compiler: str = ""
    stripped: bool = False
    variant: str = ""
    allocator: str = ""
    config: dict[str, str] = {}
