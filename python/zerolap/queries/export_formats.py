"""The formats of other programs that stacks are written in."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal, TypeAlias

from zerolap.records import UsageError

FormatName: TypeAlias = Literal["speedscope", "firefox", "pprof", "folded", "callgrind", "svg"]


@dataclass(frozen=True)
class ExportFormat:
    """A format, the ending of its files, and whether a file has one side only."""

    name: FormatName
    ending: str
    media_type: str
    summary: str
    is_of_one_side: bool

    def is_of(self, file: str) -> bool:
        """Return whether a file has the ending of this format, or the name that callgrind gives its files."""
        name = PurePath(file).name
        is_named_as_callgrinds = self.name == "callgrind" and name.startswith("callgrind.out")
        return name.endswith(f".{self.ending}") or is_named_as_callgrinds


FORMATS: Final = (
    ExportFormat("speedscope", "speedscope.json", "application/json", "Stacks for speedscope", is_of_one_side=False),
    ExportFormat(
        "firefox", "firefox.json", "application/json", "Stacks for the Firefox Profiler", is_of_one_side=False
    ),
    ExportFormat("pprof", "pb.gz", "application/octet-stream", "Stacks for pprof", is_of_one_side=True),
    ExportFormat(
        "folded", "folded.txt", "text/plain; charset=utf-8", "Stacks for flame graph scripts", is_of_one_side=True
    ),
    ExportFormat(
        "callgrind",
        "callgrind",
        "text/plain; charset=utf-8",
        "Stacks for callgrind_annotate and KCachegrind",
        is_of_one_side=True,
    ),
    ExportFormat("svg", "svg", "image/svg+xml", "Stacks as a picture of a flame graph", is_of_one_side=True),
)


def export_format(name: str | None, file: str) -> ExportFormat:
    """Return the format of that name, or without a name that of the file's ending; raises `UsageError`."""
    if name is None:
        of_file = next((format_ for format_ in FORMATS if format_.is_of(file)), None)
        if of_file is None:
            endings = ", ".join(f".{format_.ending}" for format_ in FORMATS)
            raise UsageError(f"`{file}` does not name a format", hint=f"end it in {endings}, or add --format")
        return of_file
    named = next((format_ for format_ in FORMATS if format_.name == name), None)
    if named is None:
        raise UsageError(f"`--format {name}` is not valid", hint=f"formats: {', '.join(f.name for f in FORMATS)}")
    return named
