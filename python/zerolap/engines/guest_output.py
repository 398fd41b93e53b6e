"""What a guest reports: lines `NAME VALUE` of a machine that runs foreign code, read with bounds."""

import re
from dataclasses import dataclass, field
from typing import Final

LONGEST_LINE_BYTES: Final = 512
MOST_BYTES: Final = 1 << 20
MOST_NAMES: Final = 256
LARGEST_VALUE: Final = (1 << 64) - 1
LINE: Final = re.compile(rb"([a-z][a-z0-9_]{0,63}) ([0-9]{1,20})")
ERROR: Final = b"error "
END: Final = "end"


class GuestRefused(Exception):
    """A guest writes what it should not; the text is the reason."""


@dataclass
class GuestOutput:
    """The output of a guest, taken in as it comes: its values by name, and how it ended.

    `error` is the reason for a failure, as the guest states it; `has_ended` is true once the guest states its end.
    """

    values: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    has_ended: bool = False
    _rest: bytes = b""
    _bytes: int = 0

    def take(self, received: bytes) -> None:
        """Take what was received; raises `GuestRefused` beyond the bounds."""
        self._bytes += len(received)
        if self._bytes > MOST_BYTES:
            raise GuestRefused(f"it writes more than {MOST_BYTES >> 20} MiB of results")
        *lines, self._rest = (self._rest + received).split(b"\n")
        if max(map(len, [*lines, self._rest])) > LONGEST_LINE_BYTES:
            raise GuestRefused(f"it writes lines of more than {LONGEST_LINE_BYTES} bytes")
        for line in lines:
            self._take_line(line.removesuffix(b"\r"))

    def _take_line(self, line: bytes) -> None:
        if line.startswith(ERROR):
            self.error = self.error or line[len(ERROR) :].decode(errors="replace")
            return
        match = LINE.fullmatch(line)
        if match is None or int(match[2]) > LARGEST_VALUE:
            raise GuestRefused(f"it writes `{line[:80].decode(errors='replace')}`, which is not a name and a number")
        name = match[1].decode()
        self.values[name] = int(match[2])
        if len(self.values) > MOST_NAMES:
            raise GuestRefused(f"it writes more than {MOST_NAMES} names")
        self.has_ended = self.has_ended or name == END
