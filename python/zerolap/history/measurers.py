"""What carries out the requests of a history: this machine, or the agents of a platform of a fleet."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from zerolap.documents import read_comparison, read_run
from zerolap.history.history_range import OF_FLEET, HistoryRange
from zerolap.host import fingerprint, read_processors
from zerolap.lab import Lab, SubmissionOptions, compare, on_platforms, run_unless
from zerolap.records import (
    Build,
    BuildFailed,
    Comparison,
    EnvironmentMissing,
    Note,
    Request,
    RunReport,
    TrialFailed,
    UnreadableRecord,
    UsageError,
    ZerolapError,
    digest_of,
)
from zerolap.sandbox import Cancellation
from zerolap.store import RequestInShort

POLL_SECONDS: Final = 0.5
CAUSE: Final = "history"
ENOUGH_PROCESSORS: Final = 4
"""With fewer processors, a build beside a count would slow the count down."""
BACKGROUND: Final = 10
"""The nice value of what is built beside counting, whose limits of time are those of an idle machine."""
NOT_NEEDED: Final = "built ahead for a history that has ended"


@dataclass
class BuildAhead:
    """A build beside counting; `failure` is why it failed, known at the end of its block and on this machine alone."""

    failure: str | None = None


class Measurer(Protocol):
    """Carries out requests, with results in the store of the history.

    Runs and comparisons raise `BuildFailed` or `TrialFailed` for what fails by its commit, and what else ends all.
    """

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        """Build the server of a run, and measure it unless its build is known; returns none then."""

    def compare(self, request: Request) -> Comparison:
        """Build the servers, measure them and return the verdicts."""

    @property
    def builds_ahead(self) -> bool:
        """Whether a later commit can be built beside what is counted without making that slower."""

    def building_ahead(self, request: Request) -> AbstractContextManager[BuildAhead]:
        """Have the server of a later run built beside what is counted within the block."""

    def end_builds_ahead(self) -> None:
        """End the builds ahead that no run has followed: nobody waits for them any more."""

    def best_begun_with(self, builds: Sequence[str]) -> str | None:
        """Return which of these builds, the most alike first, the next one is begun with; none where none is there."""


@dataclass(frozen=True)
class LocalMeasurer:
    """This machine."""

    lab: Lab

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        """Carry out a run here."""
        return run_unless(is_known, request, self._own_lab())

    def compare(self, request: Request) -> Comparison:
        """Carry out a comparison here."""
        return compare(request, self._own_lab())

    @property
    def builds_ahead(self) -> bool:
        """Whether there are processors enough."""
        return len(read_processors().processors) >= ENOUGH_PROCESSORS

    @contextlib.contextmanager
    def building_ahead(self, request: Request) -> Iterator[BuildAhead]:
        """Build in a thread, after what is counted where both want the same processor; the block ends with it."""
        lab = replace(self._own_lab(), listen=lambda _: None)
        with ThreadPoolExecutor(max_workers=1) as pool:
            building, ahead = pool.submit(_build_alone, request, lab), BuildAhead()
            try:
                yield ahead
                ahead.failure = building.result()
            except BaseException:
                lab.cancellation.cancel()
                raise

    def end_builds_ahead(self) -> None:
        """Do nothing: a build ends with its block."""

    def best_begun_with(self, builds: Sequence[str]) -> str | None:
        """Return the best of those that this machine has."""
        return self.lab.builds.best_begun_with(builds)

    def _own_lab(self) -> Lab:
        """Return the lab for a single request: a failure cancels what it is cancelled by."""
        return replace(self.lab, cancellation=Cancellation())


@dataclass(frozen=True)
class FleetMeasurer:
    """The agents of a fleet's platform, which take requests from the store of a conductor.

    A command that was ended leaves its last request to the fleet: the next one follows it as long as it is open.
    """

    platform: str
    lab: Lab
    _ahead: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        """Have the server built, by a request without trials, and measured by another unless its build is known."""
        measuring = self._sent(request, digest_of(*(case.digest for case in request.cases)))
        identity = self._open_one_of(measuring)
        if identity is None:
            build = self.lab.store.build(read_run(self.lab.store, self._built(request)).server.build)
            if build is not None and is_known(build):
                return None
            identity = self._submitted(measuring)
        return read_run(self.lab.store, self._ended(identity))

    def compare(self, request: Request) -> Comparison:
        """Have the servers built and compared."""
        sent = self._sent(request, "")
        identity = self._open_one_of(sent) or self._submitted(sent)
        return read_comparison(self.lab.store, self._ended(identity))

    @property
    def builds_ahead(self) -> bool:
        """Whether there may be agents that build while others count."""
        return True

    @contextlib.contextmanager
    def building_ahead(self, request: Request) -> Iterator[BuildAhead]:
        """Ask for the build, which goes on after the block: the run of that commit follows the request."""
        with contextlib.suppress(BuildFailed):
            building = self._building(request)
            if self._open_one_of(building) is None:
                self._ahead.add(self._submitted(building))
        yield BuildAhead()

    def end_builds_ahead(self) -> None:
        """Cancel those that are still open: what is counted after a commit may be another one than was likely."""
        while self._ahead:
            self.lab.store.fleet.set_state(self._ahead.pop(), "cancelled", NOT_NEEDED)

    def best_begun_with(self, builds: Sequence[str]) -> str | None:
        """Return none: which builder makes a build is not known beforehand."""
        return None

    def _built(self, request: Request) -> str:
        """Have the server of a run built, and return the request that has built it."""
        building = self._building(request)
        open_one = self._open_one_of(building)
        if open_one is not None:
            self._ahead.discard(open_one)
            # It may have been another command's, which has ended before and does not need it.
            if self._waited_for(open_one).reason != NOT_NEEDED:
                return self._ended(open_one)
        return self._ended(self._submitted(building))

    def _building(self, request: Request) -> Request:
        return self._sent(request.model_copy(update={"cases": (), "windows": {}}), "build")

    def _sent(self, request: Request, part: str) -> Request:
        """Return a request to the fleet; those of a commit that are open together have topics of their own."""
        topic = f"{request.topic}{OF_FLEET}{part}" if part else request.topic
        submitting = SubmissionOptions("backfill", topic, CAUSE)
        [sent] = on_platforms(request, [self.platform], self.lab.store.blobs, submitting)
        return sent

    def _submitted(self, request: Request) -> str:
        """Submit a request and return its id; raises `EnvironmentMissing` where nobody would work on it."""
        if not self.lab.store.has_conductor():
            raise EnvironmentMissing(
                f"no conductor works on the store {self.lab.store.address}",
                hint="start one: zerolap serve, with the same --store",
            )
        self.lab.store.submit([request])
        return request.id

    def _open_one_of(self, wanted: Request) -> str | None:
        """Return a request of the same that is still open: made ahead, or by a command that was ended."""
        for short in self.lab.store.fleet.open_requests_on(wanted.topic):
            if short.unreadable or (short.topic, short.platform) != (wanted.topic, wanted.platform):
                continue
            # One that is pruned meanwhile, or that another version has written, is asked for anew.
            with contextlib.suppress(UnreadableRecord, UsageError):
                if _content(self.lab.store.request(short.id).request) == _content(wanted):
                    self.lab.listen(Note(text=f"following {short.id}, which is asked for already"))
                    return short.id
        return None

    def _waited_for(self, identity: str) -> RequestInShort:
        shown = ""
        while (short := self.lab.store.fleet.in_short(identity)) is not None and short.ended is None:
            state = f"{identity} on {self.platform}: {short.state}{f', {short.reason}' if short.reason else ''}"
            if state != shown:
                self.lab.listen(Note(text=state))
                shown = state
            time.sleep(POLL_SECONDS)
        if short is None:
            raise UsageError(f"{identity} is not in the store any more", hint="the same command asks for it again")
        return short

    def _ended(self, identity: str) -> str:
        """Wait until a request is done, and return its id; raises what it failed by."""
        short = self._waited_for(identity)
        if short.state == "done":
            return identity
        reason = f"on {self.platform}: {short.reason or short.state}"
        failure = self.lab.store.history.failure_of(identity) if short.state == "failed" else None
        if failure is None:
            # A builder without room, say: other commits would fail like this one.
            raise EnvironmentMissing(reason, hint="zerolap fleet status; the same command goes on")
        raise (BuildFailed if failure.is_build else TrialFailed)(reason)


def _build_alone(request: Request, lab: Lab) -> str | None:
    # Of this thread, and of the processes that it starts.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BACKGROUND)
    try:
        run_unless(lambda _: True, request, lab)
    except BuildFailed as fault:
        return fault.message
    except ZerolapError:
        # What else is wrong shows when the run is carried out.
        return None
    return None


def measurer_for(asked: HistoryRange, lab: Lab) -> Measurer:
    """Return what measures on the platform that is asked about; raises `UsageError` for a machine elsewhere."""
    if asked.builder:
        return FleetMeasurer(asked.platform.name, lab)
    if asked.platform.fingerprint != fingerprint().fingerprint:
        raise UsageError(
            f"no fleet serves `{asked.platform.name}`: its history is shown here, and measured there",
            hint="--range shows what the store has of it",
        )
    return LocalMeasurer(lab)


def _content(request: Request) -> dict[str, object]:
    """Return what a request asks for: all but its identity, and a seed that nobody has chosen."""
    content = request.model_dump(mode="json", exclude={"id", "created", "command_line"})
    if request.is_seed_drawn:
        content["settings"].pop("seed")
    return content
