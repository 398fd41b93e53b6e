"""Servers of one start that several cases take turns on: a start costs as much as its slices do.

The servers belong to whoever carries out the jobs in turn, and end with that; each case empties them, fills them with
its own data and measures. A case that fails leaves none behind for the next one.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, TypeAlias

from zerolap.records import Case, Side, TrialFailed, TrialsJob
from zerolap.sandbox import Cancellation, OwnedWork, current_cancellation, scratch_directory
from zerolap.server import Deployment

MOST_CASES: Final = 3
"""The cases of a start. More would save little, and leave a comparison fewer starts in which one can be slow."""
CASES_OF_A_COMPARISON: Final = 4
"""For each so many cases of a comparison, one more shares a start: about thirty starts are left in any case.

So a server that is slow in a tenth of its starts is so in one of them with 95 %.
"""
PREFIX: Final = "zerolap-trial-"
OF_WHOLE_SERVERS: Final = re.compile(
    r"\s*(acl|bgrewriteaof|bgsave|client|cluster|config|debug|failover|function|latency|memory|module|monitor|"
    r"psubscribe|replicaof|script|shutdown|slaveof|slowlog|ssubscribe|subscribe|swapdb)\b",
    re.IGNORECASE,
)
"""Commands that leave more behind than keys."""
KEPT_ON_DISK: Final = {"appendonly": "no", "save": ""}
"""Settings by which a server keeps data beyond its memory, and how they are where it does not."""

Deploy: TypeAlias = Callable[[Path], AbstractContextManager[Deployment]]
"""Starts a server, with its files in a directory."""


def may_share(job: TrialsJob) -> bool:
    """Whether the servers of a start of this job may have other cases before and after it."""
    case, servers = job.case, job.servers.values()
    return (
        job.engine == "timed"
        # What was before decides in some regimes, and what they leave behind are more than keys.
        and case.regime is None
        and len(job.blocks) == 1
        and len(job.servers) > 1
        and not job.amounts.alone
        and all(one.topology.primaries == 1 and not one.topology.replicas for one in servers)
        and all(
            one.settings.get(name, off).strip("\"'") == off for one in servers for name, off in KEPT_ON_DISK.items()
        )
        and not any(OF_WHOLE_SERVERS.match(command) for command in _commands(case))
    )


def _commands(case: Case) -> Iterator[str]:
    dataset = case.dataset
    clients = [case.client, *case.companions, *(() if dataset is None else dataset.clients)]
    yield from case.setup
    if dataset is not None:
        yield from (*dataset.setup, *dataset.load, *dataset.after_load)
    for client in clients:
        yield from (command.line for command in client.sent)


def cases_per_start(cases: int) -> int:
    """Return how many cases share a start in a comparison of so many."""
    return max(1, min(MOST_CASES, cases // CASES_OF_A_COMPARISON))


def share_start(first: TrialsJob, other: TrialsJob) -> bool:
    """Whether two jobs that may share a start are of the same one: block, servers and placement."""
    return (first.request, first.blocks, first.servers, first.amounts.as_built) == (
        other.request,
        other.blocks,
        other.servers,
        other.amounts.as_built,
    ) and (may_share(first) and may_share(other))


class SharedStart:
    """The servers of a start, `deployments` by side, for the jobs that are carried out in turn in `shared_servers`.

    `control_ns` is how long the reference work took on their processor.
    """

    def __init__(self, owner: Cancellation, parent: Path | None) -> None:
        self._owner = owner
        self._parent = parent
        self._stack = contextlib.ExitStack()
        self._work = OwnedWork()
        self._directory: Path | None = None
        self._of: object = None
        self.deployments: dict[Side, Deployment] = {}
        self._cases = 0
        self.control_ns: float | None = None

    def drop(self) -> None:
        """Stop the servers, if there are any."""
        stack, self._stack = self._stack, contextlib.ExitStack()
        self.deployments, self._directory, self._cases, self.control_ns = {}, None, 0, None
        stack.close()

    @contextlib.contextmanager
    def case(self, programs: object) -> Iterator[int]:
        """Begin a case on the servers of those programs; return how many cases these have had.

        Those of others are stopped, and so are those of a case that fails. Whatever ends the case's work by force
        ends the servers too.
        """
        if self._of != programs or not all(map(_is_emptied, self.deployments.values())):
            self.drop()
        self._of = programs
        if self._directory is None:
            self._begin()
        of_case = current_cancellation()
        of_case.own(lambda: self._work)
        try:
            yield self._cases
            self._cases += 1
        except BaseException:
            self.drop()
            raise
        finally:
            if of_case is not self._owner:
                of_case.disown(self._work)

    def _begin(self) -> None:
        self._work = OwnedWork()
        work = self._owner.own(lambda: self._work)
        self._stack.callback(self._owner.disown, work)
        self._directory = self._stack.enter_context(scratch_directory(PREFIX, self._parent))

    def deployment(self, side: Side, deploy: Deploy) -> Deployment:
        """Return the server of a side, which is started if it is not up."""
        if side not in self.deployments:
            assert self._directory is not None
            directory = self._directory / side
            directory.mkdir()
            with self._work.current():
                self.deployments[side] = self._stack.enter_context(deploy(directory))
        return self.deployments[side]


def _is_emptied(deployment: Deployment) -> bool:
    """Whether a server holds no keys any more, and is ready for others."""
    try:
        for node in deployment.nodes:
            node.server.command("FLUSHALL")
            if node.server.count_keys():
                return False
    except TrialFailed:
        return False
    return True


@contextlib.contextmanager
def shared_servers(owner: Cancellation, parent: Path | None) -> Iterator[SharedStart]:
    """Hold the servers of a start for several jobs in turn; they are stopped at the end of the context."""
    start = SharedStart(owner, parent)
    try:
        yield start
    finally:
        start.drop()


def key_of(programs: Mapping[Side, object], more: object) -> object:
    """Return what servers of two cases have to have in common."""
    return (tuple(programs.items()), more)
