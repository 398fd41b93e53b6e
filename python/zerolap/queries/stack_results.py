"""The newest results that have stacks: what the page of stacks can show."""

from collections import Counter
from typing import Annotated, Final

from pydantic import Field

from zerolap.queries.named_commits import NamedCommit, named_commits
from zerolap.queries.query import PageQuery, Parameters, QuerySources, TableRow
from zerolap.queries.sampled_cases import ProfiledResult, profiled_result
from zerolap.records import Record
from zerolap.store import SampledTrial

MOST_LISTED: Final = 100
MOST_CASES: Final = 200


class ResultParameters(Parameters):
    """How many results are listed."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many.")] = 30


class ResultWithStacks(Record):
    """A comparison or run with the cases of which it has stacks, the first 200 by name; `platform` is a fingerprint."""

    result: ProfiledResult
    platform: str
    cases: tuple[str, ...]
    all_cases: int
    head_commit: NamedCommit | None


class StackResults(Record):
    """The newest results with stacks, the newest first."""

    results: tuple[ResultWithStacks, ...]


def read_results(sources: QuerySources, parameters: ResultParameters) -> StackResults:
    """Return the newest results that have stacks."""
    store = sources.store
    newest = store.stacks.newest(parameters.limit)
    identities = [result.id for result in newest]
    rows = store.in_short(identities)
    commits = named_commits(sources, (row.head_commit for row in rows.values()))
    cases = _cases(store.stacks.trials(identities))
    return StackResults(
        results=tuple(
            ResultWithStacks(
                result=profiled_result(rows[result.id], result.platform_name),
                platform=result.platform,
                cases=tuple(sorted(cases[result.id]))[:MOST_CASES],
                all_cases=len(cases[result.id]),
                head_commit=commits.get(rows[result.id].head_commit or ""),
            )
            for result in newest
            if result.id in rows and result.id in cases
        )
    )


def _cases(trials: list[SampledTrial]) -> dict[str, Counter[str]]:
    cases: dict[str, Counter[str]] = {}
    for trial in trials:
        if trial.stacks is not None:
            cases.setdefault(trial.result, Counter())[trial.case] += 1
    return cases


def result_rows(answer: StackResults) -> list[TableRow]:
    """Return results as a table."""
    rows: list[TableRow] = [("created", "id", "base", "head", "platform", "cases")]
    for entry in answer.results:
        result = entry.result
        rows.append((result.created, result.id, result.base, result.head, result.platform_name, entry.all_cases))
    return rows


STACK_RESULTS: Final = PageQuery(
    name="stack-results",
    summary="The newest comparisons and runs that have sampled stacks",
    parameters=ResultParameters,
    result=StackResults,
    read=read_results,
    table=result_rows,
)
