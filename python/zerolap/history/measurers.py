"""What carries out the requests of a history: this machine, or the agents of a platform of a fleet."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from zerolap.history.asked import Asked
from zerolap.host import fingerprint
from zerolap.lab import (
    Lab,
    SubmissionOptions,
    compare,
    on_platforms,
    read_comparison,
    read_run,
    run_unless,
)
from zerolap.records import Build, BuildFailed, Comparison, Note, Request, RunReport, TrialFailed, UsageError
from zerolap.sandbox import Cancellation

POLL_SECONDS: Final = 0.5
CAUSE: Final = "history"


class Measurer(Protocol):
    """Carries out requests one at a time, with results in the store of the history.

    Both methods raise `BuildFailed` or `TrialFailed` for what fails by its commit, and what else ends all of it.
    """

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        """Build the server of a run, and measure it unless its build is known; returns none then."""

    def compare(self, request: Request) -> Comparison:
        """Build both servers, measure them and return the verdicts."""

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

    def best_begun_with(self, builds: Sequence[str]) -> str | None:
        """Return the best of those that this machine has."""
        return self.lab.builds.best_begun_with(builds)

    def _own_lab(self) -> Lab:
        """Return the lab for a single request: a failure cancels what it is cancelled by."""
        return replace(self.lab, cancellation=Cancellation())


@dataclass(frozen=True)
class FleetMeasurer:
    """The agents of a fleet's platform, by way of the store that a conductor serves.

    A command that was ended leaves its last request to the fleet: the next one follows that as long as it is open.
    """

    platform: str
    lab: Lab

    def run_unless(self, is_known: Callable[[Build], bool], request: Request) -> RunReport | None:
        """Have the server built, by a request without trials, and measured by another unless its build is known."""
        built = self._ended(request.model_copy(update={"cases": ()}))
        build = self.lab.store.build(read_run(self.lab.store, built).server.build)
        if build is not None and is_known(build):
            return None
        return read_run(self.lab.store, self._ended(request))

    def compare(self, request: Request) -> Comparison:
        """Have the servers built and compared."""
        return read_comparison(self.lab.store, self._ended(request))

    def best_begun_with(self, builds: Sequence[str]) -> str | None:
        """Return none: which builder makes a build is not known beforehand."""
        return None

    def _ended(self, request: Request) -> str:
        """Have a request carried out, and return its id."""
        store = self.lab.store
        submitting = SubmissionOptions("backfill", request.topic, CAUSE)
        [sent] = on_platforms(request, [self.platform], store.blobs, submitting)
        identity = self._open_one_of(sent)
        if identity is None:
            store.submit([sent])
            identity = sent.id
            if sent.cases:
                names = "..".join(server.source.name for server in sent.servers.values())
                self.lab.listen(Note(text=f"{names}: {identity} on {self.platform}"))
        short = store.fleet.in_short(identity)
        while short is not None and short.ended is None:
            time.sleep(POLL_SECONDS)
            short = store.fleet.in_short(identity)
        if short is None:
            raise UsageError(f"{identity} is not in the store any more", hint="the same command asks for it again")
        if short.state == "done":
            return identity
        reason = f"on {self.platform}: {short.reason or short.state}"
        if short.state == "failed":
            failure = store.history.failures().get(sent.topic)
            raise (BuildFailed if failure is not None and failure.is_build else TrialFailed)(reason)
        raise UsageError(reason, hint="the same command asks for it again")

    def _open_one_of(self, wanted: Request) -> str | None:
        """Return the request that an earlier command, which was ended, has made of the same and that is still open."""
        for short in self.lab.store.fleet.open_requests_on(wanted.topic):
            if short.unreadable:
                continue
            there = self.lab.store.request(short.id).request
            if there.platform == wanted.platform and _content(there) == _content(wanted):
                self.lab.listen(Note(text=f"following {short.id}, which was asked for before"))
                return short.id
        return None


def measurer_for(asked: Asked, lab: Lab) -> Measurer:
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
