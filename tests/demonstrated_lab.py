"""The store of the demonstration, served, and where in it each page of the lab has something to show."""

import contextlib
import fcntl
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from http_server import served_lab

from zerolap.api.app_pages import ROUTES
from zerolap.demonstration import ARM, NOT_MEASURED, MadeUpServer, fill_with_made_up_data
from zerolap.demonstration.made_up_fleet import WORKING
from zerolap.demonstration.made_up_server import HASH_COMMIT
from zerolap.records import EmulatedSnapshotReport, SnapshotReport
from zerolap.store import Store

AN_HOUR = 3600.0
SEED = 1
WITH_PARAMETERS = ("/search", "/series", "/stacks", "/opportunities")
EMULATED_SWEEP = "/snapshots/{identity} with --kernel"
PAGES = (*ROUTES, EMULATED_SWEEP)
"""The routes, and the second kind of what one of them shows."""


@dataclass(frozen=True)
class DemonstratedLab:
    """A lab that shows made-up data at `url`."""

    url: str
    store: Store
    server: MadeUpServer

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """An address of each of `PAGES`, with everything that it can show."""
        rows = self.store.comparisons(200)
        compared = next(row.id for row in rows if row.summary is not None and row.summary.regression > 0)
        run = next(row.id for row in rows if row.kind == "run")
        case = next(case.case for case in self.store.comparison(compared).cases if case.time == "regression")
        return {
            "/comparisons/{identity}": f"/comparisons/{compared}?case={case}",
            "/runs/{identity}": f"/runs/{run}",
            "/snapshots/{identity}": f"/snapshots/{self._newest_sweep(SnapshotReport)}",
            EMULATED_SWEEP: f"/snapshots/{self._newest_sweep(EmulatedSnapshotReport)}",
            "/trials/{number}": f"/trials/{self.timed_trial(compared, case)}",
            "/search": "/search?text=xadd",
            "/series": "/series?case=zadd&metric=cpu_ns_per_op",
            "/commits/{commit}": f"/commits/{self.server.commits[HASH_COMMIT].commit}",
            "/stacks": f"/stacks?id={compared}&case={case}",
            "/opportunities": f"/opportunities?id={run}",
            "/detectors/{name}": "/detectors/costly-formatting",
            "/platforms/{fingerprint}": f"/platforms/{self.server.platform(ARM, self.server.moment).fingerprint}",
        } | {route: route for route in ROUTES if "{" not in route and route not in WITH_PARAMETERS}

    def _newest_sweep(self, kind: type[SnapshotReport | EmulatedSnapshotReport]) -> str:
        return next(sweep.id for sweep in self.store.sweeps.newest(200) if isinstance(sweep.report, kind))

    def timed_trial(self, identity: str, case: str) -> int:
        """Return the number of the first timed trial of a case."""
        trials = self.store.reports.trials_of(identity, case, "", 100, 0)
        return next(trial.number for trial in trials if trial.trial.engine == "timed")


@dataclass(frozen=True)
class Demonstration:
    """The store of the demonstration, filled once for all tests, of which each module has a copy."""

    directory: Path
    server: MadeUpServer

    @classmethod
    def shared_in(cls, place: Path) -> "Demonstration":
        """Return what is in a directory that several processes share; the first to ask fills it."""
        directory, filled = place / "demonstration", place / "demonstration-filled"
        with open(place / "demonstration-lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not filled.exists():
                moment = datetime.now(UTC).replace(microsecond=0)
                with Store.open(str(directory)) as store:
                    fill_with_made_up_data(store, SEED, moment)
                filled.write_text(moment.isoformat())
        return cls(directory, MadeUpServer(SEED, datetime.fromisoformat(filled.read_text())))

    @contextlib.contextmanager
    def opened_in(self, copy: Path) -> Iterator[Store]:
        """Open a copy, in which the agents that work stay so; it is removed at the end."""
        shutil.copytree(self.directory, copy)
        try:
            with Store.open(str(copy)) as store:
                store.notice = NOT_MEASURED
                store.dated.seen_agents(list(WORKING), time.time() + AN_HOUR)
                yield store
        finally:
            shutil.rmtree(copy)

    @contextlib.contextmanager
    def served_in(self, copy: Path) -> Iterator[DemonstratedLab]:
        """Serve a copy."""
        with self.opened_in(copy) as store, served_lab(store) as url:
            yield DemonstratedLab(url, store, self.server)
