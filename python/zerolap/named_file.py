"""Files that a user or a configuration names: read within a bound, and only where they are regular files."""

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

from zerolap.errors import UsageError

MIB: Final = 1 << 20
MOST_BYTES: Final = 16 * MIB


def open_named(path: Path, most_bytes: int = MOST_BYTES, *, hint: str = "") -> BufferedReader:
    """Open a file, of which no more than so many bytes are to be read, as it may grow.

    Raises `UsageError` for a larger one, for a pipe, a device or a directory, and where it cannot be opened.
    """
    try:
        # Opening a pipe would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError as fault:
        raise UsageError(f"there is no file {path}", hint) from fault
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise UsageError(f"`{path}` cannot be read: {reason}", hint) from fault
    status = os.fstat(descriptor)
    is_file = stat.S_ISREG(status.st_mode)
    if not is_file or status.st_size > most_bytes:
        os.close(descriptor)
        what = f"is larger than {most_bytes / MIB:g} MiB" if is_file else "is no regular file"
        raise UsageError(f"`{path}` {what}", hint)
    return os.fdopen(descriptor, "rb")


def read_named(path: Path, most_bytes: int = MOST_BYTES, *, hint: str = "") -> bytes:
    """Return the content of a file; raises as `open_named` does, and where it cannot be read."""
    with open_named(path, most_bytes, hint=hint) as file:
        try:
            content = file.read(most_bytes + 1)
        except OSError as fault:
            raise UsageError(f"`{path}` cannot be read: {fault.strerror}", hint) from fault
    if len(content) > most_bytes:
        raise UsageError(f"`{path}` is larger than {most_bytes / MIB:g} MiB", hint)
    return content


def read_named_text(path: Path, most_bytes: int = MOST_BYTES, *, hint: str = "") -> str:
    """Return the text of a file in UTF-8; raises as `read_named` does, and for other content."""
    try:
        return read_named(path, most_bytes, hint=hint).decode()
    except UnicodeDecodeError as fault:
        raise UsageError(f"`{path}`: not UTF-8 text", hint) from fault
