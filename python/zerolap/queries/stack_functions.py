"""Which functions cost most over all cases, and what each costs in each case."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from zerolap import _core
from zerolap.queries.query import PageQuery, QuerySources, TableRow
from zerolap.queries.sampled_cases import (
    LeftOutCase,
    ProfiledCase,
    ProfiledResult,
    ProfiledSide,
    StackSelection,
    Weights,
    readable_tables,
    selected_cases,
)
from zerolap.records import DrawnSide, Record

MOST_FUNCTIONS: Final = 200
SHARE_DIGITS: Final = 6
"""Decimal places of shares, as many as shares of single cases have."""
WHOLE: Final = TypeAdapter(dict[str, Any])


class FunctionParameters(StackSelection):
    """Which stacks, and how many functions."""

    most: Annotated[int, Field(ge=1, le=MOST_FUNCTIONS, description="How many functions.")] = 40


class MergedCase(Record):
    """A case with what all results together have of it.

    Of each side samples, passes and weights are sums; a request costs the mean of what it costs in the results.
    """

    case: str
    results: tuple[str, ...]
    sides: tuple[ProfiledSide, ...]


class FunctionShares(Record):
    """What a function has of each case on a side: shares of the case's samples by case, null where it has none.

    `own` is without callees, `inclusive` with them, a recursion counted once. Of a case that several results have, a
    share is the mean of theirs, weighted by what a request costs in each where that is known.
    """

    side: DrawnSide
    own: list[float | None]
    inclusive: list[float | None]


class CostlyFunction(Record):
    """A function and its shares; `file` is null where it is not known."""

    function: str
    file: str | None
    object: str
    sides: tuple[FunctionShares, ...]


class StackFunctions(Record):
    """The functions with the largest own costs over all cases, of `all_functions`; shares are in the order of `cases`.

    A share times the CPU time of the case's requests is the function's time per request.
    """

    results: tuple[ProfiledResult, ...]
    cases: tuple[MergedCase, ...]
    all_cases: tuple[str, ...]
    left_out: tuple[LeftOutCase, ...]
    weights: Weights
    functions: tuple[CostlyFunction, ...]
    all_functions: int


def read_functions(sources: QuerySources, parameters: FunctionParameters) -> StackFunctions:
    """Return the costliest functions of a selection."""
    chosen = selected_cases(sources, parameters)
    with readable_tables():
        counted = WHOLE.validate_json(_core.functions_by_case(list(chosen.parts), parameters.most))
    several = len(chosen.sides)
    cases = chosen.counted_cases(counted["samples"])
    places: dict[str, list[int]] = {}
    for place, case in enumerate(cases):
        places.setdefault(case.case, []).append(place)
    by_name = sorted(places.items())
    functions = [
        CostlyFunction(
            function=entry["function"],
            file=entry["file"],
            object=entry["object"],
            # Parts are in the order of cases, and within a case in that of sides.
            sides=tuple(
                FunctionShares(
                    side=side,
                    own=_merged_shares(entry["own"][number::several], cases, number, by_name),
                    inclusive=_merged_shares(entry["inclusive"][number::several], cases, number, by_name),
                )
                for number, side in enumerate(chosen.sides)
            ),
        )
        for entry in counted["functions"]
    ]
    return StackFunctions(
        results=chosen.results,
        cases=tuple(_merged_case([cases[place] for place in of_case]) for _, of_case in by_name),
        all_cases=chosen.all_names,
        left_out=chosen.left_out,
        weights=chosen.weights,
        functions=tuple(functions),
        all_functions=counted["all"],
    )


def _merged_case(of_results: Sequence[ProfiledCase]) -> MergedCase:
    return MergedCase(
        case=of_results[0].case,
        results=tuple(case.result for case in of_results),
        sides=tuple(_merged_side(sides) for sides in zip(*(case.sides for case in of_results), strict=True)),
    )


def _merged_side(sides: Sequence[ProfiledSide]) -> ProfiledSide:
    costs = _costs(sides)
    # Errors add up as if all results erred alike, which is too much rather than too little.
    errors = [cost * side.cpu_error for cost, side in zip(costs or (), sides, strict=costs is not None)]
    return ProfiledSide(
        side=sides[0].side,
        samples=sum(side.samples for side in sides),
        passes=sum(side.passes for side in sides),
        recorded_passes=sum(side.recorded_passes for side in sides),
        cpu_ns_per_op=None if costs is None else sum(costs) / len(costs),
        cpu_error=sum(errors) / sum(costs) if costs is not None and sum(costs) > 0 else 0.0,
        weight=sum(side.weight for side in sides),
    )


def _costs(sides: Sequence[ProfiledSide]) -> list[float] | None:
    """Return what a request costs in each result, None where that is not known of all."""
    costs = [side.cpu_ns_per_op for side in sides if side.cpu_ns_per_op is not None]
    return costs if len(costs) == len(sides) else None


def _merged_shares(
    shares: Sequence[float | None],
    cases: Sequence[ProfiledCase],
    side: int,
    by_name: Sequence[tuple[str, Sequence[int]]],
) -> list[float | None]:
    """Return the shares of a side by case, from those by case and result."""
    merged: list[float | None] = []
    for _, places in by_name:
        costs = _costs([cases[place].sides[side] for place in places])
        weights = costs if costs is not None and sum(costs) > 0 else [1.0] * len(places)
        known = [shares[place] for place in places]
        if all(share is None for share in known):
            merged.append(None)
        else:
            parts = sum(weight * (share or 0.0) for weight, share in zip(weights, known, strict=True))
            merged.append(round(parts / sum(weights), SHARE_DIGITS))
    return merged


def function_rows(answer: StackFunctions) -> list[TableRow]:
    """Return a row for each function, case and side in which the function has samples."""
    rows: list[TableRow] = [
        (
            "function",
            "file",
            "object",
            "case",
            "results",
            "side",
            "own share",
            "inclusive share",
            "own CPU ns per request",
        )
    ]
    for entry in answer.functions:
        for place, shares in enumerate(entry.sides):
            for case, own, inclusive in zip(answer.cases, shares.own, shares.inclusive, strict=True):
                cost = case.sides[place].cpu_ns_per_op
                if inclusive is not None:
                    named = (entry.function, entry.file, entry.object, case.case, " ".join(case.results), shares.side)
                    rows.append((*named, own or 0.0, inclusive, None if cost is None else (own or 0.0) * cost))
    return rows


STACK_FUNCTIONS: Final = PageQuery(
    name="stack-functions",
    summary="The functions that cost most over all cases, and their shares of each case",
    parameters=FunctionParameters,
    result=StackFunctions,
    read=read_functions,
    table=function_rows,
)
