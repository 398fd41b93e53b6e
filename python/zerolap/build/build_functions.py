"""The functions of a build, from its debug information, which is read in the sandbox."""

from zerolap.build.builder import BuiltServer
from zerolap.records import SourceFunction
from zerolap.sandbox import confined_reading as reading


def source_functions(server: BuiltServer) -> list[SourceFunction]:
    """Return the functions in a build's debug information; none without. Raises `OSError`, `UnreadableFile`."""
    functions = reading.source_functions(str(server.program.path), server.record.source_root)
    return [SourceFunction(file, name, first, last) for file, name, first, last in functions]
