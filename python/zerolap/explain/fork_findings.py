"""What a server does while a child saves that need not be done then, or not by the thread that answers requests."""

from collections.abc import Mapping, Sequence
from typing import Final

from zerolap.records import ForkFinding, ForkFindingKind, ParentCall, SnapshotTrace

MEMORY_CALLS: Final = frozenset({"brk", "mmap", "munmap", "mremap", "madvise", "mprotect"})
WAITING_CALLS: Final = frozenset(
    {
        *("nanosleep", "clock_nanosleep", "pause", "futex", "futex_wait", "sched_yield"),
        *("wait4", "waitid", "flock", "semop", "semtimedop", "rt_sigtimedwait", "rt_sigsuspend"),
    }
)
FILE_CALLS: Final = frozenset(
    {
        *("open", "openat", "openat2", "creat", "unlink", "unlinkat", "rename", "renameat", "renameat2"),
        *("truncate", "ftruncate", "fallocate", "sync", "syncfs"),
    }
)
"""These calls are always made on files; those with a target are made on files too."""

LEAST_SHARE: Final = 0.01
"""A finding takes at least this share of the pause, or of the time until the child has exited."""
LONG_NS: Final = 1_000_000
"""A single call of this length is a finding: no request is served meanwhile."""
NS_PER_MS: Final = 1e6
NAMED_CALLS: Final = 3
NAMED_SHARE: Final = 0.05
"""Calls that take less than this share of a finding's time are not named."""

DOES: Final[Mapping[ForkFindingKind, str]] = {
    "files": "the main thread works on files",
    "memory": "the main thread changes its memory map",
    "waiting": "the main thread waits for something that is no request",
}
COULD: Final[Mapping[ForkFindingKind, str]] = {
    "files": "the child or another thread could do it",
    "memory": "it could be put off until the child has exited, or be left to the child where it is for its sake",
    "waiting": "no request is answered meanwhile",
}


def fork_findings(trace: SnapshotTrace) -> list[ForkFinding]:
    """Return what the main thread does between the fork and the child's exit that others could do, the longest first.

    There is at most one finding of a kind: calls that together take at least `LEAST_SHARE` of the pause before the
    thread waits for requests again, or of the time until the child has exited, or a single call of `LONG_NS`.
    """
    by_kind: dict[ForkFindingKind, list[ParentCall]] = {}
    for call in trace.calls:
        kind = kind_of(call)
        if kind is not None:
            by_kind.setdefault(kind, []).append(call)
    findings = [_finding(kind, calls, trace.pause_ns) for kind, calls in by_kind.items() if _matter(calls, trace)]
    return sorted(findings, key=lambda finding: (-finding.ns_in_pause, -finding.ns))


def _matter(calls: Sequence[ParentCall], trace: SnapshotTrace) -> bool:
    ns, ns_in_pause = sum(call.ns for call in calls), sum(call.ns_in_pause for call in calls)
    if trace.pause_ns and ns_in_pause >= LEAST_SHARE * trace.pause_ns:
        return True
    return ns >= LEAST_SHARE * trace.child_ns or any(call.longest_ns >= LONG_NS for call in calls)


def kind_of(call: ParentCall) -> ForkFindingKind | None:
    """Return what a call is that need not be made then; none for a call that answers requests or is cheap by nature."""
    if call.target is not None or call.call in FILE_CALLS:
        return "files"
    if call.call in MEMORY_CALLS:
        return "memory"
    return "waiting" if call.call in WAITING_CALLS else None


def _finding(kind: ForkFindingKind, calls: Sequence[ParentCall], pause_ns: int | None) -> ForkFinding:
    longest = sorted(calls, key=lambda call: -call.ns)
    ns_in_pause = sum(call.ns_in_pause for call in calls)
    share = ns_in_pause / pause_ns if pause_ns else None
    frames = next((call.stacks[0].frames for call in longest if call.stacks), [])
    number, ns = sum(call.calls for call in calls), sum(call.ns for call in calls)
    return ForkFinding(
        kind=kind,
        calls=number,
        ns=ns,
        ns_in_pause=ns_in_pause,
        share_of_pause=share,
        frames=frames,
        text=_text(kind, longest, ns, share),
    )


def _text(kind: ForkFindingKind, calls: Sequence[ParentCall], ns: int, share: float | None) -> str:
    """Write what is done, by which calls, what it takes, and who could do it; names stand in backticks."""
    of_pause = "" if share is None else f", and {share:.1%} of the pause".replace("%", " %")
    longest = [call for call in calls if call.ns >= NAMED_SHARE * ns]
    named = [_named(call) for call in longest[:NAMED_CALLS]]
    if len(calls) > len(named):
        named.append("others")
    takes = f"{ns / NS_PER_MS:,.2f} ms until the child has exited{of_pause}"
    return f"{DOES[kind]} while its child works ({', '.join(named)}): {takes}; {COULD[kind]}"


def _named(call: ParentCall) -> str:
    """Write a call with its number, and the file that it is of."""
    # A backtick of a foreign name would end the code that it is shown as.
    target = "" if call.target is None else f" of `{call.target.replace('`', '')}`"
    return f"{call.calls:,} `{call.call}`{target}"
