"""Names that are in a store, and the parameters of page queries that are drawn from them."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from sqlalchemy import func, select

from zerolap.queries import QUERIES
from zerolap.store import Store, tables as stored

DRAWN: Final = 400
"""So many names of a kind are chosen from."""

Parameters = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class KnownNames:
    """Names of a store: comparisons with a case each, runs alike, results with stacks alike, and others."""

    comparisons: Sequence[tuple[str, str]]
    runs: Sequence[tuple[str, str]]
    sampled: Sequence[tuple[str, str]]
    trials: Sequence[int]
    platforms: Sequence[str]
    histories: Sequence[int]
    series: Sequence[tuple[str, str, str]]
    commits: Sequence[str]
    failed_jobs: Sequence[str]

    @classmethod
    def of(cls, store: Store, draw: random.Random) -> "KnownNames":
        """Return names of all parts of a store, the oldest and the newest."""
        case, document, kept = stored.case_result, stored.document, stored.kept_series
        with store._database.read_transaction() as connection:

            def spread(statement: Any) -> list[Any]:
                rows = [tuple(row) for row in connection.execute(statement)]
                return draw.sample(rows, min(DRAWN, len(rows)))

            last = connection.execute(select(func.max(document.c.number))).scalar_one()
            numbers = sorted({draw.randrange(1, last + 1) for _ in range(4 * DRAWN)})
            # One case of each: a comparison of very many cases is one of many all the same.
            cases = (
                select(case.c.document_id, func.max(case.c.case))
                .join(document, document.c.id == case.c.document_id)
                .group_by(case.c.document_id)
            )
            compared = cases.where(document.c.kind == "compare", document.c.number.in_(numbers))
            sampled = (
                select(stored.trial.c.request_id, stored.job.c.case)
                .join(stored.job, stored.job.c.id == stored.trial.c.job_id)
                .where(stored.trial.c.stacks.is_not(None))
                .distinct()
            )
            last_trial = connection.execute(select(func.max(stored.trial.c.id))).scalar_one()
            drawn = [draw.randrange(1, last_trial + 1) for _ in range(4 * DRAWN)]
            return cls(
                comparisons=spread(compared),
                runs=spread(cases.where(document.c.kind == "run")),
                sampled=spread(sampled),
                trials=[one for (one,) in spread(select(stored.trial.c.id).where(stored.trial.c.id.in_(drawn)))],
                platforms=[one for (one,) in spread(select(stored.platform.c.fingerprint))],
                histories=[one for (one,) in spread(select(stored.kept_history.c.number))],
                series=spread(select(kept.c.case, kept.c.metric, kept.c.group)),
                commits=[one for (one,) in spread(select(stored.kept_commit.c.commit).distinct())],
                failed_jobs=[
                    one for (one,) in spread(select(stored.job.c.id).where(stored.job.c.failure.is_not(None)))
                ],
            )


class DrawnParameters:
    """Draws parameters for each query of the pages."""

    def __init__(self, names: KnownNames, draw: random.Random) -> None:
        self._names = names
        self._draw = draw
        self._by_query: Mapping[str, Callable[[], Parameters]] = {
            "overview": lambda: (),
            "reports": self._reports,
            "request": lambda: [("id", self._of(names.comparisons)[0])],
            "comparison": lambda: [("id", self._of(names.comparisons)[0])],
            "comparison-case": lambda: self._case(names.comparisons),
            "case-pictures": lambda: self._case(names.sampled),
            "run": lambda: [("id", self._of(names.runs)[0])],
            "run-case": lambda: self._case(names.runs),
            "trials": lambda: self._case(names.comparisons),
            "trial": lambda: [("number", str(self._of(names.trials)))],
            "fleet": lambda: [("limit", str(draw.randrange(10, 200)))],
            "job-failure": lambda: [("job", self._of(names.failed_jobs))],
            "platforms": lambda: (),
            "platform": lambda: [("fingerprint", self._of(names.platforms))],
            "platform-pair": self._pair,
            "triggers": lambda: [("limit", str(draw.randrange(10, 200)))],
            "series": self._series,
            "series-changes": self._series,
            "series-list": lambda: (),
            "versions": self._versions,
            "commit": lambda: [("commit", self._of(names.commits))],
            "trial-values": self._values,
            "stacks": self._stacks,
            "stack-functions": self._stacks,
            "stack-lines": lambda: [*self._stacks(), ("function", "dictFind"), ("file", "dict.c")],
            "stack-results": lambda: [("limit", str(draw.randrange(10, 60)))],
            "opportunities": lambda: [("weights", draw.choice(["command", "equal"]))],
        }
        unknown = {query.name for query in QUERIES} ^ self._by_query.keys()
        if unknown:
            raise ValueError(f"queries and their parameters differ: {', '.join(sorted(unknown))}")

    def urls(self, count: int) -> list[tuple[str, str]]:
        """Return the name and the path of so many questions of each query, in a random order."""
        asked = [
            (name, f"/api/v1/pages/{name}?{urlencode(parameters())}")
            for name, parameters in self._by_query.items()
            for _ in range(count)
        ]
        self._draw.shuffle(asked)
        return asked

    def pages(self) -> dict[str, str]:
        """Return an address of each page that shows something of the store, by route."""
        names = self._names
        identity, case = self._of(names.sampled)
        noun = "runs" if identity.startswith("r-") else "comparisons"
        compared, series = self._of(names.comparisons), self._of(names.series)
        return {
            "/reports": "/reports",
            "/comparisons/{identity}": f"/comparisons/{compared[0]}",
            "/comparisons/{identity}, a case opened": f"/{noun}/{identity}?case={quote(case)}",
            "/runs/{identity}": f"/runs/{self._of(names.runs)[0]}",
            "/trials/{number}": f"/trials/{self._of(names.trials)}",
            "/series": f"/series?case={quote(series[0])}&metric={series[1]}",
            "/versions": f"/versions?history={self._of(names.histories)}",
            "/commits/{commit}": f"/commits/{self._of(names.commits)}",
            "/stacks": "/stacks",
            "/stacks, of a case": f"/stacks?id={identity}&case={quote(case)}",
            "/stacks, of a platform": f"/stacks?platform={self._of(names.platforms)}&newest=10",
            "/opportunities": "/opportunities",
            "/fleet": "/fleet",
            "/platforms": "/platforms",
            "/platforms/{fingerprint}": f"/platforms/{self._of(names.platforms)}",
            "/triggers": "/triggers",
            "/api": "/api",
            "/sign-in": "/sign-in",
        }

    def _of(self, names: Sequence[Any]) -> Any:
        return self._draw.choice(names)

    def _case(self, names: Sequence[tuple[str, str]]) -> Parameters:
        identity, case = self._of(names)
        return [("id", identity), ("case", case)]

    def _reports(self) -> Parameters:
        given = [("limit", str(self._draw.randrange(20, 200)))]
        kind = self._draw.randrange(5)
        more = {
            0: [("text", self._of(self._names.commits)[:12])],
            1: [("text", "template")],
            2: [("state", self._draw.choice(["failed", "running", "done"]))],
            3: [("platform", "made-up-arm"), ("kind", "compare")],
        }
        return [*given, *more.get(kind, [("before", str(self._draw.randrange(100, 50_000)))])]

    def _pair(self) -> Parameters:
        first, *others = self._draw.sample(self._names.platforms, 2)
        return [("fingerprint", first), ("other", others[0])]

    def _series(self) -> Parameters:
        case, metric, group = self._of(self._names.series)
        given = [("metric", metric), ("pixels", str(self._draw.randrange(300, 1600)))]
        if self._draw.random() < 0.3:
            return [*given, ("group", group)]
        return [*given, ("case", case), *([("case", self._of(self._names.series)[0])] if metric else [])]

    def _values(self) -> Parameters:
        metric = self._draw.choice(["instructions_per_op", "cpu_ns_per_op", "ops_per_sec"])
        given = [("metric", metric), ("case", self._of(self._names.comparisons)[1])]
        return [*given, ("pixels", str(self._draw.randrange(100, 1000)))]

    def _versions(self) -> Parameters:
        metric = self._draw.choice(["instructions_per_op", "cpu_ns_per_op"])
        rows = self._draw.choice(["command", "case"])
        return [("history", str(self._of(self._names.histories))), ("metric", metric), ("rows", rows)]

    def _stacks(self) -> Parameters:
        if self._draw.random() < 0.4:
            return [("platform", self._of(self._names.platforms)), ("newest", str(self._draw.randrange(2, 30)))]
        identity, case = self._of(self._names.sampled)
        return [("id", identity), *([("case", case)] if self._draw.random() < 0.7 else [])]
