"""The source lines of a function with the samples of each, those of both sides beside each other."""

from typing import Annotated, Final

from pydantic import Field

from zerolap import _core
from zerolap.queries.query import PageQuery, QuerySources, TableRow
from zerolap.queries.sampled_cases import SampledCases, StackSelection, readable_tables, selected_cases
from zerolap.records import DrawnSide, Record


class LineParameters(StackSelection):
    """Which stacks, and which function of them."""

    function: Annotated[str, Field(max_length=2_000, description="The function, as stacks name it.")]
    file: Annotated[
        str | None,
        Field(max_length=4_000, description="The file that defines it, where that is known."),
    ] = None
    object: Annotated[
        str, Field(max_length=500, description="The program or library of a function whose file is not known.")
    ] = ""


class AnnotatedSide(Record):
    """What a side has of the function, in the passes that recorded lines: `lined_passes` of all.

    `own` are samples in the function itself, without callees, weighted as in the stacks; `share` is their part of all
    samples. `cpu_ns_per_op` is the CPU time of the function itself in a request, null where that is not known.
    """

    side: DrawnSide
    own: float
    share: float
    cpu_ns_per_op: float | None
    passes: int
    lined_passes: int


class LineShare(Record):
    """What a side has of a line: its number there, null without samples, and its share of the function itself."""

    side: DrawnSide
    line: int | None
    samples: float
    share: float
    cpu_ns_per_op: float | None


class AnnotatedLine(Record):
    """A line of source code; `text` is null where the source was not at hand when samples were taken.

    Lines of both sides with one text are one, in the order of the source; without text, those with one number.
    """

    file: str
    text: str | None
    sides: tuple[LineShare, ...]


class StackLines(Record):
    """The lines of a function that have samples of its own, of all threads; `left_out` are those with the fewest.

    Lines are recorded of the functions with the most own samples of each pass.
    """

    function: str
    file: str | None
    sides: tuple[AnnotatedSide, ...]
    lines: tuple[AnnotatedLine, ...]
    left_out: int


class _CountedSide(Record):
    samples: int
    own: float
    tables: int
    tables_with_lines: int
    lacks_cases: bool


class _CountedLine(Record):
    file: str
    text: str | None
    line: list[int | None]
    own: list[float]


class _CountedLines(Record):
    sides: list[_CountedSide]
    lines: list[_CountedLine]
    left_out: int


def read_lines(sources: QuerySources, parameters: LineParameters) -> StackLines:
    """Return the lines of a function in the stacks of a selection."""
    chosen = selected_cases(sources, parameters)
    with readable_tables():
        read = _core.function_lines(list(chosen.parts), parameters.function, parameters.file, parameters.object)
    counted = _CountedLines.model_validate_json(read)
    # Samples of some cases only are not those of the request that the cost is of.
    costs = [_cost_of(chosen, place, side) for place, side in enumerate(counted.sides)]
    sides = tuple(
        AnnotatedSide(
            side=side,
            own=of_side.own,
            share=_part(of_side.own, of_side.samples),
            cpu_ns_per_op=_time(of_side.own, of_side, cost),
            passes=of_side.tables,
            lined_passes=of_side.tables_with_lines,
        )
        for side, of_side, cost in zip(chosen.sides, counted.sides, costs, strict=False)
    )
    lines = tuple(
        AnnotatedLine(
            file=line.file,
            text=line.text,
            sides=tuple(
                LineShare(
                    side=side,
                    line=number,
                    samples=own,
                    share=_part(own, of_side.own),
                    cpu_ns_per_op=_time(own, of_side, cost),
                )
                for side, number, own, of_side, cost in zip(
                    chosen.sides, line.line, line.own, counted.sides, costs, strict=True
                )
            ),
        )
        for line in counted.lines
    )
    return StackLines(
        function=parameters.function, file=parameters.file, sides=sides, lines=lines, left_out=counted.left_out
    )


def _cost_of(chosen: SampledCases, place: int, side: _CountedSide) -> float | None:
    return None if side.lacks_cases else chosen.cost_of(place)[0]


def _part(samples: float, all_samples: float) -> float:
    return samples / all_samples if all_samples > 0 else 0.0


def _time(samples: float, side: _CountedSide, cost: float | None) -> float | None:
    return None if cost is None else _part(samples, side.samples) * cost


def line_rows(answer: StackLines) -> list[TableRow]:
    """Return a row for each line and side that has samples of it."""
    rows: list[TableRow] = [
        ("function", "file", "line", "text", "side", "samples", "share of the function", "CPU ns per request")
    ]
    rows += [
        (answer.function, line.file, of.line, line.text, of.side, of.samples, of.share, of.cpu_ns_per_op)
        for line in answer.lines
        for of in line.sides
        if of.line is not None
    ]
    return rows


STACK_LINES: Final = PageQuery(
    name="stack-lines",
    summary="The source lines of a function with the samples of each",
    parameters=LineParameters,
    result=StackLines,
    read=read_lines,
    table=line_rows,
)
