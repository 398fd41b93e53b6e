"""What TCP connections of a process have counted: read from its sockets, and within the windows of traced passes."""

import contextlib
import os
import socket
from collections.abc import Iterator

import pytest

from zerolap.engines import tcp_windows
from zerolap.engines.tcp_windows import TcpWindows
from zerolap.server import TcpCounts, counted_meanwhile, read_tcp_counts, tcp_connections

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def connected() -> Iterator[Ends]:
    """Return both ends of a TCP connection of this process; skips where its sockets may not be duplicated."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client = stack.enter_context(socket.create_connection(listening.getsockname()))
        server = stack.enter_context(listening.accept()[0])
        try:
            read_tcp_counts(os.getpid())
        except OSError as refused:
            pytest.skip(str(refused))
        yield client, server


class NoCounters:
    """Counters that count nothing."""

    def begin(self) -> None:
        pass

    def end(self) -> tuple[list[tuple[str, int]], list[str]]:
        return [("seen", 1)], []


def name_of(end: socket.socket) -> str:
    """Return the kernel's name of a socket."""
    return os.readlink(f"/proc/self/fd/{end.fileno()}")


def test_each_end_of_a_connection_has_its_bytes_and_segments(connected: Ends) -> None:
    client, server = connected
    before = read_tcp_counts(os.getpid())
    client.sendall(b"x" * 100)
    assert len(server.recv(100, socket.MSG_WAITALL)) == 100
    server.sendall(b"y" * 7)
    assert len(client.recv(7, socket.MSG_WAITALL)) == 7
    after = read_tcp_counts(os.getpid())
    of_client, of_server = (after[name_of(end)] - before[name_of(end)] for end in connected)
    assert (of_client.sent_bytes, of_client.received_bytes) == (100, 7)
    assert (of_server.sent_bytes, of_server.received_bytes) == (7, 100)
    assert of_server.data_segments_sent == 1
    assert of_server.segments_sent >= 1
    assert of_server.segments_received >= 1
    assert of_server.retransmitted == 0


def test_reading_leaves_connections_open_and_no_descriptor_behind(connected: Ends) -> None:
    client, server = connected
    before = set(os.listdir("/proc/self/fd"))
    read_tcp_counts(os.getpid())
    assert set(os.listdir("/proc/self/fd")) == before
    client.sendall(b"still there")
    assert server.recv(100) == b"still there"


def test_other_sockets_have_no_counts(connected: Ends) -> None:
    left, right = socket.socketpair()
    with left, right, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        counts = read_tcp_counts(os.getpid())
        assert not {name_of(end) for end in (left, right, datagrams)} & counts.keys()


def test_a_process_with_too_many_files_is_refused(connected: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_connections, "MOST_DESCRIPTORS", 2)
    with pytest.raises(OSError, match="more than 2 open files"):
        read_tcp_counts(os.getpid())


def test_what_was_counted_meanwhile_is_of_new_connections_too() -> None:
    before = {"socket:[1]": TcpCounts(segments_sent=10, sent_bytes=1000)}
    after = {"socket:[1]": TcpCounts(segments_sent=12, sent_bytes=1500), "socket:[2]": TcpCounts(segments_sent=3)}
    assert counted_meanwhile(before, after) == TcpCounts(segments_sent=5, sent_bytes=500)
    with pytest.raises(ValueError, match="1 of 2 TCP connections ended"):
        counted_meanwhile(after, before)


def test_metrics_are_of_the_windows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([10, 15, 100, 107])
    monkeypatch.setattr(
        tcp_windows,
        "read_tcp_counts",
        lambda _process: {"socket:[1]": TcpCounts(data_segments_sent=next(readings), received_bytes=5)},
    )
    windows = TcpWindows(1, NoCounters())
    for _ in range(2):
        windows.begin()
        assert windows.end() == ([("seen", 1)], [])
    metrics = windows.metrics(4)
    assert metrics["tcp_data_segments_sent_per_op"] == 3.0
    assert metrics["tcp_received_bytes_per_op"] == 0.0
    assert windows.missing is None


def refused(_process: int) -> dict[str, TcpCounts]:
    raise PermissionError(1, "a socket of the server cannot be looked at: Operation not permitted")


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (lambda _process: {}, "the server has no TCP connection; it has with --topology tcp"),
        (refused, "the kernel's counts cannot be read: a socket of the server cannot be looked at"),
    ],
)
def test_what_cannot_be_counted_is_missing_and_not_zero(
    read: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tcp_windows, "read_tcp_counts", read)
    windows = TcpWindows(1, NoCounters())
    windows.begin()
    assert windows.end() == ([("seen", 1)], [])
    assert windows.metrics(4) == {}
    assert (windows.missing or "").startswith(reason)


def test_connections_that_end_meanwhile_leave_no_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([{"socket:[1]": TcpCounts(), "socket:[2]": TcpCounts()}, {"socket:[1]": TcpCounts()}])
    monkeypatch.setattr(tcp_windows, "read_tcp_counts", lambda _process: next(readings))
    windows = TcpWindows(1, NoCounters())
    windows.begin()
    windows.end()
    assert windows.metrics(4) == {}
    assert "1 of 2 TCP connections ended" in (windows.missing or "")
