"""What the TCP connections of a process have sent and received, as the kernel counts it for each socket.

The kernel tells it of sockets alone, so those of the process are duplicated, asked and closed again. That works in
whatever network the process is, and takes no part in what it sends.
"""

import contextlib
import ctypes
import errno
import operator
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Final

PIDFD_GETFD: Final = 438
"""Number of the system call, the same on all machines; Linux has it since 5.6."""
MOST_DESCRIPTORS: Final = 65_536
TCP_INFO_BYTES: Final = 208
"""`struct tcp_info` up to `tcpi_bytes_sent`, which the kernel has since 4.19."""
TCP_INFO: Final = struct.Struct("=100x I 24x Q II 8x 4x I 40x Q")
"""Of `struct tcp_info` the fields of `TcpCounts`, whose places never change (`include/uapi/linux/tcp.h`)."""


@dataclass(frozen=True)
class TcpCounts:
    """What a connection has counted since it was opened, or several together.

    Segments sent and received are those with and without data; `data_segments_sent` are those with data, and
    `retransmitted` those that were sent again.
    """

    retransmitted: int = 0
    received_bytes: int = 0
    segments_sent: int = 0
    segments_received: int = 0
    data_segments_sent: int = 0
    sent_bytes: int = 0

    def __add__(self, other: "TcpCounts") -> "TcpCounts":
        return TcpCounts(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, earlier: "TcpCounts") -> "TcpCounts":
        return TcpCounts(*map(operator.sub, astuple(self), astuple(earlier)))


def read_tcp_counts(process: int) -> dict[str, TcpCounts]:
    """Return what each TCP connection of a process has counted, by the kernel's name of the socket.

    Raises `OSError` if the process is gone, if its sockets may not be duplicated, or has more than `MOST_DESCRIPTORS`.
    """
    counts = {}
    for name, connection in _sockets(process):
        is_tcp = connection.family in (socket.AF_INET, socket.AF_INET6) and connection.proto == socket.IPPROTO_TCP
        if is_tcp:
            counts[name] = _counts(connection)
    return counts


def counted_meanwhile(before: Mapping[str, TcpCounts], after: Mapping[str, TcpCounts]) -> TcpCounts:
    """Return what was counted from one reading to a later one, connections that were opened in between included.

    Raises `ValueError` if a connection has ended: what it has counted last is not known.
    """
    ended = before.keys() - after.keys()
    if ended:
        raise ValueError(f"{len(ended):,} of {len(before):,} TCP connections ended while they were counted")
    return sum((counts - before.get(name, TcpCounts()) for name, counts in after.items()), TcpCounts())


def _sockets(process: int) -> Iterator[tuple[str, socket.socket]]:
    """Yield the sockets of a process by name; each is closed before the next."""
    handle = os.pidfd_open(process)
    try:
        with os.scandir(f"/proc/{process}/fd") as entries:
            descriptors = [entry.name for entry in islice(entries, MOST_DESCRIPTORS + 1)]
        if len(descriptors) > MOST_DESCRIPTORS:
            raise OSError(f"the server has more than {MOST_DESCRIPTORS:,} open files")
        for descriptor in descriptors:
            # The process may close any of them meanwhile.
            with contextlib.suppress(FileNotFoundError):
                name = os.readlink(f"/proc/{process}/fd/{descriptor}")
                if name.startswith("socket:"):
                    with socket.socket(fileno=_duplicate(handle, int(descriptor))) as connection:
                        yield name, connection
    finally:
        os.close(handle)


def _duplicate(handle: int, descriptor: int) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    duplicate: int = library.syscall(PIDFD_GETFD, handle, descriptor, 0)
    if duplicate < 0:
        number = ctypes.get_errno()
        if number == errno.EBADF:
            raise FileNotFoundError(number, "it has been closed")
        raise OSError(number, f"a socket of the server cannot be looked at: {os.strerror(number)}")
    return duplicate


def _counts(connection: socket.socket) -> TcpCounts:
    content = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    if len(content) < TCP_INFO.size:
        raise OSError("the kernel counts less of TCP than Linux 4.19 does")
    return TcpCounts(*TCP_INFO.unpack_from(content))
