"""The system calls that a confined process can make."""

import contextlib
import functools
import os
from collections.abc import Iterator

from zerolap import _core


@contextlib.contextmanager
def system_call_filter(*, opens_connections: bool = True) -> Iterator[int]:
    """Yield a descriptor with the filter, for one sandbox: it is read to its end.

    Unless the process `opens_connections`, it can only accept them. Raises `ValueError` for a machine whose
    architecture has no filter.
    """
    program = _program(opens_connections)
    # Unlike a pipe, which can be as small as 4096 bytes, a file in memory takes any program.
    descriptor = os.memfd_create("system-call-filter")
    try:
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@functools.cache
def _program(opens_connections: bool) -> bytes:
    return _core.system_call_filter(opens_connections=opens_connections)
