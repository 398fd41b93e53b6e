"""What a server's TCP connections send and receive within the windows of a traced pass."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from zerolap.engines.counters import AttachedCounters
from zerolap.server import TcpCounts, counted_meanwhile, read_tcp_counts


@dataclass
class TcpWindows:
    """Adds up what the connections of a process count within windows, those of other counters within them.

    The kernel's counts are read while the server waits, before a window and after it. `missing` is why there are none.
    """

    process: int
    within: AttachedCounters
    missing: str | None = None
    counts: TcpCounts = field(default_factory=TcpCounts)
    _before: Mapping[str, TcpCounts] | None = None

    def begin(self) -> None:
        """Count from here on."""
        self._before = self._read()
        self.within.begin()

    def end(self) -> tuple[list[tuple[str, int]], list[str]]:
        """Count no further, and return what the other counters do."""
        of_others = self.within.end()
        after = None if self._before is None else self._read()
        if self._before is not None and after is not None:
            try:
                self.counts += counted_meanwhile(self._before, after)
            except ValueError as ended:
                self.missing = str(ended)
        return of_others

    def metrics(self, requests: int) -> dict[str, float]:
        """Return the metrics of so many requests; none where what TCP counts is missing."""
        if self.missing is not None:
            return {}
        totals = {
            "tcp_segments_sent_per_op": self.counts.segments_sent,
            "tcp_data_segments_sent_per_op": self.counts.data_segments_sent,
            "tcp_segments_received_per_op": self.counts.segments_received,
            "tcp_retransmitted_per_op": self.counts.retransmitted,
            "tcp_sent_bytes_per_op": self.counts.sent_bytes,
            "tcp_received_bytes_per_op": self.counts.received_bytes,
        }
        return {name: total / requests for name, total in totals.items()}

    def _read(self) -> Mapping[str, TcpCounts] | None:
        """Return what each connection has counted so far; none, with the reason in `missing`, if it is not known."""
        if self.missing is not None:
            return None
        try:
            counts = read_tcp_counts(self.process)
        except OSError as refused:
            self.missing = f"the kernel's counts cannot be read: {refused.strerror or refused}"
            return None
        if not counts:
            self.missing = "the server has no TCP connection; it has with --topology tcp"
            return None
        return counts
