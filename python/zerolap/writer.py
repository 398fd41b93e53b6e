"""The one writer to standard output and standard error: text of others never steers the terminal that shows it.

What is written may hold names, messages and output of code under test: characters that are not shown are replaced. Only
a console, which `console` returns, writes the sequences of its own colours and bars.
"""

import io
import json
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TextIO

from zerolap.foreign_text import UNUSUAL, is_shown, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

COLOURS: Final = re.compile(r"(\x1b\[(?:0|1|2|3|4|22|24|[34][0-7]|[39]|49|9[0-7]|[34]8;5;\d{1,3}|;)*m)")
"""What rich colours the help and errors of the command line with: it hides no text, and moves nothing."""


class GuardedStream(io.TextIOBase):
    """A stream of text, on which whatever is written has no effect but to be shown.

    It is the last guard: of tracebacks, of what libraries write, and of what the command line answers wrong usage with.
    """

    def __init__(self, unguarded: TextIO) -> None:
        super().__init__()
        self.unguarded = unguarded

    def write(self, text: str, /) -> int:
        """Write a text; colours stay on a terminal."""
        parts = COLOURS.split(text) if self.isatty() else [text]
        # Every second part is a colour.
        shown = [part if place % 2 else printable(part.replace("\r\n", "\n")) for place, part in enumerate(parts)]
        self.unguarded.write("".join(shown))
        return len(text)

    def writelines(self, lines: Iterable[str], /) -> None:  # type: ignore[override]
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the stream."""
        self.unguarded.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.unguarded.isatty()

    def fileno(self) -> int:
        """Return the descriptor."""
        return self.unguarded.fileno()

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return self.unguarded.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """What happens to characters that the encoding lacks."""
        return self.unguarded.errors


def guard_streams() -> None:
    """Guard standard output and standard error from now on."""
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks must not lose the report.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.stdout, sys.stderr = GuardedStream(sys.stdout), GuardedStream(sys.stderr)


def show(text: str = "") -> None:
    """Write a line to standard output."""
    sys.stdout.write(f"{printable(text)}\n")


def note(text: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"{printable(text)}\n")


def write(text: str) -> None:
    """Write a document to standard output; in JSON, what would steer a terminal is escaped, and means the same."""
    if text.startswith(("{", "[")):
        _unguarded(sys.stdout).write(UNUSUAL.sub(_escaped, text))
        sys.stdout.flush()
    else:
        write_bytes(text.encode())


def write_bytes(content: bytes) -> None:
    """Write a file to standard output as it is; on a terminal, as text."""
    stream = _unguarded(sys.stdout)
    if stream.isatty():
        stream.write(printable(content.decode(errors="replace")))
    else:
        stream.flush()
        stream.buffer.write(content)
    stream.flush()


def _escaped(match: re.Match[str]) -> str:
    return match[0] if is_shown(match[0]) else json.dumps(match[0])[1:-1]


def console(*, to_error: bool = False) -> "Console":
    """Return a console on standard output or standard error, of which only the console itself steers the terminal."""
    from rich.console import Console
    from rich.segment import Segment

    class GuardedConsole(Console):
        """A closed pipe is left to the entry point, unlike by default, where it is an error."""

        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            """Yield what is written: text, of which all is shown, and the sequences of the console."""
            for segment in super().render(renderable, options):
                text, style, control = segment
                yield (
                    segment
                    if control is not None or (text.isascii() and text.isprintable())
                    else Segment(printable(text), style)
                )

        def on_broken_pipe(self) -> None:
            """Raise the error for the entry point of the program."""
            raise BrokenPipeError

    stream = sys.stderr if to_error else sys.stdout
    return GuardedConsole(file=_unguarded(stream), markup=False, emoji=False, highlight=False)


def table(*headings: str) -> "Table":
    """Return a table for a console; its first column has names that other commands take, which are to be copied."""
    from rich.table import Table

    empty = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        empty.add_column(heading, overflow="fold", no_wrap=heading == headings[0])
    return empty


def _unguarded(stream: TextIO) -> TextIO:
    return stream.unguarded if isinstance(stream, GuardedStream) else stream
