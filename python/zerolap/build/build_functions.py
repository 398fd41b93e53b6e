"""The functions of a build, from its debug information, which is read in the sandbox."""

from pathlib import Path

from zerolap.build.builder import Builds, BuiltServer
from zerolap.records import SourceFunction
from zerolap.sandbox import confined_reader


def source_functions(server: BuiltServer) -> list[SourceFunction]:
    """Return the functions in a build's debug information; none without. Raises `OSError`, `UnreadableFile`."""
    functions = confined_reader.source_functions(str(server.program.path), server.record.source_root)
    return [SourceFunction(file, name, first, last) for file, name, first, last in functions]


def functions_of_build(builds: Path, digest: str) -> list[SourceFunction] | None:
    """Return the functions of a build in the directory `builds`; none where it is not there.

    Raises as `source_functions` does.
    """
    built = Builds(builds).find(digest) if (builds / digest).is_dir() else None
    return None if built is None else source_functions(built)
