"""Which source lines stand in the pictures of a case: of which functions, and how many of each."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from zerolap import _core
from zerolap.records import CaseResult, DrawnSide, LinedSide, RunCase, SampledLines, SourceText, StackFrame, StackTree

MOST_LINES: Final = 12_800
"""The most lines of all cases of a page together: 100 cases of 8 functions of 16 lines."""
MOST_FUNCTIONS: Final = 20
MOST_OF_FUNCTION: Final = 100
FEWEST_FUNCTIONS, FEWEST_OF_FUNCTION = 2, 16
"""However many cases there are."""
TRIED: Final = 2
"""How many times more functions are examined than kept: those of the kernel have no lines."""

Function: TypeAlias = tuple[str, str | None, str]
"""A function: its name, its file, and, where that is not known, its object."""
LINES_KEY: Final = b'"lines":'
"""What a stack table has where lines were recorded; within a name the quotes would be escaped."""
_ANNOTATION: Final = TypeAdapter(dict[str, Any])


@dataclass(frozen=True)
class LineBounds:
    """How many functions of a case have lines, and how many lines each has at most."""

    functions: int
    lines: int

    @classmethod
    def of(cls, cases: int) -> "LineBounds":
        """Return the bounds where so many cases share a page."""
        of_case = MOST_LINES // max(cases, 1)
        functions = min(max(of_case // FEWEST_OF_FUNCTION, FEWEST_FUNCTIONS), MOST_FUNCTIONS)
        return cls(functions, min(max(of_case // functions, FEWEST_OF_FUNCTION), MOST_OF_FUNCTION))


@dataclass
class SourceTexts:
    """The lines of source code of all pictures, each once."""

    _numbers: dict[tuple[str, str | None], int] = field(default_factory=dict)

    def number(self, file: str, text: str | None) -> int:
        """Return the number of a line."""
        return self._numbers.setdefault((file, text), len(self._numbers))

    def all(self) -> list[SourceText]:
        """Return all lines in their order."""
        return [SourceText(file=file, text=text) for file, text in self._numbers]


def named_functions(case: CaseResult | RunCase) -> list[tuple[str, str | None]]:
    """Return name and file of the functions that a case's reasons or its table of costs name, the first ones first."""
    named = case.findings if isinstance(case, CaseResult) else case.functions
    return list(dict.fromkeys((of.function, of.file) for of in named if of.function is not None))


@dataclass(frozen=True)
class StackPasses:
    """The passes of one side, as stack tables."""

    tables: Sequence[bytes]

    @functools.cached_property
    def merged(self) -> bytes:
        """All passes as one table."""
        return _core.merge_stacks(list(self.tables))

    @functools.cached_property
    def lined(self) -> Sequence[bytes]:
        """The passes that recorded lines; those of earlier versions did not."""
        return [table for table in self.tables if LINES_KEY in table]

    @functools.cached_property
    def merged_lined(self) -> bytes:
        """The passes that recorded lines as one table."""
        return self.merged if len(self.lined) == len(self.tables) else _core.merge_stacks(list(self.lined))


def sampled_lines(
    passes: Mapping[DrawnSide, StackPasses],
    functions: Sequence[Function],
    bounds: LineBounds,
    sources: SourceTexts,
) -> list[SampledLines]:
    """Return the lines of the first functions that have any; those whose source was at hand come before others.

    Samples without a line, as in functions without debug information, are none.
    """
    if not any(of_side.lined for of_side in passes.values()):
        return []
    parts = [(number, 0, 1.0, [of_side.merged_lined]) for number, of_side in enumerate(passes.values())]
    with_text, without_text = [], []
    for function in functions[: TRIED * bounds.functions]:
        annotated = _ANNOTATION.validate_json(_core.function_lines(parts, *function))
        if any(line["text"] is not None for line in annotated["lines"]):
            with_text.append((function, annotated))
        elif any(number is not None for line in annotated["lines"] for number in line["line"]):
            without_text.append((function, annotated))
        if len(with_text) == bounds.functions:
            break
    kept = [*with_text, *without_text][: bounds.functions]
    return [_in_columns(function, annotated, passes, bounds.lines, sources) for function, annotated in kept]


def _in_columns(
    function: Function,
    annotated: Mapping[str, Any],
    passes: Mapping[DrawnSide, StackPasses],
    most: int,
    sources: SourceTexts,
) -> SampledLines:
    lines, sides = annotated["lines"], list(passes)
    # Of both sides alike: a line that only one of them has is not less.
    costliest = sorted(range(len(lines)), key=lambda number: -max(lines[number]["own"]))[:most]
    kept = [lines[number] for number in sorted(costliest)]
    name, file, binary = function
    return SampledLines(
        function=name,
        file=file,
        object=binary,
        sides={
            side: LinedSide(
                samples=of_side["samples"],
                own=round(of_side["own"]),
                passes=len(passes[side].tables),
                lined_passes=len(passes[side].lined),
            )
            for side, of_side in zip(sides, annotated["sides"], strict=True)
        },
        source=[sources.number(line["file"], line["text"]) for line in kept],
        line={side: [line["line"][number] for line in kept] for number, side in enumerate(sides)},
        own={side: [round(line["own"][number]) for line in kept] for number, side in enumerate(sides)},
        left_out=annotated["left_out"] + len(lines) - len(kept),
    )


def lined_functions(
    trees: Iterable[StackTree], frames: Sequence[StackFrame], named: Sequence[tuple[str, str | None]]
) -> list[Function]:
    """Return the functions with samples of their own: those that are named, then by the larger share of both sides."""
    shares: dict[Function, float] = {}
    for tree in trees:
        for function, samples in _own_samples(tree, frames).items():
            shares[function] = max(shares.get(function, 0.0), samples / max(tree.samples, 1))
    by_share = sorted(shares, key=lambda function: (-shares[function], function[0]))
    known = {name: number for number, name in enumerate(named)}
    of_named = sorted((function for function in by_share if function[:2] in known), key=lambda of: known[of[:2]])
    return list(dict.fromkeys([*of_named, *by_share]))


def _own_samples(tree: StackTree, frames: Sequence[StackFrame]) -> dict[Function, int]:
    own: dict[Function, int] = {}
    for number, samples in zip(tree.nodes.frame, tree.nodes.samples, strict=True):
        if samples > 0:
            frame = frames[number]
            function = frame.function, frame.file, "" if frame.file is not None else frame.object
            own[function] = own.get(function, 0) + samples
    return own
