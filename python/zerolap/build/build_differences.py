"""How the builds of two versions differ beside their code, and the variant that builds one version as another is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, get_args

from zerolap.build.variant import EXTRA_FLAG, Allocator, Optimization, Variant, last_flag
from zerolap.records import Build, without_language

OPTIMIZATION: Final = re.compile(r"-O\S*")
STANDARD: Final = re.compile(r"-std=.+")
LINK_TIME: Final = re.compile(r"-f(?:no-)?lto(?:=.*)?")
FRAME_POINTERS: Final = re.compile(r"-f(?:no-)?omit-frame-pointer")
OTHER: Final = re.compile(r"-[fm](?!debug-|file-prefix|macro-prefix|(?:no-)?lto|(?:no-)?omit-frame).+")
"""Further flags that the code depends on."""


@dataclass(frozen=True)
class BuildDifferences:
    """The differences of a newer build, as words.

    `variant` builds the older code as the newer one is built; none where no difference can be expressed. `not_split`
    are the differences that cannot.
    """

    words: tuple[str, ...]
    variant: Variant | None
    not_split: tuple[str, ...]


@dataclass(frozen=True)
class _Difference:
    """A difference in words; `field` of a variant makes it by `value`, none where no variant does."""

    words: str
    field: str | None = None
    value: object = None


def build_differences(older: Build, newer: Build, variant: Variant) -> BuildDifferences:
    """Return how a newer build differs from an older one, both of sources that were built in the same variant.

    A variant names an allocator, whose version is that of the source: another version is part of the code. Neither can
    it name a compiler of the past, nor take a flag away that it has no word for.
    """
    differences = [*_of_flags(older.flags.split(), newer.flags.split()), *_of_tools(older, newer)]
    changes = {one.field: one.value for one in differences if one.field not in (None, "extra")}
    extra = [str(one.value) for one in differences if one.field == "extra"]
    changed = variant.model_copy(update={**changes, "extra": tuple(dict.fromkeys([*variant.extra, *extra]))})
    return BuildDifferences(
        words=tuple(one.words for one in differences),
        variant=None if changed == variant else changed,
        not_split=tuple(one.words for one in differences if one.field is None),
    )


def _of_flags(older: list[str], newer: list[str]) -> Iterator[_Difference]:
    # A program without debug information states no flags.
    if not older or not newer:
        return
    before, after = last_flag(older, OPTIMIZATION) or "-O0", last_flag(newer, OPTIMIZATION) or "-O0"
    if before != after:
        field = "optimization" if after in get_args(Optimization) else None
        yield _Difference(f"{before} → {after}", field, after)
    yield from _of_switch(older, newer, LINK_TIME, "-flto", "link_time_optimization")
    yield from _of_switch(older, newer, FRAME_POINTERS, "-fno-omit-frame-pointer", "frame_pointers")
    standards = last_flag(older, STANDARD), last_flag(newer, STANDARD)
    if standards[0] != standards[1]:
        yield _Difference(f"{standards[0] or 'no -std'} → {standards[1] or 'no -std'}")
    before_flags, after_flags = ({flag for flag in flags if OTHER.fullmatch(flag)} for flags in (older, newer))
    for flag in sorted(after_flags - before_flags):
        is_expressible = EXTRA_FLAG.fullmatch(flag) is not None
        yield _Difference(f"with {flag}", "extra" if is_expressible else None, flag)
    for flag in sorted(before_flags - after_flags):
        yield _Difference(f"without {flag}")


def _of_switch(
    older: list[str], newer: list[str], pattern: re.Pattern[str], switch: str, field: str
) -> Iterator[_Difference]:
    """Yield the difference in a switch, which is on where the last of its flags begins so."""
    before, after = (last_flag(flags, pattern).startswith(switch) for flags in (older, newer))
    if before != after:
        yield _Difference(f"{'with' if after else 'without'} {switch}", field, after)


def _of_tools(older: Build, newer: Build) -> Iterator[_Difference]:
    if older.allocator != newer.allocator:
        before, after = older.allocator.partition("-")[0], newer.allocator.partition("-")[0]
        is_expressible = before != after and after in get_args(Allocator)
        words = f"{older.allocator or 'no allocator'} → {newer.allocator or 'no allocator'}"
        yield _Difference(words, "allocator" if is_expressible else None, after)
    compilers = without_language(older.compiler), without_language(newer.compiler)
    if compilers[0] != compilers[1]:
        yield _Difference(f"{compilers[0] or 'no compiler'} → {compilers[1] or 'no compiler'}")
