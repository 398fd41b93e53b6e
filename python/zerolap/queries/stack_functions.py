"""Which functions cost most over all cases, and what each costs in each case."""

from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from zerolap import _core
from zerolap.queries.query import PageQuery, QuerySources, TableRow
from zerolap.queries.sampled_cases import (
    LeftOutCase,
    ProfiledCase,
    ProfiledResult,
    StackSelection,
    Weights,
    readable_tables,
    selected_cases,
)
from zerolap.records import DrawnSide, Record

MOST_FUNCTIONS: Final = 200
WHOLE: Final = TypeAdapter(dict[str, Any])


class FunctionParameters(StackSelection):
    """Which stacks, and how many functions."""

    most: Annotated[int, Field(ge=1, le=MOST_FUNCTIONS, description="How many functions.")] = 40


class FunctionShares(Record):
    """What a function has of each case on a side: shares of the case's samples by case, null where it has none.

    `own` is without callees, `inclusive` with them, a recursion counted once.
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
    cases: tuple[ProfiledCase, ...]
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
    functions = [
        CostlyFunction(
            function=entry["function"],
            file=entry["file"],
            object=entry["object"],
            # Parts are in the order of cases, and within a case in that of sides.
            sides=tuple(
                FunctionShares(
                    side=side, own=entry["own"][place::several], inclusive=entry["inclusive"][place::several]
                )
                for place, side in enumerate(chosen.sides)
            ),
        )
        for entry in counted["functions"]
    ]
    return StackFunctions(
        results=chosen.results,
        cases=chosen.counted_cases(counted["samples"]),
        all_cases=chosen.all_names,
        left_out=chosen.left_out,
        weights=chosen.weights,
        functions=tuple(functions),
        all_functions=counted["all"],
    )


def function_rows(answer: StackFunctions) -> list[TableRow]:
    """Return a row for each function, case and side in which the function has samples."""
    rows: list[TableRow] = [
        (
            "function",
            "file",
            "object",
            "case",
            "result",
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
                    named = (entry.function, entry.file, entry.object, case.case, case.result, shares.side)
                    rows.append((*named, own or 0.0, inclusive, None if cost is None else (own or 0.0) * cost))
    return rows


STACK_FUNCTIONS: Final = PageQuery(
    name="stack-functions",
    summary="The functions that cost most over all cases, and their shares of each case",
    parameters=FunctionParameters,
    answer=StackFunctions,
    read=read_functions,
    table=function_rows,
)
