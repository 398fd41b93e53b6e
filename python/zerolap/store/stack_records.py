"""Which comparisons and runs have stacks, sampled ones or those of waits, and what is known of their cases."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sqlalchemy import exists, func, select

from zerolap.records import BASE, HEAD, NamedLines, RunCase, Side, read_stored
from zerolap.store.database import Database
from zerolap.store.tables import case_result, document, finding, job, platform, trial, verdict

StackEngine: TypeAlias = Literal["sampled", "traced"]
COST: Final = "cpu_ns_per_op"


@dataclass(frozen=True)
class SampledResult:
    """A comparison or run that has stacks; `platform` is the fingerprint of its platform."""

    id: str
    platform: str
    platform_name: str


@dataclass(frozen=True)
class SampledTrial:
    """A pass of a case on a side; `stacks` is the digest of what it has recorded, none if it was not kept."""

    result: str
    case: str
    side: Side
    stacks: str | None
    is_valid: bool


@dataclass(frozen=True)
class TimedCost:
    """The CPU time of a request of a case by side, and the bounds of its change; of a run there is one side."""

    by_side: Mapping[Side, float]
    low: float = 0.0
    high: float = 0.0


class StackRecords:
    """Reads what there is of stacks; the stacks themselves are blobs.

    Those of the engine `sampled` are of the time on the processor, those of `traced` of the time off it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest(
        self, limit: int, of_platform: str | None = None, engine: StackEngine = "sampled"
    ) -> list[SampledResult]:
        """Return the newest results that have stacks, the newest first, of one platform or of all."""
        last = func.max(trial.c.id).label("last")
        sampled = (
            select(trial.c.request_id, last)
            .join(job, job.c.id == trial.c.job_id)
            .where(trial.c.stacks.is_not(None), job.c.engine == engine)
            .group_by(trial.c.request_id)
            .subquery()
        )
        statement = (
            select(document.c.id, document.c.platform_fingerprint, platform.c.name)
            .select_from(sampled)
            .join(document, document.c.id == sampled.c.request_id)
            .join(platform, platform.c.fingerprint == document.c.platform_fingerprint)
            .order_by(sampled.c.last.desc())
            .limit(limit)
        )
        if of_platform is not None:
            # Not by the index of platforms, which has all their results: few have stacks.
            statement = statement.where(func.coalesce(document.c.platform_fingerprint, "") == of_platform)
        with self._database.read_transaction() as connection:
            rows = connection.execute(statement)
            return [SampledResult(row.id, row.platform_fingerprint, row.name) for row in rows]

    def trials(self, results: Sequence[str], engine: StackEngine = "sampled") -> list[SampledTrial]:
        """Return the passes of results, in the order of their recording."""
        statement = (
            select(trial.c.request_id, job.c.case, trial.c.side, trial.c.stacks, trial.c.valid)
            .join(job, job.c.id == trial.c.job_id)
            .where(trial.c.request_id.in_(list(results)), job.c.engine == engine)
            .order_by(trial.c.id)
        )
        with self._database.read_transaction() as connection:
            return [SampledTrial(*row) for row in connection.execute(statement)]

    def costs(self, results: Sequence[str]) -> dict[tuple[str, str], TimedCost]:
        """Return what a request costs by result and case; cases that were not timed or are not valid are left out."""
        # Which metric a verdict is on is checked below: a condition on it has databases read those of all results.
        compared = (
            select(document.c.id, case_result.c.case, verdict)
            .join(case_result, case_result.c.document_id == document.c.id)
            .join(verdict, verdict.c.case_result_id == case_result.c.id)
            .where(document.c.id.in_(list(results)), case_result.c.valid)
        )
        measured = (
            select(document.c.id, case_result.c.case, case_result.c.document)
            .join(case_result, case_result.c.document_id == document.c.id)
            .where(document.c.id.in_(list(results)), document.c.kind == "run", case_result.c.valid)
        )
        with self._database.read_transaction() as connection:
            costs = {
                (row.id, row.case): TimedCost({BASE: row.base, HEAD: row.head}, row.low, row.high)
                for row in connection.execute(compared)
                if row.metric == COST and math.isfinite(row.base + row.head)
            }
            for row in connection.execute(measured):
                metrics = read_stored(RunCase, row.document, f"a case of the run {row.id}").metrics
                if COST in metrics:
                    costs[row.id, row.case] = TimedCost({HEAD: metrics[COST]})
        return costs

    def lines_of_functions(self, result: str, limit: int) -> list[NamedLines]:
        """Return the findings of a comparison that name lines of a function, the first of each case first."""
        statement = (
            select(case_result.c.case, case_result.c.document)
            .join(document, document.c.id == case_result.c.document_id)
            .where(
                document.c.id == result,
                exists().where(finding.c.case_result_id == case_result.c.id, finding.c.function.is_not(None)),
            )
            .order_by(case_result.c.position)
            .limit(limit)
        )
        lines: list[NamedLines] = []
        with self._database.read_transaction() as connection:
            for row in connection.execute(statement):
                for stated in json.loads(row.document).get("findings", ()):
                    if stated.get("function") and stated.get("lines"):
                        numbers = tuple(stated["lines"])
                        lines.append(
                            NamedLines(
                                case=row.case,
                                function=stated["function"],
                                file=stated["file"],
                                lines=numbers,
                                text=stated["text"],
                            )
                        )
        return lines[:limit]
